//! What the parser remarks on, for whoever asks what a pattern means here.

use super::{Parser, is_digit, unit_of};
use crate::pattern::ast::{Builtin, ClassItem};
use crate::pattern::note::Remark;

impl Parser<'_> {
    /// Remarks on what was just read, from its start.
    pub(super) fn remark(&mut self, start: usize, remark: Remark) {
        let place = (self.place(start), self.place(self.at));
        self.remarks.push((place, remark));
    }

    /// A source written `/like this/i`.
    pub(super) fn remark_slashes(&mut self) {
        let slash = unit_of('/');
        let last = self.source.iter().rposition(|unit| *unit == slash).unwrap_or(0);
        let flags = self.source.get(last + 1..).unwrap_or_default();
        let is_flag =
            |unit: &u32| char::from_u32(*unit).is_some_and(|flag| "dgimsuvy".contains(flag));
        if self.source.first() == Some(&slash) && last > 1 && flags.iter().all(is_flag) {
            let end = self.place(self.source.len());
            self.remarks.push(((0, end), Remark::Slashes));
        }
    }

    /// `\b`, and what other dialects write after it.
    pub(super) fn remark_border(&mut self, start: usize) {
        self.remark(start, Remark::WordBorder(self.flags.ignore_case));
        for opening in ["{start", "{end"] {
            if self.looking_at(opening) {
                self.remark(start, Remark::NamedBorder);
            }
        }
    }

    /// A built-in set, a property or strings.
    pub(super) fn remark_item(&mut self, start: usize, item: &ClassItem) {
        let remark = match item {
            ClassItem::Builtin { set: Builtin::Digit, .. } => Remark::Digit,
            ClassItem::Builtin { set: Builtin::Word, .. } => Remark::Word(self.flags.ignore_case),
            ClassItem::Builtin { set: Builtin::Space, .. } => Remark::Space,
            ClassItem::Property { .. } => Remark::Property,
            ClassItem::StringProperty(_) | ClassItem::Strings(_) => Remark::Strings,
            _ => return,
        };
        self.remark(start, remark);
    }

    /// An escape of Annex B that other dialects, or the flag u, read in another way.
    pub(super) fn remark_escape(&mut self, start: usize, in_class: bool) {
        let Some(letter) = self.source.get(start + 1).copied().and_then(char::from_u32) else {
            return;
        };
        let is_octal = letter.is_ascii_digit() && (letter != '0' || self.at > start + 2);
        let remark = match letter {
            'p' | 'P' if self.peek() == Some('{') => Remark::BareProperty,
            'x' if self.at == start + 2 && self.peek() == Some('{') => Remark::BracedHex,
            'u' if self.at == start + 2 && self.peek() == Some('{') => Remark::BracedPoint,
            'A' | 'Z' | 'z' if !in_class => Remark::EdgeLetter(letter),
            '<' | '>' if !in_class => Remark::AngleBorder(letter),
            't' | 'n' | 'v' | 'f' | 'r' | 'b' | 'c' => return,
            _ if letter.is_ascii_alphabetic() && self.at == start + 2 => {
                Remark::PlainLetter(letter)
            }
            '8' | '9' => Remark::PlainDigit(letter),
            _ if is_octal => Remark::Octal,
            _ => return,
        };
        self.remark(start, remark);
    }

    /// Braces that are no repeat, but that of another dialect: `{,5}`, `{ 2 }`, `{2, 3}`.
    pub(super) fn remark_braces(&mut self) {
        let start = self.at;
        if self.peek() != Some('{') {
            return;
        }
        let rest = self.source.get(start + 1..).unwrap_or_default();
        let inside = rest.iter().take(32).position(|unit| *unit == unit_of('}')).unwrap_or(0);
        let inside = rest.get(..inside).unwrap_or_default();
        let fits = |unit: &u32| is_digit(*unit) || [unit_of(','), unit_of(' ')].contains(unit);
        if inside.iter().any(|unit| is_digit(*unit)) && inside.iter().all(fits) {
            let place = (self.place(start), self.place(start + inside.len() + 2));
            self.remarks.push((place, Remark::LiteralBraces));
        }
    }

    /// A class without the flag v, just read.
    pub(super) fn remark_class(&mut self, start: usize, negated: bool, is_empty: bool) {
        if is_empty {
            self.remark(start, if negated { Remark::Everything } else { Remark::Nothing });
            return;
        }
        let inside = self.source.get(start + 1..self.at - 1).unwrap_or_default();
        let inside: String =
            inside.iter().map(|unit| char::from_u32(*unit).unwrap_or('\u{FFFD}')).collect();
        let is_posix = ["[:", "[=", "[."].iter().any(|opening| {
            let after = inside.split_once(opening).map(|(_, after)| after);
            after.is_some_and(|after| after.ends_with(opening.trim_start_matches('[')))
        });
        let has_operator = inside.contains("&&") || (inside.contains("--") && inside.contains('['));
        if is_posix {
            self.remark(start, Remark::Posix);
        } else if has_operator {
            self.remark(start, Remark::SetOperator);
        }
        if inside.contains("A-z") {
            self.remark(start, Remark::PunctuationToo);
        }
        let has_pair = self.place(self.at) - self.place(start) < self.at - start;
        if has_pair {
            self.remark(start, Remark::TwoUnits);
        }
    }
}
