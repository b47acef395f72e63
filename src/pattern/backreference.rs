//! Backreferences that are none: those that always match the empty text, and those to a group of
//! few values. All others stay, and are refused when lowered.
//!
//! A group of few values is lowered by cases. The smallest part that holds the group and all its
//! references is written once for each value, with the value in place of all of them and the way
//! to the group forced, and once more with the group impossible and the references empty.

mod tie;

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{Ast, Bound, GroupName};
use super::words::{WORDS, words};

/// Most nodes that lowering by cases may visit and make.
const NODES: usize = 50_000;

/// The pattern with the references lowered that can be; `ignore_case` as the flags say.
pub(super) fn resolved(mut ast: Ast, ignore_case: bool) -> Ast {
    if Survey::of(&ast, ignore_case).references.is_empty() {
        return ast;
    }
    let mut census = Census::default();
    census.count(&ast);
    census.empty(&mut ast, false, &mut Groups::default());
    tie::tie(&mut ast, ignore_case);
    let mut room = NODES;
    by_cases(&mut ast, ignore_case, &mut room, BTreeSet::new());
    ast
}

/// Where the references stand that are not always empty.
pub(super) fn places_of_values(ast: &Ast) -> BTreeSet<usize> {
    let mut census = Census::default();
    census.count(ast);
    let mut ast = ast.clone();
    census.empty(&mut ast, false, &mut Groups::default());
    let mut places = BTreeSet::new();
    collect_places(&ast, &mut places);
    places
}

fn collect_places(ast: &Ast, places: &mut BTreeSet<usize>) {
    if let Ast::Backreference { at, .. } = ast {
        places.insert(*at);
    }
    ast.each_part(&mut |part| collect_places(part, places));
}

/// A set of groups, one bit each.
#[derive(Clone, Default)]
struct Groups(Vec<u64>);

impl Groups {
    fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn insert(&mut self, number: u32) {
        let at = number as usize / 64;
        if at >= self.0.len() {
            self.0.resize(at + 1, 0);
        }
        if let Some(word) = self.0.get_mut(at) {
            *word |= 1 << (number % 64);
        }
    }

    fn remove(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    fn extend(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

/// The groups of a pattern by name.
#[derive(Default)]
struct Census {
    named: BTreeMap<String, Vec<u32>>,
}

impl Census {
    fn count(&mut self, ast: &Ast) {
        if let Ast::Group { number, name: Some(name), .. } = ast {
            self.named.entry(name.clone()).or_default().push(*number);
        }
        ast.each_part(&mut |part| self.count(part));
    }

    /// Those of the groups in `set` that a reference may mean.
    fn meant(&self, to: &GroupName, set: &Groups) -> Vec<u32> {
        let numbers = match to {
            GroupName::Number(number) => std::slice::from_ref(number),
            GroupName::Name(name) => self.named.get(name).map(Vec::as_slice).unwrap_or_default(),
        };
        numbers.iter().copied().filter(|number| set.contains(*number)).collect()
    }

    /// Empties every reference to groups that cannot be set where it stands, and numbers those that
    /// mean one group. `set` are the groups that may be set, in the order of matching.
    fn empty(&self, ast: &mut Ast, backward: bool, set: &mut Groups) {
        match ast {
            Ast::Backreference { to, .. } => match *self.meant(to, set) {
                [] => *ast = Ast::Empty,
                [number] => *to = GroupName::Number(number),
                _ => {}
            },
            Ast::Group { number, body, .. } => {
                self.empty(body, backward, set);
                set.insert(*number);
            }
            Ast::Concat(parts) if backward => {
                for part in parts.iter_mut().rev() {
                    self.empty(part, backward, set);
                }
            }
            Ast::Concat(parts) => {
                for part in parts {
                    self.empty(part, backward, set);
                }
            }
            Ast::Alternate(branches) => {
                let before = set.clone();
                for branch in branches {
                    let mut within = before.clone();
                    self.empty(branch, backward, &mut within);
                    set.extend(&within);
                }
            }
            // Each turn begins with the groups inside unset.
            Ast::Repeat { body, max, .. } => {
                let mut within = set.clone();
                remove_groups(body, &mut within);
                self.empty(body, backward, &mut within);
                if *max != Some(Bound::Count(0)) {
                    set.extend(&within);
                }
            }
            Ast::Modified { body, .. } => self.empty(body, backward, set),
            // Nothing that is set inside a negative one comes out of it.
            Ast::Look { behind, negated, body } => {
                let mut within = set.clone();
                self.empty(body, *behind, &mut within);
                if !*negated {
                    set.extend(&within);
                }
            }
            Ast::Empty | Ast::Unit(_) | Ast::Dot | Ast::Class { .. } | Ast::Assert(_) => {}
        }
    }
}

fn remove_groups(ast: &Ast, set: &mut Groups) {
    if let Ast::Group { number, .. } = ast {
        set.remove(*number);
    }
    ast.each_part(&mut |part| remove_groups(part, set));
}

/// The way to a part: which part to take at each node.
type Way = Vec<usize>;

/// Where groups and references stand, in the order of the source, and whether case is ignored there.
#[derive(Default)]
struct Survey {
    groups: Vec<(u32, Way, bool)>,
    references: Vec<(u32, Way, bool)>,
    nodes: usize,
    /// The way to the smallest part that holds a group and all its references.
    common: BTreeMap<u32, Way>,
}

impl Survey {
    fn of(ast: &Ast, ignore_case: bool) -> Self {
        let mut survey = Self::default();
        survey.visit(ast, ignore_case, &mut Way::new());
        let mut common: BTreeMap<u32, Way> = BTreeMap::new();
        for (number, way, _) in &survey.references {
            narrow(common.entry(*number).or_insert_with(|| way.clone()), way);
        }
        for (number, way, _) in &survey.groups {
            if let Some(common) = common.get_mut(number) {
                narrow(common, way);
            }
        }
        survey.common = common;
        survey
    }

    fn visit(&mut self, ast: &Ast, mut ignore_case: bool, way: &mut Way) {
        self.nodes += 1;
        match ast {
            Ast::Group { number, .. } => self.groups.push((*number, way.clone(), ignore_case)),
            Ast::Backreference { to, .. } => {
                // A reference that may mean several groups names none that is lowered.
                let number = if let GroupName::Number(number) = to { *number } else { 0 };
                self.references.push((number, way.clone(), ignore_case));
            }
            Ast::Modified { change, .. } => {
                ignore_case = change.ignore_case.unwrap_or(ignore_case);
            }
            _ => {}
        }
        let mut part = 0;
        ast.each_part(&mut |inner| {
            way.push(part);
            self.visit(inner, ignore_case, way);
            way.pop();
            part += 1;
        });
    }

    /// The groups that hold or lie in another one that is referred to, or that differ from their
    /// references in whether case is ignored.
    fn entangled(&self) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut around: Vec<(u32, &Way)> = Vec::new();
        for (number, way, _) in self.groups.iter().filter(|(number, ..)| self.has(*number)) {
            around.retain(|(_, outer)| way.starts_with(outer));
            for (outer, _) in around.iter().filter(|(outer, _)| outer != number) {
                found.extend([*number, *outer]);
            }
            around.push((*number, way));
        }
        let mut cases = BTreeMap::new();
        for (number, _, case) in self.groups.iter().chain(&self.references) {
            if cases.insert(*number, case).is_some_and(|other| other != case) {
                found.insert(*number);
            }
        }
        found
    }

    /// How often a group and its references stand.
    fn places(&self, number: u32) -> usize {
        self.groups.iter().chain(&self.references).filter(|(own, ..)| *own == number).count()
    }

    /// Whether a group is referred to.
    fn has(&self, number: u32) -> bool {
        self.common.contains_key(&number)
    }
}

/// Cuts a way to what it shares with another.
fn narrow(way: &mut Way, other: &Way) {
    let alike = way.iter().zip(other).take_while(|(one, other)| one == other).count();
    way.truncate(alike);
}

/// Lowers the groups of few values inside `ast`, those with the smallest part first. `room` are nodes
/// that may still be visited or made, `tried` the groups to leave alone.
fn by_cases(ast: &mut Ast, ignore_case: bool, room: &mut usize, mut tried: BTreeSet<u32>) {
    loop {
        let survey = Survey::of(ast, ignore_case);
        let Some(left) = room.checked_sub(survey.nodes) else { return };
        *room = left;
        let untried =
            survey.common.iter().filter(|(number, _)| **number > 0 && !tried.contains(number));
        let Some((number, way)) = untried.max_by_key(|(_, way)| way.len()) else { return };
        let number = *number;
        tried.insert(number);
        if survey.entangled().contains(&number) {
            continue;
        }
        let Some((part, ignore_case)) = part_at(ast, way, ignore_case) else { continue };
        let mut values = BTreeSet::new();
        if !can_be_forced(part, number, &mut values) || values.len() > WORDS {
            continue;
        }
        let nodes = Survey::of(part, ignore_case).nodes.saturating_mul(values.len() + 1);
        let written = survey.places(number) * values.iter().map(Vec::len).sum::<usize>();
        let Some(left) = room.checked_sub(nodes.saturating_add(written)) else { continue };
        *room = left;
        let outside = survey.common.iter().filter(|(_, other)| !other.starts_with(way));
        let outside: BTreeSet<u32> = outside.map(|(number, _)| *number).collect();
        let mut cases = Vec::with_capacity(values.len() + 1);
        for value in values.iter().map(Some).chain([None]) {
            let mut case = part.clone();
            fill(&mut case, number, value.map(Vec::as_slice));
            // Other groups that lie wholly in this part are lowered anew in each case.
            by_cases(&mut case, ignore_case, room, outside.clone());
            cases.push(case);
        }
        *part = Ast::Alternate(cases);
    }
}

/// The part at the end of a way, and whether case is ignored there.
fn part_at<'a>(ast: &'a mut Ast, way: &[usize], ignore_case: bool) -> Option<(&'a mut Ast, bool)> {
    let Some((first, rest)) = way.split_first() else { return Some((ast, ignore_case)) };
    match ast {
        Ast::Concat(parts) | Ast::Alternate(parts) => {
            part_at(parts.get_mut(*first)?, rest, ignore_case)
        }
        Ast::Modified { change, body } => {
            part_at(body, rest, change.ignore_case.unwrap_or(ignore_case))
        }
        Ast::Group { body, .. } | Ast::Look { body, .. } | Ast::Repeat { body, .. } => {
            part_at(body, rest, ignore_case)
        }
        _ => None,
    }
}

fn holds(ast: &Ast, number: u32) -> bool {
    let mut found = matches!(ast, Ast::Group { number: own, .. } if *own == number);
    ast.each_part(&mut |part| found = found || holds(part, number));
    found
}

/// Whether no loop and no lookaround stands between a part and the group in it, and the group has few
/// values, which are collected.
fn can_be_forced(ast: &Ast, number: u32, values: &mut BTreeSet<Vec<u32>>) -> bool {
    match ast {
        Ast::Group { number: own, body, .. } if *own == number => match words(body) {
            Some(words) => {
                values.extend(words);
                true
            }
            None => false,
        },
        Ast::Look { .. } => !holds(ast, number),
        Ast::Repeat { body, max, .. } if !is_single(*max) => !holds(body, number),
        _ => {
            let mut forced = true;
            ast.each_part(&mut |part| forced = forced && can_be_forced(part, number, values));
            forced
        }
    }
}

fn is_single(max: Option<Bound>) -> bool {
    matches!(max, Some(Bound::Count(0 | 1)))
}

/// Puts a value in place of a group and its references and forces the way to the group; without a
/// value makes the group impossible and the references empty.
fn fill(ast: &mut Ast, number: u32, value: Option<&[u32]>) {
    let leads = value.is_some() && holds(ast, number);
    match ast {
        Ast::Group { number: own, body, .. } if *own == number => {
            // A group that stands in several cases need not have all values in each.
            let value = value.filter(|value| words(body).is_some_and(|all| all.contains(*value)));
            *ast = value.map_or(Ast::Class { negated: false, items: Vec::new() }, word);
        }
        Ast::Backreference { to: GroupName::Number(to), .. } if *to == number => {
            *ast = value.map_or(Ast::Empty, word);
        }
        Ast::Alternate(branches) if leads => {
            branches.retain(|branch| holds(branch, number));
            for branch in branches {
                fill(branch, number, value);
            }
        }
        Ast::Repeat { body, min, .. } if leads => {
            *min = Bound::Count(1);
            fill(body, number, value);
        }
        Ast::Concat(parts) | Ast::Alternate(parts) => {
            for part in parts {
                fill(part, number, value);
            }
        }
        Ast::Group { body, .. }
        | Ast::Modified { body, .. }
        | Ast::Look { body, .. }
        | Ast::Repeat { body, .. } => fill(body, number, value),
        _ => {}
    }
}

fn word(units: &[u32]) -> Ast {
    Ast::Concat(units.iter().map(|unit| Ast::Unit(*unit)).collect())
}
