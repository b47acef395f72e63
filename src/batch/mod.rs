//! One question, many records, as JSON Lines or as rows of columns: read in parts by threads of
//! their own, answered in order, a bad line marked and not lost.

mod errors;
mod first;
#[cfg(feature = "arrow")]
mod rows;
mod standing;

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

use memchr::memchr;

pub use errors::{Errors, Unread};
pub use first::FirstOf;
#[cfg(feature = "arrow")]
pub use rows::{FirstOfRows, StandingOfRows, first_of_rows, standing_of_rows};
pub use standing::StandingOf;

use crate::value::json::{PickedNode, Picker, Wanted};

/// What the lines of a text gave.
#[derive(Debug)]
pub struct Lines<T> {
    /// The answer for each record in order; a blank line is no record.
    pub answers: Vec<T>,
    /// The records whose answers are looked at again.
    pub marked: Vec<Marked>,
    /// Lines that are not JSON.
    pub bad: Vec<BadLine>,
    /// How many lines there are, blank ones included.
    pub lines: usize,
}

/// A record that is looked at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Its position.
    pub record: usize,
    /// The number of its line, from 1.
    pub line: usize,
    /// Where it stands in the text.
    pub place: Range<usize>,
}

/// A line that is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The position of its record.
    pub record: usize,
    /// Its number, from 1.
    pub line: usize,
    /// The character that is at fault, from 1.
    pub column: usize,
    /// One line for a person.
    pub message: &'static str,
}

/// What is asked of each record.
pub trait Question: Sync {
    /// The answer.
    type Answer: Send;

    /// The places that are looked at.
    fn wanted(&self) -> &Wanted;

    /// The answer for a record.
    fn ask(&self, record: &PickedNode<'_>) -> Self::Answer;

    /// The answer for a line that is not JSON.
    fn bad(&self) -> Self::Answer;

    /// Whether the record of an answer is looked at again.
    fn is_marked(&self, answer: &Self::Answer) -> bool;
}

/// Less than this is not worth a thread.
const SHARE: usize = 256 << 10;

/// Asks for each line of a text, by as many threads as are given and worth it.
pub fn ask_lines<Q: Question>(question: &Q, text: &[u8], threads: usize) -> Lines<Q::Answer> {
    let parts = parts(text, threads.min(1 + text.len() / SHARE));
    let mut lines = Lines { answers: Vec::new(), marked: Vec::new(), bad: Vec::new(), lines: 0 };
    scope(|scope| {
        let (first, others) = parts.split_first().unzip();
        let ask = |&(start, part): &(usize, &[u8])| (start, of_part(question, part));
        let running: Vec<_> = others
            .unwrap_or_default()
            .iter()
            .map(|part| (part, Builder::new().spawn_scoped(scope, move || ask(part))))
            .collect();
        lines.extend(first.map(ask));
        for (part, thread) in running {
            // Where no thread can be had, the part is read here.
            let found = thread.map_or_else(|_| Ok(ask(part)), std::thread::ScopedJoinHandle::join);
            lines.extend([found.unwrap_or_else(|panic| resume_unwind(panic))]);
        }
    });
    lines
}

/// Cuts a text behind line ends into parts of about the same size, each with where it begins.
fn parts(text: &[u8], count: usize) -> Vec<(usize, &[u8])> {
    let mut parts = Vec::new();
    let (mut start, mut rest) = (0, text);
    for left in (1..=count).rev() {
        let about = rest.len() / left;
        let end = memchr(b'\n', rest.get(about..).unwrap_or_default());
        let cut =
            if left == 1 { rest.len() } else { end.map_or(rest.len(), |end| about + end + 1) };
        let (part, after) = rest.split_at(cut);
        parts.push((start, part));
        start += cut;
        rest = after;
    }
    parts
}

fn of_part<Q: Question>(question: &Q, part: &[u8]) -> Lines<Q::Answer> {
    let mut lines = Lines { answers: Vec::new(), marked: Vec::new(), bad: Vec::new(), lines: 0 };
    let mut picker = Picker::new(question.wanted());
    let mut at = 0;
    while at < part.len() {
        let rest = part.get(at..).unwrap_or_default();
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = without_blanks(rest.get(..end).unwrap_or_default());
        lines.lines += 1;
        if !line.is_empty() {
            lines.line(question, &mut picker, line, at);
        }
        at += end + 1;
    }
    lines
}

/// A line without the white space of JSON at its end: of a blank one nothing is left.
fn without_blanks(mut line: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t' | b'\r'] = line {
        line = rest;
    }
    line
}

impl<T> Lines<T> {
    fn line<Q: Question<Answer = T>>(
        &mut self,
        question: &Q,
        picker: &mut Picker<'_>,
        line: &[u8],
        start: usize,
    ) {
        let record = self.answers.len();
        let answer = match picker.pick(line) {
            Ok(picked) => question.ask(&picked.root()),
            Err(fault) => {
                let (_, column) = fault.place(line);
                self.bad.push(BadLine { record, line: self.lines, column, message: fault.message });
                question.bad()
            }
        };
        if question.is_marked(&answer) {
            let place = start..start + line.len();
            self.marked.push(Marked { record, line: self.lines, place });
        }
        self.answers.push(answer);
    }

    /// Appends what later parts gave.
    fn extend(&mut self, parts: impl IntoIterator<Item = (usize, Self)>) {
        for (start, part) in parts {
            let (records, lines) = (self.answers.len(), self.lines);
            self.marked.extend(part.marked.into_iter().map(|marked| Marked {
                record: marked.record + records,
                line: marked.line + lines,
                place: marked.place.start + start..marked.place.end + start,
            }));
            self.bad.extend(part.bad.into_iter().map(|bad| BadLine {
                record: bad.record + records,
                line: bad.line + lines,
                ..bad
            }));
            self.answers.extend(part.answers);
            self.lines += part.lines;
        }
    }
}
