//! A compiled body: an automaton in one direction, and the lookarounds that its guards ask.

use regex_automata::util::prefilter::Prefilter;

use super::nfa::{Nfa, TooLarge};
use crate::pattern::ir::{Body, Ir, Lookaround};

/// Columns for the answers of at most four predicates: no row of a table is narrower.
const NARROWEST: usize = 16;

/// Reads a text forward or backward.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) nfa: Nfa,
    pub(super) forward: bool,
    pub(super) classes: [u8; 256],
    /// A row of the table has two to the power of this many columns.
    pub(super) shift: u32,
    pub(super) looks: Vec<Look>,
    /// Finds where a match can start, and what has to stand before it.
    pub(super) prefilter: Option<Prefilter>,
    /// The bytes that have to stand before it.
    pub(super) lead: usize,
}

/// A compiled lookaround. Its reader is the machine right around it and no other.
#[derive(Debug)]
pub(super) struct Look {
    /// Answers for all places in one pass: forward for a lookbehind, backward for a lookahead.
    pub(super) sweep: Box<Machine>,
    /// Whether the reader goes the same way, so that both can go in step.
    pub(super) in_step: bool,
    /// Answers for one place by reading on from there, the other way; only without lookarounds
    /// inside, which would not know where to start.
    pub(super) direct: Option<Box<Machine>>,
}

impl Machine {
    /// Compiles a body; `anywhere` lets a match start at every place.
    pub(super) fn new(
        body: &Body,
        forward: bool,
        anywhere: bool,
        room: &mut usize,
    ) -> Result<Box<Self>, TooLarge> {
        let mut machine = Self::without_looks(&body.ir, forward, anywhere, room)?;
        for look in &body.looks {
            machine.looks.push(Look::new(look, forward, room)?);
        }
        Ok(machine)
    }

    /// Apart, so that nested lookarounds take little of the stack.
    #[inline(never)]
    fn without_looks(
        ir: &Ir,
        forward: bool,
        anywhere: bool,
        room: &mut usize,
    ) -> Result<Box<Self>, TooLarge> {
        let nfa = Nfa::new(ir, forward, anywhere, room)?;
        let (classes, count) = nfa.byte_classes();
        Ok(Box::new(Self {
            forward,
            classes,
            shift: count.max(NARROWEST).next_power_of_two().trailing_zeros(),
            looks: Vec::new(),
            nfa,
            prefilter: None,
            lead: 0,
        }))
    }

    /// How many machines there are in all.
    pub(super) fn count(&self) -> usize {
        1 + self.looks.iter().flat_map(Look::machines).map(Self::count).sum::<usize>()
    }

    /// How many states there are in all.
    pub(super) fn states(&self) -> usize {
        let inner: usize = self.looks.iter().flat_map(Look::machines).map(Self::states).sum();
        self.nfa.len() + inner
    }

    pub(super) fn memory(&self) -> usize {
        let inner: usize = self.looks.iter().flat_map(Look::machines).map(Self::memory).sum();
        size_of::<Self>() + self.nfa.memory() + inner
    }
}

impl Look {
    fn new(look: &Lookaround, reader_forward: bool, room: &mut usize) -> Result<Self, TooLarge> {
        let Lookaround { behind, body } = look;
        // Reading forward, a body that starts at the start of the text need not be tried later.
        let anywhere = !(*behind && body.ir.is_anchored());
        let sweep = Machine::new(body, *behind, anywhere, room)?;
        let in_step = *behind == reader_forward;
        let direct = if body.looks.is_empty() {
            Some(Machine::new(body, !behind, false, room)?)
        } else {
            None
        };
        Ok(Self { sweep, in_step, direct })
    }

    fn machines(&self) -> impl Iterator<Item = &Machine> {
        std::iter::once(&*self.sweep).chain(self.direct.as_deref())
    }
}
