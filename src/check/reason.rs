//! Reasons for a person: built only when asked for, from what the answer kept.

use super::prepare::Test;
use super::{Answer, Check, Op, Why};
use crate::path::{Path, Resolved, shown};
use crate::preview::{REASON, preview};
use crate::value::text::display;
use crate::value::{Node, Value};

/// One line in generalised UTF-8 saying why a check did not hold; empty when it did.
pub fn reason<N: Node>(
    check: &Check,
    test: &Test,
    path: Option<&Path>,
    resolved: &Resolved<N>,
    answer: &Answer,
) -> Box<[u8]> {
    match (answer, &check.message) {
        (Answer::Pass, _) => Box::default(),
        // A caller's own words come back as they are, lone halves too.
        (Answer::Fail(_), Some(message)) => message.clone(),
        (Answer::Fail(why), None) | (Answer::Undetermined(why), _) => {
            explained(check, test, path, resolved, why).into_bytes().into()
        }
    }
}

fn explained<N: Node>(
    check: &Check,
    test: &Test,
    path: Option<&Path>,
    resolved: &Resolved<N>,
    why: &Why,
) -> String {
    let place = shown(&check.path);
    let undecided = |what: &str| format!("{place}: could not be decided: {what}");
    match why {
        Why::Missing(at) => {
            let missing = path.map(|path| path.prefix(*at)).unwrap_or_default();
            format!("{place}: there is nothing at {}", display(&missing))
        }
        Why::Barred(barred) => {
            let (at, kind) = &**barred;
            let led = path.zip(at.checked_sub(1)).map(|(path, last)| path.prefix(last));
            let holder = led.unwrap_or_else(|| b"value".to_vec());
            format!("{place}: {} holds {kind}, which is not a JSON value", display(&holder))
        }
        Why::Prepared => match test {
            Test::Undetermined { reason, .. } => undecided(reason),
            Test::Broken(what) => format!("{place}: {what}"),
            _ => format!("{place}: not held"),
        },
        Why::Text(fault) => undecided(&fault.to_string()),
        Why::Foreign(what) => format!("{place}: {what}"),
        Why::Format => undecided("a pattern over a limit"),
        Why::Unreadable(what) => undecided(&format!("reading it failed: {what}")),
        Why::Kind(wanted) if wanted.contains("expected") => {
            format!("{place}: {} needs {wanted}, not {}", check.op.name(), operand_shown(check))
        }
        Why::Kind(wanted) => {
            format!("{place}: {} needs {wanted}, got {}", check.op.name(), got(resolved, true))
        }
        Why::Plain => plain(check, &place, resolved),
    }
}

fn plain<N: Node>(check: &Check, place: &str, resolved: &Resolved<N>) -> String {
    let expected = operand_shown(check);
    let of_other_kind = match (resolved, check.operand()) {
        (Resolved::Found(node), Some(operand)) => kind(node) != kind(&operand),
        _ => false,
    };
    let got = |kinds| got(resolved, kinds);
    match check.op {
        Op::Exists => format!("{place}: there is nothing at this path"),
        Op::NotExists => format!("{place}: is there: {}", got(false)),
        Op::Equals if of_other_kind => {
            let kind = check.operand().map(|operand| kind(&operand)).unwrap_or_default();
            format!("{place}: expected {kind} {expected}, got {}", got(true))
        }
        Op::Equals => format!("{place}: expected {expected}, got {}", got(false)),
        Op::NotEquals => format!("{place}: must not equal {expected}"),
        Op::Contains => format!("{place}: {} does not contain {expected}", got(false)),
        Op::NotContains => format!("{place}: {} contains {expected}", got(false)),
        Op::Matches => format!("{place}: {} does not match {expected}", got(false)),
        Op::NotMatches => format!("{place}: {} matches {expected}", got(false)),
        Op::StartsWith => format!("{place}: {} does not start with {expected}", got(false)),
        Op::EndsWith => format!("{place}: {} does not end with {expected}", got(false)),
        Op::GreaterThan => format!("{place}: {} is not greater than {expected}", got(false)),
        Op::GreaterThanOrEqual => format!("{place}: {} is less than {expected}", got(false)),
        Op::LessThan => format!("{place}: {} is not less than {expected}", got(false)),
        Op::LessThanOrEqual => format!("{place}: {} is greater than {expected}", got(false)),
        Op::IsEmpty => format!("{place}: {} is not empty", got(true)),
        Op::IsNotEmpty => format!("{place}: {} is empty", got(true)),
        Op::IsType => format!("{place}: expected type {expected}, got {}", got(true)),
        Op::HasLength => format!("{place}: {} has not length {expected}", got(true)),
        Op::MinLength => format!("{place}: {} is shorter than {expected}", got(true)),
        Op::MaxLength => format!("{place}: {} is longer than {expected}", got(true)),
        Op::OneOf => format!("{place}: {} is none of {expected}", got(true)),
        Op::NotOneOf => format!("{place}: {} is one of {expected}", got(false)),
        Op::HasFormat => format!("{place}: {} is not a valid {expected}", got(false)),
    }
}

fn operand_shown(check: &Check) -> String {
    match check.operand() {
        Some(operand) => preview(&operand, REASON),
        None => "nothing".to_owned(),
    }
}

fn got<N: Node>(resolved: &Resolved<N>, with_kind: bool) -> String {
    match resolved {
        Resolved::Found(node) if with_kind => {
            let shown = preview(node, REASON);
            let kind = kind(node);
            if kind == shown { shown } else { format!("{kind} {shown}") }
        }
        Resolved::Found(node) => preview(node, REASON),
        _ => "nothing".to_owned(),
    }
}

fn kind<N: Node>(node: &N) -> String {
    node.view().map_or_else(|_| "unreadable".to_owned(), |view| view.type_name().to_owned())
}

impl Check {
    /// A one-line rendering of the operand; `None` where there is none.
    pub fn expected_preview(&self, limit: usize) -> Option<String> {
        match &self.expected {
            None => None,
            Some(super::Operand::Value(value)) => Some(preview::<&Value>(&value, limit)),
            Some(super::Operand::TooDeep(_)) => Some("...".to_owned()),
        }
    }
}
