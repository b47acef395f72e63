//! Columns of Arrow as trees of cells that JSON has, or under the name of a type that it has not.

use std::collections::BTreeSet;
use std::ops::Range;

use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Fields};

use super::cells::{Decimals, Floats, Ints, Part, Spans, Texts};
use crate::limits::Limits;

/// A column: some of its rows are null, the others have cells.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) nulls: Option<NullBuffer>,
    pub(super) cells: Cells,
    pub(super) length: usize,
}

/// The columns of a struct, by name.
pub(super) type Members = Box<[(Box<str>, Column)]>;

/// The cells of a column.
#[derive(Debug)]
pub(super) enum Cells {
    Null,
    Boolean(BooleanBuffer),
    Int(Ints),
    Float(Floats),
    Decimal(Decimals),
    Text(Texts),
    /// Places in another column, as many of which are alike.
    Dictionary(Ints, Box<Column>),
    /// Runs of rows: where each ends, how many rows stand before the first, and their cells.
    Runs(Ints, usize, Box<Column>),
    Struct(Members),
    List(Spans, Box<Column>),
    /// Names and values; of a name that stands twice the last counts.
    Map(Spans, Box<Column>, Box<Column>),
    /// Texts that are JSON, and their position among such columns.
    Json(Box<Column>, usize),
    /// The name of a type that JSON has not.
    Foreign(Box<str>),
}

impl Column {
    /// Some rows of an array of a type.
    pub(super) fn new(data: &ArrayData, kind: &DataType, rows: Range<usize>) -> Self {
        Self::of(data, kind, (rows.start, rows.len()), Limits::DEEPEST)
    }

    /// Some rows of an array, counted from its first one; nesting beyond `depth` is foreign.
    fn of(data: &ArrayData, kind: &DataType, (skip, length): (usize, usize), depth: usize) -> Self {
        let part = Part { data, kind, start: data.offset() + skip, length };
        let nulls = data.nulls().map(|nulls| nulls.slice(skip, length));
        let cells = depth.checked_sub(1).and_then(|depth| Cells::of(part, depth));
        let cells = cells.unwrap_or_else(|| Cells::Foreign(kind.to_string().into()));
        Self { nulls, cells, length }
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| row < nulls.len() && nulls.is_null(row))
    }

    /// Whether all cells are texts or null.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.values().cells, Cells::Text(_) | Cells::Null | Cells::Json(..))
    }

    /// Takes its texts for JSON, as column `at` of those.
    pub(super) fn read_as_json(&mut self, at: usize) {
        let cells = std::mem::replace(&mut self.cells, Cells::Null);
        let texts = Self { nulls: self.nulls.take(), cells, length: self.length };
        self.cells = match texts.cells {
            Cells::Json(texts, _) => Cells::Json(texts, at),
            _ => Cells::Json(Box::new(texts), at),
        };
    }

    /// The name that two columns of one struct have, anywhere below.
    pub(super) fn repeated(&self) -> Option<&str> {
        match &self.cells {
            Cells::Struct(columns) => {
                let mut seen = BTreeSet::new();
                let twice = columns.iter().find(|(name, _)| !seen.insert(name));
                let below = || columns.iter().find_map(|(_, column)| column.repeated());
                twice.map(|(name, _)| &**name).or_else(below)
            }
            Cells::List(_, column)
            | Cells::Map(_, _, column)
            | Cells::Dictionary(_, column)
            | Cells::Runs(_, _, column) => column.repeated(),
            _ => None,
        }
    }

    /// The column in which the values stand, behind dictionaries and runs.
    pub(super) fn values(&self) -> &Self {
        match &self.cells {
            Cells::Dictionary(_, values) | Cells::Runs(_, _, values) => values.values(),
            _ => self,
        }
    }
}

impl Cells {
    fn of(part: Part<'_>, depth: usize) -> Option<Self> {
        let data = part.data;
        let child = |at: usize| data.child_data().get(at);
        let whole = |at: usize, kind: &DataType| {
            child(at).map(|child| Box::new(Column::of(child, kind, (0, child.len()), depth)))
        };
        Some(match part.kind {
            DataType::Null => Self::Null,
            DataType::Boolean => {
                let bits = data.buffers().first().cloned().unwrap_or_default();
                Self::Boolean(BooleanBuffer::new(bits, part.start, part.length))
            }
            DataType::Dictionary(keys, values) => {
                Self::Dictionary(Ints::of(Part { kind: keys, ..part })?, whole(0, values)?)
            }
            DataType::RunEndEncoded(_, values) => {
                let ends = child(0)?;
                let (kind, start, length) = (ends.data_type(), ends.offset(), ends.len());
                Self::Runs(
                    Ints::of(Part { data: ends, kind, start, length })?,
                    part.start,
                    whole(1, values.data_type())?,
                )
            }
            DataType::Struct(fields) => Self::Struct(members(part, fields, depth)?),
            DataType::Map(entries, _) => {
                let DataType::Struct(fields) = entries.data_type() else { return None };
                let entries = child(0)?;
                let pairs =
                    Part { data: entries, start: entries.offset(), length: entries.len(), ..part };
                let mut columns = members(pairs, fields, depth)?.into_iter();
                let (names, values) = (columns.next()?.1, columns.next()?.1);
                // Names of another type are none that JSON has.
                let is_text = matches!(names.values().cells, Cells::Text(_));
                let (names, values) = (Box::new(names), Box::new(values));
                return is_text.then_some(Self::Map(Spans::of(part)?, names, values));
            }
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::ListView(item)
            | DataType::LargeListView(item) => {
                Self::List(Spans::of(part)?, whole(0, item.data_type())?)
            }
            _ => {
                return Ints::of(part)
                    .map(Self::Int)
                    .or_else(|| Floats::of(part).map(Self::Float))
                    .or_else(|| Decimals::of(part).map(Self::Decimal))
                    .or_else(|| Texts::of(part).map(Self::Text));
            }
        })
    }
}

fn members(part: Part<'_>, fields: &Fields, depth: usize) -> Option<Members> {
    if fields.len() != part.data.child_data().len() {
        return None;
    }
    let columns = fields.iter().zip(part.data.child_data());
    let named = columns.map(|(field, column)| {
        let column = Column::of(column, field.data_type(), (part.start, part.length), depth);
        (field.name().as_str().into(), column)
    });
    Some(named.collect())
}
