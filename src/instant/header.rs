//! The value of a `Retry-After` header: seconds, or a date whose instant is certain.

use super::calendar::{date, digits, east, millis};
use super::{Instant, iso};

/// What a `Retry-After` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryAfter {
    /// Milliseconds to wait, never negative; `None` when that is not known.
    pub wait: Option<i64>,
    /// The instant to wait for, when a date was written.
    pub until: Option<Instant>,
}

/// Reads the value of a `Retry-After` header (RFC 9110 section 10.2.3).
///
/// Digits are seconds. Else a date in one of these forms, in any letter case: the three of RFC 9110
/// section 5.6.7, RFC 5322 section 3.3 with a zone, ISO-8601 with an offset. What is not certain
/// is not read: a date without a zone, a day that does not exist, a century that only `now` could
/// tell, prose, more milliseconds than any instant has.
pub fn retry_after(raw: &[u8], now: Option<Instant>) -> RetryAfter {
    let raw = raw.trim_ascii();
    if let Some(seconds) = digits(raw) {
        let wait = seconds.checked_mul(1_000).filter(|wait| *wait <= Instant::FURTHEST);
        return RetryAfter { wait, until: None };
    }
    let until = moment(&raw.to_ascii_lowercase(), now);
    let wait = until.zip(now).map(|(until, now)| (until.millis() - now.millis()).max(0));
    RetryAfter { wait, until }
}

fn moment(lower: &[u8], now: Option<Instant>) -> Option<Instant> {
    iso::read(lower)
        .ok()
        .or_else(|| mail(lower))
        .or_else(|| rfc_850(lower, now?))
        .or_else(|| asctime(lower))
}

const WEEKDAYS: [&[u8]; 7] =
    [b"monday", b"tuesday", b"wednesday", b"thursday", b"friday", b"saturday", b"sunday"];
const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

/// The zones of RFC 5322 section 4.3 with their hours east of UTC. Its military letters are left
/// out, as they were long defined with the wrong sign.
const ZONES: [(&[u8], i64); 12] = [
    (b"gmt", 0),
    (b"utc", 0),
    (b"ut", 0),
    (b"z", 0),
    (b"edt", -4),
    (b"est", -5),
    (b"cdt", -5),
    (b"cst", -6),
    (b"mdt", -6),
    (b"mst", -7),
    (b"pdt", -7),
    (b"pst", -8),
];

/// `[Wed, ]23 Sep 2026 10:00[:00] +0000` (RFC 5322), and with it the preferred form of RFC 9110.
fn mail(text: &[u8]) -> Option<Instant> {
    let text = match text {
        [w1, w2, w3, b',', rest @ ..] if is_short_weekday([*w1, *w2, *w3]) => rest,
        _ => text,
    };
    let mut parts = text.split(|byte| matches!(byte, b' ' | b'\t')).filter(|part| !part.is_empty());
    let (day, name, year) = (parts.next()?, parts.next()?, parts.next()?);
    let (time, zone) = (parts.next()?, parts.next()?);
    if parts.next().is_some() || day.len() > 2 || year.len() != 4 {
        return None;
    }
    let time = match time {
        [h1, h2, b':', m1, m2] => clock([*h1, *h2, *m1, *m2, b'0', b'0']),
        _ => colons(time),
    }?;
    at((digits(year)?, month(name)?, digits(day)?), time, zone_minutes(zone)?)
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`: the latest year that is not more than 50 ahead of `now`'s, of
/// this century or the last one.
fn rfc_850(text: &[u8], now: Instant) -> Option<Instant> {
    let comma = text.iter().position(|byte| *byte == b',')?;
    let (weekday, rest) = text.split_at_checked(comma)?;
    let [b',', b' ', d1, d2, b'-', n1, n2, n3, b'-', y1, y2, b' ', rest @ ..] = rest else {
        return None;
    };
    let time = rest.strip_suffix(b" gmt").filter(|_| WEEKDAYS.contains(&weekday))?;
    let this_year = date(now.millis()).0;
    let year = this_year - this_year.rem_euclid(100) + digits(&[*y1, *y2])?;
    let year = if year > this_year + 50 { year - 100 } else { year };
    at((year, month(&[*n1, *n2, *n3])?, digits(&[*d1, *d2])?), colons(time)?, 0)
}

/// `Sun Nov  6 08:49:37 1994`, which is GMT (RFC 9110 section 5.6.7).
fn asctime(text: &[u8]) -> Option<Instant> {
    let [w1, w2, w3, b' ', n1, n2, n3, b' ', d1, d2, b' ', rest @ ..] = text else {
        return None;
    };
    let [time @ .., b' ', y1, y2, y3, y4] = rest else {
        return None;
    };
    let day = if *d1 == b' ' { digits(&[*d2]) } else { digits(&[*d1, *d2]) }?;
    let year = digits(&[*y1, *y2, *y3, *y4]).filter(|_| is_short_weekday([*w1, *w2, *w3]))?;
    at((year, month(&[*n1, *n2, *n3])?, day), colons(time)?, 0)
}

fn at(date: (i64, i64, i64), time: (i64, i64, i64), east: i64) -> Option<Instant> {
    Instant::from_millis(millis(date, time).ok()? - east * 60_000).ok()
}

/// A weekday must be one; that it is the date's own is not asked.
fn is_short_weekday(name: [u8; 3]) -> bool {
    WEEKDAYS.iter().any(|weekday| weekday.starts_with(&name))
}

fn month(name: &[u8]) -> Option<i64> {
    let position = MONTHS.iter().position(|month| *month == name)?;
    i64::try_from(position + 1).ok()
}

/// `HH:MM:SS`.
fn colons(text: &[u8]) -> Option<(i64, i64, i64)> {
    let [h1, h2, b':', m1, m2, b':', s1, s2] = text else {
        return None;
    };
    clock([*h1, *h2, *m1, *m2, *s1, *s2])
}

fn clock([h1, h2, m1, m2, s1, s2]: [u8; 6]) -> Option<(i64, i64, i64)> {
    Some((digits(&[h1, h2])?, digits(&[m1, m2])?, digits(&[s1, s2])?))
}

fn zone_minutes(zone: &[u8]) -> Option<i64> {
    if let [sign @ (b'+' | b'-'), h1, h2, m1, m2] = zone {
        return east(*sign, digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
    }
    ZONES.iter().find(|(name, _)| *name == zone).map(|(_, hours)| hours * 60)
}
