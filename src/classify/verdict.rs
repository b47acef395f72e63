//! What decided, and the answer that comes of it: waits and attempts are looked at here, once.

use std::fmt;
use std::sync::Arc;

use super::{Action, Class, Outcome, Signals, waits};
use crate::instant::RetryAfter;

/// The kind of entry that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A rule of the caller.
    Custom,
    /// A rule of the caller that could not be decided.
    Undetermined,
    /// A rule of a pack.
    Pack,
    /// An HTTP status.
    Status,
    /// A signal, also by way of an exit code.
    Signal,
    /// An exit code.
    Exit,
    /// An error code.
    Code,
    /// A phrase of a message.
    Message,
    /// Nothing.
    Default,
}

impl Source {
    /// Its name in data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Custom => "custom",
            Self::Undetermined => "undetermined",
            Self::Pack => "pack",
            Self::Status => "status",
            Self::Signal => "signal",
            Self::Exit => "exit",
            Self::Code => "code",
            Self::Message => "message",
            Self::Default => "default",
        }
    }
}

/// The entry that decided; it is spelled only when somebody asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A rule of the caller.
    Rule(Arc<str>),
    /// A name that stands as it is: of a pack's rule, `status:5xx`, `default`.
    Named(&'static str),
    /// A status.
    Status(i64),
    /// A signal.
    Signal(&'static str),
    /// An exit code.
    Exit(i64),
    /// An exit code that stands for a signal.
    ExitSignal(i64, &'static str),
    /// An error code as the table has it.
    Code(&'static str),
    /// An error code as it was given, where the table has it in upper case.
    GivenCode(Box<str>),
    /// A phrase.
    Message(&'static str),
}

impl fmt::Display for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(name) => out.write_str(name),
            Self::Named(name) => out.write_str(name),
            Self::Status(status) => write!(out, "status:{status}"),
            Self::Signal(name) => write!(out, "signal:{name}"),
            Self::Exit(code) => write!(out, "exit:{code}"),
            Self::ExitSignal(code, name) => write!(out, "exit:{code} ({name})"),
            Self::Code(code) => write!(out, "code:{code}"),
            Self::GivenCode(code) => write!(out, "code:{code}"),
            Self::Message(phrase) => write!(out, "message:{phrase}"),
        }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Class and final action.
    pub outcome: Outcome,
    /// How long to wait, and until when where an instant was named.
    pub wait: RetryAfter,
    /// Which entry decided.
    pub matched: Entry,
    /// What kind of entry that was.
    pub source: Source,
}

/// An entry that matched, before waits and attempts are looked at.
pub(super) struct Found {
    pub(super) outcome: Outcome,
    pub(super) matched: Entry,
    pub(super) source: Source,
    /// A wait of the entry's own. A caller's rule knows better than the server, a pack does not.
    pub(super) wait_ms: Option<i64>,
}

impl Found {
    pub(super) fn new(outcome: Outcome, matched: Entry, source: Source) -> Self {
        Self { outcome, matched, source, wait_ms: None }
    }

    pub(super) fn named(outcome: Outcome, name: &'static str, source: Source) -> Self {
        Self::new(outcome, Entry::Named(name), source)
    }

    /// A server's wait outranks a plain retry; a timed retry without a wait is a backoff; the last
    /// attempt is not followed by another, nor is a wait beyond the caller's ceiling.
    pub(super) fn finish(self, signals: &Signals<'_>) -> Verdict {
        let mut outcome = self.outcome;
        // PERF: few errors name a wait.
        let may_name = signals.retry_after.is_some() || signals.more.is_some();
        let named =
            if may_name { waits::named(signals, outcome.class) } else { RetryAfter::default() };
        let is_named = named != RetryAfter::default();
        let outranks = self.source == Source::Custom || !is_named;
        let own = self.wait_ms.filter(|_| outranks);
        let wait = own.map_or(named, |wait| RetryAfter { wait: Some(wait), until: None });
        let passes = matches!(
            outcome.class,
            Class::Transient
                | Class::Timeout
                | Class::Unavailable
                | Class::RateLimited
                | Class::Capacity
        );
        if outcome.action == Action::Retry && passes && is_named {
            outcome.action = Action::RetryAfter;
        }
        if outcome.action == Action::RetryAfter && wait == RetryAfter::default() {
            outcome.action = Action::Backoff;
        }
        // A date without a present is a wait of any length.
        let too_long = signals
            .max_wait_ms
            .is_some_and(|most| wait.wait.map_or(wait.until.is_some(), |wait| wait > most));
        if (signals.exhausted || too_long) && outcome.action.tries_again() {
            outcome.action = Action::Escalate;
        }
        Verdict { outcome, wait, matched: self.matched, source: self.source }
    }
}
