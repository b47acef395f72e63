//! A record's way through the index.

use super::fact::Fact;
use super::masks::Masks;
use super::row::Row;
use super::tree::{Split, Tree};
use super::{Index, count};
use crate::ruleset::walk::{Run, Verdict, scratch};
use crate::ruleset::{First, RuleSet, Standing};
use crate::value::Node;

/// Which of the rules that do not fail are wanted.
trait Keep {
    /// Only rules before this one.
    fn end(&self) -> u32;
    fn add(&mut self, rule: u32, verdict: Verdict);
}

/// The first of them.
struct Least(u32, Verdict);

impl Keep for Least {
    fn end(&self) -> u32 {
        self.0
    }

    fn add(&mut self, rule: u32, verdict: Verdict) {
        *self = Self(rule, verdict);
    }
}

/// All of them.
impl Keep for Standing {
    fn end(&self) -> u32 {
        u32::MAX
    }

    fn add(&mut self, rule: u32, verdict: Verdict) {
        Self::add(self, rule as usize, verdict);
    }
}

impl Index {
    /// The first rule that does not fail.
    pub(in crate::ruleset) fn first<N: Node>(&self, set: &RuleSet, record: &N) -> First {
        let mut least = Least(u32::MAX, Verdict::Fail);
        self.run(set, record, |query| query.rules(&mut least));
        match least.1 {
            Verdict::Fail => First::Miss,
            Verdict::Pass => First::Hit(least.0 as usize),
            Verdict::Undetermined => First::Undetermined(least.0 as usize),
        }
    }

    /// The rules that do not fail.
    pub(in crate::ruleset) fn standing<N: Node>(&self, set: &RuleSet, record: &N) -> Standing {
        let mut standing = Standing::of(set.rules.len());
        self.run(set, record, |query| query.all(&mut standing));
        standing
    }

    fn run<N: Node>(&self, set: &RuleSet, record: &N, ask: impl FnOnce(&mut Query<'_, '_, '_, N>)) {
        scratch::<_, 16, _>(
            self.probes.len(),
            || Fact::Unknown,
            |facts| {
                Run::over(set, record, |run| ask(&mut Query { index: self, run, facts }));
            },
        );
    }
}

/// One record on its way.
struct Query<'s, 'r, 'q, N> {
    index: &'s Index,
    run: &'q mut Run<'s, 'r, N>,
    /// By probe.
    facts: &'q mut [Fact],
}

impl<'s, N: Node> Query<'s, '_, '_, N> {
    fn all(&mut self, standing: &mut Standing) {
        match &self.index.masks {
            Some(masks) => self.masked(masks, standing),
            None => self.rules(standing),
        }
    }

    fn rules(&mut self, keep: &mut impl Keep) {
        self.tree(&self.index.tree, false, keep);
    }

    /// Rules out what fails by codes and asks what is left of the rules that codes do not settle.
    fn masked(&mut self, masks: &Masks, standing: &mut Standing) {
        let (mut failed, mut open) = (Row::default(), Row::default());
        for mask in &masks.by_probe {
            if mask.asking.but(failed).is_empty() {
                continue;
            }
            match mask.failing(self.fact(mask.probe)) {
                Some(failing) => failed = failed.or(*failing),
                None => open = open.or(mask.asking),
            }
        }
        let left = masks.rules.but(failed);
        let tried = left.and(open.or(masks.unsettled));
        for (at, word) in left.but(tried).words().into_iter().enumerate() {
            standing.hold(at, word);
        }
        for (at, mut word) in tried.words().into_iter().enumerate() {
            while word != 0 {
                let rule = at * 64 + word.trailing_zeros() as usize;
                word &= word.wrapping_sub(1);
                let rest = (!open.contains(rule)).then(|| masks.rest(rule));
                standing.add(rule, self.rule(count(rule), rest));
            }
        }
    }

    /// Tries the rules of a tree that can still hold, to which a fact led or not; recursion is as
    /// deep as the tree.
    fn tree(&mut self, tree: &'s Tree, led: bool, keep: &mut impl Keep) {
        if led {
            for rule in &tree.held {
                if *rule >= keep.end() {
                    break;
                }
                keep.add(*rule, Verdict::Pass);
            }
        } else {
            self.scan(&tree.held, keep);
        }
        self.scan(&tree.scan, keep);
        for split in &tree.splits {
            self.split(split, keep);
        }
    }

    fn scan(&mut self, rules: &[u32], keep: &mut impl Keep) {
        for rule in rules {
            if *rule >= keep.end() {
                break;
            }
            let verdict = self.rule(*rule, None);
            if verdict != Verdict::Fail {
                keep.add(*rule, verdict);
            }
        }
    }

    fn split(&mut self, split: &'s Split, keep: &mut impl Keep) {
        match self.fact(split.probe) {
            Fact::Code(code) => {
                let code = *code;
                self.trees(split.buckets_of(code), true, keep);
            }
            Fact::Hits(hits) => {
                for hit in hits.clone() {
                    self.trees(split.buckets_of(hit), true, keep);
                }
            }
            Fact::Absent => {}
            Fact::Open | Fact::Unknown => self.trees(split.buckets.iter(), false, keep),
        }
    }

    fn trees(&mut self, trees: impl Iterator<Item = &'s Tree>, led: bool, keep: &mut impl Keep) {
        for tree in trees {
            if tree.least < keep.end() {
                self.tree(tree, led, keep);
            }
        }
    }

    /// What a rule says by all its checks, or by those that are left.
    fn rule(&mut self, rule: u32, left: Option<&[u32]>) -> Verdict {
        let Some(rule) = self.run.set.rules.get(rule as usize) else { return Verdict::Fail };
        let all = || self.index.members.get(rule.start..rule.end).unwrap_or_default();
        let members = left.unwrap_or_else(all);
        // PERF: one check is the whole answer.
        if let [only] = members {
            return self.predicate(*only);
        }
        Verdict::of_list(members.iter().map(|member| self.predicate(*member)), rule.any)
    }

    fn predicate(&mut self, predicate: u32) -> Verdict {
        let told = self
            .index
            .question(predicate)
            .and_then(|question| question.answer(self.fact(question.probe)));
        told.unwrap_or_else(|| self.run.predicate(predicate as usize))
    }

    fn fact(&mut self, probe: usize) -> &Fact {
        if let Some(Fact::Unknown) = self.facts.get(probe)
            && let Some(asked) = self.index.probes.get(probe)
        {
            let found = asked.ask(self.run.slot(asked.place));
            if let Some(fact) = self.facts.get_mut(probe) {
                *fact = found;
            }
        }
        self.facts.get(probe).unwrap_or(&Fact::Unknown)
    }
}
