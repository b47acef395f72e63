//! What a check says of a value: pass, fail or undetermined. No text is built here.

use std::cmp::Ordering;

use super::prepare::{Bounds, Test};
use crate::path::Resolved;
use crate::pattern::TextFault;
use crate::value::{
    Node, Number, Read, Scalar, Step, Unreadable, Value, View, equals, equals_seen,
};

/// The three-valued answer of one check.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It holds.
    Pass,
    /// It does not.
    Fail(Why),
    /// It could not be evaluated; never read as "does not hold".
    Undetermined(Why),
}

/// What a reason is built from, when one is asked for.
#[derive(Clone, Debug)]
pub enum Why {
    /// The op's own wording, from value and operand.
    Plain,
    /// The path leads nowhere from this segment on.
    Missing(usize),
    /// The path leads through something of this type, which is no JSON value, after so many segments.
    Barred(Box<(usize, Box<str>)>),
    /// The value is of a kind that the op does not take, in these words.
    Kind(&'static str),
    /// The check is broken or cannot be run; its prepared test says why.
    Prepared,
    /// The pattern does not run over this text.
    Text(Box<TextFault>),
    /// The format of this text cannot be told.
    Format,
    /// Something in the value is no JSON value.
    Foreign(Box<str>),
    /// The value could not be read.
    Unreadable(Box<str>),
}

/// Bytes of a text that a pattern is through with before anybody notices.
const SHORT: usize = 4 << 10;

impl Test {
    /// Answers for what the path led to; `negated` when the op is the negation of another.
    pub fn answer<N: Node>(&self, negated: bool, resolved: &Resolved<N>) -> Answer {
        match resolved {
            _ if matches!(self, Self::Broken(_)) => Answer::Fail(Why::Prepared),
            Resolved::Barred(barred) => Answer::Fail(Why::Barred(barred.clone())),
            Resolved::Missing(_) if matches!(self, Self::Exists) => held(negated),
            Resolved::Missing(at) => Answer::Fail(Why::Missing(*at)),
            Resolved::Unreadable(fault) => unreadable(fault),
            // Whatever it is, it is there, as long as it is a value.
            Resolved::Found(node) if matches!(self, Self::Exists) => match node.view() {
                Ok(View::Opaque(_)) => Answer::Fail(Why::Kind("a JSON value")),
                _ => held(!negated),
            },
            Resolved::Found(node) => match self.of_value(negated, node) {
                Ok(answer) => answer,
                Err(fault) if fault.foreign => Answer::Fail(Why::Foreign(fault.reason.into())),
                Err(fault) => unreadable(&fault),
            },
        }
    }

    /// Whether a value satisfies it, before any negation, where that needs no more than a look at
    /// it; `None` where there is more to it.
    #[inline]
    pub(crate) fn at_once<N: Node>(&self, node: &N) -> Option<bool> {
        if let Some(scalar) = node.scalar() {
            return self.of_scalar(scalar);
        }
        let view = node.view().ok()?;
        match view.scalar() {
            Some(scalar) => self.of_scalar(scalar),
            None if matches!(view, View::Opaque(_)) => None,
            None => matches!(self, Self::Exists).then_some(true),
        }
    }

    /// As [`Self::at_once`], for a scalar.
    #[inline]
    fn of_scalar(&self, scalar: Scalar<'_>) -> Option<bool> {
        match (self, scalar) {
            (Self::Exists, _) => Some(true),
            (Self::Equals(operand), _) => Some(scalar.equals(operand)),
            (Self::OneOf(members), _) => Some(members.iter().any(|member| scalar.equals(member))),
            (Self::Type(bits), _) => Some(bits & scalar_bits(scalar) != 0),
            // What may be refused after much work is asked once, where there is a place for the reason.
            (Self::Matches(pattern), Scalar::Text(text)) if text.len() <= SHORT => {
                pattern.test(text).ok()
            }
            (Self::StartsWith(head), Scalar::Text(text)) => Some(text.starts_with(head)),
            (Self::EndsWith(tail), Scalar::Text(text)) => Some(text.ends_with(tail)),
            (Self::Contains(operand), Scalar::Text(text)) => {
                operand.as_text().map(|part| memchr::memmem::find(text, part).is_some())
            }
            (Self::Order(bounds, bound), Scalar::Int(_)) => Some(meets(scalar, *bounds, bound)),
            (Self::Order(bounds, bound), Scalar::Float(float)) if float.is_finite() => {
                Some(meets(scalar, *bounds, bound))
            }
            _ => None,
        }
    }

    fn of_value<N: Node>(&self, negated: bool, node: &N) -> Read<Answer> {
        let signed = |holds: bool| held(holds != negated);
        let view = node.view()?;
        if let Some(holds) = view.scalar().and_then(|scalar| self.of_scalar(scalar)) {
            return Ok(signed(holds));
        }
        Ok(match (self, &view) {
            (_, View::Opaque(_)) => Answer::Fail(Why::Kind("a JSON value")),
            (Self::Equals(operand), view) => signed(equals_seen(node, view, operand)?),
            (Self::OneOf(members), view) => signed(is_member(node, view, members)?),
            (Self::Contains(operand), view) => return contains(negated, node, view, operand),
            (Self::Matches(pattern), View::String(text)) => match pattern.test(text.as_bytes()) {
                Ok(found) => signed(found),
                Err(fault) => Answer::Undetermined(Why::Text(Box::new(fault))),
            },
            (Self::Format(format), View::String(text)) => match format.accepts(text.as_bytes()) {
                Some(valid) => held(valid),
                None => Answer::Undetermined(Why::Format),
            },
            (Self::Empty, view) => signed(is_empty(node, view)?),
            (Self::Type(bits), view) => held(bits & type_bits(view) != 0),
            (Self::Length(bounds, bound), view) => match length(node, view)? {
                None => Answer::Fail(Why::Kind("a string, array or object")),
                Some(length) => held(length_order(length, bound).is_some_and(|o| bounds.admit(o))),
            },
            // Whatever the pattern, it is not found in something that is no string.
            (Self::Undetermined { of_text: false, .. }, _)
            | (Self::Undetermined { .. }, View::String(_)) => Answer::Undetermined(Why::Prepared),
            (Self::Order(bounds, bound), View::Number(number)) if number.is_finite() => {
                held(number.compare(bound).is_some_and(|order| bounds.admit(order)))
            }
            (Self::Order(..), _) => Answer::Fail(Why::Kind("a finite number")),
            _ => Answer::Fail(Why::Kind("a string")),
        })
    }
}

/// Whether a scalar stands to a bound in an order that satisfies it.
fn meets(scalar: Scalar<'_>, bounds: Bounds, bound: &Number) -> bool {
    scalar.compare(bound).is_some_and(|order| bounds.admit(order))
}

fn unreadable(fault: &Unreadable) -> Answer {
    Answer::Undetermined(Why::Unreadable(fault.reason.as_str().into()))
}

fn held(holds: bool) -> Answer {
    if holds { Answer::Pass } else { Answer::Fail(Why::Plain) }
}

fn is_member<N: Node>(node: &N, view: &View<'_>, members: &[Value]) -> Read<bool> {
    for member in members {
        if equals_seen(node, view, member)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A string holds only strings and an object only keys: anything else is not ok, negated or not.
fn contains<N: Node>(negated: bool, node: &N, view: &View<'_>, operand: &Value) -> Read<Answer> {
    let found = match (view, operand.as_text()) {
        (View::String(text), Some(part)) => memchr::memmem::find(text.as_bytes(), part).is_some(),
        (View::String(_), None) => return Ok(Answer::Fail(Why::Kind("an expected string"))),
        (View::Object, Some(key)) => node.child(&Step::key(key))?.is_some(),
        (View::Object, None) => return Ok(Answer::Fail(Why::Kind("an expected key (a string)"))),
        (View::Array, _) => node.any_item(&mut |item| equals(&item, operand))?,
        _ => return Ok(Answer::Fail(Why::Kind("a string, array or object"))),
    };
    Ok(held(found != negated))
}

fn length<N: Node>(node: &N, view: &View<'_>) -> Read<Option<usize>> {
    Ok(match view {
        View::String(text) => Some(text.length()),
        View::Array | View::Object => Some(node.length()?),
        _ => None,
    })
}

fn is_empty<N: Node>(node: &N, view: &View<'_>) -> Read<bool> {
    Ok(match view {
        View::Null => true,
        View::String(text) => text.as_bytes().is_empty(),
        View::Array | View::Object => node.length()? == 0,
        _ => false,
    })
}

fn length_order(length: usize, bound: &Number) -> Option<Ordering> {
    Number::Int(i64::try_from(length).ok()?).compare(bound)
}

/// Bits by position in [`super::TYPE_NAMES`]; an integer is a number too.
fn type_bits(view: &View<'_>) -> u8 {
    match (view.scalar(), view) {
        (Some(scalar), _) => scalar_bits(scalar),
        (None, View::Number(number)) => number_bits(number.is_integer()),
        (None, View::Array) => 1 << 5,
        (None, View::Object) => 1 << 6,
        _ => 0,
    }
}

fn scalar_bits(scalar: Scalar<'_>) -> u8 {
    match scalar {
        Scalar::Null => 1,
        Scalar::Boolean(_) => 1 << 1,
        Scalar::Int(_) => number_bits(true),
        Scalar::Float(float) => number_bits(Number::Float(float).is_integer()),
        Scalar::Text(_) => 1 << 4,
    }
}

fn number_bits(is_integer: bool) -> u8 {
    if is_integer { (1 << 2) | (1 << 3) } else { 1 << 3 }
}
