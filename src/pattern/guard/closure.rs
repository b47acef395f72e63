//! Sets of states: following empty transitions at a place, and stepping over a byte.

use super::nfa::{Id, Nfa, State};

/// Scratch for one automaton, and what the last closing found.
#[derive(Debug, Default)]
pub(super) struct Closure {
    /// The round in which each state was last met.
    met: Vec<u64>,
    round: u64,
    stack: Vec<Id>,
    /// The last answer of each predicate, and the round it was given in.
    answers: Vec<(u64, bool)>,
    /// The states that step over a byte.
    pub(super) items: Vec<Id>,
    pub(super) matched: bool,
}

impl Closure {
    pub(super) fn fit(&mut self, nfa: &Nfa) {
        self.met.resize(nfa.len(), 0);
        self.answers.resize(nfa.predicates.len(), (0, false));
    }

    /// Whether a state is met for the first time in this round.
    fn meet(&mut self, id: Id) -> bool {
        match self.met.get_mut(id as usize) {
            Some(met) if *met != self.round => {
                *met = self.round;
                true
            }
            _ => false,
        }
    }

    /// Follows empty transitions from `kernel`; each state is visited once, each predicate is asked
    /// once however many copies of its guard there are.
    pub(super) fn close(&mut self, nfa: &Nfa, kernel: &[Id], mut holds: impl FnMut(u32) -> bool) {
        self.round += 1;
        self.items.clear();
        self.matched = false;
        self.stack.clear();
        self.stack.extend(kernel.iter().rev());
        while let Some(id) = self.stack.pop() {
            if !self.meet(id) {
                continue;
            }
            match nfa.state(id) {
                State::Bytes(..) => self.items.push(id),
                State::Split(one, other) => self.stack.extend([other, one]),
                State::Guard { predicate, negated, next } => {
                    if self.ask(predicate, &mut holds) != negated {
                        self.stack.push(next);
                    }
                }
                State::Match => self.matched = true,
            }
        }
    }

    fn ask(&mut self, predicate: u32, holds: &mut impl FnMut(u32) -> bool) -> bool {
        match self.answers.get_mut(predicate as usize) {
            Some((round, answer)) if *round == self.round => *answer,
            Some(known) => {
                *known = (self.round, holds(predicate));
                known.1
            }
            None => false,
        }
    }

    /// The predicates that can be met from `kernel`, one bit each.
    pub(super) fn predicates(&mut self, nfa: &Nfa, kernel: &[Id]) -> u64 {
        let mut mask = 0;
        self.round += 1;
        self.stack.clear();
        self.stack.extend(kernel);
        while let Some(id) = self.stack.pop() {
            if !self.meet(id) {
                continue;
            }
            match nfa.state(id) {
                State::Split(one, other) => self.stack.extend([other, one]),
                State::Guard { predicate, next, .. } => {
                    mask |= 1_u64.checked_shl(predicate).unwrap_or(0);
                    self.stack.push(next);
                }
                State::Bytes(..) | State::Match => {}
            }
        }
        mask
    }

    /// The states that a byte leads to, sorted.
    pub(super) fn step(&mut self, nfa: &Nfa, items: &[Id], byte: u8, kernel: &mut Vec<Id>) {
        self.round += 1;
        kernel.clear();
        for id in items {
            for edge in nfa.edges(*id) {
                if edge.low <= byte && byte <= edge.high && self.meet(edge.next) {
                    kernel.push(edge.next);
                }
            }
        }
        kernel.sort_unstable();
    }
}
