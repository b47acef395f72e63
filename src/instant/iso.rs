//! ISO-8601 texts with an offset.

use super::calendar::{digits, east, millis};
use super::{Instant, Refusal};

/// Digits of a fraction of a second that may stand there.
const FRACTION: usize = 9;

pub(super) fn read(text: &[u8]) -> Result<Instant, Refusal> {
    let (year, rest) = year(text).ok_or(Refusal::Form)?;
    let [b'-', m1, m2, b'-', d1, d2, rest @ ..] = rest else {
        return Err(Refusal::Form);
    };
    let (month, day) = (two([*m1, *m2])?, two([*d1, *d2])?);
    let [b'T' | b't' | b' ', h1, h2, b':', m1, m2, rest @ ..] = rest else {
        return Err(if rest.is_empty() { Refusal::NoOffset } else { Refusal::Form });
    };
    let (hour, minute) = (two([*h1, *h2])?, two([*m1, *m2])?);
    let (second, part, rest) = match rest {
        [b':', s1, s2, rest @ ..] => {
            let (part, rest) = fraction(rest)?;
            (two([*s1, *s2])?, part, rest)
        }
        _ => (0, 0, rest),
    };
    let local = millis((year, month, day), (hour, minute, second))?;
    Instant::from_millis(local + part - offset(rest)? * 60_000)
}

/// Four digits, or a sign and six; there is no `-000000`.
fn year(text: &[u8]) -> Option<(i64, &[u8])> {
    let [sign @ (b'+' | b'-'), rest @ ..] = text else {
        let (year, rest) = text.split_at_checked(4)?;
        return Some((digits(year)?, rest));
    };
    let (year, rest) = rest.split_at_checked(6)?;
    match (sign, digits(year)?) {
        (b'+', year) => Some((year, rest)),
        (_, 0) => None,
        (_, year) => Some((-year, rest)),
    }
}

/// Milliseconds of an optional fraction of a second, and what follows it.
fn fraction(text: &[u8]) -> Result<(i64, &[u8]), Refusal> {
    let Some(after) = text.strip_prefix(b".") else {
        return Ok((0, text));
    };
    let count = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (part, rest) = after.split_at_checked(count).ok_or(Refusal::Form)?;
    if !(1..=FRACTION).contains(&count) {
        return Err(Refusal::Form);
    }
    let mut padded = part.to_vec();
    padded.resize(3, b'0');
    Ok((digits(&padded).ok_or(Refusal::Form)?, rest))
}

/// Minutes east of UTC.
fn offset(text: &[u8]) -> Result<i64, Refusal> {
    let (sign, hours, minutes) = match text {
        [] => return Err(Refusal::NoOffset),
        [b'Z' | b'z'] => return Ok(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] | [sign @ (b'+' | b'-'), h1, h2, m1, m2] => {
            (sign, two([*h1, *h2])?, two([*m1, *m2])?)
        }
        _ => return Err(Refusal::Form),
    };
    east(*sign, hours, minutes).ok_or(Refusal::Offset)
}

fn two(text: [u8; 2]) -> Result<i64, Refusal> {
    digits(&text).ok_or(Refusal::Form)
}
