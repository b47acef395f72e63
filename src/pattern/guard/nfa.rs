//! An automaton over bytes with guarded empty transitions.

use std::collections::BTreeMap;

use super::place::Lookup;
use crate::pattern::ir::{Ir, Question};
use crate::pattern::set::UnitSet;

/// The number of a state.
pub(super) type Id = u32;

/// The state in which there is a match.
pub(super) const MATCH: Id = 0;

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Steps over a byte by one edge.
    Byte(Edge),
    /// By edges from the first number to before the last.
    Bytes(u32, u32),
    Split(Id, Id),
    /// Goes on where the predicate holds, or where it does not if negated.
    Guard {
        predicate: u32,
        negated: bool,
        next: Id,
    },
    Match,
}

/// Bytes from low to high, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) low: u8,
    pub(super) high: u8,
    pub(super) next: Id,
}

/// What guards ask. The answer depends on the place only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Predicate {
    Start,
    End,
    /// The answer at the edge of the text stands last.
    Before(Lookup, bool),
    After(Lookup, bool),
    WordBorder(Lookup),
    Look(usize),
}

impl Predicate {
    fn memory(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Before(lookup, _) | Self::After(lookup, _) | Self::WordBorder(lookup) => {
                    lookup.memory()
                }
                Self::Start | Self::End | Self::Look(_) => 0,
            }
    }
}

/// States, in one direction of reading.
#[derive(Debug)]
pub(super) struct Nfa {
    states: Vec<State>,
    edges: Vec<Edge>,
    /// `Start` and `End` come first, whether asked or not.
    pub(super) predicates: Vec<Predicate>,
    pub(super) start: Id,
}

/// More states than there is room for.
#[derive(Debug)]
pub(super) struct TooLarge;

impl Nfa {
    /// Builds the automaton of `ir`; `anywhere` lets a match start at every place.
    pub(super) fn new(
        ir: &Ir,
        forward: bool,
        anywhere: bool,
        room: &mut usize,
    ) -> Result<Self, TooLarge> {
        let nfa = Self {
            states: Vec::new(),
            edges: Vec::new(),
            predicates: vec![Predicate::Start, Predicate::End],
            start: 0,
        };
        let mut builder = Builder { nfa, forward, room, sets: BTreeMap::new() };
        builder.push(State::Match)?;
        let mut start = builder.add(ir, MATCH)?;
        if anywhere {
            start = builder.add_skipping(start)?;
        }
        let mut nfa = builder.nfa;
        nfa.start = start;
        nfa.states.shrink_to_fit();
        nfa.edges.shrink_to_fit();
        Ok(nfa)
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn state(&self, id: Id) -> State {
        self.states.get(id as usize).copied().unwrap_or(State::Bytes(0, 0))
    }

    /// The edges of a state that steps over a byte; none of any other.
    pub(super) fn edges(&self, id: Id) -> &[Edge] {
        match self.states.get(id as usize) {
            Some(State::Byte(edge)) => std::slice::from_ref(edge),
            Some(State::Bytes(first, last)) => {
                self.edges.get(*first as usize..*last as usize).unwrap_or_default()
            }
            _ => &[],
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.states.len() * size_of::<State>()
            + self.edges.len() * size_of::<Edge>()
            + self.predicates.iter().map(Predicate::memory).sum::<usize>()
    }

    /// The predicates that only a lookaround answers, one bit each.
    pub(super) fn looks(&self) -> u64 {
        let look = |predicate: &Predicate| u64::from(matches!(predicate, Predicate::Look(_)));
        let bits = self.predicates.iter().take(64).enumerate();
        bits.fold(0, |mask, (bit, predicate)| mask | look(predicate) << bit)
    }

    /// Numbers for bytes, alike for bytes that no state tells apart, and how many there are.
    pub(super) fn byte_classes(&self) -> ([u8; 256], usize) {
        let mut starts = [false; 256];
        let single = self.states.iter().filter_map(|state| match state {
            State::Byte(edge) => Some(edge),
            _ => None,
        });
        for edge in self.edges.iter().chain(single) {
            for border in [Some(edge.low), edge.high.checked_add(1)].into_iter().flatten() {
                if let Some(start) = starts.get_mut(usize::from(border)) {
                    *start = true;
                }
            }
        }
        let mut classes = [0; 256];
        let mut class = 0_u8;
        for (at, (slot, start)) in classes.iter_mut().zip(starts).enumerate() {
            class = class.saturating_add(u8::from(start && at > 0));
            *slot = class;
        }
        (classes, usize::from(class) + 1)
    }
}

struct Builder<'a> {
    nfa: Nfa,
    forward: bool,
    /// States that may still be made.
    room: &'a mut usize,
    /// The states of each set that was added, to be copied when it comes again.
    sets: BTreeMap<UnitSet, Turn>,
}

impl Builder<'_> {
    fn push(&mut self, state: State) -> Result<Id, TooLarge> {
        *self.room = self.room.checked_sub(1).ok_or(TooLarge)?;
        self.nfa.states.push(state);
        Ok(self.last())
    }

    fn last(&self) -> Id {
        number(self.nfa.states.len()).saturating_sub(1)
    }

    fn set(&mut self, id: Id, state: State) {
        if let Some(slot) = self.nfa.states.get_mut(id as usize) {
            *slot = state;
        }
    }

    fn bytes(&mut self, edges: &[Edge]) -> Result<Id, TooLarge> {
        if let [edge] = edges {
            return self.push(State::Byte(*edge));
        }
        let first = number(self.nfa.edges.len());
        self.nfa.edges.extend_from_slice(edges);
        self.push(State::Bytes(first, number(self.nfa.edges.len())))
    }

    /// Adds `ir` so that it goes on at `next`; where it starts.
    fn add(&mut self, ir: &Ir, next: Id) -> Result<Id, TooLarge> {
        Ok(match ir {
            Ir::Empty => next,
            Ir::Set(set) => self.add_set(set, next)?,
            Ir::Concat(parts) => {
                let mut parts: Vec<&Ir> = parts.iter().collect();
                if !self.forward {
                    parts.reverse();
                }
                // Questions in a row must all hold, so the cheap ones come first.
                for row in parts.chunk_by_mut(|one, other| one.is_ask() && other.is_ask()) {
                    row.sort_by_key(|part| part.cost());
                }
                // Built from the far end.
                parts.into_iter().rev().try_fold(next, |next, part| self.add(part, next))?
            }
            Ir::Alternate(branches) => self.add_branches(branches, next)?,
            Ir::Repeat { body, min, max } => self.add_repeat(body, *min, *max, next)?,
            Ir::Ask { question, negated } => {
                let predicate = self.predicate(question);
                self.push(State::Guard { predicate, negated: *negated, next })?
            }
        })
    }

    fn add_branches(&mut self, branches: &[Ir], next: Id) -> Result<Id, TooLarge> {
        // All sets are one set.
        let sets = branches.iter().filter_map(|branch| match branch {
            Ir::Set(set) => Some(set.ranges()),
            _ => None,
        });
        let set = UnitSet::new(sets.flatten().copied());
        let others: Vec<&Ir> =
            branches.iter().filter(|branch| !matches!(branch, Ir::Set(_))).collect();
        let mut start = None;
        if others.is_empty() || !set.ranges().is_empty() {
            start = Some(self.add_set(&set, next)?);
        }
        for branch in others.into_iter().rev() {
            let branch = self.add(branch, next)?;
            start = Some(match start {
                Some(before) => self.push(State::Split(branch, before))?,
                None => branch,
            });
        }
        Ok(start.unwrap_or(next))
    }

    fn predicate(&mut self, question: &Question) -> u32 {
        let wanted = match question {
            Question::Start => Predicate::Start,
            Question::End => Predicate::End,
            Question::WordBorder(word) => Predicate::WordBorder(Lookup::new(word.set())),
            Question::Beside(beside) => {
                let lookup = Lookup::new(beside.set.clone());
                let kind = if beside.behind { Predicate::Before } else { Predicate::After };
                kind(lookup, beside.at_edge)
            }
            Question::Look(look) => Predicate::Look(*look),
        };
        let known = self.nfa.predicates.iter().position(|predicate| *predicate == wanted);
        number(known.unwrap_or_else(|| {
            self.nfa.predicates.push(wanted);
            self.nfa.predicates.len() - 1
        }))
    }

    fn add_repeat(
        &mut self,
        body: &Ir,
        min: u32,
        max: Option<u32>,
        next: Id,
    ) -> Result<Id, TooLarge> {
        let from = self.nfa.states.len();
        match max {
            Some(0) => Ok(next),
            None => {
                // The turn comes back to the choice between one more and going on.
                let choice = self.push(State::Split(next, next))?;
                let turn = self.turn(body, from + 1, choice)?;
                self.set(choice, State::Split(turn.start, next));
                let start = if min == 0 { choice } else { turn.start };
                self.copies(turn, min.saturating_sub(1), start)
            }
            Some(max) if max > min => {
                let turn = self.turn(body, from, next)?;
                let mut start = self.push(State::Split(turn.start, next))?;
                for _ in 1..max - min {
                    let again = self.copy(turn, start)?;
                    start = self.push(State::Split(again, next))?;
                }
                self.copies(turn, min, start)
            }
            Some(_) => {
                let turn = self.turn(body, from, next)?;
                self.copies(turn, min.saturating_sub(1), turn.start)
            }
        }
    }

    fn turn(&mut self, body: &Ir, from: usize, next: Id) -> Result<Turn, TooLarge> {
        let start = self.add(body, next)?;
        Ok(Turn { from, to: self.nfa.states.len(), next, start })
    }

    fn copies(&mut self, turn: Turn, count: u32, start: Id) -> Result<Id, TooLarge> {
        (0..count).try_fold(start, |next, _| self.copy(turn, next))
    }

    /// Copies the states of a turn so that they go on at `next`; where the copy starts.
    fn copy(&mut self, turn: Turn, next: Id) -> Result<Id, TooLarge> {
        let shift = number(self.nfa.states.len() - turn.from);
        let own = number(turn.from)..number(turn.to);
        let moved = |id: Id| {
            if own.contains(&id) {
                id + shift
            } else if id == turn.next {
                next
            } else {
                id
            }
        };
        for id in own.clone() {
            let state = match self.nfa.state(id) {
                State::Byte(edge) => State::Byte(Edge { next: moved(edge.next), ..edge }),
                State::Bytes(..) => {
                    let edges: Vec<Edge> = self.nfa.edges(id).to_vec();
                    let first = number(self.nfa.edges.len());
                    let edges =
                        edges.into_iter().map(|edge| Edge { next: moved(edge.next), ..edge });
                    self.nfa.edges.extend(edges);
                    State::Bytes(first, number(self.nfa.edges.len()))
                }
                State::Split(one, other) => State::Split(moved(one), moved(other)),
                State::Guard { predicate, negated, next } => {
                    State::Guard { predicate, negated, next: moved(next) }
                }
                State::Match => State::Match,
            };
            self.push(state)?;
        }
        Ok(moved(turn.start))
    }

    fn add_set(&mut self, set: &UnitSet, next: Id) -> Result<Id, TooLarge> {
        if let Some(known) = self.sets.get(set) {
            return self.copy(*known, next);
        }
        let from = self.nfa.states.len();
        let mut spellings: Vec<Vec<(u8, u8)>> = Vec::new();
        set.spell(&mut |bytes| spellings.push(bytes.to_vec()));
        if !self.forward {
            for spelling in &mut spellings {
                spelling.reverse();
            }
            spellings.sort_unstable();
        }
        let start = self.add_spellings(&spellings, 0, next, &mut BTreeMap::new())?;
        let to = self.nfa.states.len();
        self.sets.insert(set.clone(), Turn { from, to, next, start });
        Ok(start)
    }

    /// Adds spellings that are alike up to `depth` bytes. Equal endings are made once.
    fn add_spellings(
        &mut self,
        spellings: &[Vec<(u8, u8)>],
        depth: usize,
        next: Id,
        made: &mut BTreeMap<Vec<Edge>, Id>,
    ) -> Result<Id, TooLarge> {
        let mut edges: Vec<Edge> = Vec::new();
        for alike in spellings.chunk_by(|one, other| one.get(depth) == other.get(depth)) {
            let Some((low, high)) = alike.first().and_then(|first| first.get(depth)).copied()
            else {
                continue;
            };
            let is_last = alike.iter().all(|spelling| spelling.len() == depth + 1);
            let next =
                if is_last { next } else { self.add_spellings(alike, depth + 1, next, made)? };
            match edges.last_mut() {
                Some(last) if last.next == next && last.high.checked_add(1) == Some(low) => {
                    last.high = high;
                }
                _ => edges.push(Edge { low, high, next }),
            }
        }
        if let Some(known) = made.get(&edges) {
            return Ok(*known);
        }
        let id = self.bytes(&edges)?;
        made.insert(edges, id);
        Ok(id)
    }

    /// Adds a loop over whole characters before `start`, for matches that start later.
    fn add_skipping(&mut self, start: Id) -> Result<Id, TooLarge> {
        let choice = self.push(State::Split(start, start))?;
        let edge = |low, high, next| Edge { low, high, next };
        let skip = if self.forward {
            let last = self.bytes(&[edge(0x80, 0xBF, choice)])?;
            let second = self.bytes(&[edge(0x80, 0xBF, last)])?;
            let first = self.bytes(&[edge(0x80, 0xBF, second)])?;
            self.bytes(&[
                edge(0x00, 0x7F, choice),
                edge(0xC0, 0xDF, last),
                edge(0xE0, 0xEF, second),
                edge(0xF0, 0xF7, first),
            ])?
        } else {
            // Backward, the first byte of a character is read last.
            let skip = self.bytes(&[])?;
            let first = number(self.nfa.edges.len());
            self.nfa.edges.extend([
                edge(0x00, 0x7F, choice),
                edge(0x80, 0xBF, skip),
                edge(0xC0, 0xFF, choice),
            ]);
            self.set(skip, State::Bytes(first, number(self.nfa.edges.len())));
            skip
        };
        self.set(choice, State::Split(start, skip));
        Ok(choice)
    }
}

/// States that can be copied, such as one turn of a repeat: the first and the one after the last, where
/// they go on, where they start.
#[derive(Clone, Copy, Debug)]
struct Turn {
    from: usize,
    to: usize,
    next: Id,
    start: Id,
}

/// The room for states keeps all numbers far below 2^32.
fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
