//! Dates and times of RFC 3339, checked against the calendar.

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
    (1..=days(century * 100 + years, month)).contains(&day)
}

/// Days of a month; none in a month that does not exist (RFC 3339 section 5.7, appendix C).
fn days(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
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
    let utc_minute = (i64::from(hour * 60 + minute) - offset).rem_euclid(24 * 60);
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
            let (hours, minutes) = (two([*h1, *h2])?, two([*m1, *m2])?);
            let east = i64::from(hours * 60 + minutes);
            (hours <= 23 && minutes <= 59).then_some(if *sign == b'-' { -east } else { east })
        }
        _ => None,
    }
}

fn two(digits: [u8; 2]) -> Option<u32> {
    let [tens, ones] = digits;
    (tens.is_ascii_digit() && ones.is_ascii_digit())
        .then(|| u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
}
