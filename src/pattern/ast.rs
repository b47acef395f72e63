//! What a pattern says, with the places of what may have to be refused.
//!
//! A unit is a UTF-16 code unit, or a code point under the flags `u` and `v`.

use std::sync::Arc;

use super::Flags;
use super::property::Strings;
use super::set::UnitSet;

/// A parsed pattern. Nesting is bounded by the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ast {
    /// Matches the empty text.
    Empty,
    /// One unit.
    Unit(u32),
    /// `.`
    Dot,
    /// A class, or one of `\d \D \w \W \s \S \p \P`.
    Class { negated: bool, items: Vec<ClassItem> },
    /// `^ $ \b \B`
    Assert(Assertion),
    /// A group that changes flags for its body.
    Modified { change: FlagChange, body: Box<Ast> },
    /// A capturing group, numbered from 1 as they open.
    Group { number: u32, name: Option<String>, body: Box<Ast> },
    /// A lookahead or lookbehind.
    Look { behind: bool, negated: bool, body: Box<Ast> },
    /// A reference to a group.
    Backreference { at: usize, to: GroupName },
    /// Parts in a row.
    Concat(Vec<Ast>),
    /// Any one of several.
    Alternate(Vec<Ast>),
    /// `max` of `None` is unbounded.
    Repeat { body: Box<Ast>, min: Bound, max: Option<Bound> },
}

impl Ast {
    /// Visits the parts right inside this one.
    pub(super) fn each_part<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        match self {
            Self::Concat(parts) | Self::Alternate(parts) => parts.iter().for_each(visit),
            Self::Group { body, .. }
            | Self::Modified { body, .. }
            | Self::Look { body, .. }
            | Self::Repeat { body, .. } => visit(body),
            Self::Empty
            | Self::Unit(_)
            | Self::Dot
            | Self::Class { .. }
            | Self::Assert(_)
            | Self::Backreference { .. } => {}
        }
    }
}

/// How a reference names its group: several groups may share a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GroupName {
    Number(u32),
    Name(String),
}

/// Something in a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClassItem {
    /// Units from the first to the second, both included.
    Range(u32, u32),
    /// `\d` and its like.
    Builtin { set: Builtin, negated: bool },
    /// `\p{...}`
    Property { set: Arc<UnitSet>, negated: bool },
    /// A property whose members are strings: seven of them, `v` only.
    StringProperty(Arc<Strings>),
    /// `\q{...}`: strings of any length, `v` only.
    Strings(Vec<Vec<u32>>),
    /// A class in a class, `v` only.
    Class { negated: bool, items: Vec<ClassItem> },
    /// Operands between `&&`, `v` only.
    Intersection(Vec<ClassItem>),
    /// The first operand without the others, between `--`, `v` only.
    Difference(Vec<ClassItem>),
}

/// The built-in sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    Digit,
    Word,
    Space,
}

/// An assertion about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    Start,
    End,
    WordBoundary,
    NotWordBoundary,
}

/// `(?ims-ims:`: what to switch on and off; `None` leaves a flag as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlagChange {
    pub(super) ignore_case: Option<bool>,
    pub(super) multiline: Option<bool>,
    pub(super) dot_all: Option<bool>,
}

impl FlagChange {
    pub(super) fn applied(self, flags: Flags) -> Flags {
        Flags {
            ignore_case: self.ignore_case.unwrap_or(flags.ignore_case),
            multiline: self.multiline.unwrap_or(flags.multiline),
            dot_all: self.dot_all.unwrap_or(flags.dot_all),
            ..flags
        }
    }
}

/// A repeat count, or one that no text can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Count(u32),
    Unreachable,
}

impl Bound {
    /// The first count that is taken for unreachable; 2,147,483,647 is what people write for it.
    pub(super) const UNREACHABLE: u32 = (1 << 31) - 1;
}
