//! Instants: whole milliseconds from 1970-01-01T00:00:00Z, without a clock, a zone or a locale.
//!
//! An instant comes in as a number of milliseconds or as ISO-8601 text with an offset, and goes
//! out as ECMAScript writes it. Text without an offset is refused: what it means differs between
//! machines.

mod calendar;
mod header;
mod iso;

use std::cmp::Ordering;
use std::fmt;

pub use header::{RetryAfter, retry_after};

pub(crate) use calendar::{digits, east, month_length};

use crate::value::Number;

/// An instant in whole milliseconds, at most [`Instant::FURTHEST`] from 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

/// Why something is no instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Text of another form, or neither a number nor text.
    Form,
    /// No offset from UTC.
    NoOffset,
    /// A day that no calendar has.
    Date,
    /// An hour, minute or second that no clock shows.
    Time,
    /// An offset of a day or more.
    Offset,
    /// NaN or an infinity.
    NotFinite,
    /// Further from 1970 than any date.
    Range,
}

impl Instant {
    /// The most milliseconds from 1970, either way (ECMA-262, time values): 100 million days.
    pub const FURTHEST: i64 = 8_640_000_000_000_000;

    /// The instant so many milliseconds from 1970.
    ///
    /// # Errors
    ///
    /// [`Refusal::Range`].
    pub fn from_millis(millis: i64) -> Result<Self, Refusal> {
        let within = (-Self::FURTHEST..=Self::FURTHEST).contains(&millis);
        if within { Ok(Self(millis)) } else { Err(Refusal::Range) }
    }

    /// The instant of a number of milliseconds; a part of a millisecond is dropped.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotFinite`] or [`Refusal::Range`].
    pub fn from_number(number: &Number) -> Result<Self, Refusal> {
        if !number.is_finite() {
            return Err(Refusal::NotFinite);
        }
        let (first, last) = (Number::Int(-Self::FURTHEST), Number::Int(Self::FURTHEST));
        let before = number.compare(&first) == Some(Ordering::Less);
        let after = number.compare(&last) == Some(Ordering::Greater);
        if before || after {
            return Err(Refusal::Range);
        }
        Self::from_millis(number.floor().ok_or(Refusal::Range)?)
    }

    /// Reads `YYYY-MM-DDTHH:MM[:SS[.FFF]]` with `Z`, `+HH:MM` or `+HHMM` (RFC 3339, ISO 8601).
    ///
    /// Letters in either case; a blank may stand for the `T`; one to nine digits of a fraction, of
    /// which three count; second 60 is the next second; a year outside 0000-9999 as `+YYYYYY`
    /// (ECMA-262, expanded years).
    ///
    /// # Errors
    ///
    /// Any [`Refusal`] but [`Refusal::NotFinite`].
    pub fn parse(text: &[u8]) -> Result<Self, Refusal> {
        iso::read(text)
    }

    /// Milliseconds from 1970.
    pub fn millis(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Instant {
    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`; years outside 0000-9999 as `+YYYYYY` (ECMA-262, date time
    /// string format).
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = calendar::date(self.0);
        if (0..=9999).contains(&year) {
            write!(out, "{year:04}")?;
        } else {
            write!(out, "{year:+07}")?;
        }
        let of_day = self.0.rem_euclid(calendar::DAY);
        let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
        let (second, millis) = (of_day / 1_000 % 60, of_day % 1_000);
        write!(out, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Form => {
                "must be epoch milliseconds or ISO-8601 text with an offset, such as \
                 2026-01-31T09:00:00Z"
            }
            Self::NoOffset => {
                "has no offset, and local time differs between machines; end it with Z or an \
                 offset such as +02:00"
            }
            Self::Date => "is on a day that does not exist",
            Self::Time => "has an hour, minute or second that does not exist",
            Self::Offset => "has an offset that does not exist; the largest is 23:59",
            Self::NotFinite => "must be finite",
            Self::Range => "is beyond every date: at most 8.64e15 milliseconds from 1970",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::number::Decimal;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<i64, Refusal> {
        Instant::parse(text.as_bytes()).map(Instant::millis)
    }

    #[test]
    fn texts() {
        let nine = 1_790_154_000_000;
        for (text, millis) in [
            ("2026-09-23T09:00:00Z", Ok(nine)),
            ("2026-09-23t09:00:00z", Ok(nine)),
            ("2026-09-23 11:00+02:00", Ok(nine)),
            ("2026-09-23T11:00:00.9999+0200", Ok(nine + 999)),
            ("2026-09-22T21:30:00-11:30", Ok(nine)),
            ("+002026-09-23T09:00:00Z", Ok(nine)),
            ("2016-12-31T23:59:60Z", Ok(1_483_228_800_000)),
            ("1969-12-31T23:59:59.9999Z", Ok(-1)),
            ("0000-02-29T00:00:00Z", Ok(-62_162_121_600_000)),
            ("-000001-01-01T00:00:00Z", Ok(-62_198_755_200_000)),
            ("+275760-09-13T00:00:00.000Z", Ok(Instant::FURTHEST)),
            ("+275760-09-13T00:00:00.001Z", Err(Refusal::Range)),
            ("-271821-04-20T00:00:00Z", Ok(-Instant::FURTHEST)),
            ("-271821-04-19T23:59:59.999Z", Err(Refusal::Range)),
            ("2026-09-23T09:00:00", Err(Refusal::NoOffset)),
            ("2026-09-23T09:00:00.5", Err(Refusal::NoOffset)),
            ("2026-09-23", Err(Refusal::NoOffset)),
            ("2026-02-30T09:00:00Z", Err(Refusal::Date)),
            ("2026-13-01T09:00:00Z", Err(Refusal::Date)),
            ("2026-00-01T09:00:00Z", Err(Refusal::Date)),
            ("2026-09-00T09:00:00Z", Err(Refusal::Date)),
            ("2026-09-23T24:00:00Z", Err(Refusal::Time)),
            ("2026-09-23T09:60:00Z", Err(Refusal::Time)),
            ("2026-09-23T09:00:61Z", Err(Refusal::Time)),
            ("2026-09-23T09:00:00+24:00", Err(Refusal::Offset)),
            ("2026-09-23T09:00:00+02:60", Err(Refusal::Offset)),
            ("2026-09-23T09:00:00+02", Err(Refusal::Form)),
            ("2026-09-23T09:00:00.Z", Err(Refusal::Form)),
            ("2026-09-23T09:00:00.1234567890Z", Err(Refusal::Form)),
            ("2026-09-23T09:00:00,5Z", Err(Refusal::Form)),
            ("2026-09-23T09:00:00 Z", Err(Refusal::Form)),
            ("2026-09-23T09:00.5Z", Err(Refusal::Form)),
            ("2026-09-23T09Z", Err(Refusal::Form)),
            ("20260923T090000Z", Err(Refusal::Form)),
            ("-000000-01-01T00:00:00Z", Err(Refusal::Form)),
            (" 2026-09-23T09:00:00Z", Err(Refusal::Form)),
            ("1790154000000", Err(Refusal::Form)),
            ("", Err(Refusal::Form)),
        ] {
            assert_eq!(millis, read(text), "{text}");
        }
    }

    #[test]
    fn numbers() {
        let exact = |text: &str| Number::Exact(Decimal::parse(text).unwrap());
        for (number, millis) in [
            (Number::Int(Instant::FURTHEST), Ok(Instant::FURTHEST)),
            (Number::Int(Instant::FURTHEST + 1), Err(Refusal::Range)),
            (Number::Int(i64::MIN), Err(Refusal::Range)),
            (Number::Float(1.9), Ok(1)),
            (Number::Float(-0.1), Ok(-1)),
            (Number::Float(-0.0), Ok(0)),
            (Number::Float(8.64e15), Ok(Instant::FURTHEST)),
            (Number::Float(1e300), Err(Refusal::Range)),
            (Number::Float(f64::NAN), Err(Refusal::NotFinite)),
            (Number::Float(f64::NEG_INFINITY), Err(Refusal::NotFinite)),
            (exact("1e3"), Ok(1_000)),
            (exact("-1500.5"), Ok(-1_501)),
            (exact("1e-400"), Ok(0)),
            (exact("-1e-400"), Ok(-1)),
            (exact("8640000000000000.1"), Err(Refusal::Range)),
            (exact("-1e400"), Err(Refusal::Range)),
        ] {
            let found = Instant::from_number(&number).map(Instant::millis);
            assert_eq!(millis, found, "{number:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(millis in -Instant::FURTHEST..=Instant::FURTHEST) {
            let instant = Instant::from_millis(millis).unwrap();
            prop_assert_eq!(Ok(millis), read(&instant.to_string()));
        }

        #[test]
        fn no_text_is_too_much(text in "[-+0-9TtZz:. ,A-Za-z]{0,40}", now in any::<i64>()) {
            let _ = Instant::parse(text.as_bytes());
            let _ = retry_after(text.as_bytes(), Instant::from_millis(now).ok());
        }
    }
}
