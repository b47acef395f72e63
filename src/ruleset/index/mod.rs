//! An index over rules: a record's cost grows with its distinct facts, not with the rules.
//!
//! A *probe* finds out one fact of a place: the code of its value, or which of many texts it holds.
//! A fact answers all tests of its kind at the place. A *tree* leads from facts to the rules that can
//! still hold, and only those are tried. Where a probe does not tell (an unreadable value, a foreign
//! one in a list), all its rules are tried and its tests are answered as by the plain walk, so that
//! both answer alike.

mod access;
mod codes;
mod fact;
mod masks;
mod query;
mod row;
mod table;
#[cfg(test)]
pub(in crate::ruleset) mod tests;
mod text;
mod tree;

use std::collections::BTreeMap;

use self::access::Access;
use self::fact::{Family, Probe, Question};
use self::masks::Masks;
use self::tree::{Planter, Tree};
use super::RuleSet;
use crate::check::Test;

/// The index of a set.
#[derive(Debug)]
pub(super) struct Index {
    probes: Box<[Probe]>,
    /// By predicate; `None` is answered by the walk.
    questions: Box<[Option<Question>]>,
    /// The predicates of all checks in order.
    members: Box<[u32]>,
    tree: Tree,
    /// For all answers of a set of few rules.
    masks: Option<Masks>,
}

/// Fewer rules than this are walked.
const RULES: usize = 16;
/// So many checks a probe must answer in the mean to be worth asking.
const SHARED: usize = 2;

impl Index {
    /// The index of a set when it is expected to be faster than the walk. Only counts decide, so
    /// that the choice is the same everywhere.
    pub(super) fn worthwhile(set: &RuleSet) -> Option<Self> {
        if set.rules.len() < RULES {
            return None;
        }
        let index = Self::new(set);
        let asked = |member: &&u32| index.question(**member).is_some();
        let answered = index.members.iter().filter(asked).count();
        (answered >= index.probes.len().max(1).saturating_mul(SHARED)).then_some(index)
    }

    /// The index of a set.
    pub(super) fn new(set: &RuleSet) -> Self {
        let (probes, questions) = probes(set);
        let members = set.checks.iter().map(|member| count(member.predicate)).collect();
        let mut index = Self { probes, questions, members, tree: Tree::default(), masks: None };
        let accesses: Vec<Access> = set.rules.iter().map(|rule| index.access(rule)).collect();
        let rules: Vec<u32> = (0..count(set.rules.len())).collect();
        index.tree = Planter::new(&accesses, set.checks.len()).tree(&rules, &mut Vec::new());
        index.masks = Masks::new(set, &index);
        index
    }

    fn access(&self, rule: &super::Rule) -> Access {
        let members = self.members.get(rule.start..rule.end).unwrap_or_default();
        Access::of(members.iter().map(|member| self.question(*member)), rule.any)
    }

    fn question(&self, predicate: u32) -> Option<&Question> {
        self.questions.get(predicate as usize)?.as_ref()
    }
}

/// The probes of a set, and its predicates as questions to them.
fn probes(set: &RuleSet) -> (Box<[Probe]>, Box<[Option<Question>]>) {
    let mut families: BTreeMap<(usize, Family), Vec<usize>> = BTreeMap::new();
    for (position, predicate) in set.predicates.iter().enumerate() {
        if let Some(family) = Family::of(&predicate.test) {
            families.entry((predicate.place, family)).or_default().push(position);
        }
    }
    let mut questions: Vec<Option<Question>> = set.predicates.iter().map(|_| None).collect();
    let mut probes = Vec::new();
    for ((place, family), members) in families {
        let predicates = || members.iter().filter_map(|at| set.predicates.get(*at));
        let tests: Vec<&Test> = predicates().map(|predicate| &predicate.test).collect();
        let Some(probe) = Probe::new(place, family, &tests) else { continue };
        for (position, predicate) in members.iter().zip(predicates()) {
            let question = probe.wanted(&predicate.test).map(|wanted| Question {
                probe: probes.len(),
                negated: predicate.negated,
                wanted,
            });
            if let Some(slot) = questions.get_mut(*position) {
                *slot = question;
            }
        }
        probes.push(probe);
    }
    (probes.into(), questions.into())
}

/// A count that is kept short; a set with more rules or checks does not fit into memory.
fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
