//! `RuleSet`: the engine as a Python object. The tools are built on it; it is not public itself.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use super::columns::{Points, marks};
use super::errors::{raised, to_python};
use super::scalar::to_python_text;
use super::with_node;
use crate::error::{Code, Problem, did_you_mean};
use crate::limits::Limits;
use crate::preview::{REPORT, preview};
use crate::ruleset::{self, CheckResult, Compiled, First, RuleReport, Shape, Verdict};

/// N condition lists, compiled.
#[pyclass(module = "interlock._core", frozen)]
#[derive(Debug)]
pub(super) struct RuleSet {
    pub(super) set: ruleset::RuleSet,
    /// The keys of all paths as interned strings, by slot.
    pub(super) keys: Vec<Py<PyString>>,
}

type CompiledParts<'py> = (Option<RuleSet>, Bound<'py, PyTuple>, Bound<'py, PyTuple>);
type Text<'py> = Bound<'py, PyString>;
/// path, op, ok, undetermined, actual, expected, reason
type ResultRow<'py> =
    (Text<'py>, &'static str, bool, bool, Option<String>, Option<String>, Text<'py>);

/// Compiles `[{label, when, match?, …}]`: the set or nothing, the problems, the faults of checks.
///
/// With `optional_when`, a rule that leaves `when` out always holds.
#[pyfunction]
#[pyo3(signature = (rules, *, field, label, extra, optional_when = false, limits = None))]
#[expect(clippy::needless_pass_by_value, reason = "arguments are extracted by value")]
pub(super) fn compile_rules<'py>(
    rules: &Bound<'py, PyAny>,
    field: &str,
    label: &str,
    extra: Vec<String>,
    optional_when: bool,
    limits: Option<&Bound<'py, PyAny>>,
) -> PyResult<CompiledParts<'py>> {
    let py = rules.py();
    let limits = limits_from(py, limits)?;
    let extra: Vec<&str> = extra.iter().map(String::as_str).collect();
    let shape = Shape { field, label, extra: &extra, optional_when };
    let compiled = with_node!(rules, &[], |node| ruleset::RuleSet::compile(&node, &shape, &limits));
    parts(py, compiled)
}

/// Compiles one list of checks: the set or nothing, the problems, the faults of checks.
#[pyfunction]
#[pyo3(signature = (checks, *, field, limits = None))]
pub(super) fn compile_checks<'py>(
    checks: &Bound<'py, PyAny>,
    field: &str,
    limits: Option<&Bound<'py, PyAny>>,
) -> PyResult<CompiledParts<'py>> {
    let py = checks.py();
    let limits = limits_from(py, limits)?;
    let compiled =
        with_node!(checks, &[], |node| ruleset::RuleSet::compile_checks(&node, field, &limits));
    parts(py, compiled)
}

fn parts(py: Python<'_>, compiled: Compiled) -> PyResult<CompiledParts<'_>> {
    let set = compiled.set.map(|set| RuleSet::prepare(py, set)).transpose()?;
    Ok((set, to_python(py, &compiled.problems)?, to_python(py, &compiled.faults)?))
}

/// The limits with what a caller sets; an unknown name or a value that is no count is refused.
pub(super) fn limits_from(py: Python<'_>, changes: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    let mut limits = Limits::DEFAULT;
    let Some(changes) = changes.filter(|changes| !changes.is_none()) else { return Ok(limits) };
    let changes = py.get_type::<PyDict>().call1((changes,))?;
    let mut problems = Vec::new();
    for (name, value) in changes.cast::<PyDict>()?.iter() {
        let name = name.str()?.to_string_lossy().into_owned();
        let field = format!("limits.{name}");
        let shown = Some(with_node!(value, &[], |node| preview(&node, REPORT)));
        match value.extract::<usize>() {
            Err(_) => {
                let message = "must be a whole number of at least 0";
                problems.push(Problem::new(Code::WrongType, field, shown, message));
            }
            Ok(limit) if !limits.set(&name, limit) => {
                let known = limits.entries().map(|(name, _)| name);
                let near = did_you_mean(&name, known);
                let message = format!("unknown limit{near} (known: {})", known.join(", "));
                problems.push(Problem::new(Code::UnknownField, field, shown, message));
            }
            Ok(_) => {}
        }
    }
    if problems.is_empty() { Ok(limits) } else { Err(raised(py, "ConfigError", &problems)) }
}

impl RuleSet {
    fn prepare(py: Python<'_>, set: ruleset::RuleSet) -> PyResult<Self> {
        let interned = |key: &[u8]| match std::str::from_utf8(key) {
            Ok(key) => Ok(PyString::intern(py, key).unbind()),
            Err(_) => to_python_text(py, key).map(Bound::unbind),
        };
        let keys = set.keys().map(interned).collect::<PyResult<_>>()?;
        Ok(Self { set, keys })
    }
}

#[pymethods]
impl RuleSet {
    /// The position of the first list that holds; -1 for none; -2 - n when list n is undecided.
    fn first(&self, value: &Bound<'_, PyAny>) -> PyResult<isize> {
        number(with_node!(value, &self.keys, |node| self.set.first(&node)))
    }

    /// The positions of the lists that are undecided, in order, and the lists that hold, for `marked`.
    fn standing<'py>(
        &self,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyBytes>)> {
        let py = value.py();
        let standing = with_node!(value, &self.keys, |node| self.set.standing(&node));
        Ok((PyTuple::new(py, standing.open())?, marks(py, &standing)))
    }

    /// The lists that hold, for `marked`, and the sum of their points; None when one is undecided.
    fn score<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        points: &Bound<'py, Points>,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<Bound<'py, PyAny>>)> {
        let py = value.py();
        let standing = with_node!(value, &self.keys, |node| self.set.standing(&node));
        let decided = standing.open().len() == 0;
        let sum = decided.then(|| points.get().sum(py, standing.held())).transpose()?;
        Ok((marks(py, &standing), sum))
    }

    /// What a column has for the first list that holds: an entry for every list and a last one for
    /// none. Where that is None or left out, and for an undecided list, the number of `first`.
    fn pick<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        column: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let first = with_node!(value, &self.keys, |node| self.set.first(&node));
        let place = match first {
            First::Hit(rule) => rule,
            First::Miss => self.set.len(),
            First::Undetermined(_) => usize::MAX,
        };
        if place < column.len() {
            let entry = column.get_borrowed_item(place)?;
            if !entry.is_none() {
                return Ok(entry.to_owned());
            }
        }
        Ok(number(first)?.into_pyobject(value.py())?.into_any())
    }

    /// What one list says: 1 holds, 0 does not, -1 undecided; `either` replaces its own match: one check is
    /// enough.
    #[pyo3(signature = (value, rule = 0, either = None))]
    fn verdict(&self, value: &Bound<'_, PyAny>, rule: usize, either: Option<bool>) -> PyResult<i8> {
        Ok(code(with_node!(value, &self.keys, |node| self.set.verdict(rule, &node, either))))
    }

    /// Lists from `start` to before `end`: what each says, and every check of it: path, op, ok,
    /// undetermined, actual, expected, reason.
    #[pyo3(signature = (value, start = 0, end = 1))]
    fn reports<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        start: usize,
        end: usize,
    ) -> PyResult<Vec<(i8, Vec<ResultRow<'py>>)>> {
        let py = value.py();
        let reports = with_node!(value, &self.keys, |node| self.set.reports(start..end, &node));
        let row = |result: CheckResult| -> PyResult<ResultRow<'py>> {
            Ok((
                to_python_text(py, &result.path)?,
                result.op,
                result.ok,
                result.undetermined,
                result.actual,
                result.expected,
                to_python_text(py, &result.reason)?,
            ))
        };
        let rows = |report: RuleReport| {
            let results: PyResult<_> = report.results.into_iter().map(row).collect();
            Ok((code(report.verdict), results?))
        };
        reports.into_iter().map(rows).collect()
    }

    /// How many checks a list has, and whether one of them is enough.
    fn requirement(&self, rule: usize) -> Option<(usize, bool)> {
        self.set.requirement(rule)
    }

    /// The names of the lists in order.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Bound<'py, PyString>>>> {
        let names = (0..self.set.len()).map(|rule| self.set.name(rule));
        names.map(|name| name.map(|name| to_python_text(py, name)).transpose()).collect()
    }

    fn __len__(&self) -> usize {
        self.set.len()
    }
}

fn number(first: First) -> PyResult<isize> {
    Ok(match first {
        First::Hit(rule) => isize::try_from(rule)?,
        First::Miss => -1,
        First::Undetermined(rule) => -2 - isize::try_from(rule)?,
    })
}

fn code(verdict: Verdict) -> i8 {
    match verdict {
        Verdict::Pass => 1,
        Verdict::Fail => 0,
        Verdict::Undetermined => -1,
    }
}
