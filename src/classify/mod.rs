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
pub use signals::{More, NUMBERS, PLAIN, Said, Signals, TEXTS, is_success};
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
    pub fn classify(&self, signals: &Signals<'_>) -> Verdict {
        self.found(signals).finish(signals)
    }

    fn found(&self, signals: &Signals<'_>) -> Found {
        if let Some(found) = self.by_rules(signals) {
            return found;
        }
        if let Some(more) = signals.more
            && (!signals.is_success() || signals.is_contradicted())
            && let Some(found) = Packs::get().ask(signals, more, self.packs.as_deref())
        {
            return found;
        }
        by_tables(signals)
    }

    fn by_rules(&self, signals: &Signals<'_>) -> Option<Found> {
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

fn by_tables(signals: &Signals<'_>) -> Found {
    let tables = Tables::get();
    if let Some(status) = signals.heard_status()
        && let Some(found) = by_status(tables, status)
    {
        return found;
    }
    if let Some(name) = signals.signal
        && let Some((name, outcome)) = tables.signal(name)
    {
        return Found::new(outcome, Entry::Signal(name), Source::Signal);
    }
    if let Some(code) = signals.heard_exit_code()
        && let Some(found) = by_exit_code(tables, code)
    {
        return found;
    }
    for code in signals.codes() {
        if let Some((own, outcome)) = tables.code(code) {
            let entry = if own == code { Entry::Code(own) } else { Entry::GivenCode(code.into()) };
            return Found::new(outcome, entry, Source::Code);
        }
    }
    for text in signals.texts() {
        if let Some((phrase, outcome)) = tables.message(text) {
            return Found::new(outcome, Entry::Message(phrase), Source::Message);
        }
    }
    Found::named(Outcome::new(Class::Unknown, Action::Escalate), "default", Source::Default)
}

/// A status of its own, else its hundred; below 200 nothing is said.
fn by_status(tables: &Tables, status: i64) -> Option<Found> {
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

fn by_exit_code(tables: &'static Tables, code: i64) -> Option<Found> {
    if let Some(outcome) = tables.exit(code) {
        return Some(Found::new(outcome, Entry::Exit(code), Source::Exit));
    }
    let (name, outcome) = tables.signal(tables.exit_signal(code)?)?;
    Some(Found::new(outcome, Entry::ExitSignal(code, name), Source::Signal))
}
