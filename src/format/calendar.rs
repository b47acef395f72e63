//! Dates and times of RFC 3339, checked against the calendar.

use crate::instant::{digits, east, month_length};

pub(super) fn is_date(text: &[u8]) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
        return false;
    };
    let (Some(century), Some(years)) = (two([*y1, *y2]), two([*y3, *y4])) else {
        return false;
    };
    let (Some(month), Some(day)) = (two([*m1, *m2]), two([*d1, *d2])) else {
        return false;
    };
    (1..=month_length(century * 100 + years, month)).contains(&day)
}

pub(super) fn is_time(text: &[u8]) -> bool {
    let [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = text else {
        return false;
    };
    let clock = (two([*h1, *h2]), two([*m1, *m2]), two([*s1, *s2]));
    let (Some(hour), Some(minute), Some(second)) = clock else {
        return false;
    };
    let Some(offset) = fraction(rest).and_then(offset_minutes) else {
        return false;
    };
    let utc_minute = (hour * 60 + minute - offset).rem_euclid(24 * 60);
    // A leap second is the last of a UTC day (RFC 3339 section 5.7, appendix D).
    hour <= 23 && minute <= 59 && (second <= 59 || (second == 60 && utc_minute == 23 * 60 + 59))
}

pub(super) fn is_date_time(text: &[u8]) -> bool {
    let (Some(date), Some(time)) = (text.get(..10), text.get(11..)) else {
        return false;
    };
    matches!(text.get(10), Some(b'T' | b't')) && is_date(date) && is_time(time)
}

/// What follows an optional fraction of a second; `None` for a dot without digits.
fn fraction(text: &[u8]) -> Option<&[u8]> {
    let Some(after) = text.strip_prefix(b".") else {
        return Some(text);
    };
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 { None } else { after.get(digits..) }
}

/// `Z`, `z` or a numeric offset in minutes east of UTC.
fn offset_minutes(text: &[u8]) -> Option<i64> {
    match text {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            east(*sign, two([*h1, *h2])?, two([*m1, *m2])?)
        }
        _ => None,
    }
}

fn two(text: [u8; 2]) -> Option<i64> {
    digits(&text)
}
