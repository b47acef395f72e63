//! Patterns with lookaround, in linear time.
//!
//! Whether a lookaround holds is a question about a place: its answer does not depend on how the
//! matcher got there. So a body is an automaton whose guards ask such questions, and the lookarounds
//! inside it are machines of their own, one for each that is written, however often a repeat copies
//! it. At first each question is answered by reading on from the place that asks. When that has cost
//! as much as one pass over the text, one pass in the other direction takes over: a lookbehind reads
//! forward in step with its reader, a lookahead reads backward once and keeps the answers for all
//! places, one bit each. Seen from a machine that reads backward, the two change roles.
//!
//! All answers are exact, so the time is linear in the text whatever the nesting (Mamouras,
//! Chattopadhyay, POPL 2024; the passes in step: Barrière, Pit-Claudel, PLDI 2024).

mod closure;
mod lazy;
mod machine;
mod nfa;
mod place;
mod run;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use regex_automata::MatchKind;
use regex_automata::util::pool::Pool;
use regex_automata::util::prefilter::Prefilter;
use regex_syntax::hir::Hir;

use self::machine::Machine;
use self::run::{Run, Setting, Task};
use super::ir::Body;
use super::set::UnitSet;

/// Bytes that the tables of one thread may take, and the least for each machine.
const TABLES: usize = 1 << 20;
const TABLE: usize = 16 << 10;

/// A compiled pattern and the tables of the threads that run it.
#[derive(Debug)]
pub(super) struct Guarded {
    machine: Box<Machine>,
    setting: Setting,
    pool: Pool<Run, fn() -> Run>,
}

impl Guarded {
    /// Compiles a pattern; a sticky one matches at the start only. `None` above so many states.
    pub(super) fn new(body: &Body, sticky: bool, states: usize) -> Option<Self> {
        let anywhere = !sticky && !body.ir.is_anchored();
        let mut room = states;
        let mut machine = Machine::new(body, true, anywhere, &mut room).ok()?;
        if anywhere {
            let lead = body.ir.lead();
            machine.lead = usize::from(lead.is_some());
            machine.prefilter = body
                .ir
                .to_wider_hir()
                .map(|hir| {
                    Hir::concat(lead.map(UnitSet::to_hir).into_iter().chain([hir]).collect())
                })
                .and_then(|hir| Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, &hir))
                .filter(Prefilter::is_fast);
        }
        let table_bytes = (TABLES / machine.count()).max(TABLE);
        let setting = Setting { table_bytes, simulate: false };
        Some(Self { machine, setting, pool: Pool::new(Run::default) })
    }

    /// Whether there is a match in a text of whole units; `None` when more states than `work` have
    /// to be looked at to find out.
    pub(super) fn is_match(&self, text: &[u8], work: usize) -> Option<bool> {
        let work = Cell::new(work);
        let task = Task { text, setting: self.setting, work: &work };
        let found = self.pool.get().is_match(&self.machine, task);
        (work.get() > 0).then_some(found)
    }

    /// How many states there are in all.
    pub(super) fn states(&self) -> usize {
        self.machine.states()
    }

    /// Heap memory of the compiled form, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.machine.memory()
    }
}
