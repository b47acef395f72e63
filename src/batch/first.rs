//! Which list is the first that holds.

use super::Question;
use crate::ruleset::{First, RuleSet};
use crate::value::json::{PickedNode, Wanted};

/// Asks for the first list that holds; `None` for a line that is not JSON.
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
    type Answer = Option<First>;

    fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    fn ask(&self, record: &PickedNode<'_>) -> Self::Answer {
        Some(self.set.first(record))
    }

    fn bad(&self) -> Self::Answer {
        None
    }

    fn is_marked(&self, answer: &Self::Answer) -> bool {
        matches!(answer, Some(First::Undetermined(_)))
    }
}
