//! From condition lists to places, predicates and rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::index::Index;
use super::read::{Reader, RuleSource, Shape};
use super::{Member, Place, Predicate, Rule, RuleSet};
use crate::canonical;
use crate::check::{Check, Op, Test};
use crate::error::{Code, Problem};
use crate::limits::Limits;
use crate::path::{Path, PathFault, Segment};
use crate::preview::{REPORT, quote};
use crate::value::Node;

/// What compiling gave: the set when the data had the right shape, and everything found.
#[derive(Debug)]
pub struct Compiled {
    /// The engine; `None` when a structural problem stands in the way.
    pub set: Option<RuleSet>,
    /// Structural problems: they always refuse the input.
    pub problems: Vec<Problem>,
    /// Broken checks and warnings: they refuse it only when asked to be strict.
    pub faults: Vec<Problem>,
}

impl RuleSet {
    /// Compiles named condition lists.
    pub fn compile<N: Node>(list: &N, shape: &Shape<'_>, limits: &Limits) -> Compiled {
        let mut reader = Reader { limits, problems: Vec::new() };
        let rules = reader.rules(list, shape);
        build(rules, reader.problems, limits)
    }

    /// Compiles a single list of checks without a name.
    pub fn compile_checks<N: Node>(list: &N, field: &str, limits: &Limits) -> Compiled {
        let mut reader = Reader { limits, problems: Vec::new() };
        let checks = reader.lone_checks(list, field);
        let rule = RuleSource { name: None, any: false, field: field.to_owned(), checks };
        build(vec![rule], reader.problems, limits)
    }
}

fn build(sources: Vec<RuleSource>, problems: Vec<Problem>, limits: &Limits) -> Compiled {
    let mut builder = Builder::new(*limits);
    for source in sources {
        builder.rule(source);
    }
    let set = problems.is_empty().then(|| {
        let index = Index::worthwhile(&builder.set);
        RuleSet { index, ..builder.set }
    });
    Compiled { set, problems, faults: builder.faults }
}

/// What makes two checks ask the same: place, op, operand and flags.
type PredicateKey = (usize, Op, String, Box<[u8]>);

struct Builder {
    /// The limits; what all patterns may take together shrinks as they are compiled.
    limits: Limits,
    set: RuleSet,
    faults: Vec<Problem>,
    paths: BTreeMap<Box<[u8]>, (Arc<Path>, usize)>,
    places: BTreeMap<(usize, Segment), usize>,
    predicates: BTreeMap<PredicateKey, usize>,
}

impl Builder {
    fn new(limits: Limits) -> Self {
        let root = Place { parent: 0, depth: 0, segment: None };
        let set = RuleSet {
            places: vec![root],
            predicates: Vec::new(),
            memos: 0,
            checks: Vec::new(),
            rules: Vec::new(),
            index: None,
        };
        let (paths, places, predicates) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { limits, set, faults: Vec::new(), paths, places, predicates }
    }

    fn rule(&mut self, source: RuleSource) {
        let start = self.set.checks.len();
        for (position, check) in source.checks {
            self.check(check, || format!("{}[{position}]", source.field));
        }
        let end = self.set.checks.len();
        self.set.rules.push(Rule { name: source.name, any: source.any, start, end });
    }

    /// Adds a check; `field` says where it stands.
    fn check(&mut self, check: Check, field: impl Fn() -> String) {
        let (test, fault) = Test::prepare(&check, &self.limits);
        if let Test::Matches(pattern) = &test {
            // What is left for the patterns that follow; a pattern at a time is bounded by it too.
            self.limits.patterns_bytes =
                self.limits.patterns_bytes.saturating_sub(pattern.memory());
            self.limits.pattern_bytes = self.limits.pattern_bytes.min(self.limits.patterns_bytes);
            self.faults.extend(pattern.hints().iter().map(|hint| {
                let message = format!("{} (at character {})", hint.text, hint.start);
                let place = format!("{}.expected", field());
                Problem::new(Code::PatternHint, place, check.expected_preview(REPORT), message)
            }));
        }
        if let Some(fault) = fault {
            let value = match fault.field {
                "flags" => check.flags.as_deref().map(|flags| quote(flags, REPORT)),
                _ => check.expected_preview(REPORT),
            };
            let place = format!("{}.{}", field(), fault.field);
            self.faults.push(Problem::new(fault.code, place, value, fault.message));
        }
        match self.path(&check.path) {
            Ok((path, place)) => {
                let predicate = self.predicate(place, &check, test);
                self.set.checks.push(Member { check, path: Some(path), predicate });
            }
            Err(fault) => {
                let value = quote(&check.path, REPORT);
                let reason = format!("malformed path {value}: {}", fault.message);
                let place = format!("{}.path", field());
                let problem = Problem::new(Code::PathMalformed, place, Some(value), fault.message);
                self.faults.push(problem);
                let predicate = self.add(0, false, Test::Broken(reason.into()));
                self.set.checks.push(Member { check, path: None, predicate });
            }
        }
    }

    /// A path and its place; most checks ask about a path that was read before.
    fn path(&mut self, source: &[u8]) -> Result<(Arc<Path>, usize), PathFault> {
        if let Some(known) = self.paths.get(source) {
            return Ok(known.clone());
        }
        let path = Arc::new(Path::parse(source, &self.limits)?);
        let place = self.place(&path);
        self.paths.insert(source.into(), (Arc::clone(&path), place));
        Ok((path, place))
    }

    fn place(&mut self, path: &Path) -> usize {
        let mut at = 0;
        for (depth, segment) in path.segments().iter().enumerate() {
            let key = (at, segment.clone());
            if let Some(known) = self.places.get(&key) {
                at = *known;
                continue;
            }
            let place = Place { parent: at, depth, segment: Some(segment.clone()) };
            at = self.set.places.len();
            self.set.places.push(place);
            self.places.insert(key, at);
        }
        at
    }

    fn predicate(&mut self, place: usize, check: &Check, test: Test) -> usize {
        let negated = check.op.is_negated();
        if matches!(test, Test::Undetermined { .. }) {
            return self.add(place, negated, test);
        }
        // No canonical text is empty: an absent operand is told apart from every other.
        let operand = check.operand().map(canonical::text).unwrap_or_default();
        let flags = check.flags.clone().unwrap_or_default();
        let key = (place, check.op, operand, flags);
        if let Some(known) = self.predicates.get(&key).copied() {
            self.share(known);
            return known;
        }
        let added = self.add(place, negated, test);
        self.predicates.insert(key, added);
        added
    }

    /// Gives a predicate that is asked again a place to keep its answer.
    fn share(&mut self, predicate: usize) {
        let memos = &mut self.set.memos;
        if let Some(predicate) = self.set.predicates.get_mut(predicate)
            && predicate.memo.is_none()
        {
            predicate.memo = Some(*memos);
            *memos = memos.saturating_add(1);
        }
    }

    fn add(&mut self, place: usize, negated: bool, test: Test) -> usize {
        self.set.predicates.push(Predicate { place, memo: None, negated, test });
        self.set.predicates.len().saturating_sub(1)
    }
}
