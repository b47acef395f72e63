//! How long a server asks to wait: the header's value, other headers, fields of a body.

use super::evidence::Hint;
use super::{Class, Signals};
use crate::instant::{Instant, RetryAfter, retry_after};

/// Headers that name a wait, the narrowest first.
const IN_MILLISECONDS: [&str; 2] = ["retry-after-ms", "x-ms-retry-after-ms"];
const RETRY_AFTER: &str = "retry-after";

/// Headers that say when a rate limit is lifted, each with the one that says what is left of it.
const RESETS: [(&str, &str); 11] = [
    ("x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"),
    ("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"),
    ("anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"),
    ("anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"),
    ("anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"),
    ("anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"),
    ("anthropic-ratelimit-unified-reset", "anthropic-ratelimit-unified-remaining"),
    ("x-ratelimit-reset-after", "x-ratelimit-remaining"),
    ("x-ratelimit-reset", "x-ratelimit-remaining"),
    ("x-rate-limit-reset", "x-rate-limit-remaining"),
    ("ratelimit-reset", "ratelimit-remaining"),
];

/// From here on a number is an instant and no wait, in seconds (2001-09-09, or 31 years), and from
/// there on in milliseconds.
const SECONDS_FROM: i64 = 1_000_000_000;
const MILLISECONDS_FROM: i64 = 1_000_000_000_000;

/// The wait that was named: the value that was handed over, else the first hint that reads; of
/// what a rate limit's headers say, only when the error is one.
pub(super) fn named(signals: &Signals<'_>, class: Class) -> RetryAfter {
    let nothing = RetryAfter::default();
    let read = |raw: &str| retry_after(raw.as_bytes(), signals.now);
    let given = signals.retry_after.map_or(nothing, read);
    if given != nothing {
        return given;
    }
    let Some(more) = signals.more else {
        return nothing;
    };
    let milliseconds = IN_MILLISECONDS
        .iter()
        .filter_map(|name| more.header(name))
        .find_map(|raw| decimal(raw, 1))
        .map(delay);
    milliseconds
        .or_else(|| more.header(RETRY_AFTER).map(read).filter(|found| *found != nothing))
        .or_else(|| {
            let mut hints: Vec<&Hint> = more.body.hints.iter().collect();
            // A wait is surer than an instant of somebody else's clock.
            hints.sort_by_key(|hint| hint.rank());
            hints.into_iter().find_map(|hint| of_hint(hint, signals.now))
        })
        .or_else(|| {
            let resets = || RESETS.iter().filter_map(|pair| reset(signals, *pair));
            let longest = |found: &RetryAfter| (found.wait, found.until.map(Instant::millis));
            resets().max_by_key(longest).filter(|_| class == Class::RateLimited)
        })
        .unwrap_or(nothing)
}

fn delay(milliseconds: i64) -> RetryAfter {
    RetryAfter { wait: Some(milliseconds), until: None }
}

fn until(milliseconds: i64, now: Option<Instant>) -> Option<RetryAfter> {
    let until = Instant::from_millis(milliseconds).ok()?;
    let wait = now.map(|now| (milliseconds - now.millis()).max(0));
    Some(RetryAfter { wait, until: Some(until) })
}

fn of_hint(hint: &Hint, now: Option<Instant>) -> Option<RetryAfter> {
    match hint {
        Hint::Seconds(text) => decimal(text, 1_000).map(delay),
        Hint::Milliseconds(text) => decimal(text, 1).map(delay),
        Hint::Duration(text) => decimal(text.strip_suffix('s')?, 1_000).map(delay),
        Hint::EpochSeconds(text) => until(decimal(text, 1_000)?, now),
    }
}

/// What one pair of headers says; nothing while something is left of that limit.
fn reset(signals: &Signals<'_>, (reset, remaining): (&str, &str)) -> Option<RetryAfter> {
    let more = signals.more?;
    let raw = more.header(reset)?;
    if more.header(remaining).is_some_and(|left| decimal(left, 1) != Some(0)) {
        return None;
    }
    match decimal(raw, 1) {
        Some(MILLISECONDS_FROM..) => return until(decimal(raw, 1)?, signals.now),
        Some(SECONDS_FROM..) => return until(decimal(raw, 1_000)?, signals.now),
        Some(_) => return decimal(raw, 1_000).map(delay),
        None => {}
    }
    if let Some(milliseconds) = clock(raw) {
        return Some(delay(milliseconds));
    }
    let date = retry_after(raw.as_bytes(), signals.now);
    Some(date).filter(|date| date.until.is_some())
}

/// A plain decimal number times `scale`, rounded up to a whole number: a wait that is a little too
/// short is certain to fail. Of a fraction 18 digits count.
fn decimal(text: &str, scale: i64) -> Option<i64> {
    const PLACES: usize = 18;
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || !all_digits(part) || whole.len() > 16 {
        return None;
    }
    let one = 10_i128.pow(18);
    let part = format!("{:0<PLACES$}", part.get(..PLACES).unwrap_or(part));
    let scaled = (whole.parse::<i128>().ok()? * one + part.parse::<i128>().ok()?)
        .checked_mul(i128::from(scale))?;
    let rounded = i64::try_from((scaled + one - 1) / one).ok()?;
    (rounded <= Instant::FURTHEST).then_some(rounded)
}

/// `1h2m3.5s`, `6m0s`, `20ms`: numbers with units, each unit once, the longest first.
fn clock(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let mut rest = text;
    let mut total = 0_i64;
    let mut next = 0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, tail) = rest.split_at_checked(end)?;
        let end = tail.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(end)?;
        let at = UNITS.iter().position(|(name, _)| *name == unit).filter(|at| *at >= next)?;
        let (_, scale) = UNITS.get(at)?;
        total = total.checked_add(decimal(number, *scale)?)?;
        (next, rest) = (at + 1, tail);
    }
    (!text.is_empty() && total <= Instant::FURTHEST).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_up() {
        for (text, scale, wanted) in [
            ("45.837906927", 1_000, Some(45_838)),
            ("45.837", 1_000, Some(45_837)),
            ("45.8370001", 1_000, Some(45_838)),
            ("1.000001", 60_000, Some(60_001)),
            ("0.0001", 1_000, Some(1)),
            ("0.5", 1, Some(1)),
            ("7139", 1_000, Some(7_139_000)),
            ("-1", 1_000, None),
            ("1e3", 1_000, None),
            ("", 1, None),
            (".5", 1, None),
            ("9999999999999999", 1_000, None),
        ] {
            assert_eq!(decimal(text, scale), wanted, "{text}");
        }
    }

    #[test]
    fn durations_have_units() {
        for (text, wanted) in [
            ("1s", Some(1_000)),
            ("6m0s", Some(360_000)),
            ("20ms", Some(20)),
            ("1h2m3.5s", Some(3_723_500)),
            ("1d", Some(86_400_000)),
            ("1s2m", None),
            ("1x", None),
            ("s", None),
            ("", None),
        ] {
            assert_eq!(clock(text), wanted, "{text}");
        }
    }
}
