//! The first list that holds, as a column of numbers.

use super::Question;
use crate::ruleset::{First, RuleSet};
use crate::value::json::{PickedNode, Wanted};

/// Stands for a line that is not JSON.
const BAD: i32 = i32::MIN;

/// Which list is the first that holds: its position; -1 for none; -2 - n when list n is undecided.
#[derive(Debug)]
pub struct FirstOf<'s> {
    set: &'s RuleSet,
    wanted: Wanted,
}

impl<'s> FirstOf<'s> {
    /// Asks that of a set.
    pub fn new(set: &'s RuleSet) -> Self {
        Self { set, wanted: set.wanted() }
    }
}

impl Question for FirstOf<'_> {
    type Answer = i32;

    fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    fn ask(&self, record: &PickedNode<'_>) -> i32 {
        first_code(self.set.first(record))
    }

    fn bad(&self) -> i32 {
        BAD
    }

    fn is_marked(&self, answer: &i32) -> bool {
        *answer < -1 && *answer != BAD
    }
}

/// A number for a first list; one that no number is left for is counted as the last.
pub fn first_code(first: First) -> i32 {
    let position = |rule| i32::try_from(rule).unwrap_or(i32::MAX - 2);
    match first {
        First::Hit(rule) => position(rule),
        First::Miss => -1,
        First::Undetermined(rule) => -2 - position(rule),
    }
}
