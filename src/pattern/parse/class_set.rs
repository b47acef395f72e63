//! Classes under the flag `v`: classes in classes, `&&`, `--` and strings.

use super::escapes::builtin;
use super::{Parsed, Parser};
use crate::pattern::ast::ClassItem;
use crate::pattern::fault::PatternFault;

/// Signs that two in a row are kept for operators to come.
const DOUBLED: &str = "&!#$%*+,.:;<=>?@^`~";

impl Parser<'_> {
    /// From `[` to its `]`: whether it is negated, and what is in it.
    pub(super) fn class_set(&mut self) -> Parsed<(bool, Vec<ClassItem>)> {
        let start = self.at;
        self.at += 1;
        self.descend(start)?;
        let negated = self.take('^');
        let items = if self.take(']') { Vec::new() } else { self.contents()? };
        self.depth -= 1;
        if negated && items.iter().any(may_be_strings) {
            let message = "a class with strings has no complement; take `^` out";
            let place = self.place(start);
            return Err(PatternFault::invalid("invalid.negated_strings", place, message));
        }
        Ok((negated, items))
    }

    fn contents(&mut self) -> Parsed<Vec<ClassItem>> {
        let start = self.at;
        let first = self.operand()?;
        if self.looking_at("&&") {
            return Ok(vec![ClassItem::Intersection(self.operands("&&", first)?)]);
        }
        if self.looking_at("--") {
            return Ok(vec![ClassItem::Difference(self.operands("--", first)?)]);
        }
        let mut items = Vec::new();
        self.member(start, first, &mut items)?;
        while !self.take(']') {
            let start = self.at;
            let item = self.operand()?;
            self.member(start, item, &mut items)?;
        }
        Ok(items)
    }

    /// Takes an operand of a union, or the range that it begins; from where it starts.
    fn member(&mut self, start: usize, item: ClassItem, items: &mut Vec<ClassItem>) -> Parsed<()> {
        if matches!(item, ClassItem::Range(..)) && self.take('-') {
            let high = self.operand()?;
            return self.range(items, item, high, start);
        }
        items.push(item);
        Ok(())
    }

    /// Operands with one and the same operator between them, to the closing bracket.
    fn operands(&mut self, operator: &str, first: ClassItem) -> Parsed<Vec<ClassItem>> {
        let mut operands = vec![first];
        while !self.take(']') {
            if !self.take_all(operator) || (operator == "&&" && self.peek() == Some('&')) {
                let message =
                    format!("only `{operator}` can follow here; put the rest into brackets");
                return Err(self.class_fault(&message));
            }
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Parsed<ClassItem> {
        let start = self.at;
        match self.peek() {
            Some('[') => {
                let (negated, items) = self.class_set()?;
                return Ok(ClassItem::Class { negated, items });
            }
            Some('\\') => {
                let escaped = self.source.get(self.at + 1).copied();
                if let Some(item) = escaped.and_then(builtin) {
                    self.at += 2;
                    self.remark_item(start, &item);
                    return Ok(item);
                }
                if self.take_all("\\q{") {
                    let item = self.strings()?;
                    self.remark_item(start, &item);
                    return Ok(item);
                }
                self.at += 1;
                if let Some(item) = self.property()? {
                    self.remark_item(start, &item);
                    return Ok(item);
                }
                self.at -= 1;
            }
            _ => {}
        }
        let point = self.class_character()?;
        Ok(ClassItem::Range(point, point))
    }

    /// Strings between bars, to the closing brace.
    fn strings(&mut self) -> Parsed<ClassItem> {
        let mut strings = Vec::new();
        let mut string = Vec::new();
        loop {
            if self.take('}') {
                strings.push(string);
                return Ok(ClassItem::Strings(strings));
            }
            if self.take('|') {
                strings.push(std::mem::take(&mut string));
            } else {
                string.push(self.class_character()?);
            }
        }
    }

    /// One code point of a class, escaped or not.
    fn class_character(&mut self) -> Parsed<u32> {
        let Some(point) = self.source.get(self.at).copied() else {
            return Err(self.unterminated_class(self.at));
        };
        match self.peek() {
            Some('\\') if self.source.get(self.at + 1).is_none() => {
                Err(self.unterminated_class(self.at))
            }
            Some('\\') => {
                self.at += 1;
                self.strict_escape(true)
            }
            Some(sign @ ('(' | ')' | '[' | ']' | '{' | '}' | '/' | '-' | '|')) => {
                let message = format!("write `\\{sign}` in a class under the flag v");
                Err(self.class_fault(&message))
            }
            Some(sign) if DOUBLED.contains(sign) && self.peek_at(1) == Some(sign) => {
                let message = format!("`{sign}{sign}` is no operator; write `\\{sign}\\{sign}`");
                Err(self.class_fault(&message))
            }
            _ => {
                self.at += 1;
                Ok(point)
            }
        }
    }

    fn class_fault(&self, message: &str) -> PatternFault {
        self.invalid("invalid.class_set_syntax", message)
    }
}

/// Whether a string of another length than one may be in it, by its form alone.
fn may_be_strings(item: &ClassItem) -> bool {
    match item {
        ClassItem::Range(..) | ClassItem::Builtin { .. } | ClassItem::Property { .. } => false,
        ClassItem::StringProperty(_) => true,
        ClassItem::Strings(strings) => strings.iter().any(|string| string.len() != 1),
        ClassItem::Class { negated, items } => !negated && items.iter().any(may_be_strings),
        ClassItem::Intersection(operands) => operands.iter().all(may_be_strings),
        ClassItem::Difference(operands) => operands.first().is_some_and(may_be_strings),
    }
}
