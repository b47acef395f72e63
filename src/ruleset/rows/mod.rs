//! The first list that holds, for many rows of columns at once.
//!
//! Answers exactly as the walk over one record after the other; a property holds the two together.

mod columnar;
mod quick;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::columnar::Columnar;
pub use self::columnar::Memos;
use super::{First, RuleSet, Standing};
use crate::value::arrow::{ForeignColumn, Frame, Layout, Rows};

/// A set, asked about the rows of columns.
#[derive(Debug)]
pub struct RowQuery<'a> {
    set: &'a RuleSet,
    rows: &'a Rows,
    layout: Layout<'a>,
}

/// Rows that are answered together: what is noted of them stays in a near cache.
pub const TOGETHER: usize = 2048;

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
    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// How many lists there are.
    pub fn lists(&self) -> usize {
        self.set.len()
    }

    /// Tells for each of these rows, in order, the first list that holds, or what is wrong with it.
    /// The memos are those of the calls before, of this query.
    pub fn first(
        &self,
        rows: Range<usize>,
        memos: &mut Memos,
        mut tell: impl FnMut(usize, Result<First, &str>),
    ) {
        self.frames(rows, |frame, range| {
            let mut bad = frame.bad().iter().peekable();
            let mut tell = |row: usize, first: First| match bad.next_if(|(at, _)| *at == row) {
                Some((_, what)) => tell(row, Err(what)),
                None => tell(row, Ok(first)),
            };
            if self.set.index.is_some() {
                range.for_each(|row| tell(row, self.set.first(&frame.record(row))));
            } else {
                let firsts = Columnar::new(self.set, frame, range.clone()).first(memos);
                range.zip(firsts).for_each(|(row, first)| tell(row, first));
            }
        });
    }

    /// Tells for each of these rows, in order, the lists that do not fail, or what is wrong with it.
    pub fn standing(
        &self,
        rows: Range<usize>,
        mut tell: impl FnMut(usize, Result<Standing, &str>),
    ) {
        self.frames(rows, |frame, range| {
            let mut bad = frame.bad().iter().peekable();
            for row in range {
                match bad.next_if(|(at, _)| *at == row) {
                    Some((_, what)) => tell(row, Err(what)),
                    None => tell(row, Ok(self.set.standing(&frame.record(row)))),
                }
            }
        });
    }

    fn frames(&self, rows: Range<usize>, mut each: impl FnMut(&Frame<'_>, Range<usize>)) {
        for start in rows.clone().step_by(TOGETHER) {
            let range = start..rows.end.min(start.saturating_add(TOGETHER));
            each(&Frame::new(self.rows, &self.layout, range.clone()), range);
        }
    }
}
