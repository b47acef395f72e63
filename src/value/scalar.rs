//! Scalars as most of them are: nothing to free, so that handing them about costs nothing.

use std::cmp::Ordering;

use super::{Number, Value, View};

/// A value without parts: all but numbers of many digits.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<'a> {
    /// JSON null.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number of at most 64 bits.
    Int(i64),
    /// A double.
    Float(f64),
    /// Text in generalised UTF-8.
    Text(&'a [u8]),
}

impl Scalar<'_> {
    /// Exact equality with an operand.
    pub fn equals(self, operand: &Value) -> bool {
        match (self, operand) {
            (Self::Text(left), Value::String(right)) => *left == **right,
            (Self::Int(_) | Self::Float(_), Value::Number(right)) => {
                self.compare(right) == Some(Ordering::Equal)
            }
            (Self::Boolean(left), Value::Boolean(right)) => left == *right,
            (Self::Null, Value::Null) => true,
            _ => false,
        }
    }

    /// Exact order; `None` for what is no number, and where either is NaN.
    pub fn compare(self, other: &Number) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(left), Number::Int(right)) => Some(left.cmp(right)),
            (Self::Float(left), Number::Float(right)) => left.partial_cmp(right),
            // PERF: mixed pairs mostly are small enough for doubles.
            (Self::Int(_) | Self::Float(_), _) => {
                match (self.number()?.as_double(), other.as_double()) {
                    (Some(left), Some(right)) => left.partial_cmp(&right),
                    _ => self.number()?.compare(other),
                }
            }
            _ => None,
        }
    }

    fn number(self) -> Option<Number> {
        match self {
            Self::Int(int) => Some(Number::Int(int)),
            Self::Float(float) => Some(Number::Float(float)),
            _ => None,
        }
    }
}

impl View<'_> {
    /// The scalar that it is; `None` for what has parts or many digits.
    pub fn scalar(&self) -> Option<Scalar<'_>> {
        Some(match self {
            Self::Null => Scalar::Null,
            Self::Boolean(boolean) => Scalar::Boolean(*boolean),
            Self::Number(Number::Int(int)) => Scalar::Int(*int),
            Self::Number(Number::Float(float)) => Scalar::Float(*float),
            Self::String(text) => Scalar::Text(text.as_bytes()),
            _ => return None,
        })
    }
}
