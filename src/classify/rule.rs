//! Rules of a caller: asked before every table.

use std::sync::Arc;

use memchr::memmem;

use super::{Entry, Outcome, Said, Signals};
use crate::pattern::Pattern;
use crate::value::text::{code_points, from_points};

/// A rule; all conditions that are given must hold.
#[derive(Debug)]
pub struct Rule {
    /// Its name.
    pub id: Arc<str>,
    /// A text that message or code must hold, in any case; kept in lower case
    /// and generalised UTF-8.
    pub contains: Option<Box<[u8]>>,
    /// A pattern that message or code must match.
    pub matches: Option<RulePattern>,
    /// A status.
    pub status: Option<i64>,
    /// An exit code.
    pub exit_code: Option<i64>,
    /// What it says.
    pub outcome: Outcome,
    /// How long to wait, in milliseconds; outranks the server's wait.
    pub wait_ms: Option<i64>,
}

/// The pattern of a rule.
#[derive(Debug)]
pub enum RulePattern {
    /// One that runs.
    Runs(Arc<Pattern>),
    /// ECMAScript that is not run: whatever it is asked about is undetermined.
    Undetermined,
}

/// What a rule says of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleAnswer {
    /// All its conditions hold.
    Holds,
    /// One does not.
    Misses,
    /// It hangs on a pattern that could not be decided.
    Undetermined,
}

impl Rule {
    pub(super) fn entry(&self) -> Entry {
        Entry::Rule(Arc::clone(&self.id))
    }

    /// Answers for an error; numbers before texts, texts before patterns.
    pub fn answer(&self, signals: &Signals<'_>) -> RuleAnswer {
        let differs = |wanted: Option<i64>, given: Option<i64>| wanted.is_some() && wanted != given;
        if differs(self.status, signals.status) || differs(self.exit_code, signals.exit_code) {
            return RuleAnswer::Misses;
        }
        // Message and code are looked at apart: a phrase must not straddle them.
        let texts = || [signals.message, signals.code].into_iter().flatten();
        if let Some(part) = &self.contains
            && !texts().any(|text| memmem::find(&lower(text.exact), part).is_some())
        {
            return RuleAnswer::Misses;
        }
        match &self.matches {
            None => RuleAnswer::Holds,
            Some(RulePattern::Undetermined) if texts().next().is_none() => RuleAnswer::Misses,
            Some(RulePattern::Undetermined) => RuleAnswer::Undetermined,
            Some(RulePattern::Runs(pattern)) => found_in(pattern, texts()),
        }
    }
}

/// A match in any text decides; else a text that could not be searched leaves it open.
fn found_in<'a>(pattern: &Pattern, texts: impl Iterator<Item = Said<'a>>) -> RuleAnswer {
    let mut answer = RuleAnswer::Misses;
    for text in texts {
        match pattern.test(text.exact) {
            Ok(true) => return RuleAnswer::Holds,
            Ok(false) => {}
            Err(_) => answer = RuleAnswer::Undetermined,
        }
    }
    answer
}

/// A text in generalised UTF-8 in lower case; halves of pairs have none.
pub fn lower(text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_lowercase().into_bytes(),
        Err(_) => from_points(code_points(text).flat_map(|point| {
            let letter = char::from_u32(point);
            let lower = letter.into_iter().flat_map(char::to_lowercase).map(u32::from);
            lower.chain(letter.is_none().then_some(point))
        })),
    }
}
