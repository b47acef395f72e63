//! The texts that a part of a pattern matches, where they are few and short.

use std::collections::BTreeSet;

use super::ast::{Ast, Bound, ClassItem, FlagChange};
use super::set::UnitSet;

/// Most texts of a part.
pub(super) const WORDS: usize = 16;

/// Most units of a text.
const UNITS: usize = 256;

/// All texts that a part without assertions matches, if they are few.
pub(super) fn words(ast: &Ast) -> Option<BTreeSet<Vec<u32>>> {
    let found: BTreeSet<Vec<u32>> = match ast {
        Ast::Empty => [Vec::new()].into(),
        Ast::Unit(unit) => [vec![*unit]].into(),
        Ast::Class { negated: false, items } => {
            units(items)?.into_iter().map(|unit| vec![unit]).collect()
        }
        Ast::Group { body, .. }
        | Ast::Modified { change: FlagChange { ignore_case: None, .. }, body } => words(body)?,
        Ast::Concat(parts) => parts
            .iter()
            .try_fold([Vec::new()].into(), |before, part| followed(&before, &words(part)?))?,
        Ast::Alternate(branches) => {
            let mut all = BTreeSet::new();
            for branch in branches {
                all.append(&mut words(branch)?);
            }
            all
        }
        Ast::Repeat { body, min: Bound::Count(min), max: Some(Bound::Count(max)) }
            if *max <= 256 =>
        {
            let turn = words(body)?;
            let mut all = BTreeSet::new();
            let mut turns: BTreeSet<Vec<u32>> = [Vec::new()].into();
            for count in 0..=*max {
                if count >= *min {
                    all.extend(turns.iter().cloned());
                }
                if count < *max {
                    turns = followed(&turns, &turn)?;
                }
            }
            all
        }
        _ => return None,
    };
    (found.len() <= WORDS).then_some(found)
}

/// Each of the one followed by each of the other, if they are few and short.
fn followed(before: &BTreeSet<Vec<u32>>, after: &BTreeSet<Vec<u32>>) -> Option<BTreeSet<Vec<u32>>> {
    let longest = |words: &BTreeSet<Vec<u32>>| words.iter().map(Vec::len).max().unwrap_or(0);
    if longest(before) + longest(after) > UNITS {
        return None;
    }
    let all: BTreeSet<Vec<u32>> = before
        .iter()
        .flat_map(|head| after.iter().map(|tail| [head.as_slice(), tail].concat()))
        .collect();
    (all.len() <= WORDS).then_some(all)
}

/// The units of a class, if they are few.
fn units(items: &[ClassItem]) -> Option<Vec<u32>> {
    let mut ranges = Vec::new();
    for item in items {
        match item {
            ClassItem::Range(low, high) => ranges.push((*low, *high)),
            ClassItem::Builtin { set, negated: false } => {
                ranges.extend_from_slice(UnitSet::builtin(*set).ranges());
            }
            _ => return None,
        }
    }
    let set = UnitSet::new(ranges);
    let count: u32 = set.ranges().iter().map(|(low, high)| high - low + 1).sum();
    let few = usize::try_from(count).is_ok_and(|count| count <= WORDS);
    few.then(|| set.ranges().iter().flat_map(|(low, high)| *low..=*high).collect())
}
