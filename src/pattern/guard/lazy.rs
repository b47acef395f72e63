//! A table of transitions between sets of states, filled in while matching.
//!
//! A node is a *kernel*, the states that a byte led to, or a *closed* set, what is left of a kernel
//! when its guards are answered. A kernel that can meet no guard but the edges of the text is closed
//! at once, so that a plain stretch of text costs one look-up a byte.

use std::collections::BTreeMap;

use super::closure::Closure;
use super::machine::Machine;
use super::nfa::{Id, MATCH, State};

/// A node's row in the table, and what is special about it in the upper bits.
pub(super) type NodeId = u32;

/// Guards are still to be answered.
pub(super) const PENDING: NodeId = 1 << 31;
/// There is a match at this place.
pub(super) const MATCHED: NodeId = 1 << 30;
/// Nothing can follow.
pub(super) const DEAD: NodeId = 1 << 29;
/// As at the start, no match has begun, and there is a prefilter to find where one can.
pub(super) const FRESH: NodeId = 1 << 28;
/// Not computed yet. As all bits are set, it is special in every way.
pub(super) const UNKNOWN: NodeId = NodeId::MAX;

/// Anything but a closed set that a byte leads on from.
pub(super) const SPECIAL: NodeId = PENDING | MATCHED | DEAD | FRESH;

const ROW: NodeId = FRESH - 1;

/// Answers of up to so many predicates have a column of their own.
const COLUMN_BITS: u32 = 4;

/// So many other closings are kept.
const SETTLED: usize = 4_096;

/// Bits for the two predicates that every automaton has, the start and the end of the text.
pub(super) const EDGES: u64 = 0b11;

#[derive(Debug)]
struct Node {
    /// Empty for a closed set.
    kernel: Box<[Id]>,
    /// Empty while pending.
    items: Box<[Id]>,
    /// The predicates to be answered inside the text, and at its edges.
    inside: u64,
    at_edge: u64,
    /// Whether answers inside the text have a column each.
    in_columns: bool,
}

#[derive(Debug, Default)]
pub(super) struct Lazy {
    table: Vec<NodeId>,
    nodes: Vec<Node>,
    kernels: BTreeMap<Box<[Id]>, NodeId>,
    /// By whether there is a match, and the states.
    closed: BTreeMap<(bool, Box<[Id]>), NodeId>,
    /// What kernels close to at the edges of the text, and those with many predicates anywhere.
    settled: BTreeMap<(NodeId, u64), NodeId>,
    memory: usize,
    fresh: Option<NodeId>,
}

impl Lazy {
    /// Bytes in use, roughly.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn node(&self, id: NodeId, machine: &Machine) -> Option<&Node> {
        self.nodes.get(((id & ROW) >> machine.shift) as usize)
    }

    /// The predicates that a node waits for at a place, but for the edges themselves.
    pub(super) fn waiting(&self, id: NodeId, at_edge: bool, machine: &Machine) -> u64 {
        self.node(id, machine).map_or(0, |node| if at_edge { node.at_edge } else { node.inside })
    }

    /// The states of a closed node.
    pub(super) fn items(&self, id: NodeId, machine: &Machine) -> &[Id] {
        self.node(id, machine).map(|node| &*node.items).unwrap_or_default()
    }

    #[inline]
    pub(super) fn get(&self, id: NodeId, column: u32) -> NodeId {
        self.table.get(((id & ROW) | column) as usize).copied().unwrap_or(UNKNOWN)
    }

    pub(super) fn set(&mut self, id: NodeId, column: u32, next: NodeId) {
        if let Some(slot) = self.table.get_mut(((id & ROW) | column) as usize) {
            *slot = next;
        }
    }

    /// The node of the start.
    pub(super) fn fresh(&mut self, machine: &Machine, closure: &mut Closure) -> NodeId {
        if let Some(fresh) = self.fresh {
            return fresh;
        }
        let fresh = self.kernel(&[machine.nfa.start], machine, closure);
        self.fresh = Some(fresh);
        fresh
    }

    /// The node of a kernel.
    pub(super) fn kernel(
        &mut self,
        kernel: &[Id],
        machine: &Machine,
        closure: &mut Closure,
    ) -> NodeId {
        if let Some(known) = self.kernels.get(kernel) {
            return *known;
        }
        let (nfa, looks) = (&machine.nfa, machine.nfa.looks());
        // Inside the text, nothing is behind a guard for its edges. What the units beside a place
        // can tell is answered before any lookaround is asked.
        let inside = |bit: u64, negated: bool| bit & EDGES == 0 || negated;
        let near = closure.predicates(nfa, kernel, |bit, not| inside(bit, not) && bit & looks == 0);
        let near = near & !EDGES & !looks;
        let far = if near == 0 { closure.predicates(nfa, kernel, inside) & !EDGES } else { 0 };
        let at_edge = closure.predicates(nfa, kernel, |_, _| true) & !EDGES;
        let is_fresh = machine.prefilter.is_some() && *kernel == [machine.nfa.start];
        let mut flags = if is_fresh { FRESH } else { 0 };
        let mut items = Box::default();
        if near | far == 0 {
            closure.close(&machine.nfa, kernel, |_| Some(false));
            items = closure.items.as_slice().into();
            flags |= closed_flags(closure);
        } else {
            flags |= PENDING;
        }
        let inside = near | far;
        let in_columns = inside.count_ones() <= COLUMN_BITS;
        let node = Node { kernel: kernel.into(), items, inside, at_edge, in_columns };
        let id = self.add(node, machine) | flags;
        self.kernels.insert(kernel.into(), id);
        id
    }

    /// What a node comes to at a place where the predicates have these answers: a closed set, or
    /// inside the text perhaps a kernel that waits for lookarounds. The column is made of the answers
    /// to what the node waits for.
    pub(super) fn settle(
        &mut self,
        id: NodeId,
        word: u64,
        column: u32,
        machine: &Machine,
        closure: &mut Closure,
    ) -> NodeId {
        let Some(node) = self.node(id, machine) else { return DEAD };
        let has_column = word & EDGES == 0 && node.in_columns;
        let known = if has_column {
            Some(self.get(id, column)).filter(|known| *known != UNKNOWN)
        } else {
            self.settled.get(&(id, word)).copied()
        };
        if let Some(known) = known {
            return known;
        }
        let answered = EDGES | if word & EDGES == 0 { node.inside } else { node.at_edge };
        closure.close(&machine.nfa, &node.kernel, |predicate| {
            (answered >> predicate & 1 == 1).then_some(word >> predicate & 1 == 1)
        });
        closure.items.sort_unstable();
        let next = self.settled_node(machine, closure);
        if has_column {
            self.set(id, column, next);
        } else {
            if self.settled.len() >= SETTLED {
                self.settled.clear();
            }
            self.settled.insert((id, word), next);
        }
        next
    }

    /// The node of what was just closed.
    fn settled_node(&mut self, machine: &Machine, closure: &mut Closure) -> NodeId {
        let is_guard = |id: &Id| matches!(machine.nfa.state(*id), State::Guard { .. });
        if closure.items.iter().any(is_guard) {
            let mut kernel = closure.items.clone();
            if closure.matched {
                kernel.insert(0, MATCH);
            }
            return self.kernel(&kernel, machine, closure);
        }
        let key = (closure.matched, closure.items.as_slice().into());
        if let Some(known) = self.closed.get(&key) {
            return *known;
        }
        let items = key.1.clone();
        let node = Node { kernel: Box::default(), items, inside: 0, at_edge: 0, in_columns: true };
        let id = self.add(node, machine) | closed_flags(closure);
        self.closed.insert(key, id);
        id
    }

    /// Reads bytes as long as the table leads from one node to the next that is not special; the
    /// node, and how many bytes.
    #[inline]
    pub(super) fn stretch<'a>(
        &self,
        mut node: NodeId,
        classes: &[u8; 256],
        mut bytes: impl Iterator<Item = &'a u8>,
    ) -> (NodeId, usize) {
        let table = self.table.as_slice();
        let step = |node: NodeId, byte: &u8| {
            let class = classes.get(usize::from(*byte)).copied().unwrap_or_default();
            // PERF: a plain node has no flags to mask out.
            table.get((node | u32::from(class)) as usize).copied().unwrap_or(UNKNOWN)
        };
        let mut count = 0_usize;
        while let Some(byte) = bytes.next() {
            let mut next = step(node, byte);
            // PERF: as long as the node stays, no look-up waits for the one before.
            while next == node {
                count = count.wrapping_add(1);
                let Some(byte) = bytes.next() else { return (node, count) };
                next = step(node, byte);
            }
            if next & SPECIAL != 0 {
                if next != UNKNOWN {
                    return (next, count.wrapping_add(1));
                }
                break;
            }
            node = next;
            count = count.wrapping_add(1);
        }
        (node, count)
    }

    fn add(&mut self, node: Node, machine: &Machine) -> NodeId {
        let row = self.table.len();
        let width = 1 << machine.shift;
        self.memory += width * size_of::<NodeId>()
            + (2 * node.kernel.len() + 2 * node.items.len()) * size_of::<Id>()
            + 128;
        self.table.resize(row + width, UNKNOWN);
        self.nodes.push(node);
        // The cap on memory keeps rows far below the bits of the flags.
        NodeId::try_from(row).unwrap_or(0) & ROW
    }
}

fn closed_flags(closure: &Closure) -> NodeId {
    let matched = if closure.matched { MATCHED } else { 0 };
    let dead = if closure.items.is_empty() { DEAD } else { 0 };
    matched | dead
}
