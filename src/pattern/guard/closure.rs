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
    answers: Vec<(u64, Option<bool>)>,
    /// The states that step over a byte, and guards that wait for an answer.
    pub(super) items: Vec<Id>,
    pub(super) matched: bool,
    /// How many states were looked at; whoever counts them takes them.
    pub(super) looked: usize,
}

impl Closure {
    pub(super) fn fit(&mut self, nfa: &Nfa) {
        self.met.resize(nfa.len(), 0);
        self.answers.resize(nfa.predicates.len(), (0, None));
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
    /// once however many copies of its guard there are. Guards without an answer are kept.
    pub(super) fn close(
        &mut self,
        nfa: &Nfa,
        kernel: &[Id],
        mut holds: impl FnMut(u32) -> Option<bool>,
    ) {
        self.begin(kernel);
        self.items.clear();
        self.matched = false;
        while let Some(id) = self.next() {
            self.looked += 1;
            match nfa.state(id) {
                State::Byte(_) | State::Bytes(..) => self.items.push(id),
                State::Split(one, other) => self.stack.extend([other, one]),
                State::Guard { predicate, negated, next } => {
                    match self.ask(predicate, &mut holds) {
                        Some(answer) if answer != negated => self.stack.push(next),
                        Some(_) => {}
                        None => self.items.push(id),
                    }
                }
                State::Match => self.matched = true,
            }
        }
    }

    fn ask(&mut self, predicate: u32, holds: &mut impl FnMut(u32) -> Option<bool>) -> Option<bool> {
        let (round, answer) = self.answers.get_mut(predicate as usize)?;
        if *round != self.round {
            (*round, *answer) = (self.round, holds(predicate));
        }
        *answer
    }

    /// The predicates that can be met from `kernel`, one bit each; no further than guards of which
    /// `through` says no.
    pub(super) fn predicates(
        &mut self,
        nfa: &Nfa,
        kernel: &[Id],
        through: impl Fn(u64, bool) -> bool,
    ) -> u64 {
        let mut mask = 0;
        self.begin(kernel);
        while let Some(id) = self.next() {
            match nfa.state(id) {
                State::Split(one, other) => self.stack.extend([other, one]),
                State::Guard { predicate, negated, next } => {
                    let bit = 1_u64.checked_shl(predicate).unwrap_or(0);
                    mask |= bit;
                    if through(bit, negated) {
                        self.stack.push(next);
                    }
                }
                State::Byte(_) | State::Bytes(..) | State::Match => {}
            }
        }
        mask
    }

    fn begin(&mut self, kernel: &[Id]) {
        self.round += 1;
        self.stack.clear();
        self.stack.extend(kernel.iter().rev());
    }

    /// The next state that is met for the first time.
    fn next(&mut self) -> Option<Id> {
        loop {
            let id = self.stack.pop()?;
            if self.meet(id) {
                return Some(id);
            }
        }
    }

    /// The states that a byte leads to, in no order.
    pub(super) fn step(&mut self, nfa: &Nfa, items: &[Id], byte: u8, kernel: &mut Vec<Id>) {
        self.round += 1;
        self.looked += items.len();
        kernel.clear();
        for id in items {
            for edge in nfa.edges(*id) {
                if edge.low <= byte && byte <= edge.high && self.meet(edge.next) {
                    kernel.push(edge.next);
                }
            }
        }
    }
}
