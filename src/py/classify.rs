//! `Classifier`: the error tables and a caller's rules as a Python object. Not public itself.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::pattern::Pattern;
use super::scalar::text_of;
use crate::classify::{Action, Class, Outcome, Rule, RulePattern, Signals, classify};
use crate::value::text::display;

/// Caller rules before the tables.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(super) struct Classifier {
    rules: Vec<Rule>,
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
/// class, action, retryable, wait, matched, source
type Row = (&'static str, &'static str, bool, Option<i64>, String, &'static str);

#[pymethods]
impl Classifier {
    #[new]
    fn new(py: Python<'_>, rules: Vec<RuleRow<'_>>) -> PyResult<Self> {
        let rules = rules.into_iter().map(|row| read_rule(py, row)).collect::<PyResult<_>>()?;
        Ok(Self { rules })
    }

    /// Class, action, retryable, wait, matched, source of an error.
    #[pyo3(signature = (*, status, exit_code, signal, code, message, wait_ms, exhausted))]
    #[expect(clippy::too_many_arguments, reason = "one for each signal, all by name")]
    fn classify(
        &self,
        status: Option<i64>,
        exit_code: Option<i64>,
        signal: Option<&Bound<'_, PyString>>,
        code: Option<&Bound<'_, PyString>>,
        message: Option<&Bound<'_, PyString>>,
        wait_ms: Option<i64>,
        exhausted: bool,
    ) -> PyResult<Row> {
        let texts = [signal, code, message].map(|text| text.map(text_of).transpose());
        let [signal, code, message] = texts;
        let (signal, code, message) = (signal?, code?, message?);
        // Half a surrogate pair is in no table: it is looked at as the escape it is shown as.
        let shown = |text: &'_ Option<crate::value::Text<'_>>| {
            text.as_ref().map(|text| display(text.as_bytes()).into_owned())
        };
        let (signal, code, message) = (shown(&signal), shown(&code), shown(&message));
        let signals = Signals {
            status,
            exit_code,
            signal: signal.as_deref(),
            code: code.as_deref(),
            message: message.as_deref(),
            wait_ms,
            exhausted,
        };
        let found = classify(&signals, &self.rules);
        Ok((
            found.outcome.class.name(),
            found.outcome.action.name(),
            found.retryable(),
            found.wait_ms,
            found.matched.clone().into_owned(),
            found.source,
        ))
    }
}

fn read_rule(py: Python<'_>, row: RuleRow<'_>) -> PyResult<Rule> {
    let (id, contains, pattern, undetermined, status, exit_code, class, action, wait_ms) = row;
    let known = |what: &str| pyo3::exceptions::PyValueError::new_err(format!("unknown {what}"));
    let outcome = Outcome {
        class: Class::named(&class).ok_or_else(|| known("class"))?,
        action: Action::named(&action).ok_or_else(|| known("action"))?,
    };
    let shown = |text: &Bound<'_, PyString>| -> PyResult<String> {
        Ok(display(text_of(text)?.as_bytes()).into_owned())
    };
    let runs =
        pattern.map(|pattern| RulePattern::Runs(Arc::clone(pattern.bind(py).get().compiled())));
    Ok(Rule {
        id: shown(&id)?.into(),
        contains: contains
            .map(|text| shown(&text))
            .transpose()?
            .map(|text| text.to_lowercase().into()),
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
