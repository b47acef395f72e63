//! Checks that a column answers in one loop, because neither cell nor operand needs a second look.

use memchr::memmem::Finder;

use crate::check::{Bounds, Test};
use crate::value::arrow::{Few, Floats, Ints, Kind, Texts};
use crate::value::{Number, Value};

/// A check of cells that are not null, all of which it can answer.
pub(super) enum Quick<'t> {
    Ints(&'t Ints, Bounds, i64),
    Floats(&'t Floats, Bounds, f64),
    Equal(&'t Texts, &'t [u8]),
    OneOf(&'t Texts, Vec<&'t [u8]>),
    Starts(&'t Texts, &'t [u8]),
    Ends(&'t Texts, &'t [u8]),
    Holds(&'t Texts, Box<Finder<'t>>),
}

impl<'t> Quick<'t> {
    pub(super) fn new(test: &'t Test, kind: Kind<'t>) -> Option<Self> {
        Some(match (test, kind) {
            (Test::Order(bounds, Number::Int(bound)), Kind::Ints(ints)) => {
                Self::Ints(ints, *bounds, *bound)
            }
            (Test::Equals(Value::Number(Number::Int(operand))), Kind::Ints(ints)) => {
                Self::Ints(ints, EQUAL, *operand)
            }
            (Test::Order(bounds, bound), Kind::Floats(floats)) => {
                Self::Floats(floats, *bounds, bound.as_double()?)
            }
            (Test::Equals(Value::Number(operand)), Kind::Floats(floats)) => {
                Self::Floats(floats, EQUAL, operand.as_double()?)
            }
            (Test::Equals(Value::String(text)), Kind::Texts(texts)) => Self::Equal(texts, text),
            (Test::OneOf(members), Kind::Texts(texts)) => {
                // Members of other types equal no text.
                Self::OneOf(texts, members.iter().filter_map(Value::as_text).collect())
            }
            (Test::StartsWith(head), Kind::Texts(texts)) => Self::Starts(texts, head),
            (Test::EndsWith(tail), Kind::Texts(texts)) => Self::Ends(texts, tail),
            (Test::Contains(Value::String(part)), Kind::Texts(texts)) => {
                Self::Holds(texts, Box::new(Finder::new(&**part)))
            }
            _ => return None,
        })
    }

    /// Keeps the rows of which it holds, or, unless `wanted`, of which it does not.
    pub(super) fn keep(&self, start: usize, rows: &mut Few, wanted: bool) {
        match self {
            Self::Ints(ints, bounds, bound) => {
                ints.sieve(start, rows, |cell| bounds.admit(cell.cmp(bound)) == wanted);
            }
            Self::Floats(floats, bounds, bound) => floats.sieve(start, rows, |cell| {
                let order = cell.partial_cmp(bound).filter(|_| cell.is_finite());
                order.is_some_and(|order| bounds.admit(order)) == wanted
            }),
            Self::Equal(texts, operand) => {
                texts.sieve(start, rows, |text| (text == *operand) == wanted);
            }
            Self::OneOf(texts, members) => {
                texts.sieve(start, rows, |text| members.contains(&text) == wanted);
            }
            Self::Starts(texts, head) => {
                texts.sieve(start, rows, |text| text.starts_with(head) == wanted);
            }
            Self::Ends(texts, tail) => {
                texts.sieve(start, rows, |text| text.ends_with(tail) == wanted);
            }
            Self::Holds(texts, part) => {
                texts.sieve(start, rows, |text| part.find(text).is_some() == wanted);
            }
        }
    }
}

const EQUAL: Bounds = Bounds { less: false, equal: true, greater: false };
