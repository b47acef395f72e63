//! One check after the other, each asked of all rows that it can still decide.

use std::ops::Range;

use super::quick::Quick;
use crate::check::{Answer, Test};
use crate::path::Resolved;
use crate::ruleset::walk::Run;
use crate::ruleset::{First, Predicate, Rule, RuleSet, Verdict};
use crate::value::Node;
use crate::value::arrow::{ArrowNode, Few, Flat, Frame, Kind, Place};

/// Rows under evaluation.
pub(super) struct Columnar<'f> {
    set: &'f RuleSet,
    frame: &'f Frame<'f>,
    start: usize,
    answers: Vec<First>,
    /// Whether a check of the list that is being asked is undecided, by row.
    open: Vec<bool>,
}

/// What checks say of the values of dictionaries, by predicate: found out once for many rows.
#[derive(Debug, Default)]
pub struct Memos(Vec<Vec<Option<Verdict>>>);

impl Memos {
    fn of(&mut self, predicate: usize, values: usize) -> &mut [Option<Verdict>] {
        if self.0.len() <= predicate {
            self.0.resize_with(predicate.saturating_add(1), Vec::new);
        }
        let memo = self.0.get_mut(predicate).map(|memo| {
            memo.resize(values, None);
            memo.as_mut_slice()
        });
        memo.unwrap_or_default()
    }
}

impl<'f> Columnar<'f> {
    pub(super) fn new(set: &'f RuleSet, frame: &'f Frame<'f>, range: Range<usize>) -> Self {
        let (answers, open) = (vec![First::Miss; range.len()], vec![false; range.len()]);
        Self { set, frame, start: range.start, answers, open }
    }

    /// The first list that holds, for each row.
    pub(super) fn first(mut self, memos: &mut Memos) -> Vec<First> {
        let mut left: Few = (0..).take(self.answers.len()).collect();
        for (position, rule) in self.set.rules.iter().enumerate() {
            if left.is_empty() {
                break;
            }
            self.rule(position, rule, &left, memos);
            let answers = &self.answers;
            left.retain(|row| matches!(answers.get(*row as usize), Some(First::Miss)));
        }
        self.answers
    }

    /// Asks one list about rows that none before it has answered; as [`Verdict::of_list`].
    fn rule(&mut self, position: usize, rule: &Rule, rows: &[u32], memos: &mut Memos) {
        let mut pending = rows.to_vec();
        let mut is_open = false;
        let members = self.set.checks.get(rule.start..rule.end).unwrap_or_default();
        for member in members {
            let sorted = self.ask(member.predicate, pending, rule.any, memos);
            pending = if rule.any {
                self.say(&sorted.passed, First::Hit(position));
                sorted.failed
            } else {
                sorted.passed
            };
            is_open |= !sorted.open.is_empty();
            self.mark(&sorted.open, true);
            pending.extend(sorted.open);
        }
        if is_open {
            let (open, closed) = pending.into_iter().partition(|row| self.is_open(*row));
            pending = closed;
            self.say(&open, First::Undetermined(position));
            self.mark(rows, false);
        }
        if !rule.any {
            self.say(&pending, First::Hit(position));
        }
    }

    fn is_open(&self, row: u32) -> bool {
        self.open.get(row as usize).copied().unwrap_or_default()
    }

    fn mark(&mut self, rows: &[u32], is_open: bool) {
        for row in rows {
            if let Some(open) = self.open.get_mut(*row as usize) {
                *open = is_open;
            }
        }
    }

    fn say(&mut self, rows: &[u32], first: First) {
        for row in rows {
            if let Some(answer) = self.answers.get_mut(*row as usize) {
                *answer = first;
            }
        }
    }

    /// Sorts rows by what a check says; those that fail are left out unless `failed` are wanted.
    fn ask(&self, position: usize, mut rows: Few, failed: bool, memos: &mut Memos) -> Sorted {
        let (set, frame, start) = (self.set, self.frame, self.start);
        let mut sorted = Sorted::default();
        let Some(predicate) = set.predicates.get(position) else { return sorted };
        match frame.layout().place(predicate.place) {
            Place::Nowhere => sorted.add_all(missing(predicate), rows),
            Place::Deep => sorted.sort(rows, failed, |row| {
                let record = frame.record(start + row as usize);
                Run::over(set, &record, |run| run.predicate(position))
            }),
            Place::Flat(flat) => {
                let none = flat.without_cell(start, &mut rows);
                if !none.is_empty() {
                    let missing = missing(predicate);
                    sorted.sort(none, failed, |row| {
                        let cell = flat.cell(frame, start + row as usize);
                        cell.map_or(missing, |cell| verdict(predicate, cell))
                    });
                }
                self.ask_cells(position, predicate, flat, rows, failed, memos, &mut sorted);
            }
        }
        sorted
    }

    /// As [`Self::ask`], for rows that have a cell.
    #[expect(clippy::too_many_arguments, reason = "the second half of one function")]
    fn ask_cells(
        &self,
        position: usize,
        predicate: &Predicate,
        flat: &Flat<'f>,
        mut rows: Few,
        failed: bool,
        memos: &mut Memos,
        sorted: &mut Sorted,
    ) {
        let (frame, start) = (self.frame, self.start);
        if let Some(quick) = Quick::new(&predicate.test, flat.kind()) {
            if failed {
                let mut failing = rows.clone();
                quick.keep(start, &mut failing, predicate.negated);
                sorted.failed.extend(failing);
            }
            quick.keep(start, &mut rows, !predicate.negated);
            sorted.add_all(Verdict::Pass, rows);
        } else if let (Test::Matches(pattern), Kind::Texts(texts)) = (&predicate.test, flat.kind())
        {
            sorted.sort(rows, failed, |row| {
                match texts.get(start + row as usize).map(|text| pattern.test(text)) {
                    Some(Ok(found)) if found != predicate.negated => Verdict::Pass,
                    Some(Ok(_)) => Verdict::Fail,
                    _ => Verdict::Undetermined,
                }
            });
        } else if let Kind::Dictionary(keys, values) = flat.kind() {
            // More values than rows are not worth a note of each.
            let noted = values.count() <= frame.count();
            let memo = if noted { memos.of(position, values.count()) } else { &mut [] };
            sorted.sort(rows, failed, |row| {
                let key = keys.get(start + row as usize).and_then(|key| usize::try_from(key).ok());
                let asked = |key| verdict(predicate, values.get(frame, key));
                let key = key.unwrap_or(usize::MAX);
                match memo.get_mut(key) {
                    Some(known) => *known.get_or_insert_with(|| asked(key)),
                    None => asked(key),
                }
            });
        } else {
            sorted.sort(rows, failed, |row| {
                let cell = flat.cell(frame, start + row as usize);
                cell.map_or_else(|| missing(predicate), |cell| verdict(predicate, cell))
            });
        }
    }
}

/// Rows by what a check says of them.
#[derive(Default)]
struct Sorted {
    passed: Few,
    failed: Few,
    open: Few,
}

impl Sorted {
    /// Adds rows by what is said of each; those that fail are left out unless `failed` are wanted.
    fn sort(&mut self, mut rows: Few, failed: bool, mut ask: impl FnMut(u32) -> Verdict) {
        // PERF: those that pass stay where they are, so that threads do not meet in the allocator.
        rows.retain(|row| match ask(*row) {
            Verdict::Pass => true,
            Verdict::Fail => {
                if failed {
                    self.failed.push(*row);
                }
                false
            }
            Verdict::Undetermined => {
                self.open.push(*row);
                false
            }
        });
        self.add_all(Verdict::Pass, rows);
    }

    fn add_all(&mut self, verdict: Verdict, mut rows: Few) {
        let known = match verdict {
            Verdict::Pass => &mut self.passed,
            Verdict::Fail => &mut self.failed,
            Verdict::Undetermined => &mut self.open,
        };
        // PERF: mostly there is none yet, and nothing is copied.
        if known.is_empty() {
            *known = rows;
        } else {
            known.append(&mut rows);
        }
    }
}

/// What a check says of a value.
fn verdict(predicate: &Predicate, node: ArrowNode<'_>) -> Verdict {
    if let Some(holds) = predicate.test.at_once(&node) {
        return if holds == predicate.negated { Verdict::Fail } else { Verdict::Pass };
    }
    of_answer(predicate, &Resolved::Found(node))
}

/// What it says where there is nothing.
fn missing(predicate: &Predicate) -> Verdict {
    of_answer(predicate, &Resolved::<ArrowNode<'_>>::Missing(0))
}

fn of_answer<N: Node>(predicate: &Predicate, resolved: &Resolved<N>) -> Verdict {
    match predicate.test.answer(predicate.negated, resolved) {
        Answer::Pass => Verdict::Pass,
        Answer::Fail(_) => Verdict::Fail,
        Answer::Undetermined(_) => Verdict::Undetermined,
    }
}
