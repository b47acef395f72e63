//! One check: a path, an op, what is expected. The registry of the 23 ops is the one place their
//! names, operands and summaries stand; schema, docs and lint are made from it.

mod answer;
mod prepare;
mod reason;

pub use answer::{Answer, Why};
pub use prepare::{Bounds, Test};
pub use reason::reason;

use crate::value::Value;

/// A check as it was written.
#[derive(Clone, Debug)]
pub struct Check {
    /// The path in generalised UTF-8; empty for the value itself.
    pub path: Box<[u8]>,
    /// The op.
    pub op: Op,
    /// What is expected; leaving it out is not the same as writing null.
    pub expected: Option<Operand>,
    /// Flags of a pattern, in generalised UTF-8.
    pub flags: Option<Box<[u8]>>,
    /// Replaces the generated reason when the check fails.
    pub message: Option<Box<[u8]>>,
}

/// An operand, or why it could not be taken in.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A value.
    Value(Value),
    /// Nesting beyond this limit: the check is undetermined.
    TooDeep(usize),
}

impl Check {
    /// The operand when it is there and could be taken in.
    pub fn operand(&self) -> Option<&Value> {
        match &self.expected {
            Some(Operand::Value(value)) => Some(value),
            _ => None,
        }
    }
}

macro_rules! ops {
    ($($name:ident = $text:literal, $operand:ident, $summary:literal;)+) => {
        /// An op of the grammar.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Op { $(#[doc = $summary] $name,)+ }

        impl Op {
            /// Every op, in the order they are listed to people.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its name in data.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// What it takes.
            pub fn operand(self) -> OperandKind {
                match self { $(Self::$name => OperandKind::$operand,)+ }
            }

            /// When it holds, in one line.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => $summary,)+ }
            }
        }
    };
}

/// What an op takes as `expected`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// Nothing.
    None,
    /// Any value.
    Any,
    /// A string.
    Text,
    /// A pattern, with optional `flags`.
    Pattern,
    /// A finite number.
    Number,
    /// A type name or a list of them.
    Type,
    /// A list of values.
    List,
    /// A format name.
    Format,
}

impl OperandKind {
    /// Its name in the registry handed out to other languages.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Any => "any",
            Self::Text => "text",
            Self::Pattern => "pattern",
            Self::Number => "number",
            Self::Type => "type",
            Self::List => "list",
            Self::Format => "format",
        }
    }
}

ops! {
    Exists = "exists", None, "the path resolves; a null that is there exists";
    NotExists = "notExists", None, "the path does not resolve";
    Equals = "equals", Any, "structurally equal: 1 equals 1.0, true does not equal 1";
    NotEquals = "notEquals", Any, "not structurally equal";
    Contains = "contains", Any, "a string holds the substring, an array the item, an object the key";
    NotContains = "notContains", Any, "a string, array or object does not hold it";
    Matches = "matches", Pattern, "the ECMAScript pattern is found in the string";
    NotMatches = "notMatches", Pattern, "the ECMAScript pattern is not found in the string";
    StartsWith = "startsWith", Text, "the string starts with the text";
    EndsWith = "endsWith", Text, "the string ends with the text";
    GreaterThan = "greaterThan", Number, "both are finite numbers and the value is greater";
    GreaterThanOrEqual = "greaterThanOrEqual", Number, "both are finite numbers and the value is not less";
    LessThan = "lessThan", Number, "both are finite numbers and the value is less";
    LessThanOrEqual = "lessThanOrEqual", Number, "both are finite numbers and the value is not greater";
    IsEmpty = "isEmpty", None, "null, an empty string, array or object; zero and false are not empty";
    IsNotEmpty = "isNotEmpty", None, "there, and not empty";
    IsType = "isType", Type, "of that type, or of one of those types";
    HasLength = "hasLength", Number, "the length (code points, items, keys) is the number";
    MinLength = "minLength", Number, "the length is at least the number";
    MaxLength = "maxLength", Number, "the length is at most the number";
    OneOf = "oneOf", List, "equal to some member of the list";
    NotOneOf = "notOneOf", List, "equal to no member of the list";
    HasFormat = "hasFormat", Format, "the string is valid in the named format";
}

impl Op {
    /// The op of that name; names are case-sensitive.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// Whether it is the negation of another op.
    pub fn is_negated(self) -> bool {
        matches!(
            self,
            Self::NotExists
                | Self::NotEquals
                | Self::NotContains
                | Self::NotMatches
                | Self::IsNotEmpty
                | Self::NotOneOf
        )
    }
}

/// The type names of the grammar.
pub const TYPE_NAMES: [&str; 7] =
    ["null", "boolean", "integer", "number", "string", "array", "object"];
