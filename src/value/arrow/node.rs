//! A cell as a value.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Frame;
use super::column::{Cells, Column};
use crate::value::json::JsonNode;
use crate::value::{MemberName, Node, Number, Read, Scalar, Step, Text, Unreadable, View};

/// A value in a row.
#[derive(Clone, Copy, Debug)]
pub enum ArrowNode<'f> {
    /// Null.
    Null,
    /// What stands in a cell that is not null.
    Cell(Cell<'f>),
    /// What stands in a text that is JSON.
    Json(JsonNode<'f>),
}

/// The cell of a column in a row.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'f> {
    frame: Option<&'f Frame<'f>>,
    column: &'f Column,
    row: usize,
}

/// The name of a member, which may lack, and where its value stands.
type Entry<'f> = (Option<&'f [u8]>, usize);

impl<'f> ArrowNode<'f> {
    /// The value of a column in a row; texts that are JSON are those of a frame.
    pub(super) fn of(frame: Option<&'f Frame<'f>>, column: &'f Column, row: usize) -> Self {
        let (mut column, mut row) = (column, row);
        loop {
            if column.is_null(row) {
                return Self::Null;
            }
            (column, row) = match &column.cells {
                Cells::Null => return Self::Null,
                Cells::Dictionary(keys, values) => (values, place(keys.get(row))),
                Cells::Runs(ends, skipped, values) => {
                    let row = skipped.saturating_add(row);
                    (values, first_above(values.length, |at| place(ends.get(at)), row))
                }
                Cells::Json(_, at) => {
                    let document = frame.and_then(|frame| frame.document(*at, row));
                    return document.map_or(Self::Null, |document| Self::Json(document.root()));
                }
                _ => return Self::Cell(Cell { frame, column, row }),
            };
        }
    }
}

/// A place in another column; none where there is no such place.
fn place(number: Option<i64>) -> usize {
    number.and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX)
}

/// The first of so many ascending ends that is above a place.
fn first_above(count: usize, end: impl Fn(usize) -> usize, place: usize) -> usize {
    let mut among = 0..count;
    while !among.is_empty() {
        let middle = among.start + among.len() / 2;
        if end(middle) > place {
            among.end = middle;
        } else {
            among.start = middle + 1;
        }
    }
    among.start
}

impl Column {
    /// The column of this name, of a struct.
    pub(super) fn member(&self, name: &[u8]) -> Option<&Self> {
        let Cells::Struct(columns) = &self.cells else { return None };
        columns.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, column)| column)
    }
}

impl<'f> Cell<'f> {
    fn at(self, column: &'f Column, row: usize) -> ArrowNode<'f> {
        ArrowNode::of(self.frame, column, row)
    }

    /// The cells of a list or mapping, in another column.
    fn span(self) -> Read<(Range<usize>, &'f Column)> {
        let (Cells::List(spans, values) | Cells::Map(spans, _, values)) = &self.column.cells else {
            return Ok((0..0, self.column));
        };
        match spans.get(self.row) {
            Some(span) if span.start <= span.end && span.end <= values.length => Ok((span, values)),
            _ => Err(out_of_bounds()),
        }
    }

    /// Names of a mapping with the places of their values: of one that stands twice, the last.
    fn entries(self) -> Read<Vec<Entry<'f>>> {
        let Cells::Map(_, names, _) = &self.column.cells else { return Ok(Vec::new()) };
        let mut places = BTreeMap::new();
        let mut entries: Vec<Entry<'f>> = Vec::new();
        for at in self.span()?.0 {
            let name = text(self.at(names, at));
            let place = *places.entry(name).or_insert(entries.len());
            match entries.get_mut(place) {
                Some(entry) => entry.1 = at,
                None => entries.push((name, at)),
            }
        }
        Ok(entries)
    }

    fn scalar(self) -> Option<Scalar<'f>> {
        Some(match &self.column.cells {
            Cells::Text(texts) => Scalar::Text(texts.get(self.row)?),
            Cells::Int(ints) => Scalar::Int(ints.get(self.row)?),
            Cells::Float(floats) => Scalar::Float(floats.get(self.row)?),
            Cells::Boolean(bits) if self.row < bits.len() => Scalar::Boolean(bits.value(self.row)),
            _ => return None,
        })
    }
}

/// The text of a name.
fn text(name: ArrowNode<'_>) -> Option<&[u8]> {
    match name {
        ArrowNode::Cell(cell) => match cell.scalar() {
            Some(Scalar::Text(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

#[expect(clippy::unnecessary_box_returns, reason = "the error of a read is boxed")]
fn out_of_bounds() -> Box<Unreadable> {
    Unreadable::new("the array is shorter than it says")
}

impl Node for ArrowNode<'_> {
    fn view(&self) -> Read<View<'_>> {
        let cell = match self {
            Self::Null => return Ok(View::Null),
            Self::Json(node) => return node.view(),
            Self::Cell(cell) => *cell,
        };
        let number = |number: Option<Number>| number.map(View::Number).ok_or_else(out_of_bounds);
        match (&cell.column.cells, cell.scalar()) {
            (_, Some(Scalar::Text(text))) => Ok(View::String(Text::from_generalised(text))),
            (_, Some(Scalar::Boolean(boolean))) => Ok(View::Boolean(boolean)),
            (_, Some(Scalar::Int(int))) => Ok(View::Number(Number::Int(int))),
            (_, Some(Scalar::Float(float))) => Ok(View::Number(Number::Float(float))),
            (Cells::Int(ints), _) => number(ints.number(cell.row)),
            (Cells::Decimal(decimals), _) => number(decimals.number(cell.row)),
            (Cells::Struct(_) | Cells::Map(..), _) => Ok(View::Object),
            (Cells::List(..), _) => Ok(View::Array),
            (Cells::Foreign(kind), _) => Ok(View::Opaque(kind.clone())),
            _ => Err(out_of_bounds()),
        }
    }

    fn scalar(&self) -> Option<Scalar<'_>> {
        match self {
            Self::Null => Some(Scalar::Null),
            Self::Cell(cell) => cell.scalar(),
            Self::Json(node) => node.scalar(),
        }
    }

    fn child(&self, step: &Step<'_>) -> Read<Option<Self>> {
        let cell = match self {
            Self::Null => return Ok(None),
            Self::Json(node) => return Ok(node.child(step)?.map(Self::Json)),
            Self::Cell(cell) => *cell,
        };
        Ok(match &cell.column.cells {
            Cells::Struct(_) => {
                let prepared = cell.frame.zip(step.slot);
                let column = match prepared.and_then(|(f, slot)| f.layout.columns.get(slot)) {
                    Some(column) => *column,
                    None => cell.column.member(step.key),
                };
                column.map(|column| cell.at(column, cell.row))
            }
            Cells::List(..) => {
                let (span, items) = cell.span()?;
                let index = step.index.filter(|index| *index < span.len());
                index.map(|index| cell.at(items, span.start + index))
            }
            Cells::Map(_, names, _) => {
                let (mut span, values) = cell.span()?;
                let found = span.rfind(|at| text(cell.at(names, *at)) == Some(step.key));
                found.map(|at| cell.at(values, at))
            }
            _ => None,
        })
    }

    fn length(&self) -> Read<usize> {
        match self {
            Self::Null => Ok(0),
            Self::Json(node) => node.length(),
            Self::Cell(cell) => match &cell.column.cells {
                Cells::Struct(columns) => Ok(columns.len()),
                Cells::Map(..) => Ok(cell.entries()?.len()),
                _ => Ok(cell.span()?.0.len()),
            },
        }
    }

    fn any_item(&self, visit: &mut dyn FnMut(Self) -> Read<bool>) -> Read<bool> {
        match self {
            Self::Json(node) => node.any_item(&mut |item| visit(Self::Json(item))),
            Self::Cell(cell) if matches!(cell.column.cells, Cells::List(..)) => {
                let (span, items) = cell.span()?;
                for at in span {
                    if visit(cell.at(items, at))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    fn members(&self, limit: usize) -> Read<Vec<(MemberName, Self)>> {
        let named = |name: &[u8]| MemberName::Text(name.into());
        Ok(match self {
            Self::Json(node) => {
                let members = node.members(limit)?.into_iter();
                members.map(|(name, member)| (name, Self::Json(member))).collect()
            }
            Self::Cell(cell) => match &cell.column.cells {
                Cells::Struct(columns) => columns
                    .iter()
                    .take(limit)
                    .map(|(name, column)| (named(name.as_bytes()), cell.at(column, cell.row)))
                    .collect(),
                Cells::Map(_, _, values) => {
                    let entries = cell.entries()?.into_iter().take(limit);
                    let name = |name: Option<&[u8]>| {
                        name.map_or_else(|| MemberName::Other("null".into()), named)
                    };
                    entries.map(|(at, value)| (name(at), cell.at(values, value))).collect()
                }
                _ => Vec::new(),
            },
            Self::Null => Vec::new(),
        })
    }
}
