//! All answers of a few rules at once: for each code of a probe, the rules that fail by it.

use std::ops::Range;

use super::fact::{Fact, Probe, Question, Wanted};
use super::row::{Row, WORDS};
use super::{Index, count};
use crate::ruleset::RuleSet;

/// So many checks and codes, at most: what bounds memory, and the time that making them takes.
const CHECKS: usize = 1024;
const CODES: usize = 2048;

/// What codes say of the rules of a set.
#[derive(Debug)]
pub(super) struct Masks {
    pub(super) by_probe: Box<[Mask]>,
    /// All rules.
    pub(super) rules: Row,
    /// The rules of which something is left to ask when no code is against them.
    pub(super) unsettled: Row,
    /// By rule, what is left: a range of `rest`.
    ranges: Box<[Range<usize>]>,
    rest: Box<[u32]>,
}

/// What the codes of one probe say.
#[derive(Debug)]
pub(super) struct Mask {
    pub(super) probe: usize,
    /// The rules all of whose checks must hold and that ask the probe.
    pub(super) asking: Row,
    /// By code, those of them that fail.
    failing: Box<[Row]>,
}

impl Masks {
    /// The masks of a set whose index is done but for them; `None` for many rules, checks or codes.
    pub(super) fn new(set: &RuleSet, index: &Index) -> Option<Self> {
        let codes = index.probes.iter().filter_map(Probe::codes);
        let few = set.rules.len() <= WORDS * 64 && set.checks.len() <= CHECKS;
        if !few || codes.fold(0, usize::saturating_add) > CODES {
            return None;
        }
        let blank = |(probe, codes): (usize, usize)| Mask {
            probe,
            asking: Row::default(),
            failing: vec![Row::default(); codes].into(),
        };
        let probes = index.probes.iter().enumerate();
        let probes = probes.filter_map(|(probe, asked)| Some((probe, asked.codes()?)));
        let mut masks = Self {
            by_probe: probes.map(blank).collect(),
            rules: Row::default(),
            unsettled: Row::default(),
            ranges: Box::default(),
            rest: Box::default(),
        };
        let (mut ranges, mut rest) = (Vec::new(), Vec::new());
        for (position, rule) in set.rules.iter().enumerate() {
            let start = rest.len();
            let members = index.members.get(rule.start..rule.end).unwrap_or_default();
            rest.extend(
                members.iter().filter(|member| rule.any || !masks.add(position, **member, index)),
            );
            masks.rules.insert(position);
            if rule.any || rest.len() > start {
                masks.unsettled.insert(position);
            }
            ranges.push(start..rest.len());
        }
        Some(Self { ranges: ranges.into(), rest: rest.into(), ..masks })
    }

    /// Adds a check that a rule needs; whether codes answer it.
    fn add(&mut self, rule: usize, member: u32, index: &Index) -> bool {
        let Some(question) = index.question(member) else { return false };
        let mut masks = self.by_probe.iter_mut();
        let mask = masks.find(|mask| mask.probe == question.probe);
        mask.is_some_and(|mask| mask.add(rule, question))
    }

    /// The predicates of a rule that codes do not answer; all of one for which any is enough.
    pub(super) fn rest(&self, rule: usize) -> &[u32] {
        let range = self.ranges.get(rule).cloned();
        range.and_then(|range| self.rest.get(range)).unwrap_or_default()
    }
}

impl Mask {
    fn add(&mut self, rule: usize, question: &Question) -> bool {
        let Wanted::Codes(set) = &question.wanted else { return false };
        self.asking.insert(rule);
        for (code, failing) in self.failing.iter_mut().enumerate() {
            if set.holds(count(code)) == question.negated {
                failing.insert(rule);
            }
        }
        true
    }

    /// The rules that fail by a fact; `None` when it does not tell.
    pub(super) fn failing(&self, fact: &Fact) -> Option<&Row> {
        match fact {
            Fact::Code(code) => self.failing.get(*code as usize),
            Fact::Absent => Some(&self.asking),
            _ => None,
        }
    }
}
