//! Parts in a row that references tie together, put into rows of their own: then the smallest part
//! with a group and its references is no larger than it must be, and groups in a row that have
//! nothing to do with each other are lowered one after the other, not each for every value of the
//! one before.

use std::collections::BTreeMap;

use super::{Survey, Way, part_at};
use crate::pattern::ast::Ast;

/// From the first to the last part in a row that one group and its references stand in.
type Span = (usize, usize);

/// Ties the parts of every row.
pub(super) fn tie(ast: &mut Ast, ignore_case: bool) {
    let mut rows: Vec<(Way, Vec<Span>)> = rows(&Survey::of(ast, ignore_case)).into_iter().collect();
    // The ways to inner rows lead through the outer ones as they stand.
    rows.sort_by_key(|(way, _)| std::cmp::Reverse(way.len()));
    for (way, spans) in rows {
        if let Some((Ast::Concat(parts), _)) = part_at(ast, &way, ignore_case) {
            *parts = tied(std::mem::take(parts), spans);
        }
    }
}

/// The ways to the smallest parts of all groups, and what each of them spans there.
fn rows(survey: &Survey) -> BTreeMap<Way, Vec<Span>> {
    let mut spans: BTreeMap<u32, Span> = BTreeMap::new();
    for (number, way, _) in survey.groups.iter().chain(&survey.references) {
        let common = survey.common.get(number);
        if let Some(at) = common.and_then(|common| way.get(common.len())) {
            let (first, last) = spans.entry(*number).or_insert((*at, *at));
            (*first, *last) = (*at.min(first), *at.max(last));
        }
    }
    let mut rows: BTreeMap<Way, Vec<Span>> = BTreeMap::new();
    for (number, span) in spans {
        if let Some(way) = survey.common.get(&number) {
            rows.entry(way.clone()).or_default().push(span);
        }
    }
    rows
}

fn tied(parts: Vec<Ast>, mut spans: Vec<Span>) -> Vec<Ast> {
    spans.sort_unstable();
    let mut spans = spans.into_iter().peekable();
    let (mut rows, mut end): (Vec<Vec<Ast>>, usize) = (Vec::new(), 0);
    for (at, part) in parts.into_iter().enumerate() {
        match rows.last_mut() {
            Some(row) if at < end => row.push(part),
            _ => rows.push(vec![part]),
        }
        while let Some((_, last)) = spans.next_if(|(first, _)| *first <= at) {
            end = end.max(last + 1);
        }
    }
    let whole = |mut row: Vec<Ast>| match row.pop() {
        Some(part) if row.is_empty() => part,
        last => Ast::Concat(row.into_iter().chain(last).collect()),
    };
    if rows.len() == 1 {
        rows.pop().unwrap_or_default()
    } else {
        rows.into_iter().map(whole).collect()
    }
}
