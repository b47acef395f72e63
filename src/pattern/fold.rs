//! Case folding without `u` and `v` (ECMA-262, `Canonicalize`).
//!
//! Two units are equal when their upper-case mappings are, where a mapping counts only if it is
//! one unit and does not lead from outside ASCII into it. Halves never fold.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::set::UnitSet;

/// Groups of units that are equal to each other, only those of at least two.
fn groups() -> &'static [Vec<u32>] {
    static GROUPS: OnceLock<Vec<Vec<u32>>> = OnceLock::new();
    GROUPS.get_or_init(|| {
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for unit in 0..=0xFFFF {
            groups.entry(canonical(unit)).or_default().push(unit);
        }
        groups.into_values().filter(|group| group.len() > 1).collect()
    })
}

fn canonical(unit: u32) -> u32 {
    let Some(character) = char::from_u32(unit) else {
        return unit;
    };
    let mut upper = character.to_uppercase();
    match (upper.next().map(u32::from), upper.next()) {
        (Some(folded), None) if folded <= 0xFFFF && !(unit >= 0x80 && folded < 0x80) => folded,
        _ => unit,
    }
}

/// The set with every unit that equals one of its own.
pub(super) fn fold(set: &UnitSet) -> UnitSet {
    let more = groups()
        .iter()
        .filter(|group| group.iter().any(|unit| set.contains(*unit)))
        .flat_map(|group| group.iter().map(|unit| (*unit, *unit)));
    UnitSet::new(set.ranges().iter().copied().chain(more))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(character: char) -> Vec<char> {
        let set = fold(&UnitSet::new([(character.into(), character.into())]));
        (0..=0xFFFF).filter(|unit| set.contains(*unit)).filter_map(char::from_u32).collect()
    }

    #[test]
    fn ascii_letters_fold_within_ascii() {
        assert_eq!(folded('k'), ['K', 'k']);
        assert_eq!(folded('S'), ['S', 's']);
        assert_eq!(folded('1'), ['1']);
    }

    #[test]
    fn letters_whose_upper_case_is_longer_stand_alone() {
        assert_eq!(folded('ß'), ['ß']);
        assert_eq!(folded('σ'), ['Σ', 'ς', 'σ']);
        assert_eq!(folded('µ'), ['µ', 'Μ', 'μ']);
    }
}
