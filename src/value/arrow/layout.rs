//! Which columns the paths of a set lead to: found out once for all rows.

use arrow_buffer::NullBuffer;

use super::column::{Cells, Column};
use super::{ArrowNode, Frame, Rows};
use crate::path::Segment;

/// The columns of places, each of which is one step from an earlier one.
#[derive(Debug, Default)]
pub struct Layout<'r> {
    /// By place: the column that it leads to, where there is one.
    pub(super) columns: Vec<Option<&'r Column>>,
    places: Vec<Place<'r>>,
}

/// How the cell of a place is found.
#[derive(Clone, Debug)]
pub enum Place<'r> {
    /// Whatever the row, there is nothing.
    Nowhere,
    /// In the row itself of a column, unless one of the structs around it is null.
    Flat(Flat<'r>),
    /// By following the path.
    Deep,
}

/// A column that has a cell for each row.
#[derive(Clone, Debug)]
pub struct Flat<'r> {
    pub(super) column: &'r Column,
    /// Of the structs around it.
    pub(super) nulls: Vec<&'r NullBuffer>,
}

/// A path that leads to a column of a type that JSON has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignColumn {
    /// The keys that lead to it.
    pub path: Vec<Box<[u8]>>,
    /// The name of the type.
    pub kind: Box<str>,
}

impl<'r> Layout<'r> {
    /// Finds the columns of places: each with its parent, an earlier one, and the step from there;
    /// the first is the row itself.
    ///
    /// # Errors
    /// [`ForeignColumn`] for the first that leads to a type that JSON has not.
    pub fn new<'a>(
        rows: &'r Rows,
        places: impl Iterator<Item = (usize, Option<&'a Segment>)>,
    ) -> Result<Self, ForeignColumn> {
        let mut layout = Self::default();
        let mut steps: Vec<(usize, Option<&Segment>)> = Vec::new();
        for (parent, segment) in places {
            steps.push((parent, segment));
            let (column, place) = match segment {
                None => (Some(&rows.root), Place::Flat(Flat::row(&rows.root))),
                Some(segment) => layout.step(parent, segment),
            };
            if let Some(Cells::Foreign(kind)) = column.map(|column| &column.values().cells) {
                return Err(ForeignColumn { path: keys(&steps), kind: kind.clone() });
            }
            layout.columns.push(column);
            layout.places.push(place);
        }
        Ok(layout)
    }

    /// How the cell of a place is found.
    pub fn place(&self, place: usize) -> &Place<'r> {
        self.places.get(place).unwrap_or(&Place::Nowhere)
    }

    fn step(&self, parent: usize, segment: &Segment) -> (Option<&'r Column>, Place<'r>) {
        let Some(Some(column)) = self.columns.get(parent) else {
            return (None, self.place(parent).clone());
        };
        let child = column.child(segment);
        let place = match (self.place(parent), &column.cells, child) {
            (Place::Flat(flat), Cells::Struct(_), Some(child)) => Place::Flat(flat.below(child)),
            (Place::Flat(_), Cells::Struct(_), None) => Place::Nowhere,
            _ => Place::Deep,
        };
        (child, place)
    }
}

impl<'r> Flat<'r> {
    /// The value in a row; `None` where a struct around it is null.
    pub fn cell<'f>(&'f self, frame: &'f Frame<'f>, row: usize) -> Option<ArrowNode<'f>> {
        let around = self.nulls.iter().any(|nulls| row < nulls.len() && nulls.is_null(row));
        (!around).then(|| ArrowNode::of(Some(frame), self.column, row))
    }

    fn row(column: &'r Column) -> Self {
        Self { column, nulls: Vec::new() }
    }

    fn below(&self, column: &'r Column) -> Self {
        let nulls = self.nulls.iter().copied().chain(&self.column.nulls).collect();
        Self { column, nulls }
    }
}

impl Column {
    /// The column that a step leads to, from whatever row.
    fn child(&self, segment: &Segment) -> Option<&Self> {
        let values = self.values();
        match &values.cells {
            Cells::Struct(_) => values.member(segment.key()),
            Cells::List(_, items) => segment.step(None).index.map(|_| &**items),
            Cells::Map(_, _, values) => Some(values),
            _ => None,
        }
    }
}

/// The keys that lead to the last place.
fn keys(steps: &[(usize, Option<&Segment>)]) -> Vec<Box<[u8]>> {
    let mut keys = Vec::new();
    let mut at = steps.len().checked_sub(1);
    while let Some((parent, Some(segment))) = at.and_then(|at| steps.get(at)) {
        keys.push(segment.key().into());
        at = Some(*parent);
    }
    keys.reverse();
    keys
}
