//! Running a machine over a text, with the lookarounds that it asks.

use std::cell::Cell;

use regex_automata::Span;

use super::closure::Closure;
use super::lazy::{DEAD, FRESH, Lazy, MATCHED, NodeId, PENDING, SPECIAL, UNKNOWN};
use super::machine::{Look, Machine};
use super::nfa::{Id, Predicate};

/// So often in one text the table may run full before sets of states are simulated instead.
const CLEARS: u32 = 8;

/// The state of a machine at a place, and its tables.
#[derive(Debug, Default)]
pub(super) struct Run {
    at: usize,
    node: NodeId,
    /// What the node, or the kernel, comes to at this place is known: in `here`, or in the closure.
    settled: bool,
    here: NodeId,
    /// The states that the last byte led to, while simulating.
    kernel: Vec<Id>,
    simulating: bool,
    clears: u32,
    skips: usize,
    lazy: Lazy,
    closure: Closure,
    readers: Vec<Reader>,
}

/// How a lookaround is answered during one text.
#[derive(Debug, Default)]
struct Reader {
    sweep: Run,
    direct: Run,
    /// Bytes that direct answers have read so far.
    spent: usize,
    /// The answers for all places, once they are computed.
    answers: Option<Vec<u64>>,
}

/// How to run: a cap on each table, and whether to use tables at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) table_bytes: usize,
    pub(super) simulate: bool,
}

/// What stays the same during one text.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) text: &'a [u8],
    pub(super) setting: Setting,
    /// How many states may still be looked at; at zero whatever is found says nothing.
    pub(super) work: &'a Cell<usize>,
}

impl Task<'_> {
    fn is_spent(&self) -> bool {
        self.work.get() == 0
    }

    fn spend(&self, closure: &mut Closure) {
        self.work.set(self.work.get().saturating_sub(std::mem::take(&mut closure.looked)));
    }
}

impl Run {
    /// Whether the machine, started at its end of the text, finds a match.
    pub(super) fn is_match(&mut self, machine: &Machine, task: Task<'_>) -> bool {
        self.prepare(machine, task);
        let to = if machine.forward { task.text.len() } else { 0 };
        let found = self.drive(machine, task, to, |_| true);
        self.release();
        found
    }

    /// Drops the answers of all lookarounds inside.
    fn release(&mut self) {
        for reader in &mut self.readers {
            reader.answers = None;
            reader.sweep.release();
        }
    }

    /// Puts the machine, and all that go in step with it, at their end of the text.
    fn prepare(&mut self, machine: &Machine, task: Task<'_>) {
        self.start(machine, task, if machine.forward { 0 } else { task.text.len() });
        self.readers.resize_with(machine.looks.len(), Reader::default);
        for (reader, look) in self.readers.iter_mut().zip(&machine.looks) {
            reader.spent = 0;
            if look.in_step {
                reader.sweep.prepare(&look.sweep, task);
            }
        }
    }

    fn start(&mut self, machine: &Machine, task: Task<'_>, at: usize) {
        self.at = at;
        self.settled = false;
        self.clears = 0;
        self.skips = 0;
        self.closure.fit(&machine.nfa);
        self.simulating = task.setting.simulate || machine.nfa.predicates.len() > 64;
        if self.simulating {
            self.kernel.clear();
            self.kernel.push(machine.nfa.start);
        } else {
            self.node = self.lazy.fresh(machine, &mut self.closure);
        }
    }

    /// Reads on up to a place. Stops early, with true, when `found` takes a place with a match.
    fn drive(
        &mut self,
        machine: &Machine,
        task: Task<'_>,
        to: usize,
        mut found: impl FnMut(usize) -> bool,
    ) -> bool {
        while !self.simulating {
            if self.node & FRESH != 0 && !self.skip(machine, task) {
                return false;
            }
            if !self.settled {
                self.here = self.settle(machine, task);
                self.settled = true;
            }
            if self.here & MATCHED != 0 && found(self.at) {
                return true;
            }
            if self.at == to || self.here & DEAD != 0 || task.is_spent() {
                return false;
            }
            self.advance(machine, task, self.here);
            self.stretch(machine, task, to);
        }
        loop {
            if !self.settled {
                self.close(machine, task);
                task.spend(&mut self.closure);
                self.settled = true;
            }
            if self.closure.matched && found(self.at) {
                return true;
            }
            if self.at == to || self.closure.items.is_empty() || task.is_spent() {
                return false;
            }
            let byte = self.read(machine, task);
            let items = std::mem::take(&mut self.closure.items);
            self.closure.step(&machine.nfa, &items, byte, &mut self.kernel);
            self.closure.items = items;
        }
    }

    /// Takes the next byte.
    fn read(&mut self, machine: &Machine, task: Task<'_>) -> u8 {
        self.settled = false;
        let at = if machine.forward { self.at } else { self.at.saturating_sub(1) };
        self.at = if machine.forward { at + 1 } else { at };
        task.text.get(at).copied().unwrap_or_default()
    }

    /// Jumps to where a match can start; false when there is none.
    fn skip(&mut self, machine: &Machine, task: Task<'_>) -> bool {
        let Some(prefilter) = &machine.prefilter else { return true };
        // Many short jumps are slower than reading on.
        if self.skips > 32 && self.at / self.skips < 4 {
            return true;
        }
        self.skips += 1;
        let start = self.at.saturating_sub(machine.lead);
        match prefilter.find(task.text, Span { start, end: task.text.len() }) {
            Some(found) => {
                self.at = found.start + machine.lead;
                true
            }
            None => false,
        }
    }

    /// Reads bytes as long as the table leads from one plain node to the next.
    fn stretch(&mut self, machine: &Machine, task: Task<'_>, to: usize) {
        if self.simulating || self.node & SPECIAL != 0 {
            return;
        }
        let count;
        if machine.forward {
            let bytes = task.text.get(self.at..to).unwrap_or_default().iter();
            (self.node, count) = self.lazy.stretch(self.node, &machine.classes, bytes);
            self.at += count;
        } else {
            let bytes = task.text.get(to..self.at).unwrap_or_default().iter().rev();
            (self.node, count) = self.lazy.stretch(self.node, &machine.classes, bytes);
            self.at -= count;
        }
    }

    /// What the node closes to at this place.
    fn settle(&mut self, machine: &Machine, task: Task<'_>) -> NodeId {
        let edges = u64::from(self.at == 0) | u64::from(self.at == task.text.len()) << 1;
        let mut node = self.node;
        if edges == 0 && node & PENDING == 0 {
            return node;
        }
        loop {
            let mut waiting = self.lazy.waiting(node, edges != 0, machine);
            let (mut word, mut column, mut value) = (edges, 0, 1_u32);
            while waiting != 0 {
                let predicate = waiting.trailing_zeros();
                waiting &= waiting - 1;
                if holds(predicate, self.at, machine, task, &mut self.readers) {
                    word |= 1 << predicate;
                    column |= value;
                }
                value = value.wrapping_shl(1);
            }
            node = self.lazy.settle(node, word, column, machine, &mut self.closure);
            if node & PENDING == 0 {
                return node;
            }
        }
    }

    /// Reads one byte from a closed node.
    fn advance(&mut self, machine: &Machine, task: Task<'_>, here: NodeId) {
        let byte = self.read(machine, task);
        let class = machine.classes.get(usize::from(byte)).copied().unwrap_or_default();
        let next = self.lazy.get(here, u32::from(class));
        if next != UNKNOWN {
            self.node = next;
            return;
        }
        let items = self.lazy.items(here, machine);
        self.closure.step(&machine.nfa, items, byte, &mut self.kernel);
        task.spend(&mut self.closure);
        self.kernel.sort_unstable();
        if self.lazy.memory() > task.setting.table_bytes {
            self.lazy.clear();
            self.clears += 1;
            self.simulating = self.clears > CLEARS;
            if !self.simulating {
                self.node = self.lazy.kernel(&self.kernel, machine, &mut self.closure);
            }
            return;
        }
        self.node = self.lazy.kernel(&self.kernel, machine, &mut self.closure);
        self.lazy.set(here, u32::from(class), self.node);
    }

    /// Closes the simulated set of states at this place.
    fn close(&mut self, machine: &Machine, task: Task<'_>) {
        let Self { at, kernel, closure, readers, .. } = self;
        closure.close(&machine.nfa, kernel, |predicate| {
            Some(holds(predicate, *at, machine, task, readers))
        });
    }

    /// Whether a match ends, or in the other direction starts, at a place further on.
    fn reach(&mut self, machine: &Machine, task: Task<'_>, place: usize) -> bool {
        self.drive(machine, task, place, |at| at == place)
    }
}

impl Reader {
    fn ask(&mut self, look: &Look, task: Task<'_>, at: usize) -> bool {
        if self.answers.is_none() {
            match &look.direct {
                // All direct answers together may read as much as one pass, and one answer more.
                Some(direct) if self.spent <= task.text.len() => {
                    self.direct.start(direct, task, at);
                    let to = if direct.forward { task.text.len() } else { 0 };
                    let found = self.direct.drive(direct, task, to, |_| true);
                    self.spent += 1 + self.direct.at.abs_diff(at);
                    return found;
                }
                _ if look.in_step => return self.sweep.reach(&look.sweep, task, at),
                _ => self.sweep_all(look, task),
            }
        }
        let word = self.answers.as_ref().and_then(|answers| answers.get(at / 64));
        word.is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Computes the answers for all places.
    fn sweep_all(&mut self, look: &Look, task: Task<'_>) {
        let mut answers = vec![0_u64; task.text.len() / 64 + 1];
        self.sweep.prepare(&look.sweep, task);
        let to = if look.sweep.forward { task.text.len() } else { 0 };
        self.sweep.drive(&look.sweep, task, to, |at| {
            if let Some(word) = answers.get_mut(at / 64) {
                *word |= 1 << (at % 64);
            }
            false
        });
        self.sweep.release();
        self.answers = Some(answers);
    }
}

/// Whether a predicate holds at a place.
fn holds(
    predicate: u32,
    at: usize,
    machine: &Machine,
    task: Task<'_>,
    readers: &mut [Reader],
) -> bool {
    match machine.nfa.predicates.get(predicate as usize) {
        Some(Predicate::Start) => at == 0,
        Some(Predicate::End) => at == task.text.len(),
        Some(Predicate::Before(set, at_edge)) => set.before(task.text, at).unwrap_or(*at_edge),
        Some(Predicate::After(set, at_edge)) => set.after(task.text, at).unwrap_or(*at_edge),
        Some(Predicate::WordBorder(set)) => set.is_border(task.text, at),
        Some(Predicate::Look(number)) => {
            match (readers.get_mut(*number), machine.looks.get(*number)) {
                (Some(reader), Some(look)) => reader.ask(look, task, at),
                _ => false,
            }
        }
        None => false,
    }
}
