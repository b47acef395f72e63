//! One question about the rows of columns: parts of them by threads of their own, in order.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread::{Builder, ScopedJoinHandle, scope};

use crate::ruleset::{FirstOfRows, RowQuery};

/// Fewer rows than this are not worth a thread.
const SHARE: usize = 8 << 10;

/// The first list that holds for each row, by as many threads as are given and worth it.
pub fn first_of_rows(query: &RowQuery<'_>, count: usize, threads: usize) -> FirstOfRows {
    let parts = parts(count, threads.min(1 + count / SHARE));
    let ask = |part: &Range<usize>| query.first(part.clone());
    let Some((first, others)) = parts.split_first() else { return FirstOfRows::default() };
    scope(|scope| {
        let running: Vec<_> = others
            .iter()
            .map(|part| (part, Builder::new().spawn_scoped(scope, move || ask(part))))
            .collect();
        let mut found = ask(first);
        for (part, thread) in running {
            // Where no thread can be had, the part is asked about here.
            let more = thread.map_or_else(|_| Ok(ask(part)), ScopedJoinHandle::join);
            let more = more.unwrap_or_else(|panic| resume_unwind(panic));
            found.answers.extend(more.answers);
            found.bad.extend(more.bad);
        }
        found
    })
}

/// Cuts so many rows into parts of about the same size.
fn parts(count: usize, parts: usize) -> Vec<Range<usize>> {
    let at = |part: usize| count / parts * part + (count % parts) * part / parts;
    (0..parts).map(|part| at(part)..at(part + 1)).collect()
}
