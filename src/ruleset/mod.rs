//! The one engine: which of N condition lists hold for a record?
//!
//! Compiling finds the *distinct* paths and predicates of all lists; deciding resolves each path
//! and answers each predicate at most once a record, and only when it is needed. Many rules are
//! indexed, so that only those are tried that can hold.

mod compile;
mod index;
mod read;
mod report;
#[cfg(feature = "arrow")]
mod rows;
mod standing;
mod walk;

pub use compile::Compiled;
pub use read::Shape;
pub use report::{CheckResult, RuleReport};
#[cfg(feature = "arrow")]
pub use rows::{Memos, RowQuery, TOGETHER};
pub use standing::Standing;
pub use walk::{First, Verdict};

use std::sync::Arc;

use self::index::Index;
use crate::check::{Check, Test};
use crate::path::{Path, Segment};
use crate::value::Step;
use crate::value::json::Wanted;

/// N condition lists, compiled. Immutable; shared between threads.
#[derive(Debug)]
pub struct RuleSet {
    /// The paths as a tree: each place is one step from its parent. The first is the root.
    places: Vec<Place>,
    predicates: Vec<Predicate>,
    /// How many predicates keep their answer.
    memos: usize,
    /// The checks of all rules in order.
    checks: Vec<Member>,
    rules: Vec<Rule>,
    /// Where it is expected to be faster than walking over the rules.
    index: Option<Index>,
}

#[derive(Debug)]
struct Place {
    parent: usize,
    /// Position of the segment in its path.
    depth: usize,
    segment: Option<Segment>,
}

/// A test at a place, shared by every check that asks the same.
#[derive(Debug)]
struct Predicate {
    place: usize,
    /// Where its answer is kept for the record; only what is asked twice is worth keeping.
    memo: Option<usize>,
    negated: bool,
    test: Test,
}

#[derive(Debug)]
struct Member {
    check: Check,
    /// `None` when the path is malformed; the test is broken then.
    path: Option<Arc<Path>>,
    predicate: usize,
}

#[derive(Debug)]
struct Rule {
    name: Option<Box<[u8]>>,
    any: bool,
    /// Its checks: a range of [`RuleSet::checks`].
    start: usize,
    end: usize,
}

impl RuleSet {
    /// How many condition lists there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The name of a list in generalised UTF-8, when it has one.
    pub fn name(&self, rule: usize) -> Option<&[u8]> {
        self.rules.get(rule)?.name.as_deref()
    }

    /// How many checks a list holds, and whether one of them is enough.
    pub fn requirement(&self, rule: usize) -> Option<(usize, bool)> {
        self.rules.get(rule).map(|rule| (rule.end.saturating_sub(rule.start), rule.any))
    }

    /// The places that all paths lead through.
    pub fn wanted(&self) -> Wanted {
        Wanted::new(self.places.iter().map(|place| {
            let step = place.segment.as_ref().map_or(Step::key(b""), |segment| segment.step(None));
            (place.parent, step.key, step.index)
        }))
    }

    /// The keys of all paths, by the slot under which a step names them; the root has none.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|place| place.segment.as_ref().map_or(&[][..], Segment::key))
    }
}
