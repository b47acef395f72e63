//! Group names: identifiers of any script, with escapes.

use std::sync::{Arc, OnceLock};

use super::{Parsed, Parser, unit_of};
use crate::pattern::fault::PatternFault;
use crate::pattern::property;
use crate::pattern::set::UnitSet;
use crate::value::text::join_halves;

impl Parser<'_> {
    /// A group name after its `<`, to its `>`.
    pub(super) fn group_name(&mut self) -> Parsed<String> {
        let start = self.at;
        let mut name = String::new();
        loop {
            if !name.is_empty() && self.take('>') {
                return Ok(name);
            }
            let letter = self.name_point().and_then(char::from_u32);
            let Some(letter) = letter.filter(|letter| may_stand(*letter, name.is_empty())) else {
                let message = "a group name is an identifier between `<` and `>`";
                let place = self.place(start);
                return Err(PatternFault::invalid("invalid.group_name", place, message));
            };
            name.push(letter);
        }
    }

    /// One code point of a name: halves that belong together are one, whatever the flags.
    fn name_point(&mut self) -> Option<u32> {
        let first = self.source.get(self.at).copied()?;
        self.at += 1;
        if first == unit_of('\\') {
            return if self.take('u') { self.unicode_escape() } else { None };
        }
        match self.source.get(self.at) {
            Some(second) if is_high(first) && is_low(*second) => {
                self.at += 1;
                Some(join_halves(first, *second))
            }
            _ => Some(first),
        }
    }

    /// `\uHHHH`, a pair of halves so written, or `\u{...}`, after the `u`.
    pub(super) fn unicode_escape(&mut self) -> Option<u32> {
        if self.take('{') {
            let mut value: Option<u32> = None;
            while let Some(digit) = self.peek().and_then(|letter| letter.to_digit(16)) {
                value = Some(value.unwrap_or(0) * 16 + digit).filter(|value| *value <= 0x10_FFFF);
                value?;
                self.at += 1;
            }
            return value.filter(|_| self.take('}'));
        }
        let first = self.hexadecimal(4)?;
        let after = self.at;
        if is_high(first) && self.take_all("\\u") {
            match self.hexadecimal(4) {
                Some(second) if is_low(second) => return Some(join_halves(first, second)),
                _ => self.at = after,
            }
        }
        Some(first)
    }
}

fn is_high(unit: u32) -> bool {
    (0xD800..=0xDBFF).contains(&unit)
}

fn is_low(unit: u32) -> bool {
    (0xDC00..=0xDFFF).contains(&unit)
}

fn may_stand(letter: char, first: bool) -> bool {
    match letter {
        'a'..='z' | 'A'..='Z' | '$' | '_' => true,
        '0'..='9' | '\u{200C}' | '\u{200D}' => !first,
        _ if letter.is_ascii() => false,
        _ => letters(first).contains(letter.into()),
    }
}

/// The letters that a name may begin with, or else go on with.
pub(in crate::pattern) fn letters(first: bool) -> &'static UnitSet {
    static FIRST: OnceLock<Arc<UnitSet>> = OnceLock::new();
    static NEXT: OnceLock<Arc<UnitSet>> = OnceLock::new();
    if first {
        FIRST.get_or_init(|| property::set("ID_Start"))
    } else {
        NEXT.get_or_init(|| property::set("ID_Continue"))
    }
}
