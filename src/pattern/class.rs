//! What a class matches: the set of its units and, under `v`, strings.

use std::collections::BTreeSet;

use super::Flags;
use super::ast::{Builtin, ClassItem};
use super::fold::{canonical_point, fold};
use super::set::UnitSet;

/// Single units, and strings of any other length.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    pub(super) set: UnitSet,
    pub(super) strings: BTreeSet<Vec<u32>>,
}

/// Lowers a class. It is folded before it is complemented.
pub(super) fn content(negated: bool, items: &[ClassItem], flags: Flags) -> Content {
    let mut strings = BTreeSet::new();
    let (mut plain, mut closed) = (Vec::new(), Vec::new());
    for item in items {
        let mut part = self::item(item, flags);
        strings.append(&mut part.strings);
        // These hold all that equals their own.
        let is_closed = matches!(
            item,
            ClassItem::Builtin { .. }
                | ClassItem::Class { .. }
                | ClassItem::Intersection(_)
                | ClassItem::Difference(_)
        );
        if is_closed { &mut closed } else { &mut plain }.extend_from_slice(part.set.ranges());
    }
    let mut set = folded(&UnitSet::new(plain), flags).union(&UnitSet::new(closed));
    if negated {
        set = set.complement(flags.last());
    }
    Content { set, strings }
}

/// How many strings are written in it, or meant by its properties.
pub(super) fn string_count(item: &ClassItem) -> usize {
    match item {
        ClassItem::Range(..) | ClassItem::Builtin { .. } | ClassItem::Property { .. } => 0,
        ClassItem::StringProperty(strings) => strings.longer.len(),
        ClassItem::Strings(strings) => strings.len(),
        ClassItem::Class { items, .. }
        | ClassItem::Intersection(items)
        | ClassItem::Difference(items) => items.iter().map(string_count).sum(),
    }
}

/// How many ranges it is written with, in its properties too.
pub(super) fn range_count(item: &ClassItem) -> usize {
    match item {
        ClassItem::Range(..) | ClassItem::Builtin { .. } | ClassItem::Strings(_) => 1,
        ClassItem::Property { set, .. } => set.ranges().len(),
        ClassItem::StringProperty(strings) => strings.set.ranges().len(),
        ClassItem::Class { items, .. }
        | ClassItem::Intersection(items)
        | ClassItem::Difference(items) => items.iter().map(range_count).sum(),
    }
}

/// A set with the folding in force.
pub(super) fn folded(set: &UnitSet, flags: Flags) -> UnitSet {
    if flags.ignore_case { fold(set, flags.unicode) } else { set.clone() }
}

fn item(item: &ClassItem, flags: Flags) -> Content {
    let set = match item {
        ClassItem::Range(low, high) => UnitSet::new([(*low, *high)]),
        ClassItem::Builtin { set, negated } => complemented(builtin(*set, flags), *negated, flags),
        // Under `v` folding comes first, under `u` the complement.
        ClassItem::Property { set, negated: true } if flags.unicode_sets => {
            folded(set, flags).complement(flags.last())
        }
        ClassItem::Property { set, negated } => complemented((**set).clone(), *negated, flags),
        ClassItem::StringProperty(strings) => {
            let longer = of_strings(&strings.longer, flags);
            return Content { set: strings.set.clone(), ..longer };
        }
        ClassItem::Strings(strings) => return of_strings(strings, flags),
        ClassItem::Class { negated, items } => return content(*negated, items, flags),
        ClassItem::Intersection(operands) => {
            return combined(operands, flags, |whole, part| {
                whole.set = whole.set.intersection(&part.set);
                whole.strings.retain(|string| part.strings.contains(string));
            });
        }
        ClassItem::Difference(operands) => {
            return combined(operands, flags, |whole, part| {
                whole.set = whole.set.difference(&part.set);
                for string in &part.strings {
                    whole.strings.remove(string);
                }
            });
        }
    };
    Content { set, strings: BTreeSet::new() }
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

/// The first operand, as the others change it one after the other.
fn combined(
    operands: &[ClassItem],
    flags: Flags,
    change: impl Fn(&mut Content, &Content),
) -> Content {
    // A class of one: folded.
    let mut parts =
        operands.iter().map(|operand| content(false, std::slice::from_ref(operand), flags));
    let mut whole = parts.next().unwrap_or_default();
    for part in parts {
        change(&mut whole, &part);
    }
    whole
}
