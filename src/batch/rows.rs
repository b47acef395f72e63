//! One question about the rows of columns: parts of them by threads of their own, in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread::{Builder, ScopedJoinHandle, scope};

use crate::ruleset::{First, RowQuery, Standing};

/// The first list that holds, for rows.
#[derive(Debug, Default)]
pub struct FirstOfRows {
    /// For each row the position of the list; of n lists, n where none does, n + 1 where one before
    /// any is undecided, n + 2 where the row is no record.
    pub codes: Vec<i32>,
    /// What is undecided: row and list.
    pub open: Vec<(usize, usize)>,
    /// The rows that are no records, and what is wrong with them.
    pub bad: Vec<(usize, String)>,
}

/// Fewer rows than this are not worth a thread.
const SHARE: usize = 8 << 10;

/// The first list that holds for each row, by as many threads as are given and worth it.
pub fn first_of_rows(query: &RowQuery<'_>, threads: usize) -> FirstOfRows {
    let count = query.count();
    let parts = parts(count, threads.min(1 + count / SHARE));
    let ask = |part: &Range<usize>| of_part(query, part.clone());
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
            found.codes.extend(more.codes);
            found.open.extend(more.open);
            found.bad.extend(more.bad);
        }
        found
    })
}

fn of_part(query: &RowQuery<'_>, part: Range<usize>) -> FirstOfRows {
    let mut found = FirstOfRows { codes: Vec::with_capacity(part.len()), ..Default::default() };
    let lists = query.lists();
    query.first(part, |row, answer| {
        let code = match answer {
            Ok(First::Hit(list)) => list,
            Ok(First::Miss) => lists,
            Ok(First::Undetermined(list)) => {
                found.open.push((row, list));
                lists.saturating_add(1)
            }
            Err(what) => {
                found.bad.push((row, what.to_owned()));
                lists.saturating_add(2)
            }
        };
        // So many lists do not fit into memory.
        found.codes.push(i32::try_from(code).unwrap_or(i32::MAX));
    });
    found
}

/// The lists that hold, for rows.
#[derive(Debug, Default)]
pub struct StandingOfRows {
    /// The sets of lists that hold, each once.
    pub sets: Vec<Standing>,
    /// For each row the position of its set, or -1 where a list is undecided or it is no record.
    pub codes: Vec<i32>,
    /// The rows that are no records, and what is wrong with them.
    pub bad: Vec<(usize, String)>,
}

/// The lists that hold for each row.
pub fn standing_of_rows(query: &RowQuery<'_>) -> StandingOfRows {
    let mut found = StandingOfRows::default();
    let mut known: BTreeMap<Box<[u64]>, i32> = BTreeMap::new();
    query.standing(0..query.count(), |row, answer| {
        let code = match answer {
            Err(what) => {
                found.bad.push((row, what.to_owned()));
                -1
            }
            Ok(standing) if standing.open().len() > 0 => -1,
            Ok(standing) => known.get(standing.words()).copied().unwrap_or_else(|| {
                let next = i32::try_from(found.sets.len()).unwrap_or(i32::MAX);
                known.insert(standing.words().into(), next);
                found.sets.push(standing);
                next
            }),
        };
        found.codes.push(code);
    });
    found
}

/// Cuts so many rows into parts of about the same size.
fn parts(count: usize, parts: usize) -> Vec<Range<usize>> {
    let at = |part: usize| count / parts * part + (count % parts) * part / parts;
    (0..parts).map(|part| at(part)..at(part + 1)).collect()
}
