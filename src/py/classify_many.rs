//! Many errors in one call: plain records are read in place, answers are kept as they are until
//! somebody looks at one.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};

use super::classify::{Answer, Row, row};
use crate::classify::{Action, Class, Said, Signals};

/// The answers of a batch, in the order of its records.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(super) struct ErrorRows {
    pub(super) answers: Vec<Answer>,
}

#[pymethods]
impl ErrorRows {
    fn __len__(&self) -> usize {
        self.answers.len()
    }

    /// The answer at a place.
    fn row(&self, place: usize) -> PyResult<Row> {
        self.answers.get(place).map(row).ok_or_else(|| PyIndexError::new_err("no such answer"))
    }

    /// How often each class and action were answered; what never was is left out.
    fn counts(&self) -> Vec<((&'static str, &'static str), usize)> {
        let mut counted: Vec<((Class, Action), usize)> = Vec::new();
        for answer in &self.answers {
            let outcome = answer.outcome;
            let key = (outcome.class, outcome.action);
            match counted.iter_mut().find(|(known, _)| *known == key) {
                Some((_, count)) => *count += 1,
                None => counted.push((key, 1)),
            }
        }
        counted.into_iter().map(|((class, action), n)| ((class.name(), action.name()), n)).collect()
    }
}

/// A record of nothing but the plain signals, each of its own type.
#[derive(Default)]
pub(super) struct Plain<'py> {
    numbers: [Option<i64>; 4],
    texts: [Option<Bound<'py, PyString>>; 4],
}

/// The place of a field: first the numbers, then the texts.
fn place(name: &str) -> Option<usize> {
    Some(match name {
        "status" => 0,
        "exitCode" | "exit_code" => 1,
        "attempt" => 2,
        "maxAttempts" | "max_attempts" => 3,
        "signal" => 4,
        "code" => 5,
        "message" => 6,
        "retryAfter" | "retry_after" => 7,
        _ => return None,
    })
}

impl<'py> Plain<'py> {
    /// Reads a record; `None` for whatever is not plain, which is read with every care elsewhere.
    pub(super) fn read(record: &Bound<'py, PyAny>) -> Option<Self> {
        let record = record.cast_exact::<PyDict>().ok()?;
        let mut plain = Self::default();
        let mut seen = 0_u8;
        for (name, value) in record {
            let place = place(name.cast_exact::<PyString>().ok()?.to_str().ok()?)?;
            // A field in both spellings is not plain.
            if seen & (1 << place) != 0 {
                return None;
            }
            seen |= 1 << place;
            if value.is_none() {
                continue;
            }
            match place.checked_sub(plain.numbers.len()) {
                None => *plain.numbers.get_mut(place)? = Some(whole(&value)?),
                Some(place) => *plain.texts.get_mut(place)? = Some(text(value)?),
            }
        }
        let [.., most] = plain.numbers;
        most.is_none_or(|most| most >= 1).then_some(plain)
    }

    /// Whether the attempts are spent.
    fn is_exhausted(&self) -> bool {
        let [.., attempt, most] = self.numbers;
        attempt.zip(most).is_some_and(|(attempt, most)| attempt >= most)
    }

    /// Hands over the signals.
    pub(super) fn with<T>(&self, read: impl FnOnce(&Signals<'_>) -> T) -> Option<T> {
        let [status, exit_code, ..] = self.numbers;
        let mut texts = [None; 4];
        for (place, text) in texts.iter_mut().zip(&self.texts) {
            if let Some(text) = text {
                *place = Some(text.to_str().ok()?);
            }
        }
        let [signal, code, message, retry_after] = texts;
        let exhausted = self.is_exhausted();
        let (code, message) = (code.map(Said::from), message.map(Said::from));
        let signals = Signals {
            status,
            exit_code,
            signal,
            code,
            message,
            retry_after,
            exhausted,
            ..Signals::default()
        };
        Some(read(&signals))
    }
}

fn whole(value: &Bound<'_, PyAny>) -> Option<i64> {
    let value: i64 = value.cast_exact::<PyInt>().ok()?.extract().ok()?;
    (value.unsigned_abs() < 1 << 53).then_some(value)
}

fn text(value: Bound<'_, PyAny>) -> Option<Bound<'_, PyString>> {
    value.cast_into_exact::<PyString>().ok()
}
