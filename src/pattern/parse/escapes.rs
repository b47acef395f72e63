//! Escapes and classes (Annex B).

use super::{Parsed, Parser, bound, is_digit, unit_of};
use crate::pattern::ast::{Ast, Bound, Builtin, ClassItem, GroupName};
use crate::pattern::fault::PatternFault;
use crate::pattern::note::Remark;

impl Parser<'_> {
    /// An escape outside a class, but for `\b` and `\B`.
    pub(super) fn escape(&mut self) -> Parsed<Ast> {
        let start = self.at;
        self.at += 1;
        let Some(unit) = self.source.get(self.at).copied() else {
            let message = "a backslash at the end; write `\\\\` for a backslash";
            return Err(PatternFault::invalid(
                "invalid.trailing_backslash",
                self.place(start),
                message,
            ));
        };
        if let Some(item) = builtin(unit) {
            self.at += 1;
            self.remark_item(start, &item);
            return Ok(Ast::Class { negated: false, items: vec![item] });
        }
        if (unit_of('1')..=unit_of('9')).contains(&unit)
            && let Some((number, end)) = self.group_number()
        {
            self.at = end;
            self.remark(start, Remark::Reference);
            let at = self.place(start);
            return Ok(Ast::Backreference { at, to: GroupName::Number(number) });
        }
        if unit == unit_of('k') && self.census.named {
            self.at += 1;
            let place = self.place(start);
            if !self.take('<') {
                let message = "\\k must be \\k<name> where groups have names";
                return Err(PatternFault::invalid("invalid.named_reference", place, message));
            }
            let name = self.group_name()?;
            self.references.push((name.clone(), place));
            self.remark(start, Remark::Reference);
            return Ok(Ast::Backreference { at: place, to: GroupName::Name(name) });
        }
        if !self.flags.unicode {
            let unit = self.character_escape(false);
            self.remark_escape(start, false);
            return Ok(Ast::Unit(unit));
        }
        match self.property()? {
            Some(item) => {
                self.remark_item(start, &item);
                Ok(Ast::Class { negated: false, items: vec![item] })
            }
            None => Ok(Ast::Unit(self.strict_escape(false)?)),
        }
    }

    /// A decimal escape that names an existing group, and where it ends.
    fn group_number(&self) -> Option<(u32, usize)> {
        let rest = self.source.get(self.at..)?;
        let digits: Vec<u32> = rest.iter().copied().take_while(|unit| is_digit(*unit)).collect();
        match bound(&digits) {
            Bound::Count(number) if number <= self.census.groups => {
                Some((number, self.at + digits.len()))
            }
            _ => None,
        }
    }

    /// An escape that stands for one unit (Annex B), from just after its backslash.
    fn character_escape(&mut self, in_class: bool) -> u32 {
        let unit = self.source.get(self.at).copied().unwrap_or_default();
        let letter = char::from_u32(unit).unwrap_or('\u{FFFD}');
        self.at += 1;
        match letter {
            't' => 0x09,
            'n' => 0x0A,
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => 0x0D,
            'b' if in_class => 0x08,
            'c' => self.control(in_class),
            '0'..='7' => self.octal(unit - unit_of('0')),
            'x' => self.hexadecimal(2).unwrap_or(unit),
            'u' => self.hexadecimal(4).unwrap_or(unit),
            _ => unit,
        }
    }

    /// `\cA`; before anything but a letter the backslash itself is meant.
    fn control(&mut self, in_class: bool) -> u32 {
        let next = self.peek();
        let taken = next.is_some_and(|letter| {
            letter.is_ascii_alphabetic() || (in_class && (letter.is_ascii_digit() || letter == '_'))
        });
        if taken && let Some(unit) = self.source.get(self.at) {
            self.at += 1;
            return unit % 32;
        }
        self.at -= 1;
        unit_of('\\')
    }

    /// Legacy octal: at most three digits, at most 377.
    fn octal(&mut self, first: u32) -> u32 {
        let mut value = first;
        for _ in 0..2 {
            let digit = self.source.get(self.at).and_then(|unit| unit.checked_sub(unit_of('0')));
            match digit {
                Some(digit @ 0..=7) if value * 8 + digit <= 0o377 => value = value * 8 + digit,
                _ => break,
            }
            self.at += 1;
        }
        value
    }

    pub(super) fn hexadecimal(&mut self, count: usize) -> Option<u32> {
        let digits = self.source.get(self.at..self.at + count)?;
        let value = digits.iter().try_fold(0_u32, |value, unit| {
            Some(value * 16 + char::from_u32(*unit)?.to_digit(16)?)
        })?;
        self.at += count;
        Some(value)
    }

    pub(super) fn class(&mut self) -> Parsed<Ast> {
        if self.flags.unicode_sets {
            let start = self.at;
            let (negated, items) = self.class_set()?;
            if items.is_empty() {
                self.remark(start, if negated { Remark::Everything } else { Remark::Nothing });
            }
            return Ok(Ast::Class { negated, items });
        }
        let start = self.at;
        self.at += 1;
        let negated = self.take('^');
        let mut items = Vec::new();
        while !self.take(']') {
            let from = self.at;
            let low = self.class_atom(start)?;
            if self.peek() == Some('-') && !matches!(self.peek_at(1), None | Some(']')) {
                self.at += 1;
                let high = self.class_atom(start)?;
                self.range(&mut items, low, high, from)?;
            } else {
                items.push(low);
            }
        }
        self.remark_class(start, negated, items.is_empty());
        Ok(Ast::Class { negated, items })
    }

    /// `low-high`; with a built-in set on either side the hyphen is a hyphen (Annex B).
    pub(super) fn range(
        &self,
        items: &mut Vec<ClassItem>,
        low: ClassItem,
        high: ClassItem,
        start: usize,
    ) -> Parsed<()> {
        match (low, high) {
            (ClassItem::Range(low, _), ClassItem::Range(high, _)) if low <= high => {
                items.push(ClassItem::Range(low, high));
                Ok(())
            }
            (ClassItem::Range(low, _), ClassItem::Range(high, _)) => {
                let halves =
                    !self.flags.unicode && low >= 0xD800 && (0xD800..=0xDFFF).contains(&high);
                let hint = if halves {
                    ": without the flag u a sign above U+FFFF is two units"
                } else {
                    "; write the lower end first"
                };
                let message = format!("the range `{}` is out of order{hint}", self.since(start));
                Err(PatternFault::invalid(
                    "invalid.range_order",
                    self.place(self.whole(start)),
                    message,
                ))
            }
            _ if self.flags.unicode => {
                let message = "a set cannot be the end of a range; escape the hyphen";
                Err(PatternFault::invalid("invalid.range_order", self.place(start), message))
            }
            (low, high) => {
                let hyphen = unit_of('-');
                items.extend([low, ClassItem::Range(hyphen, hyphen), high]);
                Ok(())
            }
        }
    }

    pub(super) fn unterminated_class(&self, start: usize) -> PatternFault {
        let message = "the class does not end; write `]`";
        PatternFault::invalid("invalid.unterminated_class", self.place(start), message)
    }

    fn class_atom(&mut self, start: usize) -> Parsed<ClassItem> {
        let Some(unit) = self.source.get(self.at).copied() else {
            return Err(self.unterminated_class(start));
        };
        let from = self.at;
        self.at += 1;
        if unit != unit_of('\\') {
            return Ok(ClassItem::Range(unit, unit));
        }
        let Some(escaped) = self.source.get(self.at).copied() else {
            return Err(self.unterminated_class(start));
        };
        if let Some(item) = builtin(escaped) {
            self.at += 1;
            self.remark_item(from, &item);
            return Ok(item);
        }
        if escaped == unit_of('k') && self.census.named && !self.flags.unicode {
            let message = "`\\k` in a class where groups have names; write `k`";
            return Err(PatternFault::invalid("invalid.escape", self.place(start), message));
        }
        let unit = if self.flags.unicode {
            if let Some(item) = self.property()? {
                self.remark_item(from, &item);
                return Ok(item);
            }
            self.strict_escape(true)?
        } else {
            let unit = self.character_escape(true);
            self.remark_escape(from, true);
            unit
        };
        Ok(ClassItem::Range(unit, unit))
    }
}

pub(super) fn builtin(unit: u32) -> Option<ClassItem> {
    let (set, negated) = match char::from_u32(unit)? {
        'd' => (Builtin::Digit, false),
        'D' => (Builtin::Digit, true),
        'w' => (Builtin::Word, false),
        'W' => (Builtin::Word, true),
        's' => (Builtin::Space, false),
        'S' => (Builtin::Space, true),
        _ => return None,
    };
    Some(ClassItem::Builtin { set, negated })
}
