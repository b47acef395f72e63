//! What kind of error, and what next: signals against tables, in a fixed order of precedence.

mod data;
mod evidence;
mod outcome;
mod packs;
mod phrases;
mod program;
mod rule;
mod signals;
mod stream;
mod tables;
mod verdict;
mod waits;

pub use evidence::Evidence;
pub use outcome::{Action, Class, Outcome};
pub use packs::{Pack, Packs};
pub use rule::{Rule, RuleAnswer, RulePattern, lower};
pub use signals::{More, Said, Signals, is_success};
pub use tables::Tables;
pub use verdict::{Entry, Source, Verdict};

use verdict::Found;

/// What is asked before the tables.
#[derive(Debug, Default)]
pub struct Classifier {
    /// Rules of the caller.
    pub rules: Vec<Rule>,
    /// Which packs may be asked, by their place in [`Packs::all`]; all when `None`.
    pub packs: Option<Vec<bool>>,
}

impl Classifier {
    /// Classifies by caller rules, packs, status, signal, exit code, code and message, in this
    /// order. Packs are asked only of what a [`More`] comes with.
    pub fn classify<'a>(&'a self, signals: &Signals<'a>) -> Verdict<'a> {
        let nothing = Outcome::new(Class::Unknown, Action::Escalate);
        self.by_rules(signals)
            .or_else(|| {
                let more =
                    signals.more.filter(|_| !signals.is_success() || signals.is_contradicted())?;
                Packs::get().ask(signals, more, self.packs.as_deref())
            })
            .or_else(|| by_tables(signals))
            .unwrap_or_else(|| Found::named(nothing, "default", Source::Default))
            .finish(signals)
    }

    fn by_rules<'a>(&'a self, signals: &Signals<'_>) -> Option<Found<'a>> {
        for rule in &self.rules {
            match rule.answer(signals) {
                RuleAnswer::Misses => {}
                RuleAnswer::Holds => {
                    let mut found = Found::new(rule.outcome, rule.entry(), Source::Custom);
                    found.wait_ms = rule.wait_ms;
                    return Some(found);
                }
                RuleAnswer::Undetermined => {
                    let nothing = Outcome::new(Class::Unknown, Action::Escalate);
                    return Some(Found::new(nothing, rule.entry(), Source::Undetermined));
                }
            }
        }
        None
    }
}

fn by_tables<'a>(signals: &Signals<'a>) -> Option<Found<'a>> {
    let tables = Tables::get();
    signals
        .heard_status()
        .and_then(|status| by_status(tables, status))
        .or_else(|| by_signal(tables, signals.signal?))
        .or_else(|| by_exit_code(tables, signals.heard_exit_code()?))
        .or_else(|| signals.codes().find_map(|code| by_code(tables, code)))
        .or_else(|| signals.texts().find_map(|text| by_message(tables, text)))
}

/// A status of its own, else its hundred; below 200 nothing is said.
fn by_status(tables: &Tables, status: i64) -> Option<Found<'static>> {
    if let Some(outcome) = tables.status(status) {
        return Some(Found::new(outcome, Entry::Status(status), Source::Status));
    }
    let (outcome, matched) = match status {
        ..200 => return None,
        200..300 => (Outcome::new(Class::Ok, Action::Continue), "status:2xx"),
        300..400 => (Outcome::new(Class::Redirect, Action::Fail), "status:3xx"),
        400..500 => (Outcome::new(Class::BadRequest, Action::Fail), "status:4xx"),
        500.. => (Outcome::new(Class::Transient, Action::Retry), "status:5xx"),
    };
    Some(Found::named(outcome, matched, Source::Status))
}

fn by_signal(tables: &'static Tables, name: &str) -> Option<Found<'static>> {
    let (name, outcome) = tables.signal(name)?;
    Some(Found::new(outcome, Entry::Signal(name), Source::Signal))
}

fn by_exit_code(tables: &'static Tables, code: i64) -> Option<Found<'static>> {
    if let Some(outcome) = tables.exit(code) {
        return Some(Found::new(outcome, Entry::Exit(code), Source::Exit));
    }
    let (name, outcome) = tables.signal(tables.exit_signal(code)?)?;
    Some(Found::new(outcome, Entry::ExitSignal(code, name), Source::Signal))
}

fn by_code<'a>(tables: &'static Tables, code: &'a str) -> Option<Found<'a>> {
    let (own, outcome) = tables.code(code)?;
    let entry = if own == code { Entry::Code(own) } else { Entry::GivenCode(code.into()) };
    Some(Found::new(outcome, entry, Source::Code))
}

fn by_message(tables: &'static Tables, text: &str) -> Option<Found<'static>> {
    let (phrase, outcome) = tables.message(text)?;
    Some(Found::new(outcome, Entry::Message(phrase), Source::Message))
}
