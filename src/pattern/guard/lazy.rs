//! A table of transitions between sets of states, filled in while matching.
//!
//! A node is a *kernel*, the states that a byte led to, or a *closed* set, what is left of a kernel
//! when its guards are answered. A kernel that can meet no guard but the edges of the text is closed
//! at once, so that a plain stretch of text costs one look-up a byte.

use std::collections::BTreeMap;

use super::closure::Closure;
use super::machine::Machine;
use super::nfa::Id;

/// A node's row in the table, and what is special about it in the upper bits.
pub(super) type NodeId = u32;

/// Guards are still to be answered.
pub(super) const PENDING: NodeId = 1 << 31;
/// There is a match at this place.
pub(super) const MATCHED: NodeId = 1 << 30;
/// Nothing can follow.
pub(super) const DEAD: NodeId = 1 << 29;
/// As at the start: no match has begun.
pub(super) const FRESH: NodeId = 1 << 28;
/// Not computed yet. As all bits are set, it is special in every way.
pub(super) const UNKNOWN: NodeId = NodeId::MAX;

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
    /// The predicates to be answered.
    mask: u64,
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

    /// The predicates that a node waits for, without the edges of the text.
    pub(super) fn mask(&self, id: NodeId, machine: &Machine) -> u64 {
        self.node(id, machine).map_or(0, |node| node.mask)
    }

    /// The states of a closed node.
    pub(super) fn items(&self, id: NodeId, machine: &Machine) -> &[Id] {
        self.node(id, machine).map(|node| &*node.items).unwrap_or_default()
    }

    pub(super) fn get(&self, id: NodeId, column: u32) -> NodeId {
        self.table.get(((id & ROW) + column) as usize).copied().unwrap_or(UNKNOWN)
    }

    pub(super) fn set(&mut self, id: NodeId, column: u32, next: NodeId) {
        if let Some(slot) = self.table.get_mut(((id & ROW) + column) as usize) {
            *slot = next;
        }
    }

    /// The node of the start.
    pub(super) fn fresh(&mut self, machine: &Machine, closure: &mut Closure) -> NodeId {
        self.kernel(&[machine.nfa.start], machine, closure)
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
        let mask = closure.predicates(&machine.nfa, kernel) & !EDGES;
        let mut flags = if *kernel == [machine.nfa.start] { FRESH } else { 0 };
        let mut items = Box::default();
        if mask == 0 {
            closure.close(&machine.nfa, kernel, |_| false);
            items = closure.items.as_slice().into();
            flags |= closed_flags(closure);
        } else {
            flags |= PENDING;
        }
        let id = self.add(Node { kernel: kernel.into(), items, mask }, machine) | flags;
        self.kernels.insert(kernel.into(), id);
        id
    }

    /// What a node closes to at a place where the predicates have these answers. The column is made
    /// of the answers to what the node waits for.
    pub(super) fn settle(
        &mut self,
        id: NodeId,
        word: u64,
        column: u32,
        machine: &Machine,
        closure: &mut Closure,
    ) -> NodeId {
        let Some(node) = self.node(id, machine) else { return DEAD };
        let has_column = word & EDGES == 0 && node.mask.count_ones() <= COLUMN_BITS;
        let known = if has_column {
            Some(self.get(id, column)).filter(|known| *known != UNKNOWN)
        } else {
            self.settled.get(&(id, word)).copied()
        };
        if let Some(known) = known {
            return known;
        }
        closure.close(&machine.nfa, &node.kernel, |predicate| word >> predicate & 1 == 1);
        closure.items.sort_unstable();
        let key = (closure.matched, closure.items.as_slice().into());
        let closed = if let Some(known) = self.closed.get(&key) {
            *known
        } else {
            let node = Node { kernel: Box::default(), items: key.1.clone(), mask: 0 };
            let closed = self.add(node, machine) | closed_flags(closure);
            self.closed.insert(key, closed);
            closed
        };
        if has_column {
            self.set(id, column, closed);
        } else {
            if self.settled.len() >= SETTLED {
                self.settled.clear();
            }
            self.settled.insert((id, word), closed);
        }
        closed
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
