//! One question about the rows of columns, some of them at a time, by threads of their own.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};

use crate::ruleset::{First, Memos, RowQuery, Standing, TOGETHER};

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

/// The first list that holds for each row, by as many threads as are given and worth it: each takes
/// some rows, and then the next that nobody took.
pub fn first_of_rows(query: &RowQuery<'_>, threads: usize) -> FirstOfRows {
    let mut codes = vec![0; query.count()];
    let threads = threads.min(1 + codes.len() / SHARE);
    let left = Mutex::new((0..).step_by(TOGETHER).zip(codes.chunks_mut(TOGETHER)));
    let ask = || of_part(query, || left.lock().unwrap_or_else(PoisonError::into_inner).next());
    let (mut open, mut bad) = scope(|scope| {
        // Where no thread can be had, the others take its rows.
        let start = |_| Builder::new().spawn_scoped(scope, ask).ok();
        let running: Vec<_> = (1..threads).filter_map(start).collect();
        let mut told = ask();
        for thread in running {
            let (open, bad) = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            told.0.extend(open);
            told.1.extend(bad);
        }
        told
    });
    open.sort_unstable();
    bad.sort_unstable();
    FirstOfRows { codes, open, bad }
}

type Told = (Vec<(usize, usize)>, Vec<(usize, String)>);

/// Fills the codes of rows, as long as there are some, and tells what is undecided and what is bad.
fn of_part<'c>(
    query: &RowQuery<'_>,
    mut next: impl FnMut() -> Option<(usize, &'c mut [i32])>,
) -> Told {
    let (mut open, mut bad) = Told::default();
    let (lists, mut memos) = (query.lists(), Memos::default());
    while let Some((start, codes)) = next() {
        let rows = start..start.saturating_add(codes.len());
        let mut codes = codes.iter_mut();
        query.first(rows, &mut memos, |row, answer| {
            let code = match answer {
                Ok(First::Hit(list)) => list,
                Ok(First::Miss) => lists,
                Ok(First::Undetermined(list)) => {
                    open.push((row, list));
                    lists.saturating_add(1)
                }
                Err(what) => {
                    bad.push((row, what.to_owned()));
                    lists.saturating_add(2)
                }
            };
            if let Some(place) = codes.next() {
                // So many lists do not fit into memory.
                *place = i32::try_from(code).unwrap_or(i32::MAX);
            }
        });
    }
    (open, bad)
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
