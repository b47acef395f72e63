//! All answers of a few rules at once: for each code of a probe, the rules that fail by it.

use super::fact::{Fact, Probe, Question, Wanted};
use super::{Index, count};
use crate::ruleset::{Rule, RuleSet};

/// So many words of 64 rules, at most.
const WORDS: usize = 4;
/// So many checks and codes, at most: what bounds memory, and the time that making them takes.
const CHECKS: usize = 1024;
const CODES: usize = 2048;

/// A bit for each rule.
pub(super) type Row = [u64; WORDS];

/// What codes say of the rules of a set.
#[derive(Debug)]
pub(super) struct Masks {
    pub(super) by_probe: Box<[Mask]>,
    /// The rules that hold when no code is against them.
    pub(super) settled: Row,
    /// All rules.
    pub(super) rules: Row,
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
            settled: Row::default(),
            rules: Row::default(),
        };
        for (position, rule) in (0..).zip(&set.rules) {
            masks.add(position, rule, index);
        }
        Some(masks)
    }

    fn add(&mut self, position: usize, rule: &Rule, index: &Index) {
        mark(&mut self.rules, position);
        if rule.any {
            return;
        }
        let members = index.members.get(rule.start..rule.end).unwrap_or_default();
        let mut settled = true;
        for member in members {
            match index.question(*member) {
                Some(question) if matches!(question.wanted, Wanted::Codes(_)) => {
                    let mut masks = self.by_probe.iter_mut();
                    if let Some(mask) = masks.find(|mask| mask.probe == question.probe) {
                        mask.add(position, question);
                    }
                }
                _ => settled = false,
            }
        }
        if settled {
            mark(&mut self.settled, position);
        }
    }
}

impl Mask {
    fn add(&mut self, rule: usize, question: &Question) {
        mark(&mut self.asking, rule);
        let Wanted::Codes(set) = &question.wanted else { return };
        for (code, failing) in self.failing.iter_mut().enumerate() {
            if set.holds(count(code)) == question.negated {
                mark(failing, rule);
            }
        }
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

fn mark(row: &mut Row, rule: usize) {
    if let Some(word) = row.get_mut(rule / 64) {
        *word |= 1 << (rule % 64);
    }
}

/// Adds the rules of one row to another.
pub(super) fn join(row: &mut Row, more: &Row) {
    row.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
}

/// Whether all rules of a row are in another.
pub(super) fn within(row: &Row, other: &Row) -> bool {
    row.iter().zip(other).all(|(word, other)| word & !other == 0)
}
