//! Canonical form (RFC 8785, JSON Canonicalization Scheme) and SHA-256 digests of it.
//!
//! Keys are sorted by UTF-16 code units, numbers are ECMAScript number text, no spaces. One
//! departure: a whole number that is no double's text keeps all its digits, where the RFC would
//! round it. Equal values have one form, whatever types they came in.

use std::cmp::Ordering;

use sha2::{Digest, Sha256};

use crate::preview::escape;
use crate::value::owned::{Found, NotAValue};
use crate::value::text::{code_points, code_units};
use crate::value::{Node, Value};

/// The canonical form of a value.
///
/// # Errors
/// [`NotAValue`] where JSON cannot hold it: a foreign type, NaN, an infinity, a key that is no
/// text, nesting beyond `depth`, or a lone surrogate half, which has no UTF-8.
pub fn canonical<N: Node>(node: &N, depth: usize) -> Result<String, NotAValue> {
    let value = Value::copy(node, depth)?;
    if let Some(fault) = value.not_finite() {
        return Err(fault);
    }
    match strange(&value) {
        Some(found) => Err(NotAValue::here(Found::Type(found.into()))),
        None => Ok(text(&value)),
    }
}

/// The first `length` hexadecimal digits (64 at most) of the SHA-256 of the canonical form.
///
/// # Errors
/// As [`canonical`].
pub fn digest<N: Node>(node: &N, depth: usize, length: usize) -> Result<String, NotAValue> {
    Ok(hash(&canonical(node, depth)?, length))
}

/// A digest that tells any two values apart, also those without a canonical form: NaN and the
/// infinities by name, lone halves as escapes. Equal to [`digest`] where that exists.
///
/// # Errors
/// [`NotAValue`] for a foreign type, a key that is no text, or nesting beyond `depth`.
pub fn fingerprint<N: Node>(node: &N, depth: usize, length: usize) -> Result<String, NotAValue> {
    Ok(hash(&text(&Value::copy(node, depth)?), length))
}

fn hash(text: &str, length: usize) -> String {
    // PERF: digit by digit, since formatting costs more than the hash itself.
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or_default();
    let bytes = Sha256::digest(text.as_bytes());
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).take(length).collect()
}

/// What keeps a value from having a canonical form.
fn strange(value: &Value) -> Option<&'static str> {
    let lone = |text: &[u8]| {
        std::str::from_utf8(text).is_err().then_some("text with a lone surrogate half")
    };
    match value {
        Value::String(text) => lone(text),
        Value::Array(items) => items.iter().find_map(strange),
        Value::Object(members) => {
            members.iter().find_map(|(name, member)| lone(name).or_else(|| strange(member)))
        }
        _ => None,
    }
}

/// The canonical text; of values without a canonical form, a text of their own.
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Boolean(true) => out.push_str("true"),
        Value::Boolean(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number.text()),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(left, _), (right, _)| by_units(left, right));
            out.push('{');
            for (position, (name, member)) in sorted.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_string(out, name);
                out.push(':');
                write_value(out, member);
            }
            out.push('}');
        }
    }
}

/// The order of the code units; of bytes too as long as all are ASCII.
fn by_units(left: &[u8], right: &[u8]) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left.cmp(right);
    }
    code_units(left).cmp(code_units(right))
}

fn write_string(out: &mut String, text: &[u8]) {
    out.push('"');
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    match std::str::from_utf8(text) {
        Ok(whole) if text.iter().all(plain) => out.push_str(whole),
        _ => code_points(text).for_each(|point| escape(out, point)),
    }
    out.push('"');
}
