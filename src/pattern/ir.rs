//! What both engines run: sets, structure, and questions about a place.
//!
//! An `Ir` without questions that only our own engine can answer becomes an `Hir`, and then runs on
//! the automata of `regex-automata`.

use regex_syntax::hir::{Hir, Look, Repetition};

use super::ast::Builtin;
use super::fold::fold;
use super::set::UnitSet;

/// A pattern, or the body of a lookaround, with the lookarounds right inside it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) ir: Ir,
    /// By their number; copies that a repeat makes share it.
    pub(super) looks: Vec<Lookaround>,
}

/// `(?=`, `(?!`, `(?<=` or `(?<!`; whether it is negated stands where it is asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lookaround {
    pub(super) behind: bool,
    pub(super) body: Body,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ir {
    Empty,
    /// One unit of a set; none if the set is empty.
    Set(UnitSet),
    Concat(Vec<Ir>),
    Alternate(Vec<Ir>),
    /// `max` of `None` is unbounded.
    Repeat {
        body: Box<Ir>,
        min: u32,
        max: Option<u32>,
    },
    /// Goes on only where the question is answered with yes, or with no if negated.
    Ask {
        question: Question,
        negated: bool,
    },
}

/// A yes-or-no question about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Is it the start of the text?
    Start,
    /// Is it the end of the text?
    End,
    /// Is it the border of a word of this kind?
    WordBorder(Word),
    /// What stands right beside it?
    Beside(Beside),
    /// Does the lookaround of this number hold?
    Look(usize),
}

/// What a word is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Ascii,
    /// With what folds into ASCII by code points.
    Folded,
}

impl Word {
    pub(super) fn set(self) -> UnitSet {
        match self {
            Self::Ascii => UnitSet::builtin(Builtin::Word),
            Self::Folded => fold(&UnitSet::builtin(Builtin::Word), true),
        }
    }
}

/// A lookaround of one unit: whether the one before or after the place is in the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Beside {
    pub(super) behind: bool,
    pub(super) set: UnitSet,
    /// The answer where there is no unit, at that end of the text.
    pub(super) at_edge: bool,
}

impl Ir {
    /// Matches nothing, anywhere.
    pub(super) fn never() -> Self {
        Self::Set(UnitSet::default())
    }

    pub(super) fn ask(question: Question, negated: bool) -> Self {
        Self::Ask { question, negated }
    }

    pub(super) fn is_ask(&self) -> bool {
        matches!(self, Self::Ask { .. })
    }

    /// Orders questions by what it takes to answer them.
    pub(super) fn cost(&self) -> u8 {
        match self {
            Self::Ask { question: Question::Start | Question::End, .. } => 0,
            Self::Ask { question: Question::Look(_), .. } => 2,
            _ => 1,
        }
    }

    /// Whether it can match the empty text when every question is answered as it likes.
    pub(super) fn can_be_empty(&self) -> bool {
        match self {
            Self::Empty | Self::Ask { .. } => true,
            Self::Set(_) => false,
            Self::Concat(parts) => parts.iter().all(Self::can_be_empty),
            Self::Alternate(branches) => branches.iter().any(Self::can_be_empty),
            Self::Repeat { body, min, .. } => *min == 0 || body.can_be_empty(),
        }
    }

    /// Whether it matches nothing longer than the empty text.
    pub(super) fn is_only_empty(&self) -> bool {
        match self {
            Self::Empty | Self::Ask { .. } => true,
            Self::Set(_) => false,
            Self::Concat(parts) | Self::Alternate(parts) => parts.iter().all(Self::is_only_empty),
            Self::Repeat { body, max, .. } => *max == Some(0) || body.is_only_empty(),
        }
    }

    /// Whether some question fits.
    pub(super) fn asks(&self, fits: &dyn Fn(&Question, bool) -> bool) -> bool {
        match self {
            Self::Empty | Self::Set(_) => false,
            Self::Concat(parts) | Self::Alternate(parts) => {
                parts.iter().any(|part| part.asks(fits))
            }
            Self::Repeat { body, .. } => body.asks(fits),
            Self::Ask { question, negated } => fits(question, *negated),
        }
    }

    /// Whether a match can only start at the start of the text.
    pub(super) fn is_anchored(&self) -> bool {
        match self {
            Self::Ask { question, negated } => *question == Question::Start && !negated,
            Self::Concat(parts) => {
                let until = parts.iter().position(|part| !part.is_only_empty());
                let leading = until.map_or(parts.len(), |until| until + 1);
                parts.iter().take(leading).any(Self::is_anchored)
            }
            Self::Alternate(branches) => branches.iter().all(Self::is_anchored),
            Self::Repeat { body, min, .. } => *min > 0 && body.is_anchored(),
            Self::Empty | Self::Set(_) => false,
        }
    }

    /// What a match can only start right after, where that is one unit of ASCII.
    pub(super) fn lead(&self) -> Option<&UnitSet> {
        match self {
            Self::Ask { question: Question::Beside(beside), negated: false } => {
                let Beside { behind, set, at_edge } = beside;
                let is_ascii = set.ranges().last().is_some_and(|(_, high)| *high < 0x80);
                (*behind && !at_edge && is_ascii).then_some(set)
            }
            Self::Concat(parts) => parts.first()?.lead(),
            _ => None,
        }
    }

    /// How many rows of bytes it takes at least to spell it, with repeats written out.
    pub(super) fn spellings(&self) -> usize {
        let sum = |parts: &[Self]| parts.iter().map(Self::spellings).fold(0, usize::saturating_add);
        match self {
            Self::Empty | Self::Ask { .. } => 1,
            Self::Set(set) => set.spellings().max(1),
            Self::Concat(parts) | Self::Alternate(parts) => sum(parts),
            Self::Repeat { body, min, max } => {
                body.spellings().saturating_mul(max.unwrap_or(*min).max(1) as usize)
            }
        }
    }

    /// What it takes to copy it, roughly in ranges.
    pub(super) fn weight(&self) -> usize {
        8 + match self {
            Self::Empty | Self::Ask { .. } => 0,
            Self::Set(set) => set.ranges().len(),
            Self::Concat(parts) | Self::Alternate(parts) => parts.iter().map(Self::weight).sum(),
            Self::Repeat { body, .. } => body.weight(),
        }
    }

    /// Heap memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        let each = |parts: &[Self]| parts.iter().map(Self::memory).sum::<usize>();
        match self {
            Self::Empty | Self::Ask { .. } => 0,
            Self::Set(set) => size_of_val(set.ranges()),
            Self::Concat(parts) | Self::Alternate(parts) => size_of_val(&**parts) + each(parts),
            Self::Repeat { body, .. } => size_of::<Self>() + body.memory(),
        }
    }

    /// As an `Hir`; `None` when it asks what `regex-automata` cannot answer.
    pub(super) fn to_hir(&self) -> Option<Hir> {
        self.hir(&|question, negated| {
            Some(Hir::look(match (question, negated) {
                (Question::Start, false) => Look::Start,
                (Question::End, false) => Look::End,
                (Question::WordBorder(Word::Ascii), false) => Look::WordAscii,
                (Question::WordBorder(Word::Ascii), true) => Look::WordAsciiNegate,
                _ => return None,
            }))
        })
    }

    /// As an `Hir` that takes every question for answered: it finds whatever this does, and more.
    pub(super) fn to_wider_hir(&self) -> Option<Hir> {
        self.hir(&|_, _| Some(Hir::empty()))
    }

    fn row(&self) -> Option<&[Self]> {
        if let Self::Concat(parts) = self { Some(parts) } else { None }
    }

    fn branches(&self) -> Option<&[Self]> {
        if let Self::Alternate(branches) = self { Some(branches) } else { None }
    }

    /// What it consists of, also what parts of its own kind consist of: an `Hir` takes those apart
    /// again and again, once for each level.
    fn flat(&self, inside: &dyn Fn(&Self) -> Option<&[Self]>) -> Vec<&Self> {
        let mut parts = Vec::new();
        self.flatten(inside, &mut parts);
        parts
    }

    fn flatten<'a>(&'a self, inside: &dyn Fn(&Self) -> Option<&[Self]>, flat: &mut Vec<&'a Self>) {
        match inside(self) {
            Some(parts) => parts.iter().for_each(|part| part.flatten(inside, flat)),
            None => flat.push(self),
        }
    }

    fn hir(&self, ask: &dyn Fn(&Question, bool) -> Option<Hir>) -> Option<Hir> {
        let each = |parts: Vec<&Self>| -> Option<Vec<Hir>> {
            parts.into_iter().map(|part| part.hir(ask)).collect()
        };
        Some(match self {
            Self::Empty => Hir::empty(),
            Self::Set(set) => set.to_hir(),
            Self::Concat(_) => Hir::concat(each(self.flat(&Self::row))?),
            Self::Alternate(_) => Hir::alternation(each(self.flat(&Self::branches))?),
            Self::Repeat { body, min, max } => Hir::repetition(Repetition {
                min: *min,
                max: *max,
                greedy: true,
                sub: Box::new(body.hir(ask)?),
            }),
            Self::Ask { question, negated } => ask(question, *negated)?,
        })
    }
}
