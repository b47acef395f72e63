//! By which facts a rule can be found: those without which it cannot hold.

use std::collections::BTreeMap;

use super::codes::CodeSet;
use super::fact::{Question, Wanted};

/// Ranges of codes, both ends included, apart from each other.
pub(super) type Spans = Vec<(u32, u32)>;

/// How a rule can be found.
#[derive(Debug, Default)]
pub(super) struct Access {
    /// By probe, the codes (or found texts) that the rule needs. A rule of which all checks must
    /// hold needs each of these; one of which any is enough needs one of them, and has none here
    /// when it can hold without.
    pub(super) needs: Vec<(usize, Spans)>,
    pub(super) any: bool,
    /// Whether meeting the one need is all that the rule asks.
    pub(super) sole: bool,
}

impl Access {
    /// From the questions of a rule's checks; `None` stands for a check that is none.
    pub(super) fn of<'q>(
        questions: impl Iterator<Item = Option<&'q Question>> + Clone,
        any: bool,
    ) -> Self {
        let positive = |question: Option<&'q Question>| question.filter(|q| !q.negated);
        let whole = questions.clone().all(|question| positive(question).is_some());
        let asked = questions.filter_map(positive);
        if any {
            let found = whole && asked.clone().all(|question| !codes(question).spans().is_empty());
            let needs = if found { united(asked) } else { Vec::new() };
            return Self { needs, any, sole: false };
        }
        let (needs, exact) = narrowed(asked);
        let sole = whole && exact && needs.len() == 1;
        Self { needs, any, sole }
    }
}

impl Access {
    /// Whether a rule holds once one of its needs is met: nothing else is left to ask.
    pub(super) fn settles(&self) -> bool {
        self.sole || (self.any && !self.needs.is_empty())
    }
}

/// One entry a probe, with the codes of all its questions.
fn united<'q>(questions: impl Iterator<Item = &'q Question>) -> Vec<(usize, Spans)> {
    let mut by_probe: BTreeMap<usize, Spans> = BTreeMap::new();
    for question in questions {
        by_probe.entry(question.probe).or_default().extend(codes(question).spans());
    }
    by_probe.into_iter().collect()
}

/// One entry a probe, with the codes that satisfy all its questions; whether nothing was left
/// out. What no code satisfies is left as wide as it was, so that the rule can still be found when
/// the record does not tell.
fn narrowed<'q>(questions: impl Iterator<Item = &'q Question>) -> (Vec<(usize, Spans)>, bool) {
    let mut by_probe: BTreeMap<usize, CodeSet> = BTreeMap::new();
    let mut exact = true;
    for question in questions {
        let set = codes(question);
        let known = by_probe.get(&question.probe);
        let narrower = known.map_or_else(|| set.clone(), |known| known.and(&set));
        if narrower.spans().is_empty() {
            exact = false;
        } else {
            by_probe.insert(question.probe, narrower);
        }
    }
    (by_probe.into_iter().map(|(probe, set)| (probe, set.spans())).collect(), exact)
}

fn codes(question: &Question) -> CodeSet {
    match &question.wanted {
        Wanted::Codes(set) => set.clone(),
        Wanted::Hit(hit) => CodeSet::Span(*hit, *hit),
    }
}

/// How many rules need each code: what a code costs when it is looked up.
#[derive(Debug)]
pub(super) struct Load {
    /// Where the count changes: the code, the count from there on, and the sum of the counts of
    /// all codes before it.
    steps: Vec<(u64, u64, u64)>,
}

impl Load {
    pub(super) fn new<'s>(spans: impl Iterator<Item = &'s (u32, u32)>) -> Self {
        let mut changes: Vec<(u64, i64)> = Vec::new();
        for (first, last) in spans {
            changes.push((u64::from(*first), 1));
            changes.push((u64::from(*last).saturating_add(1), -1));
        }
        changes.sort_unstable();
        let mut steps: Vec<(u64, u64, u64)> = Vec::new();
        for (code, change) in changes {
            let (at, count, sum) = steps.last().copied().unwrap_or((code, 0, 0));
            let sum = sum.saturating_add(count.saturating_mul(code.saturating_sub(at)));
            if at == code {
                steps.pop();
            }
            steps.push((code, count.saturating_add_signed(change), sum));
        }
        Self { steps }
    }

    /// How many rules a code of these brings up, in the mean.
    pub(super) fn mean(&self, spans: &[(u32, u32)]) -> u64 {
        let (mut sum, mut width) = (0_u64, 0_u64);
        for (first, last) in spans {
            let (first, end) = (u64::from(*first), u64::from(*last).saturating_add(1));
            sum = sum.saturating_add(self.before(end).saturating_sub(self.before(first)));
            width = width.saturating_add(end.saturating_sub(first));
        }
        sum.checked_div(width).unwrap_or(0)
    }

    /// The sum of the counts of all codes before one.
    fn before(&self, code: u64) -> u64 {
        let after = self.steps.partition_point(|(at, _, _)| *at <= code);
        let Some((at, count, sum)) = after.checked_sub(1).and_then(|step| self.steps.get(step))
        else {
            return 0;
        };
        sum.saturating_add(count.saturating_mul(code.saturating_sub(*at)))
    }
}
