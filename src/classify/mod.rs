//! What kind of error, and what next: signals against tables, in a fixed order of precedence.

mod rule;
mod tables;

use std::borrow::Cow;

pub use rule::{Rule, RuleAnswer, RulePattern};
pub use tables::Tables;

macro_rules! names {
    ($(#[$doc:meta])+ $kind:ident: $($(#[$entry:meta])+ $name:ident = $text:literal,)+) => {
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind { $($(#[$entry])+ $name,)+ }

        impl $kind {
            /// Every one, in the order they are listed to people.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its name in data.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// The one of that name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == name)
            }
        }
    };
}

names! {
    /// What kind of error.
    Class:
    /// No error.
    Ok = "ok",
    /// Passes by itself.
    Transient = "transient",
    /// Took too long.
    Timeout = "timeout",
    /// The other side is not there, or overloaded.
    Unavailable = "unavailable",
    /// Asked too often.
    RateLimited = "rate_limited",
    /// An allowance is spent; no wait heals it soon.
    Quota = "quota",
    /// Who is asking is not known.
    Auth = "auth",
    /// Who is asking may not.
    Permission = "permission",
    /// What was asked for is not there.
    NotFound = "not_found",
    /// The request itself is wrong.
    BadRequest = "bad_request",
    /// Something else stands in the way.
    Conflict = "conflict",
    /// The input is too large.
    TooLarge = "too_large",
    /// Not offered at all.
    Unsupported = "unsupported",
    /// Memory, disk, handles.
    Capacity = "capacity",
    /// What came does not add up.
    Integrity = "integrity",
    /// Somebody stopped it.
    Cancelled = "cancelled",
    /// It is elsewhere.
    Redirect = "redirect",
    /// A fault of a program.
    Bug = "bug",
    /// Nothing is known.
    Unknown = "unknown",
}

names! {
    /// What to do next.
    Action:
    /// Nothing is wrong.
    Continue = "continue",
    /// Try again at once.
    Retry = "retry",
    /// Try again after the wait that was named.
    RetryAfter = "retry_after",
    /// Try again, with a growing pause.
    Backoff = "backoff",
    /// Get new credentials first.
    Reauth = "reauth",
    /// Ask for less.
    ReduceInput = "reduce_input",
    /// Ask somebody.
    Escalate = "escalate",
    /// Leave it out.
    Skip = "skip",
    /// Give up.
    Fail = "fail",
}

/// A class and an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What kind of error.
    pub class: Class,
    /// What to do next.
    pub action: Action,
}

impl Outcome {
    const fn new(class: Class, action: Action) -> Self {
        Self { class, action }
    }

    fn named(class: &str, action: &str) -> Option<Self> {
        Some(Self { class: Class::named(class)?, action: Action::named(action)? })
    }
}

/// What is known of an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signals<'a> {
    /// An HTTP status.
    pub status: Option<i64>,
    /// The exit code of a process.
    pub exit_code: Option<i64>,
    /// The name of a signal, such as `SIGKILL`, in any case.
    pub signal: Option<&'a str>,
    /// An error code, such as `ECONNRESET`.
    pub code: Option<&'a str>,
    /// What was said.
    pub message: Option<&'a str>,
    /// How long the server asks to wait.
    pub wait_ms: Option<i64>,
    /// Whether this was the last attempt that is allowed.
    pub exhausted: bool,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified<'a> {
    /// Class and final action.
    pub outcome: Outcome,
    /// How long to wait, in milliseconds.
    pub wait_ms: Option<i64>,
    /// Which entry decided.
    pub matched: Cow<'a, str>,
    /// What kind of entry that was.
    pub source: &'static str,
}

impl Classified<'_> {
    /// Whether the action is one that tries again; it follows the action, never the class.
    pub fn retryable(&self) -> bool {
        matches!(self.outcome.action, Action::Retry | Action::RetryAfter | Action::Backoff)
    }
}

/// Classifies by caller rules, status, signal, exit code, code and message, in this order.
pub fn classify<'a>(signals: &Signals<'a>, rules: &'a [Rule]) -> Classified<'a> {
    let found = by_rules(signals, rules).or_else(|| by_tables(signals));
    let nothing = Outcome::new(Class::Unknown, Action::Escalate);
    let found = found.unwrap_or_else(|| Found::new(nothing, "default", "default"));
    found.finish(signals)
}

/// An entry that matched, before waits and attempts are looked at.
struct Found<'a> {
    outcome: Outcome,
    matched: Cow<'a, str>,
    source: &'static str,
    own_wait_ms: Option<i64>,
}

impl<'a> Found<'a> {
    fn new(outcome: Outcome, matched: impl Into<Cow<'a, str>>, source: &'static str) -> Self {
        Self { outcome, matched: matched.into(), source, own_wait_ms: None }
    }

    /// A server's wait outranks a plain retry; a timed retry without a wait is a backoff; the last
    /// attempt is not followed by another.
    fn finish(self, signals: &Signals<'_>) -> Classified<'a> {
        let mut outcome = self.outcome;
        let wait_ms = self.own_wait_ms.or(signals.wait_ms);
        let passes = matches!(
            outcome.class,
            Class::Transient
                | Class::Timeout
                | Class::Unavailable
                | Class::RateLimited
                | Class::Capacity
        );
        if outcome.action == Action::Retry && passes && signals.wait_ms.is_some() {
            outcome.action = Action::RetryAfter;
        }
        if outcome.action == Action::RetryAfter && wait_ms.is_none() {
            outcome.action = Action::Backoff;
        }
        let mut done = Classified { outcome, wait_ms, matched: self.matched, source: self.source };
        if signals.exhausted && done.retryable() {
            done.outcome.action = Action::Escalate;
        }
        done
    }
}

fn by_rules<'a>(signals: &Signals<'a>, rules: &'a [Rule]) -> Option<Found<'a>> {
    for rule in rules {
        match rule.answer(signals) {
            RuleAnswer::Misses => {}
            RuleAnswer::Holds => {
                let mut found = Found::new(rule.outcome, &*rule.id, "custom");
                found.own_wait_ms = rule.wait_ms;
                return Some(found);
            }
            RuleAnswer::Undetermined => {
                let nothing = Outcome::new(Class::Unknown, Action::Escalate);
                return Some(Found::new(nothing, &*rule.id, "undetermined"));
            }
        }
    }
    None
}

fn by_tables<'a>(signals: &Signals<'a>) -> Option<Found<'a>> {
    let tables = Tables::get();
    signals
        .status
        .and_then(|status| by_status(tables, status))
        .or_else(|| by_signal(tables, signals.signal?))
        .or_else(|| by_exit_code(tables, signals.exit_code?))
        .or_else(|| {
            let code = signals.code?;
            Some(Found::new(tables.code(code)?, format!("code:{code}"), "code"))
        })
        .or_else(|| {
            let (phrase, outcome) = tables.message(signals.message?)?;
            Some(Found::new(outcome, format!("message:{phrase}"), "message"))
        })
}

/// A status of its own, else its hundred; below 200 nothing is said.
fn by_status(tables: &Tables, status: i64) -> Option<Found<'static>> {
    if let Some(outcome) = tables.status(status) {
        return Some(Found::new(outcome, format!("status:{status}"), "status"));
    }
    let (outcome, matched) = match status {
        ..200 => return None,
        200..300 => (Outcome::new(Class::Ok, Action::Continue), "status:2xx"),
        300..400 => (Outcome::new(Class::Redirect, Action::Fail), "status:3xx"),
        400..500 => (Outcome::new(Class::BadRequest, Action::Fail), "status:4xx"),
        500.. => (Outcome::new(Class::Transient, Action::Retry), "status:5xx"),
    };
    Some(Found::new(outcome, matched, "status"))
}

fn by_signal(tables: &Tables, name: &str) -> Option<Found<'static>> {
    let (name, outcome) = tables.signal(&name.to_uppercase())?;
    Some(Found::new(outcome, format!("signal:{name}"), "signal"))
}

fn by_exit_code(tables: &Tables, code: i64) -> Option<Found<'static>> {
    if let Some(outcome) = tables.exit(code) {
        return Some(Found::new(outcome, format!("exit:{code}"), "exit"));
    }
    let name = tables.exit_signal(code)?;
    let (_, outcome) = tables.signal(name)?;
    Some(Found::new(outcome, format!("exit:{code} ({name})"), "signal"))
}
