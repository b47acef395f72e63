//! Columns asked one thing of many rows: what a column is made of is looked at once, not for each.

use arrow_buffer::ArrowNativeType;

use super::cells::{Floats, Ints, Texts};
use super::column::{Cells, Column};
use super::layout::Flat;
use super::{ArrowNode, Frame};

/// Rows among those of a frame, counted from its first one.
pub type Few = Vec<u32>;

/// What the cells of a column are, where that makes asking quicker.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'r> {
    /// Whole numbers of at most 64 bits with a sign.
    Ints(&'r Ints),
    /// Doubles, or what widens to them.
    Floats(&'r Floats),
    /// Texts.
    Texts(&'r Texts),
    /// Places among so many values.
    Dictionary(&'r Ints, Values<'r>),
    /// Anything else.
    Other,
}

/// The values of a dictionary.
#[derive(Clone, Copy, Debug)]
pub struct Values<'r>(&'r Column);

impl<'r> Values<'r> {
    /// How many there are.
    pub fn count(self) -> usize {
        self.0.length
    }

    /// One of them.
    pub fn get(self, frame: &'r Frame<'r>, at: usize) -> ArrowNode<'r> {
        ArrowNode::of(Some(frame), self.0, at)
    }
}

impl<'r> Flat<'r> {
    /// What its cells are.
    pub fn kind(&self) -> Kind<'r> {
        match &self.column.cells {
            Cells::Int(Ints::U64(_)) => Kind::Other,
            Cells::Int(ints) => Kind::Ints(ints),
            Cells::Float(floats) => Kind::Floats(floats),
            Cells::Text(texts) => Kind::Texts(texts),
            Cells::Dictionary(keys, values) => Kind::Dictionary(keys, Values(values)),
            _ => Kind::Other,
        }
    }

    /// Takes out the rows that have no cell: null, or within a struct that is.
    pub fn without_cell(&self, start: usize, rows: &mut Few) -> Few {
        let mut without = Few::new();
        for nulls in self.nulls.iter().copied().chain(&self.column.nulls) {
            let is_null = |row: u32| {
                let row = start + row.as_usize();
                row < nulls.len() && nulls.is_null(row)
            };
            without.extend(rows.iter().copied().filter(|row| is_null(*row)));
            sieve(rows, |row| !is_null(row));
        }
        without
    }
}

/// Keeps the rows that hold.
// PERF: without a branch on the answer, which nobody can foretell.
fn sieve(rows: &mut Few, holds: impl Fn(u32) -> bool) {
    let mut kept = 0;
    for at in 0..rows.len() {
        let Some(row) = rows.get(at).copied() else { break };
        if let Some(slot) = rows.get_mut(kept) {
            *slot = row;
        }
        kept += usize::from(holds(row));
    }
    rows.truncate(kept);
}

fn sieve_cells<T: Copy>(cells: &[T], start: usize, rows: &mut Few, holds: impl Fn(T) -> bool) {
    let cells = cells.get(start..).unwrap_or_default();
    sieve(rows, |row| cells.get(row.as_usize()).is_some_and(|cell| holds(*cell)));
}

impl Ints {
    /// Keeps the rows whose cells hold.
    pub fn sieve(&self, start: usize, rows: &mut Few, holds: impl Fn(i64) -> bool) {
        match self {
            Self::I64(cells) => sieve_cells(cells, start, rows, holds),
            Self::I32(cells) => sieve_cells(cells, start, rows, |cell| holds(cell.into())),
            _ => sieve(rows, |row| self.get(start + row.as_usize()).is_some_and(&holds)),
        }
    }
}

impl Floats {
    /// Keeps the rows whose cells hold.
    pub fn sieve(&self, start: usize, rows: &mut Few, holds: impl Fn(f64) -> bool) {
        match self {
            Self::F64(cells) => sieve_cells(cells, start, rows, holds),
            Self::F32(cells) => sieve_cells(cells, start, rows, |cell| holds(cell.into())),
            Self::F16(_) => {
                sieve(rows, |row| self.get(start + row.as_usize()).is_some_and(&holds));
            }
        }
    }
}

impl Texts {
    /// Keeps the rows whose texts hold.
    pub fn sieve(&self, start: usize, rows: &mut Few, holds: impl Fn(&[u8]) -> bool) {
        match self {
            Self::Short(offsets, bytes) => {
                let offsets = offsets.get(start..).unwrap_or_default();
                sieve(rows, |row| match offsets.get(row.as_usize()..) {
                    Some([from, to, ..]) => {
                        bytes.get(from.as_usize()..to.as_usize()).is_some_and(&holds)
                    }
                    _ => false,
                });
            }
            _ => sieve(rows, |row| self.get(start + row.as_usize()).is_some_and(&holds)),
        }
    }
}
