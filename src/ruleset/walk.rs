//! The plain walk over rules: `first` and `all`, with what was found out kept for the record.

use super::standing::Standing;
use super::{Place, Predicate, Rule, RuleSet};
use crate::check::{Answer, Why};
use crate::path::Resolved;
use crate::value::{Node, View};

/// What a condition list says of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It could not be decided.
    Undetermined,
}

impl Verdict {
    /// What a list says whose checks say this. `all`: a failed check decides, else an undetermined
    /// one leaves it open. `any`: a passed check decides, else likewise. Checks after a decisive one
    /// are not asked.
    pub(super) fn of_list(checks: impl Iterator<Item = Self>, any: bool) -> Self {
        let (decisive, otherwise) =
            if any { (Self::Pass, Self::Fail) } else { (Self::Fail, Self::Pass) };
        let mut open = false;
        for verdict in checks {
            if verdict == decisive {
                return decisive;
            }
            open |= verdict == Self::Undetermined;
        }
        if open { Self::Undetermined } else { otherwise }
    }
}

/// The first list in order that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// This one.
    Hit(usize),
    /// None of them.
    Miss,
    /// This one is undecided, and none before it holds: it might have been the one.
    Undetermined(usize),
}

/// One record under evaluation.
pub(super) struct Run<'s, 'r, N> {
    pub(super) set: &'s RuleSet,
    /// What is known of each place; nothing before it is asked for.
    slots: &'r mut [Option<Resolved<N>>],
    /// Answers of shared predicates.
    memos: &'r mut [Option<Verdict>],
}

impl RuleSet {
    /// The first list that holds.
    pub fn first<N: Node>(&self, record: &N) -> First {
        match &self.index {
            Some(index) => index.first(self, record),
            None => self.walk_first(record),
        }
    }

    /// The lists that do not fail: those that hold and those that are undecided.
    pub fn standing<N: Node>(&self, record: &N) -> Standing {
        match &self.index {
            Some(index) => index.standing(self, record),
            None => self.walk_standing(record),
        }
    }

    /// What every list says, in order.
    pub fn all<N: Node>(&self, record: &N) -> Vec<Verdict> {
        let standing = self.standing(record);
        (0..self.rules.len()).map(|rule| standing.verdict(rule)).collect()
    }

    /// As [`Self::first`], over one list after the other; later ones are not evaluated.
    pub(super) fn walk_first<N: Node>(&self, record: &N) -> First {
        Run::over(self, record, |run| {
            for (position, rule) in self.rules.iter().enumerate() {
                match run.rule(rule, rule.any) {
                    Verdict::Fail => {}
                    Verdict::Pass => return First::Hit(position),
                    Verdict::Undetermined => return First::Undetermined(position),
                }
            }
            First::Miss
        })
    }

    /// As [`Self::standing`], over one list after the other.
    pub(super) fn walk_standing<N: Node>(&self, record: &N) -> Standing {
        let mut standing = Standing::of(self.rules.len());
        Run::over(self, record, |run| {
            for (position, rule) in self.rules.iter().enumerate() {
                standing.add(position, run.rule(rule, rule.any));
            }
        });
        standing
    }

    /// What one list says, under its own or another match.
    pub fn verdict<N: Node>(&self, rule: usize, record: &N, any: Option<bool>) -> Verdict {
        match self.rules.get(rule) {
            Some(rule) => Run::over(self, record, |run| run.rule(rule, any.unwrap_or(rule.any))),
            None => Verdict::Fail,
        }
    }
}

/// Room for so many things during one call: on the stack when they are at most `FEW`.
pub(super) fn scratch<T, const FEW: usize, R>(
    count: usize,
    blank: impl Fn() -> T,
    work: impl FnOnce(&mut [T]) -> R,
) -> R {
    let mut few: [T; FEW];
    let mut many: Vec<T>;
    let room = if count <= FEW {
        few = std::array::from_fn(|_| blank());
        few.get_mut(..count).unwrap_or_default()
    } else {
        many = std::iter::repeat_with(blank).take(count).collect();
        &mut many
    };
    work(room)
}

impl<'s, N: Node> Run<'s, '_, N> {
    /// Asks about a record, of which nothing is known yet.
    pub(super) fn over<T>(
        set: &'s RuleSet,
        record: &N,
        ask: impl FnOnce(&mut Run<'s, '_, N>) -> T,
    ) -> T {
        scratch::<_, 24, _>(
            set.places.len(),
            || None,
            |slots| {
                if let Some(root) = slots.first_mut() {
                    *root = Some(Resolved::Found(record.clone()));
                }
                scratch::<_, 64, _>(set.memos, || None, |memos| ask(&mut Run { set, slots, memos }))
            },
        )
    }

    fn rule(&mut self, rule: &Rule, any: bool) -> Verdict {
        let members = self.set.checks.get(rule.start..rule.end).unwrap_or_default();
        Verdict::of_list(members.iter().map(|member| self.predicate(member.predicate)), any)
    }

    pub(super) fn predicate(&mut self, predicate: usize) -> Verdict {
        let set = self.set;
        let Some(predicate) = set.predicates.get(predicate) else { return Verdict::Undetermined };
        let Some(memo) = predicate.memo else { return self.verdict(predicate) };
        if let Some(Some(known)) = self.memos.get(memo) {
            return *known;
        }
        let verdict = self.verdict(predicate);
        if let Some(slot) = self.memos.get_mut(memo) {
            *slot = Some(verdict);
        }
        verdict
    }

    fn verdict(&mut self, predicate: &Predicate) -> Verdict {
        // PERF: most answers need no more than the value; no reason is prepared for them.
        if let Some(Resolved::Found(node)) = self.slot(predicate.place)
            && let Some(holds) = predicate.test.at_once(node)
        {
            return if holds == predicate.negated { Verdict::Fail } else { Verdict::Pass };
        }
        verdict_of(&self.answer(predicate))
    }

    /// The answer of a predicate with what its reason is made of.
    pub(super) fn answer(&mut self, predicate: &Predicate) -> Answer {
        match self.slot(predicate.place) {
            Some(resolved) => predicate.test.answer(predicate.negated, resolved),
            None => Answer::Undetermined(Why::Plain),
        }
    }

    /// What is at a place, found out now if it was not before.
    pub(super) fn slot(&mut self, place: usize) -> Option<&Resolved<N>> {
        if let Some(None) = self.slots.get(place) {
            self.find(place);
        }
        self.slots.get(place)?.as_ref()
    }

    /// Recursion is as deep as the path: a parent comes before its children.
    fn find(&mut self, place: usize) {
        let set = self.set;
        let Some(Place { parent, depth, segment: Some(segment) }) = set.places.get(place) else {
            return;
        };
        if let [Some(Resolved::Found(root)), ..] = &*self.slots
            && let Some(node) = root.at(place)
            && let Some(slot) = self.slots.get_mut(place)
        {
            *slot = Some(Resolved::Found(node));
            return;
        }
        if let Some(None) = self.slots.get(*parent)
            && *parent < place
        {
            self.find(*parent);
        }
        let Some((before, [slot @ None, ..])) = self.slots.split_at_mut_checked(place) else {
            return;
        };
        let Some(Some(parent)) = before.get(*parent) else { return };
        let Resolved::Found(node) = parent else {
            *slot = Some(parent.carried());
            return;
        };
        // PERF: almost every place is there, and is written where it stays.
        match node.child(&segment.step(Some(place))) {
            Ok(Some(child)) => *slot = Some(Resolved::Found(child)),
            Ok(None) => *slot = Some(nothing_in(node, *depth)),
            Err(fault) => *slot = Some(Resolved::Unreadable(fault)),
        }
    }
}

/// What is to be said of a step that leads nowhere.
#[cold]
fn nothing_in<N: Node>(node: &N, depth: usize) -> Resolved<N> {
    match node.view() {
        Ok(View::Opaque(kind)) => Resolved::Barred(Box::new((depth, kind))),
        _ => Resolved::Missing(depth),
    }
}

fn verdict_of(answer: &Answer) -> Verdict {
    match answer {
        Answer::Pass => Verdict::Pass,
        Answer::Fail(_) => Verdict::Fail,
        Answer::Undetermined(_) => Verdict::Undetermined,
    }
}
