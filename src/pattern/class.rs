//! What a class matches: the set of its units and, under `v`, strings.

use std::collections::BTreeSet;

use super::Flags;
use super::ast::{Builtin, ClassItem};
use super::fault::PatternFault;
use super::fold::{canonical_point, fold};
use super::set::UnitSet;

/// Single units, and strings of any other length.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    pub(super) set: UnitSet,
    pub(super) strings: BTreeSet<Vec<u32>>,
}

/// Lowers a class. It is folded before it is complemented.
pub(super) fn content(
    negated: bool,
    items: &[ClassItem],
    flags: Flags,
) -> Result<Content, PatternFault> {
    let mut whole = Content::default();
    let mut ranges = Vec::new();
    for item in items {
        let part = self::item(item, flags)?;
        ranges.extend_from_slice(part.set.ranges());
        whole.strings.extend(part.strings);
    }
    whole.set = folded(&UnitSet::new(ranges), flags);
    if negated {
        whole.set = whole.set.complement(flags.last());
    }
    Ok(whole)
}

/// A set with the folding in force.
pub(super) fn folded(set: &UnitSet, flags: Flags) -> UnitSet {
    if flags.ignore_case { fold(set, flags.unicode) } else { set.clone() }
}

fn item(item: &ClassItem, flags: Flags) -> Result<Content, PatternFault> {
    let set = match item {
        ClassItem::Range(low, high) => UnitSet::new([(*low, *high)]),
        ClassItem::Builtin { set, negated } => complemented(builtin(*set, flags), *negated, flags),
        // Under `v` folding comes first, under `u` the complement.
        ClassItem::Property { set, negated: true } if flags.unicode_sets => {
            folded(set, flags).complement(flags.last())
        }
        ClassItem::Property { set, negated } => complemented((**set).clone(), *negated, flags),
        ClassItem::StringProperty { at, name } => {
            let message =
                format!("the strings of `{name}` are not known here; list them in `\\q{{...}}`");
            return Err(PatternFault::unsupported("unsupported.string_property", *at, message));
        }
        ClassItem::Strings(strings) => return Ok(of_strings(strings, flags)),
        ClassItem::Class { negated, items } => return content(*negated, items, flags),
        ClassItem::Intersection(operands) => {
            return combined(operands, flags, |left, right| Content {
                set: left.set.intersection(&right.set),
                strings: left.strings.intersection(&right.strings).cloned().collect(),
            });
        }
        ClassItem::Difference(operands) => {
            return combined(operands, flags, |left, right| Content {
                set: left.set.difference(&right.set),
                strings: left.strings.difference(&right.strings).cloned().collect(),
            });
        }
    };
    Ok(Content { set, strings: BTreeSet::new() })
}

fn complemented(set: UnitSet, negated: bool, flags: Flags) -> UnitSet {
    if negated { set.complement(flags.last()) } else { set }
}

/// With `i` and code points, word characters are also those that fold into them.
pub(super) fn builtin(set: Builtin, flags: Flags) -> UnitSet {
    let plain = UnitSet::builtin(set);
    if set == Builtin::Word && flags.unicode { folded(&plain, flags) } else { plain }
}

/// Strings of one unit are units; the others are kept in the form that stands for their equals.
fn of_strings(strings: &[Vec<u32>], flags: Flags) -> Content {
    let mut units = Vec::new();
    let mut longer = BTreeSet::new();
    for string in strings {
        match string.as_slice() {
            [unit] => units.push((*unit, *unit)),
            _ if flags.ignore_case => {
                longer.insert(string.iter().map(|unit| canonical_point(*unit)).collect());
            }
            _ => {
                longer.insert(string.clone());
            }
        }
    }
    Content { set: UnitSet::new(units), strings: longer }
}

fn combined(
    operands: &[ClassItem],
    flags: Flags,
    combine: impl Fn(Content, Content) -> Content,
) -> Result<Content, PatternFault> {
    let mut whole: Option<Content> = None;
    for operand in operands {
        // A class of one: folded.
        let part = content(false, std::slice::from_ref(operand), flags)?;
        whole = Some(match whole {
            Some(whole) => combine(whole, part),
            None => part,
        });
    }
    Ok(whole.unwrap_or_default())
}
