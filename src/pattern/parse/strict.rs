//! Escapes under the flags `u` and `v`: nothing but what the grammar lists.

use super::{Parsed, Parser, is_digit};
use crate::pattern::ast::ClassItem;
use crate::pattern::fault::PatternFault;
use crate::pattern::property::{self, Property};

/// Longer than any name of a property and its value.
const LONGEST_NAME: usize = 64;

impl Parser<'_> {
    /// An escape that stands for one code point, from just after its backslash.
    pub(super) fn strict_escape(&mut self, in_class: bool) -> Parsed<u32> {
        let start = self.at;
        let place = self.place(start.saturating_sub(1));
        let unit = self.source.get(self.at).copied().unwrap_or_default();
        let letter = char::from_u32(unit).unwrap_or('\u{FFFD}');
        self.at += 1;
        let next_is_digit = self.source.get(self.at).is_some_and(|unit| is_digit(*unit));
        Ok(match letter {
            't' => 0x09,
            'n' => 0x0A,
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => 0x0D,
            'b' if in_class => 0x08,
            '-' if in_class => unit,
            '&' | '!' | '#' | '%' | ',' | ':' | ';' | '<' | '=' | '>' | '@' | '`' | '~'
                if in_class && self.flags.unicode_sets =>
            {
                unit
            }
            '0' if !next_is_digit => 0,
            'c' if self.peek().is_some_and(|letter| letter.is_ascii_alphabetic()) => {
                let letter = self.source.get(self.at).copied().unwrap_or_default();
                self.at += 1;
                letter % 32
            }
            'x' => self.hexadecimal(2).ok_or_else(|| {
                let message = if self.peek() == Some('{') {
                    "`\\x{...}` is not ECMAScript; write `\\u{...}`"
                } else {
                    "`\\x` needs two hexadecimal digits under the flags u and v"
                };
                PatternFault::invalid("invalid.escape", place, message)
            })?,
            'u' => self.unicode_escape().ok_or_else(|| {
                let message =
                    "write `\\u` with four hexadecimal digits, or `\\u{...}` up to 10FFFF";
                PatternFault::invalid("invalid.unicode_escape", place, message)
            })?,
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|'
            | '/' => unit,
            _ => {
                let message = match letter {
                    '1'..='9' => {
                        "no group has that number; write `\\x` and two digits to mean a character"
                            .to_owned()
                    }
                    'A' => "`\\A` is not ECMAScript; write `^`".to_owned(),
                    'z' | 'Z' => format!("`\\{letter}` is not ECMAScript; write `$`"),
                    _ => format!(
                        "`\\{letter}` is no escape under the flags u and v; escape only what must be"
                    ),
                };
                return Err(PatternFault::invalid("invalid.escape", place, message));
            }
        })
    }

    /// `\p{...}` or `\P{...}`, from its letter; `None` when there is another letter.
    pub(super) fn property(&mut self) -> Parsed<Option<ClassItem>> {
        let at = self.place(self.at.saturating_sub(1));
        let invalid =
            |message: String| Err(PatternFault::invalid("invalid.property_name", at, message));
        let negated = match self.peek() {
            Some('p') => false,
            Some('P') => true,
            _ => return Ok(None),
        };
        self.at += 1;
        if !self.take('{') {
            return invalid("write a property as `\\p{...}`".to_owned());
        }
        let mut text = String::new();
        loop {
            match self.peek() {
                Some('}') => break,
                Some(letter) if text.len() < LONGEST_NAME => text.push(letter),
                _ => return invalid("write a property as `\\p{...}`".to_owned()),
            }
            self.at += 1;
        }
        self.at += 1;
        match property::find(&text) {
            Ok(Property::Points(set)) => Ok(Some(ClassItem::Property { set, negated })),
            Ok(Property::Strings(_)) if !self.flags.unicode_sets => {
                invalid(format!("the members of `{text}` are strings; it needs the flag v"))
            }
            Ok(Property::Strings(_)) if negated => {
                let message = format!("the members of `{text}` are strings; it has no complement");
                Err(PatternFault::invalid("invalid.negated_strings", at, message))
            }
            Ok(Property::Strings(strings)) => Ok(Some(ClassItem::StringProperty(strings))),
            Err(hint) => invalid(hint),
        }
    }
}
