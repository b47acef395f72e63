//! Text as generalised UTF-8: what a Python `str`, a JSON string and an ECMAScript string can hold.
//!
//! A lone surrogate half is written in three bytes like any other 16-bit value (`ED A0..BF 80..BF`);
//! two halves that belong together are always joined, so equal text has equal bytes. Well-formed
//! text is plain UTF-8 and costs nothing.

use std::borrow::Cow;

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text<'a>(Cow<'a, [u8]>);

impl<'a> Text<'a> {
    /// Takes well-formed text as it is.
    pub fn borrowed(text: &'a str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }

    /// Takes bytes that are already generalised UTF-8 with all pairs joined.
    pub fn from_generalised(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes in generalised UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text when it holds no lone half.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Its length in code points.
    pub fn length(&self) -> usize {
        length(&self.0)
    }
}

/// Length in code points: every byte but a continuation byte starts one.
pub fn length(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

/// Code points of generalised UTF-8, lone halves included.
pub fn code_points(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (first, tail) = rest.split_first()?;
        let (width, lead) = match first {
            0x00..=0x7F => (0, u32::from(*first)),
            0x80..=0xDF => (1, u32::from(*first) & 0x1F),
            0xE0..=0xEF => (2, u32::from(*first) & 0x0F),
            _ => (3, u32::from(*first) & 0x07),
        };
        let (more, after) = tail.split_at(width.min(tail.len()));
        rest = after;
        Some(more.iter().fold(lead, |point, byte| (point << 6) | (u32::from(*byte) & 0x3F)))
    })
}

/// UTF-16 code units of generalised UTF-8.
pub fn code_units(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    code_points(bytes).flat_map(|point| {
        let (first, second) = split_units(point);
        std::iter::once(first).chain(second)
    })
}

/// A text as its code units are spelled: a character above U+FFFF is two, each on its own.
pub fn in_units(text: &[u8]) -> Cow<'_, [u8]> {
    let wide = |part: &[u8]| part.iter().fold(0, |max, byte| max.max(*byte)) >= 0xF0;
    if text.is_ascii() || !text.chunks(1024).any(wide) {
        return Cow::Borrowed(text);
    }
    let mut units = Vec::with_capacity(text.len() * 3 / 2);
    for unit in code_units(text) {
        push_code_point(&mut units, u32::from(unit));
    }
    Cow::Owned(units)
}

/// The one or two code units of a code point.
pub fn split_units(point: u32) -> (u16, Option<u16>) {
    let unit = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
    match point.checked_sub(0x1_0000) {
        None => (unit(point), None),
        Some(high) => (unit(0xD800 + (high >> 10)), Some(unit(0xDC00 + (high & 0x3FF)))),
    }
}

/// Appends a code point (or a lone half) in generalised UTF-8.
pub fn push_code_point(out: &mut Vec<u8>, point: u32) {
    let byte = |value: u32| u8::try_from(value & 0xFF).unwrap_or(u8::MAX);
    match point {
        0..=0x7F => out.push(byte(point)),
        0x80..=0x7FF => out.extend([byte(0xC0 | (point >> 6)), byte(0x80 | (point & 0x3F))]),
        0x800..=0xFFFF => out.extend([
            byte(0xE0 | (point >> 12)),
            byte(0x80 | ((point >> 6) & 0x3F)),
            byte(0x80 | (point & 0x3F)),
        ]),
        _ => out.extend([
            byte(0xF0 | (point >> 18)),
            byte(0x80 | ((point >> 12) & 0x3F)),
            byte(0x80 | ((point >> 6) & 0x3F)),
            byte(0x80 | (point & 0x3F)),
        ]),
    }
}

/// Encodes code units or points, joining each high half with the low half right after it.
pub fn from_points(points: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut pending: Option<u32> = None;
    for point in points {
        if let Some(high) = pending.take() {
            if (0xDC00..=0xDFFF).contains(&point) {
                push_code_point(&mut out, join_halves(high, point));
                continue;
            }
            push_code_point(&mut out, high);
        }
        if (0xD800..=0xDBFF).contains(&point) {
            pending = Some(point);
        } else {
            push_code_point(&mut out, point);
        }
    }
    if let Some(high) = pending {
        push_code_point(&mut out, high);
    }
    out
}

/// The code point that a high and a low half spell.
pub fn join_halves(high: u32, low: u32) -> u32 {
    0x1_0000 + (((high & 0x3FF) << 10) | (low & 0x3FF))
}

/// Text for a person: lone halves are written as `\udXXX`.
pub fn display(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    for point in code_points(bytes) {
        push_display(&mut out, point);
    }
    Cow::Owned(out)
}

/// Appends one code point for a person; a lone half becomes `\udXXX`.
pub fn push_display(out: &mut String, point: u32) {
    match char::from_u32(point) {
        Some(character) => out.push(character),
        None => push_unit_escape(out, point),
    }
}

/// Appends `\uXXXX`.
pub fn push_unit_escape(out: &mut String, point: u32) {
    use std::fmt::Write as _;
    // Writing to a String cannot fail.
    let _ = write!(out, "\\u{point:04x}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_joined_only_in_order() {
        assert_eq!(from_points([0xD83D, 0xDE00]), "😀".as_bytes());
        assert_eq!(from_points([0xDE00, 0xD83D]), [0xED, 0xB8, 0x80, 0xED, 0xA0, 0xBD]);
        assert_eq!(from_points([0xD83D]), [0xED, 0xA0, 0xBD]);
    }

    #[test]
    fn points_and_units_of_mixed_text() {
        let text = from_points([0x61, 0xE9, 0x4E2D, 0x1F600, 0xD800]);
        assert_eq!(code_points(&text).collect::<Vec<_>>(), [0x61, 0xE9, 0x4E2D, 0x1F600, 0xD800]);
        assert_eq!(
            code_units(&text).collect::<Vec<_>>(),
            [0x61, 0xE9, 0x4E2D, 0xD83D, 0xDE00, 0xD800]
        );
        assert_eq!(length(&text), 5);
        assert_eq!(display(&text), "aé中😀\\ud800");
    }
}
