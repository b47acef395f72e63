//! Some rows at a time: what is read for each of them before it is looked at.

use std::ops::Range;

use super::column::{Cells, Column};
use super::layout::Layout;
use super::node::ArrowNode;
use super::{Rows, Scalar};
use crate::limits::Limits;
use crate::value::json::Document;
use crate::value::{Node as _, Value};

/// Some of the rows, of whose JSON columns the texts are read.
#[derive(Debug)]
pub struct Frame<'r> {
    rows: &'r Rows,
    pub(super) layout: &'r Layout<'r>,
    start: usize,
    /// For each JSON column what its texts say, by row; `None` for null and for what is no JSON.
    documents: Vec<Vec<Option<Document>>>,
    /// The rows with a text that is no JSON: what is wrong with the first one of each.
    bad: Vec<(usize, String)>,
}

impl<'r> Frame<'r> {
    /// Takes these of the rows.
    pub fn new(rows: &'r Rows, layout: &'r Layout<'r>, range: Range<usize>) -> Self {
        let start = range.start;
        let mut frame = Self { rows, layout, start, documents: Vec::new(), bad: Vec::new() };
        frame.documents.resize_with(rows.documents, Vec::new);
        let Cells::Struct(columns) = &rows.root.cells else { return frame };
        for (name, column) in columns {
            let Cells::Json(texts, at) = &column.cells else { continue };
            let read = range.clone().map(|row| frame.read(name, texts, row)).collect();
            if let Some(documents) = frame.documents.get_mut(*at) {
                *documents = read;
            }
        }
        frame.bad.sort_by_key(|(row, _)| *row);
        frame.bad.dedup_by_key(|(row, _)| *row);
        frame
    }

    fn read(&mut self, name: &str, texts: &Column, row: usize) -> Option<Document> {
        if self.rows.root.is_null(row) {
            return None;
        }
        let node = ArrowNode::of(None, texts, row);
        let Some(Scalar::Text(text)) = node.scalar() else { return None };
        match document(text) {
            Ok(document) => Some(document),
            Err(what) => {
                self.bad.push((row, format!("{name}: {what}")));
                None
            }
        }
    }

    /// Where the paths of its set lead.
    pub fn layout(&self) -> &'r Layout<'r> {
        self.layout
    }

    /// How many rows there are, those outside of the frame among them.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// A row as a record.
    pub fn record(&self, row: usize) -> ArrowNode<'_> {
        ArrowNode::of(Some(self), &self.rows.root, row)
    }

    /// The rows that are no records, in order, each with what is wrong with it.
    pub fn bad(&self) -> &[(usize, String)] {
        &self.bad
    }

    pub(super) fn document(&self, at: usize, row: usize) -> Option<&Document> {
        self.documents.get(at)?.get(row.checked_sub(self.start)?)?.as_ref()
    }
}

/// Reads a text that can be handed on as plain data, whatever is asked of it later.
fn document(text: &[u8]) -> Result<Document, String> {
    let document = Document::parse(text).map_err(|fault| match fault.place(text) {
        (1, column) => format!("{} (column {column})", fault.message),
        (line, column) => format!("{} (line {line}, column {column})", fault.message),
    })?;
    let opened = text.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if opened > Limits::DEEPEST || text.len() > Limits::DIGITS {
        Value::copy(&document.root(), Limits::DEEPEST).map_err(|fault| fault.to_string())?;
    }
    Ok(document)
}
