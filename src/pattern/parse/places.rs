//! Positions in the source as a person counts them: in characters, not in halves.

use super::Parser;
use crate::value::text::from_points;

impl Parser<'_> {
    /// Characters before a position: a low half after a high one is no character of its own.
    pub(super) fn place(&self, at: usize) -> usize {
        at - self.second_halves.partition_point(|second| *second < at)
    }

    /// What stands from `start` to here, in whole characters, for a message.
    pub(super) fn since(&self, start: usize) -> String {
        let end = self.at + usize::from(self.is_second_half(self.at));
        let units = self.source.get(self.whole(start)..end).unwrap_or_default();
        let text = from_points(units.iter().copied());
        String::from_utf8_lossy(&text).chars().take(40).collect()
    }

    pub(super) fn is_second_half(&self, at: usize) -> bool {
        self.second_halves.binary_search(&at).is_ok()
    }

    /// Where the character starts that the unit at a position belongs to.
    pub(super) fn whole(&self, at: usize) -> usize {
        at - usize::from(self.is_second_half(at))
    }
}
