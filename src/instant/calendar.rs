//! The proleptic Gregorian calendar: dates to days and back.
//!
//! Own arithmetic instead of a date library: instants reach the year 275760, where the libraries
//! end at 9999, and no library reads exactly the texts that are read here.

use super::Refusal;

/// Milliseconds of a day.
pub(super) const DAY: i64 = 86_400_000;
/// Days of 400 years, after which the calendar repeats.
const CYCLE: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Days of a month; none in a month that does not exist (RFC 3339 section 5.7, appendix C).
pub(crate) fn month_length(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

/// The number that a few ASCII digits write; `None` for anything else.
pub(crate) fn digits(text: &[u8]) -> Option<i64> {
    let only_digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if !only_digits {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Milliseconds from 1970 of a date and a time in UTC; second 60 is the next second.
///
/// Days are counted from 1 March, so that the day a leap year adds is the last of its year
/// (Howard Hinnant, "chrono-compatible low-level date algorithms").
pub(super) fn millis(
    (year, month, day): (i64, i64, i64),
    (hour, minute, second): (i64, i64, i64),
) -> Result<i64, Refusal> {
    if !(1..=month_length(year, month)).contains(&day) {
        return Err(Refusal::Date);
    }
    if hour > 23 || minute > 59 || second > 60 {
        return Err(Refusal::Time);
    }
    let year = if month <= 2 { year - 1 } else { year };
    let of_cycle = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + of_year;
    let days = year.div_euclid(400) * CYCLE + days - EPOCH;
    Ok(days * DAY + ((hour * 60 + minute) * 60 + second) * 1_000)
}

/// Year, month and day in UTC.
pub(super) fn date(millis: i64) -> (i64, i64, i64) {
    let days = millis.div_euclid(DAY) + EPOCH;
    let of_cycle = days.rem_euclid(CYCLE);
    let years = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * years + years / 4 - years / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (days.div_euclid(CYCLE) * 400 + years + i64::from(month <= 2), month, day)
}

/// Minutes east of UTC; `None` for an offset of a day or more.
pub(crate) fn east(sign: u8, hours: i64, minutes: i64) -> Option<i64> {
    let east = hours * 60 + minutes;
    (hours <= 23 && minutes <= 59).then_some(if sign == b'-' { -east } else { east })
}
