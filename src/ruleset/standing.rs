//! Which lists of a set do not fail for a record.

use super::walk::Verdict;
use crate::bits::{Bits, Ones};

/// The lists that hold and those that are undecided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    lists: usize,
    held: Bits,
    /// Without room until the first one.
    open: Bits,
}

impl Standing {
    /// None yet of so many lists.
    pub(super) fn of(lists: usize) -> Self {
        let mut held = Bits::default();
        held.reset(lists);
        Self { lists, held, open: Bits::default() }
    }

    pub(super) fn add(&mut self, list: usize, verdict: Verdict) {
        match verdict {
            Verdict::Pass => {
                self.held.insert(list);
            }
            Verdict::Undetermined => {
                if self.open.count() == 0 {
                    self.open.reset(self.lists);
                }
                self.open.insert(list);
            }
            Verdict::Fail => {}
        }
    }

    /// Adds lists that hold: a word with a bit for each, at its place among such words.
    pub(super) fn hold(&mut self, at: usize, lists: u64) {
        self.held.join(at, lists);
    }

    /// The positions of the lists that hold, in order.
    pub fn held(&self) -> Ones<'_> {
        self.held.iter()
    }

    /// The lists that hold as words, with a bit for each.
    pub fn words(&self) -> &[u64] {
        self.held.words()
    }

    /// The positions of the lists that are undecided, in order.
    pub fn open(&self) -> Ones<'_> {
        self.open.iter()
    }

    /// What one list says.
    pub fn verdict(&self, list: usize) -> Verdict {
        match (self.held.contains(list), self.open.contains(list)) {
            (true, _) => Verdict::Pass,
            (false, true) => Verdict::Undetermined,
            (false, false) => Verdict::Fail,
        }
    }
}
