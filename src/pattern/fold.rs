//! Case folding (ECMA-262, `Canonicalize`).
//!
//! Without `u` and `v` two units are equal when their upper-case mappings are, where a mapping
//! counts only if it is one unit and does not lead from outside ASCII into it. With them two code
//! points are equal when their simple case foldings are. Halves never fold.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::property;
use super::set::UnitSet;

/// Every unit that has equals, in order, each with the place of another of them: going on from one to
/// the next leads through all and back.
type Table = Vec<(u32, usize)>;

fn table(unicode: bool) -> &'static Table {
    static UNITS: OnceLock<Table> = OnceLock::new();
    static POINTS: OnceLock<Table> = OnceLock::new();
    if unicode {
        POINTS.get_or_init(|| table_of(&of_points()))
    } else {
        UNITS.get_or_init(|| table_of(&of_units()))
    }
}

/// Units with their equals in order, themselves among them.
type Groups = BTreeMap<u32, Vec<u32>>;

fn table_of(groups: &Groups) -> Table {
    let places: BTreeMap<u32, usize> = groups.keys().copied().zip(0..).collect();
    let next = |(unit, equals): (&u32, &Vec<u32>)| {
        let after = equals.iter().find(|equal| *equal > unit).or(equals.first())?;
        Some((*unit, *places.get(after)?))
    };
    groups.iter().filter_map(next).collect()
}

fn of_units() -> Groups {
    let mut groups = Groups::new();
    for unit in 0..=0xFFFF {
        let canonical = canonical_unit(unit);
        if canonical != unit {
            groups.entry(canonical).or_insert_with(|| vec![canonical]).push(unit);
        }
    }
    let members = |mut group: Vec<u32>| {
        group.sort_unstable();
        group.clone().into_iter().map(move |unit| (unit, group.clone()))
    };
    groups.into_values().flat_map(members).collect()
}

fn canonical_unit(unit: u32) -> u32 {
    let Some(character) = char::from_u32(unit) else {
        return unit;
    };
    let mut upper = character.to_uppercase();
    match (upper.next().map(u32::from), upper.next()) {
        (Some(folded), None) if folded <= 0xFFFF && !(unit >= 0x80 && folded < 0x80) => folded,
        _ => unit,
    }
}

/// Pairs that came with Unicode 17.0, later than the tables of `regex-syntax`: the first two, and
/// how many follow.
const NEW: [(u32, u32, u32); 4] =
    [(0xA7CE, 0xA7CF, 1), (0xA7D2, 0xA7D3, 1), (0xA7D4, 0xA7D5, 1), (0x1_6EA0, 0x1_6EBB, 25)];

fn of_points() -> Groups {
    let mut groups = Groups::new();
    for (upper, lower, count) in NEW {
        for pair in (0..count).map(|step| vec![upper + step, lower + step]) {
            groups.extend(pair.clone().into_iter().map(|point| (point, pair.clone())));
        }
    }
    for point in property::cased().ranges().iter().flat_map(|(low, high)| *low..=*high) {
        let Some(character) = char::from_u32(point) else { continue };
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
        if class.try_case_fold_simple().is_err() {
            continue;
        }
        let equals: Vec<u32> = class
            .iter()
            .flat_map(|range| u32::from(range.start())..=u32::from(range.end()))
            .collect();
        if equals.len() > 1 {
            groups.insert(point, equals);
        }
    }
    groups
}

/// The set with every unit that equals one of its own.
pub(super) fn fold(set: &UnitSet, unicode: bool) -> UnitSet {
    let table = table(unicode);
    let place = |unit: u32| table.partition_point(|(other, _)| *other < unit);
    let spans: Vec<Range<usize>> =
        set.ranges().iter().map(|(low, high)| place(*low)..place(high + 1)).collect();
    let from = spans.first().map_or(0, |span| span.start);
    let to = spans.last().map_or(from, |span| span.end);
    let mut held = vec![false; to - from];
    for span in &spans {
        held.get_mut(span.start - from..span.end - from).unwrap_or_default().fill(true);
    }
    let is_held = |at: usize| at.checked_sub(from).and_then(|at| held.get(at)) == Some(&true);
    let next = |at: usize| table.get(at).map(|(_, next)| *next).filter(|next| !is_held(*next));
    let mut more = Vec::new();
    for at in spans.into_iter().flatten() {
        // As far as the next one in the set, at last this one again.
        for equal in std::iter::successors(next(at), |at| next(*at)) {
            more.extend(table.get(equal).map(|(unit, _)| (*unit, *unit)));
        }
    }
    if more.is_empty() {
        return set.clone();
    }
    UnitSet::new(set.ranges().iter().copied().chain(more))
}

/// The code point that stands for all that equal this one under `u` and `v`.
pub(super) fn canonical_point(point: u32) -> u32 {
    let equals = fold(&UnitSet::new([(point, point)]), true);
    equals.ranges().first().map_or(point, |(first, _)| *first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(character: char, unicode: bool) -> Vec<char> {
        let set = fold(&UnitSet::new([(character.into(), character.into())]), unicode);
        (0..=0x10_FFFF).filter(|unit| set.contains(*unit)).filter_map(char::from_u32).collect()
    }

    #[test]
    fn ascii_letters_fold_within_ascii() {
        assert_eq!(folded('k', false), ['K', 'k']);
        assert_eq!(folded('S', false), ['S', 's']);
        assert_eq!(folded('1', false), ['1']);
    }

    #[test]
    fn letters_whose_upper_case_is_longer_stand_alone() {
        assert_eq!(folded('ß', false), ['ß']);
        assert_eq!(folded('σ', false), ['Σ', 'ς', 'σ']);
        assert_eq!(folded('µ', false), ['µ', 'Μ', 'μ']);
    }

    #[test]
    fn code_points_fold_over_all_of_unicode() {
        assert_eq!(folded('K', true), ['K', 'k', '\u{212A}']);
        assert_eq!(folded('ß', true), ['ß', 'ẞ']);
        assert_eq!(folded('𐐀', true), ['𐐀', '𐐨']);
        assert_eq!(folded('İ', true), ['İ']);
    }

    #[test]
    fn the_way_through_the_equals_comes_back() {
        for unicode in [false, true] {
            let table = table(unicode);
            for at in 0..table.len() {
                let mut way = std::iter::successors(Some(at), |at| table.get(*at).map(|one| one.1));
                assert!(way.by_ref().skip(1).take(5).any(|next| next == at), "{at}");
            }
        }
    }

    #[test]
    fn equals_have_one_representative() {
        assert_eq!(canonical_point(0x212A), canonical_point(0x6B));
        assert_eq!(canonical_point(0x31), 0x31);
    }
}
