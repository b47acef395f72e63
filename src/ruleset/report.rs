//! Everything about one condition list and one record: each check, what it saw, and why.

use std::ops::Range;

use super::RuleSet;
use super::walk::{Run, Verdict};
use crate::check::{Answer, reason};
use crate::path::Resolved;
use crate::preview::{REPORT, preview};
use crate::value::Node;

/// One check of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The path as written, in generalised UTF-8.
    pub path: Box<[u8]>,
    /// The op's name.
    pub op: &'static str,
    /// Whether it holds.
    pub ok: bool,
    /// Whether it could not be evaluated.
    pub undetermined: bool,
    /// A preview of the value; `None` where the path does not resolve.
    pub actual: Option<String>,
    /// A preview of the operand; `None` where there is none.
    pub expected: Option<String>,
    /// Why it does not hold, in generalised UTF-8; empty when it does.
    pub reason: Box<[u8]>,
}

impl CheckResult {
    fn verdict(&self) -> Verdict {
        match (self.ok, self.undetermined) {
            (true, _) => Verdict::Pass,
            (false, true) => Verdict::Undetermined,
            (false, false) => Verdict::Fail,
        }
    }
}

/// All checks of one condition list, in order; none is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleReport {
    /// What the list says.
    pub verdict: Verdict,
    /// The checks.
    pub results: Vec<CheckResult>,
}

impl RuleSet {
    /// Evaluates every check of some of the lists, with previews and reasons.
    pub fn reports<N: Node>(&self, rules: Range<usize>, record: &N) -> Vec<RuleReport> {
        let rules = rules.start..rules.end.min(self.rules.len());
        Run::over(self, record, |run| {
            rules.filter_map(|rule| self.rule_report(run, rule)).collect()
        })
    }

    fn rule_report<N: Node>(&self, run: &mut Run<'_, '_, N>, rule: usize) -> Option<RuleReport> {
        let rule = self.rules.get(rule)?;
        let members = rule.start..rule.end;
        let results: Vec<CheckResult> =
            members.filter_map(|member| self.check_result(run, member)).collect();
        let said = results.iter().map(CheckResult::verdict);
        Some(RuleReport { verdict: Verdict::of_list(said, rule.any), results })
    }

    fn check_result<N: Node>(
        &self,
        run: &mut Run<'_, '_, N>,
        member: usize,
    ) -> Option<CheckResult> {
        let member = self.checks.get(member)?;
        let predicate = self.predicates.get(member.predicate)?;
        let answer = run.answer(predicate);
        let unresolved = Resolved::Missing(0);
        let resolved = match run.slot(predicate.place) {
            Some(resolved) if member.path.is_some() => resolved,
            _ => &unresolved,
        };
        let actual = match resolved {
            Resolved::Found(node) => Some(preview(node, REPORT)),
            _ => None,
        };
        let check = &member.check;
        Some(CheckResult {
            path: check.path.clone(),
            op: check.op.name(),
            ok: matches!(answer, Answer::Pass),
            undetermined: matches!(answer, Answer::Undetermined(_)),
            actual,
            expected: check.expected_preview(REPORT),
            reason: reason(check, &predicate.test, member.path.as_deref(), resolved, &answer),
        })
    }
}
