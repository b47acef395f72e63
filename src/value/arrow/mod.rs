//! Rows of Arrow columns as records: nothing is converted, a cell is found by its place.
//!
//! A row is an object of its columns. A null is null, wherever it stands; below a null there is
//! nothing. A column of a type that JSON has not is refused by its path before any record is
//! decided; where such a cell is only met inside of something, it is no JSON value (see
//! `docs/adr/0009-arrow.md`).

mod cells;
mod column;
mod frame;
mod layout;
mod node;
mod sieve;
#[cfg(test)]
mod tests;

pub use cells::{Floats, Ints, Texts};
pub use frame::Frame;
pub use layout::{Flat, ForeignColumn, Layout, Place};
pub use node::ArrowNode;
pub use sieve::{Few, Kind, Values};

use std::ops::Range;

use arrow_data::ArrayData;
use arrow_schema::DataType;

use self::column::{Cells, Column};
use super::Scalar;

/// Records as the rows of an array of structs.
#[derive(Debug)]
pub struct Rows {
    root: Column,
    /// How many of the columns are JSON text.
    documents: usize,
}

/// Why an array is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowsFault {
    /// It holds no structs but this.
    NoStructs(Box<str>),
    /// Two columns of one struct have this name.
    Repeated(Box<str>),
    /// There is no column of this name to be read as JSON; the names that there are.
    NoColumn(Box<str>, Vec<Box<str>>),
    /// The column of this name, to be read as JSON, holds no texts.
    NoText(Box<str>),
}

impl Rows {
    /// Takes some rows of an array of structs; columns of the names given hold JSON as text.
    ///
    /// The type is that of the array, but that nulls of no type may stand as structs of no fields.
    ///
    /// # Errors
    /// [`RowsFault`] when it is none, or has no such columns.
    pub fn new(
        array: &ArrayData,
        kind: &DataType,
        rows: Range<usize>,
        json: &[String],
    ) -> Result<Self, RowsFault> {
        let mut root = Column::new(array, kind, rows);
        let Cells::Struct(columns) = &mut root.cells else {
            return Err(RowsFault::NoStructs(kind.to_string().into()));
        };
        for (at, name) in json.iter().enumerate() {
            match columns.iter_mut().find(|(known, _)| **known == **name) {
                Some((_, column)) if column.is_text() => column.read_as_json(at),
                Some((name, _)) => return Err(RowsFault::NoText(name.clone())),
                None => {
                    let known = columns.iter().map(|(known, _)| known.clone()).collect();
                    return Err(RowsFault::NoColumn(name.as_str().into(), known));
                }
            }
        }
        match root.repeated() {
            Some(name) => Err(RowsFault::Repeated(name.into())),
            None => Ok(Self { root, documents: json.len() }),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.root.length
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.root.length == 0
    }
}
