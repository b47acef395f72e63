//! Which lists do not fail.

use super::Question;
use crate::ruleset::{RuleSet, Standing};
use crate::value::json::{PickedNode, Wanted};

/// Asks which lists do not fail; `None` for a line that is not JSON.
#[derive(Debug)]
pub struct StandingOf<'s> {
    set: &'s RuleSet,
    wanted: Wanted,
}

impl<'s> StandingOf<'s> {
    /// Asks that of a set.
    pub fn new(set: &'s RuleSet) -> Self {
        Self { set, wanted: set.wanted() }
    }
}

impl Question for StandingOf<'_> {
    type Answer = Option<Standing>;

    fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    fn ask(&self, record: &PickedNode<'_>) -> Self::Answer {
        Some(self.set.standing(record))
    }

    fn bad(&self) -> Self::Answer {
        None
    }

    fn is_marked(&self, answer: &Self::Answer) -> bool {
        answer.as_ref().is_some_and(|standing| standing.open().len() > 0)
    }
}
