//! `Classifier`: rules, packs and tables as a Python object. Not public itself.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::batch::BadRow;
use super::classify_many::{ErrorRows, Plain};
use super::errors::raised;
use super::pattern::Pattern;
use super::scalar::text_of;
use super::with_node;
use crate::batch::{Errors, Marked, ask_lines};
use crate::classify::{
    self, Action, Class, Entry, Evidence, More, Outcome, Pack, Packs, Rule, RulePattern, Said,
    Signals, Source, Verdict, is_success, lower,
};
use crate::error::{Code, Problem};
use crate::instant::{Instant, RetryAfter};
use crate::value::text::display;

/// Caller rules and packs before the tables.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(super) struct Classifier {
    classifier: classify::Classifier,
}

/// id, contains, pattern, pattern is undetermined, status, exit code, class, action, wait
type RuleRow<'py> = (
    Bound<'py, PyString>,
    Option<Bound<'py, PyString>>,
    Option<Py<Pattern>>,
    bool,
    Option<i64>,
    Option<i64>,
    String,
    String,
    Option<i64>,
);
/// class, action, retryable, wait, instant, matched, source, exhausted, message
pub(super) type Row = (
    &'static str,
    &'static str,
    bool,
    Option<i64>,
    Option<String>,
    String,
    &'static str,
    bool,
    Option<String>,
);
/// provider, body, headers, command, errno, stdout
type MoreRow<'py> = (
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyAny>>,
    Option<Vec<(Bound<'py, PyString>, Bound<'py, PyString>)>>,
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyString>>,
);

#[pymethods]
impl Classifier {
    #[new]
    #[pyo3(signature = (rules, packs = None))]
    fn new(py: Python<'_>, rules: Vec<RuleRow<'_>>, packs: Option<Vec<String>>) -> PyResult<Self> {
        let rules = rules.into_iter().map(|row| read_rule(py, row)).collect::<PyResult<_>>()?;
        let packs = packs.map(|chosen| {
            Packs::get()
                .all()
                .iter()
                .map(|pack| chosen.iter().any(|name| **name == *pack.name))
                .collect()
        });
        Ok(Self { classifier: classify::Classifier { rules, packs } })
    }

    /// A row of the answer.
    #[pyo3(signature = (
        status, exit_code, signal, code, message, retry_after, now_ms, exhausted, max_wait_ms, more
    ))]
    #[expect(clippy::too_many_arguments, reason = "one for each signal")]
    fn classify<'py>(
        &self,
        status: Option<i64>,
        exit_code: Option<i64>,
        signal: Option<Bound<'py, PyString>>,
        code: Option<Bound<'py, PyString>>,
        message: Option<Bound<'py, PyString>>,
        retry_after: Option<Bound<'py, PyString>>,
        now_ms: Option<i64>,
        exhausted: bool,
        max_wait_ms: Option<i64>,
        more: Option<MoreRow<'py>>,
    ) -> PyResult<Row> {
        let ask = (
            status,
            exit_code,
            signal,
            code,
            message,
            retry_after,
            now_ms,
            exhausted,
            max_wait_ms,
            more,
        );
        Ok(row(&self.answer(ask, None)?))
    }

    /// The answers for a list of records. One that is not plain is read by `one`, which takes its
    /// place and gives the arguments of `classify`, or nothing for what has no answer; `refused`,
    /// if given, is told of what is raised: place, error.
    #[pyo3(signature = (records, one, refused=None))]
    fn classify_many(
        &self,
        records: &Bound<'_, PyList>,
        one: &Bound<'_, PyAny>,
        refused: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<ErrorRows> {
        let mut answers = Vec::with_capacity(records.len());
        let mut plain = Plain::default();
        for (place, record) in records.iter().enumerate() {
            let answer = |signals: &Signals<'_>| {
                Answer::new(self.classifier.classify(signals), signals.exhausted, None)
            };
            if let Some(answer) = plain.with(&record, answer) {
                answers.push(Some(answer));
                continue;
            }
            let ask = one.call1((place,)).and_then(|ask| ask.extract::<Option<_>>());
            let named = refused.is_none().then_some(place);
            let read = ask.and_then(|ask| ask.map(|ask| self.answer(ask, named)).transpose());
            answers.push(match (read, refused) {
                (Err(error), Some(refused)) => {
                    refused.call1((place, error))?;
                    None
                }
                (read, _) => read?,
            });
        }
        Ok(ErrorRows { answers })
    }

    /// The answers for a JSON Lines text, the lines that are not JSON, and how many lines there
    /// are. A record that is not plain is read by `one`, which takes its text and gives the
    /// arguments of `classify`; `refused` is told of what is raised: record, line, error.
    fn classify_lines(
        &self,
        text: &Bound<'_, PyBytes>,
        threads: usize,
        one: &Bound<'_, PyAny>,
        refused: &Bound<'_, PyAny>,
    ) -> PyResult<(ErrorRows, Vec<BadRow>, usize)> {
        let (py, bytes) = (text.py(), text.as_bytes());
        let errors = Errors::new(|signals: &Signals<'_>| {
            Answer::new(self.classifier.classify(signals), signals.exhausted, None)
        });
        let found = py.detach(|| ask_lines(&errors, bytes, threads));
        let mut answers: Vec<_> = found.answers.into_iter().map(Result::ok).collect();
        for Marked { record, line, place } in found.marked {
            let json = PyBytes::new(py, bytes.get(place).unwrap_or_default());
            let ask = one.call1((json,)).and_then(|ask| ask.extract());
            match (ask.and_then(|ask| self.answer(ask, None)), answers.get_mut(record)) {
                (Ok(answer), Some(known)) => *known = Some(answer),
                (Ok(_), None) => {}
                (Err(error), _) => refused.call1((record, line, error)).map(drop)?,
            }
        }
        let bad = found.bad.iter().map(|bad| (bad.record, bad.line, bad.column, bad.message));
        Ok((ErrorRows { answers }, bad.collect(), found.lines))
    }
}

/// status, exit code, signal, code, message, retry after, now, exhausted, most wait, more
type Ask<'py> = (
    Option<i64>,
    Option<i64>,
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyString>>,
    Option<i64>,
    bool,
    Option<i64>,
    Option<MoreRow<'py>>,
);

/// An answer on its own.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    source: Source,
    exhausted: bool,
    matched: Entry,
    /// What few answers have: kept apart, so that many answers are small.
    rest: Option<Box<Rest>>,
}

#[derive(Debug, Default)]
struct Rest {
    wait: RetryAfter,
    message: Option<String>,
}

impl Answer {
    pub(super) fn new(verdict: Verdict, exhausted: bool, message: Option<String>) -> Self {
        let Verdict { outcome, wait, matched, source } = verdict;
        let has_more = wait != RetryAfter::default() || message.is_some();
        let rest = has_more.then(|| Box::new(Rest { wait, message }));
        Self { outcome, source, exhausted, matched, rest }
    }
}

impl Classifier {
    /// Answers; `place` is that of the record among many.
    fn answer(&self, ask: Ask<'_>, place: Option<usize>) -> PyResult<Answer> {
        let (status, exit_code, signal, code, message, retry_after, now_ms, exhausted, most, more) =
            ask;
        let [signal, retry_after] =
            [signal, retry_after].map(|text| text.as_ref().map(shown).transpose());
        let (signal, retry_after) = (signal?, retry_after?);
        let [code, message] = [code, message].map(|text| text.as_ref().map(heard).transpose());
        let (code, message) = (code?, message?);
        let (provider, body, headers, command, errno, stdout) = more.unwrap_or_default();
        let has_answer = provider.is_some() || body.is_some() || headers.is_some();
        let headers = headers.unwrap_or_default();
        let header = |(name, value): &(Bound<'_, PyString>, Bound<'_, PyString>)| {
            Ok((shown(name)?.to_lowercase(), shown(value)?))
        };
        let headers = headers.iter().map(header).collect::<PyResult<Vec<_>>>()?;
        let [provider, command, errno, stdout] =
            [provider, command, errno, stdout].map(|text| text.as_ref().map(shown).transpose());
        let (provider, command, errno, stdout) = (provider?, command?, errno?, stdout?);
        let mut more = More {
            provider: provider.as_deref(),
            errno: errno.as_deref(),
            stdout: stdout.as_deref(),
            headers: &headers,
            has_answer,
            has_process: errno.is_some() || stdout.is_some(),
            ..More::default()
        };
        if let Some(command) = &command {
            more.set_command(command, exit_code);
        }
        if let Some(body) = &body {
            more.body = read_body(body, is_success(status, exit_code), place)?;
        }
        let signals = Signals {
            status,
            exit_code,
            signal: signal.as_deref(),
            code: code.as_ref().map(Heard::said),
            message: message.as_ref().map(Heard::said),
            retry_after: retry_after.as_deref(),
            now: now_ms.and_then(|millis| Instant::from_millis(millis).ok()),
            exhausted,
            max_wait_ms: most,
            more: (more.has_answer || more.has_process).then_some(&more),
        };
        let said = more.body.texts.first();
        let message = said.map(|text| text.chars().take(MESSAGE).collect());
        Ok(Answer::new(self.classifier.classify(&signals), exhausted, message))
    }
}

/// Characters of a body's message that come back.
const MESSAGE: usize = 2_000;

pub(super) fn row(answer: &Answer) -> Row {
    let nothing = Rest::default();
    let Rest { wait, message } = answer.rest.as_deref().unwrap_or(&nothing);
    (
        answer.outcome.class.name(),
        answer.outcome.action.name(),
        answer.outcome.action.tries_again(),
        wait.wait,
        wait.until.map(|until| until.to_string()),
        answer.matched.to_string(),
        answer.source.name(),
        answer.exhausted,
        message.clone(),
    )
}

/// A text exactly and as it is shown.
struct Heard {
    exact: Vec<u8>,
    shown: String,
}

impl Heard {
    fn said(&self) -> Said<'_> {
        Said { exact: &self.exact, shown: &self.shown }
    }
}

fn heard(text: &Bound<'_, PyString>) -> PyResult<Heard> {
    let exact = text_of(text)?.as_bytes().to_vec();
    Ok(Heard { shown: display(&exact).into_owned(), exact })
}

/// Half a surrogate pair is in no table: it is looked at as the escape it is shown as.
fn shown(text: &Bound<'_, PyString>) -> PyResult<String> {
    Ok(display(text_of(text)?.as_bytes()).into_owned())
}

fn read_body(body: &Bound<'_, PyAny>, success: bool, place: Option<usize>) -> PyResult<Evidence> {
    if let Ok(text) = body.cast::<PyString>() {
        return Ok(Evidence::of_text(&shown(text)?, success));
    }
    if let Ok(bytes) = body.cast::<PyBytes>() {
        return Ok(Evidence::of_text(&String::from_utf8_lossy(bytes.as_bytes()), success));
    }
    let read = with_node!(body, &[], |node| Evidence::of_value(&node, success));
    read.map_err(|fault| {
        let field = place.map_or("body".into(), |place| format!("records[{place}].body"));
        let problem = Problem::new(Code::WrongType, field, None, fault.reason.clone());
        raised(body.py(), "ConfigError", &[problem])
    })
}

fn read_rule(py: Python<'_>, row: RuleRow<'_>) -> PyResult<Rule> {
    let (id, contains, pattern, undetermined, status, exit_code, class, action, wait_ms) = row;
    let known = |what: &str| PyValueError::new_err(format!("unknown {what}"));
    let outcome = Outcome {
        class: Class::named(&class).ok_or_else(|| known("class"))?,
        action: Action::named(&action).ok_or_else(|| known("action"))?,
    };
    let runs =
        pattern.map(|pattern| RulePattern::Runs(Arc::clone(pattern.bind(py).get().compiled())));
    Ok(Rule {
        id: shown(&id)?.into(),
        contains: match contains {
            Some(text) => Some(lower(text_of(&text)?.as_bytes()).into()),
            None => None,
        },
        matches: if undetermined { Some(RulePattern::Undetermined) } else { runs },
        status,
        exit_code,
        outcome,
        wait_ms,
    })
}

/// The names of all classes, and of all actions.
#[pyfunction]
pub(super) fn error_names() -> (Vec<&'static str>, Vec<&'static str>) {
    (
        Class::ALL.iter().map(|class| class.name()).collect(),
        Action::ALL.iter().map(|action| action.name()).collect(),
    )
}

/// Name, version and number of rules of every pack, in the order in which they are asked.
#[pyfunction]
pub(super) fn error_packs() -> Vec<(&'static str, &'static str, usize)> {
    let shown = |pack: &'static Pack| (&*pack.name, &*pack.version, pack.rules());
    Packs::get().all().iter().map(shown).collect()
}
