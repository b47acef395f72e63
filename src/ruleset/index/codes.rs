//! Values of a place as small numbers: every operand that its checks name, and the gaps between.

use std::cmp::Ordering;

use super::table::{Table, text_hash};
use crate::check::{Bounds, Test};
use crate::value::{Number, Scalar, Value, View};

/// The codes of a place. Numbers come first, in order: with `n` of them, code `2i + 1` is the
/// number at `i` and `2i` is everything between it and the one before, so that a bound is a range
/// of codes. Then null, false, true, the texts, and last everything else.
#[derive(Debug)]
pub(super) struct Codes {
    numbers: Box<[Number]>,
    /// The numbers as doubles, when all of them can be compared as such.
    doubles: Option<Box<[f64]>>,
    texts: Box<[Box<[u8]>]>,
    by_text: Table,
    /// The code of null.
    null: u32,
}

/// The codes of the values that satisfy a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CodeSet {
    /// From the first to the last, both included; empty when they are crossed.
    Span(u32, u32),
    /// These, in order.
    Each(Box<[u32]>),
}

impl CodeSet {
    pub(super) fn holds(&self, code: u32) -> bool {
        match self {
            Self::Span(first, last) => (*first..=*last).contains(&code),
            Self::Each(codes) => codes.binary_search(&code).is_ok(),
        }
    }

    /// As ranges, apart from each other and in order.
    pub(super) fn spans(&self) -> Vec<(u32, u32)> {
        match self {
            Self::Span(first, last) if first > last => Vec::new(),
            Self::Span(first, last) => vec![(*first, *last)],
            Self::Each(codes) => codes.iter().map(|code| (*code, *code)).collect(),
        }
    }

    /// What is in both.
    pub(super) fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Span(first, last), Self::Span(low, high)) => {
                Self::Span(*first.max(low), *last.min(high))
            }
            (Self::Each(codes), set) | (set, Self::Each(codes)) => {
                Self::Each(codes.iter().copied().filter(|code| set.holds(*code)).collect())
            }
        }
    }
}

/// The operands that a test compares with, when codes can answer it: scalars, no NaN or infinity.
pub(super) fn operands(test: &Test) -> Option<Vec<&Value>> {
    match test {
        Test::Equals(operand) => is_plain(operand).then(|| vec![operand]),
        Test::OneOf(members) => {
            members.iter().all(is_plain).then(|| members.iter().collect::<Vec<_>>())
        }
        _ => None,
    }
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_finite(),
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    }
}

impl Codes {
    /// Codes for the operands of tests at one place.
    pub(super) fn new<'t>(tests: impl Iterator<Item = &'t Test>) -> Self {
        let mut numbers: Vec<Number> = Vec::new();
        let mut texts: Vec<Box<[u8]>> = Vec::new();
        for test in tests {
            if let Test::Order(_, bound) = test {
                numbers.push(bound.clone());
            }
            for operand in operands(test).unwrap_or_default() {
                match operand {
                    Value::Number(number) => numbers.push(number.clone()),
                    Value::String(text) => texts.push(text.clone()),
                    _ => {}
                }
            }
        }
        numbers.sort_by(|left, right| left.compare(right).unwrap_or(Ordering::Equal));
        numbers.dedup_by(|left, right| left.equals(right));
        texts.sort_unstable();
        texts.dedup();
        Self {
            null: code(numbers.len().saturating_mul(2).saturating_add(1)),
            by_text: Table::new(texts.iter().map(|text| text_hash(text))),
            doubles: numbers.iter().map(Number::as_double).collect(),
            numbers: numbers.into(),
            texts: texts.into(),
        }
    }

    /// The code of a scalar; `None` for what codes do not tell: a number that is not finite.
    pub(super) fn of(&self, scalar: Scalar<'_>) -> Option<u32> {
        Some(match scalar {
            Scalar::Int(int) => self.of_number(&Number::Int(int)),
            Scalar::Float(float) if float.is_finite() => self.of_number(&Number::Float(float)),
            Scalar::Float(_) => return None,
            Scalar::Text(text) => self.of_text(text),
            Scalar::Null => self.null,
            Scalar::Boolean(boolean) => self.of_boolean(boolean),
        })
    }

    /// The code of what is no scalar.
    pub(super) fn of_other(&self, view: &View<'_>) -> u32 {
        match view {
            View::Number(number) => self.of_number(number),
            _ => self.last(),
        }
    }

    /// The codes that satisfy a test; `None` when codes cannot answer it.
    pub(super) fn set(&self, test: &Test) -> Option<CodeSet> {
        if let Test::Order(bounds, bound) = test {
            return Some(self.ordered(*bounds, bound));
        }
        let mut codes: Vec<u32> =
            operands(test)?.into_iter().map(|operand| self.of_operand(operand)).collect();
        codes.sort_unstable();
        codes.dedup();
        Some(match *codes {
            [only] => CodeSet::Span(only, only),
            _ => CodeSet::Each(codes.into()),
        })
    }

    fn ordered(&self, bounds: Bounds, bound: &Number) -> CodeSet {
        let at = self.of_number(bound);
        let first = match (bounds.less, bounds.equal) {
            (true, _) => 0,
            (false, true) => at,
            (false, false) => at.saturating_add(1),
        };
        let last = match (bounds.greater, bounds.equal) {
            (true, _) => self.null.saturating_sub(1),
            (false, true) => at,
            (false, false) => at.saturating_sub(1),
        };
        CodeSet::Span(first, last)
    }

    fn of_operand(&self, value: &Value) -> u32 {
        match value {
            Value::Null => self.null,
            Value::Boolean(boolean) => self.of_boolean(*boolean),
            Value::Number(number) => self.of_number(number),
            Value::String(text) => self.of_text(text),
            Value::Array(_) | Value::Object(_) => self.last(),
        }
    }

    fn of_boolean(&self, boolean: bool) -> u32 {
        self.null.saturating_add(1).saturating_add(u32::from(boolean))
    }

    fn of_number(&self, number: &Number) -> u32 {
        // PERF: a table has thousands of bounds, almost all of them short.
        let found = match (&self.doubles, number.as_double()) {
            (Some(doubles), Some(double)) => doubles
                .binary_search_by(|known| known.partial_cmp(&double).unwrap_or(Ordering::Less)),
            _ => self
                .numbers
                .binary_search_by(|known| known.compare(number).unwrap_or(Ordering::Less)),
        };
        match found {
            Ok(at) => code(at.saturating_mul(2).saturating_add(1)),
            Err(at) => code(at.saturating_mul(2)),
        }
    }

    fn of_text(&self, text: &[u8]) -> u32 {
        let is_it = |at: usize| self.texts.get(at).is_some_and(|known| **known == *text);
        let found = self.by_text.find(text_hash(text), is_it);
        found.map_or(self.last(), |at| self.null.saturating_add(3).saturating_add(code(at)))
    }

    /// How many codes there are.
    pub(super) fn count(&self) -> usize {
        (self.last() as usize).saturating_add(1)
    }

    /// The code of everything that no operand equals and no bound reaches.
    fn last(&self) -> u32 {
        self.null.saturating_add(3).saturating_add(code(self.texts.len()))
    }
}

/// A count as a code; there are far fewer operands than that.
fn code(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
