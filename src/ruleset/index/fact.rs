//! Facts: what is found out once about a place of a record, and answers all its tests.

use std::sync::Arc;

use super::codes::{CodeSet, Codes};
use super::text::{Heads, Hits, Parts};
use crate::bits::Bits;
use crate::check::Test;
use crate::path::Resolved;
use crate::pattern::{Many, Pattern};
use crate::ruleset::walk::Verdict;
use crate::value::{Node, Scalar, View};

/// Something to find out about a place.
#[derive(Debug)]
pub(super) struct Probe {
    pub(super) place: usize,
    kind: Kind,
}

/// What is found out.
#[derive(Debug)]
enum Kind {
    /// Which value it is, as far as the operands tell.
    Codes(Codes),
    /// Which texts it starts with.
    Heads(Heads),
    /// Which texts it ends with; they are kept backwards.
    Tails(Heads),
    /// Which texts it holds.
    Parts(Parts),
    /// Which patterns are found in it.
    Patterns(Box<Many>),
}

/// What was found out.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    /// Not asked yet.
    Unknown,
    /// Every test fails, negated ones too: there is no value, or one of a kind that none takes.
    Absent,
    /// The probe does not tell; the tests are answered one by one.
    Open,
    /// The code of the value.
    Code(u32),
    /// The texts that were found, or the patterns, in order.
    Hits(Hits),
}

/// A test as a question to a fact.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) probe: usize,
    pub(super) negated: bool,
    pub(super) wanted: Wanted,
}

/// What satisfies a question.
#[derive(Debug)]
pub(super) enum Wanted {
    /// One of these codes.
    Codes(CodeSet),
    /// This text, or pattern, among those found.
    Hit(u32),
}

/// What the tests of a place have in common that one probe answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    Codes,
    Heads,
    Tails,
    Parts,
    Patterns,
}

/// Fewer texts than this at a place are looked for one by one.
const WORDS: usize = 4;

impl Family {
    /// The family of a test; `None` when no probe answers it.
    pub(super) fn of(test: &Test) -> Option<Self> {
        match test {
            Test::Equals(_) | Test::OneOf(_) => {
                super::codes::operands(test).is_some().then_some(Self::Codes)
            }
            Test::Order(..) => Some(Self::Codes),
            Test::Matches(_) => Some(Self::Patterns),
            Test::StartsWith(_) => Some(Self::Heads),
            Test::EndsWith(_) => Some(Self::Tails),
            // A string holds only strings: of another operand a probe could not tell.
            Test::Contains(operand) => operand.as_text().map(|_| Self::Parts),
            _ => None,
        }
    }
}

impl Probe {
    /// A probe that answers all of these tests, which are of one family; `None` when that is no
    /// gain.
    pub(super) fn new(place: usize, family: Family, tests: &[&Test]) -> Option<Self> {
        let words = || {
            let mut texts: Vec<Box<[u8]>> = tests.iter().filter_map(|test| word(test)).collect();
            texts.sort_unstable();
            texts.dedup();
            (texts.len() >= WORDS).then(|| texts.into_boxed_slice())
        };
        let patterns = || {
            let patterns: Vec<Arc<Pattern>> =
                tests.iter().filter_map(|test| pattern(test)).collect();
            (patterns.len() >= Many::FEWEST).then(|| Box::new(Many::new(&patterns)))
        };
        let kind = match family {
            Family::Codes => Kind::Codes(Codes::new(tests.iter().copied())),
            Family::Heads => Kind::Heads(Heads::new(words()?)),
            Family::Tails => Kind::Tails(Heads::new(words()?)),
            Family::Parts => Kind::Parts(Parts::new(words()?)?),
            Family::Patterns => Kind::Patterns(patterns()?),
        };
        Some(Self { place, kind })
    }

    /// What satisfies a test.
    pub(super) fn wanted(&self, test: &Test) -> Option<Wanted> {
        let position = match &self.kind {
            Kind::Codes(codes) => return codes.set(test).map(Wanted::Codes),
            Kind::Heads(heads) | Kind::Tails(heads) => heads.position(&word(test)?)?,
            Kind::Parts(parts) => parts.position(&word(test)?)?,
            Kind::Patterns(many) => many.position(&pattern(test)?)?,
        };
        u32::try_from(position).ok().map(Wanted::Hit)
    }

    /// How many codes its facts may have; `None` when they are no codes.
    pub(super) fn codes(&self) -> Option<usize> {
        match &self.kind {
            Kind::Codes(codes) => Some(codes.count()),
            _ => None,
        }
    }

    /// Finds out.
    pub(super) fn ask<N: Node>(&self, found: Option<&Resolved<N>>) -> Fact {
        let node = match found {
            Some(Resolved::Found(node)) => node,
            None | Some(Resolved::Unreadable(_)) => return Fact::Open,
            Some(_) => return Fact::Absent,
        };
        if let Some(scalar) = node.scalar() {
            return self.of_scalar(scalar);
        }
        let Ok(view) = node.view() else { return Fact::Open };
        if let Some(scalar) = view.scalar() {
            return self.of_scalar(scalar);
        }
        match (&self.kind, &view) {
            (_, View::Opaque(_)) => Fact::Absent,
            (Kind::Codes(codes), view) => Fact::Code(codes.of_other(view)),
            (Kind::Parts(parts), View::Array) => parts.items(node).map_or(Fact::Open, Fact::Hits),
            (Kind::Parts(_), View::Object) => Fact::Open,
            _ => Fact::Absent,
        }
    }

    fn of_scalar(&self, scalar: Scalar<'_>) -> Fact {
        match (&self.kind, scalar) {
            (Kind::Codes(codes), scalar) => codes.of(scalar).map_or(Fact::Open, Fact::Code),
            (Kind::Heads(heads), Scalar::Text(text)) => Fact::Hits(heads.find(text)),
            (Kind::Tails(tails), Scalar::Text(text)) => Fact::Hits(tails.find(&backwards(text))),
            (Kind::Parts(parts), Scalar::Text(text)) => Fact::Hits(parts.find(text)),
            (Kind::Patterns(many), Scalar::Text(text)) => found(many, text),
            _ => Fact::Absent,
        }
    }
}

impl Question {
    /// The answer by a fact; `None` when the fact does not tell.
    pub(super) fn answer(&self, fact: &Fact) -> Option<Verdict> {
        let found = match (fact, &self.wanted) {
            (Fact::Code(code), Wanted::Codes(set)) => set.holds(*code),
            (Fact::Hits(hits), Wanted::Hit(hit)) => hits.binary_search(hit).is_ok(),
            (Fact::Absent, _) => return Some(Verdict::Fail),
            _ => return None,
        };
        Some(if found == self.negated { Verdict::Fail } else { Verdict::Pass })
    }
}

/// The patterns that are found in a text; not told where one refuses it.
fn found(many: &Many, text: &[u8]) -> Fact {
    let mut found = Bits::default();
    match many.which(text, &mut found) {
        Ok(()) => Fact::Hits(found.iter().filter_map(|at| u32::try_from(at).ok()).collect()),
        Err(_) => Fact::Open,
    }
}

fn pattern(test: &Test) -> Option<Arc<Pattern>> {
    match test {
        Test::Matches(pattern) => Some(Arc::clone(pattern)),
        _ => None,
    }
}

/// The text that a test looks for, as its probe keeps it.
fn word(test: &Test) -> Option<Box<[u8]>> {
    match test {
        Test::StartsWith(head) => Some(head.clone()),
        Test::EndsWith(tail) => Some(backwards(tail).into()),
        Test::Contains(operand) => operand.as_text().map(Into::into),
        _ => None,
    }
}

fn backwards(text: &[u8]) -> Vec<u8> {
    text.iter().rev().copied().collect()
}
