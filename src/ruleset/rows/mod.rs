//! The first list that holds, for many rows of columns at once.
//!
//! Answers exactly as the walk over one record after the other; a property holds the two together.

mod columnar;
mod quick;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::columnar::{Columnar, Memos};
use super::{First, RuleSet};
use crate::value::arrow::{ForeignColumn, Frame, Layout, Rows};

/// A set, asked about the rows of columns.
#[derive(Debug)]
pub struct RowQuery<'a> {
    set: &'a RuleSet,
    rows: &'a Rows,
    layout: Layout<'a>,
}

/// The answers for some rows.
#[derive(Debug, Default)]
pub struct FirstOfRows {
    /// For each row in order; `None` for one that is no record.
    pub answers: Vec<Option<First>>,
    /// The rows that are no records, in order, each with what is wrong with it.
    pub bad: Vec<(usize, String)>,
}

/// Rows that are answered together: what is noted of them stays in a near cache.
const TOGETHER: usize = 2048;

impl RuleSet {
    /// Makes ready to ask about rows.
    ///
    /// # Errors
    /// [`ForeignColumn`] when a path leads to a column of a type that JSON has not.
    pub fn of_rows<'a>(&'a self, rows: &'a Rows) -> Result<RowQuery<'a>, ForeignColumn> {
        let steps = self.places.iter().map(|place| (place.parent, place.segment.as_ref()));
        Ok(RowQuery { set: self, rows, layout: Layout::new(rows, steps)? })
    }
}

impl RowQuery<'_> {
    /// The first list that holds, for each of these rows.
    pub fn first(&self, rows: Range<usize>) -> FirstOfRows {
        let mut found = FirstOfRows::default();
        let mut memos = Memos::default();
        for start in rows.clone().step_by(TOGETHER) {
            let range = start..rows.end.min(start.saturating_add(TOGETHER));
            let frame = Frame::new(self.rows, &self.layout, range.clone());
            let answers = &mut found.answers;
            if self.set.index.is_some() {
                answers.extend(range.map(|row| Some(self.set.first(&frame.record(row)))));
            } else {
                let firsts = Columnar::new(self.set, &frame, range).first(&mut memos);
                answers.extend(firsts.into_iter().map(Some));
            }
            for (row, what) in frame.bad() {
                if let Some(answer) = answers.get_mut(row.saturating_sub(rows.start)) {
                    *answer = None;
                }
                found.bad.push((*row, what.clone()));
            }
        }
        found
    }
}
