//! ECMAScript pattern syntax without `u` and `v`: ES2025 with Annex B.
//!
//! The source is read as UTF-16 code units, as the standard does. Everything valid is parsed, also
//! what lowering refuses, so that "not ECMAScript" and "not run here" are never confused.

use std::collections::BTreeSet;

use super::ast::{Assertion, Ast, Bound, Builtin, ClassItem, FlagChange};
use super::fault::PatternFault;

type Parsed<T> = Result<T, PatternFault>;

/// Parses a pattern given as code units.
pub(super) fn parse(source: &[u16], nesting: usize) -> Parsed<Ast> {
    let census = Census::of(source);
    let mut parser = Parser {
        source,
        at: 0,
        nesting,
        depth: 0,
        census,
        names: BTreeSet::new(),
        references: Vec::new(),
    };
    let (ast, _) = parser.disjunction()?;
    if parser.peek().is_some() {
        return Err(parser.invalid("invalid.unmatched_paren", "a `)` without its `(`"));
    }
    parser.check_references()?;
    Ok(ast)
}

/// What has to be known before the first escape is read.
struct Census {
    groups: u32,
    named: bool,
}

impl Census {
    fn of(source: &[u16]) -> Self {
        let mut census = Self { groups: 0, named: false };
        let mut in_class = false;
        let mut units = source.iter().enumerate();
        while let Some((at, unit)) = units.next() {
            match char::from_u32(u32::from(*unit)) {
                Some('\\') => {
                    units.next();
                }
                Some('[') => in_class = true,
                Some(']') => in_class = false,
                Some('(') if !in_class => {
                    let after = |offset: usize| source.get(at + offset).copied();
                    let named = after(1) == Some(unit_of('?'))
                        && after(2) == Some(unit_of('<'))
                        && ![Some(unit_of('=')), Some(unit_of('!'))].contains(&after(3));
                    census.named |= named;
                    census.groups += u32::from(named || after(1) != Some(unit_of('?')));
                }
                _ => {}
            }
        }
        census
    }
}

/// The unit of an ASCII character.
const fn unit_of(character: char) -> u16 {
    character as u16
}

struct Parser<'a> {
    source: &'a [u16],
    at: usize,
    nesting: usize,
    depth: usize,
    census: Census,
    /// All group names met so far.
    names: BTreeSet<String>,
    /// `\k<name>` references, to be checked at the end.
    references: Vec<(String, usize)>,
}

/// Names that a part of a pattern defines: two parts in a row may not share one.
type Names = BTreeSet<String>;

impl Parser<'_> {
    fn disjunction(&mut self) -> Parsed<(Ast, Names)> {
        let (first, mut names) = self.alternative()?;
        let mut branches = vec![first];
        while self.take('|') {
            let (branch, more) = self.alternative()?;
            branches.push(branch);
            names.extend(more);
        }
        let single = if branches.len() == 1 { branches.pop() } else { None };
        Ok((single.unwrap_or(Ast::Alternate(branches)), names))
    }

    fn alternative(&mut self) -> Parsed<(Ast, Names)> {
        let mut parts = Vec::new();
        let mut names = Names::new();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            let start = self.at;
            let (part, more) = self.term()?;
            if let Some(name) = more.iter().find(|name| names.contains(*name)) {
                let message = format!("two groups named \"{name}\" that can both take part");
                return Err(PatternFault::invalid("invalid.duplicate_name", self.place(start), message));
            }
            names.extend(more);
            parts.push(part);
        }
        let single = if parts.len() == 1 { parts.pop() } else { None };
        let empty = parts.is_empty();
        Ok((single.unwrap_or(if empty { Ast::Empty } else { Ast::Concat(parts) }), names))
    }

    fn term(&mut self) -> Parsed<(Ast, Names)> {
        let start = self.at;
        let (atom, names, quantifiable) = self.atom()?;
        let ast = self.quantified(atom, quantifiable, start)?;
        Ok((ast, names))
    }

    fn atom(&mut self) -> Parsed<(Ast, Names, bool)> {
        let plain = |ast| Ok((ast, Names::new(), true));
        let assertion = |assertion| Ok((Ast::Assert(assertion), Names::new(), false));
        match self.peek() {
            Some('^') => {
                self.at += 1;
                assertion(Assertion::Start)
            }
            Some('$') => {
                self.at += 1;
                assertion(Assertion::End)
            }
            Some('(') => self.group(),
            Some('.') => {
                self.at += 1;
                plain(Ast::Dot)
            }
            Some('[') => plain(self.class()?),
            Some('\\') if self.looking_at("\\b") => {
                self.at += 2;
                assertion(Assertion::WordBoundary)
            }
            Some('\\') if self.looking_at("\\B") => {
                self.at += 2;
                assertion(Assertion::NotWordBoundary)
            }
            Some('\\') => plain(self.escape()?),
            Some('*' | '+' | '?') => Err(self.nothing_to_repeat()),
            Some('{') if self.braces()?.is_some() => Err(self.nothing_to_repeat()),
            _ => {
                let unit = self.source.get(self.at).copied().unwrap_or_default();
                self.at += 1;
                plain(Ast::Unit(unit))
            }
        }
    }

    fn nothing_to_repeat(&self) -> PatternFault {
        self.invalid("invalid.nothing_to_repeat", "nothing to repeat; escape it to mean the sign")
    }

    fn quantified(&mut self, atom: Ast, quantifiable: bool, start: usize) -> Parsed<Ast> {
        let place = self.at;
        let (min, max) = match self.peek() {
            Some('*') => (Bound::Count(0), None),
            Some('+') => (Bound::Count(1), None),
            Some('?') => (Bound::Count(0), Some(Bound::Count(1))),
            Some('{') => match self.braces()? {
                Some((min, max, end)) => {
                    self.at = end - 1;
                    (min, max)
                }
                None => return Ok(atom),
            },
            _ => return Ok(atom),
        };
        self.at += 1;
        if !quantifiable {
            let fault = "an assertion cannot be repeated";
            return Err(PatternFault::invalid("invalid.nothing_to_repeat", self.place(start), fault));
        }
        self.take('?');
        let again = matches!(self.peek(), Some('*' | '+' | '?'))
            || (self.peek() == Some('{') && self.braces()?.is_some());
        if again {
            let hint = if self.peek() == Some('+') {
                "possessive quantifiers do not exist in ECMAScript; this engine never backtracks, \
                 so leave the second `+` out"
            } else {
                "nothing to repeat: a quantifier after a quantifier; group the first one"
            };
            return Err(PatternFault::invalid("invalid.nothing_to_repeat", self.place(place), hint));
        }
        Ok(Ast::Repeat { body: Box::new(atom), min, max })
    }

    /// Reads `{n}`, `{n,}` or `{n,m}` without moving; where it ends. Other braces are literal.
    fn braces(&self) -> Parsed<Option<(Bound, Option<Bound>, usize)>> {
        let digits = |from: usize| {
            let rest = self.source.get(from..).unwrap_or_default();
            let count = rest.iter().take_while(|unit| is_digit(**unit)).count();
            rest.get(..count).unwrap_or_default()
        };
        let unit = |at: usize| self.source.get(at).copied();
        let low = digits(self.at + 1);
        let mut end = self.at + 1 + low.len();
        if low.is_empty() {
            return Ok(None);
        }
        let mut high = Some(low);
        if unit(end) == Some(unit_of(',')) {
            let digits = digits(end + 1);
            end += 1 + digits.len();
            high = Some(digits).filter(|digits| !digits.is_empty());
        }
        if unit(end) != Some(unit_of('}')) {
            return Ok(None);
        }
        if high.is_some_and(|high| magnitude(high) < magnitude(low)) {
            return Err(self.invalid("invalid.repeat_order", "the counts are in the wrong order"));
        }
        let max = high.map(bound).filter(|bound| *bound != Bound::Unreachable);
        Ok(Some((bound(low), max, end + 1)))
    }

    fn group(&mut self) -> Parsed<(Ast, Names, bool)> {
        let start = self.at;
        self.at += 1;
        self.depth += 1;
        if self.depth > self.nesting {
            return Err(PatternFault {
                kind: super::FaultKind::TooLarge,
                slug: "unsupported.too_deep",
                offset: Some(self.place(start)),
                message: format!("groups nested deeper than the limit of {}", self.nesting),
            });
        }
        let parsed = self.group_body(start)?;
        if !self.take(')') {
            let message = "the group does not end; write `)`";
            return Err(PatternFault::invalid("invalid.unmatched_paren", self.place(start), message));
        }
        self.depth -= 1;
        Ok(parsed)
    }

    fn group_body(&mut self, start: usize) -> Parsed<(Ast, Names, bool)> {
        for (opening, what, quantifiable) in [
            ("?=", "lookahead `(?=`", true),
            ("?!", "negative lookahead `(?!`", true),
            ("?<=", "lookbehind `(?<=`", false),
            ("?<!", "negative lookbehind `(?<!`", false),
        ] {
            if self.take_all(opening) {
                let (_, names) = self.disjunction()?;
                return Ok((Ast::Look { at: self.place(start), what }, names, quantifiable));
            }
        }
        if self.take_all("?<") {
            let name = self.group_name()?;
            self.names.insert(name.clone());
            let (body, mut names) = self.disjunction()?;
            if !names.insert(name.clone()) {
                let message = format!("two groups named \"{name}\" that can both take part");
                let place = self.place(start);
                return Err(PatternFault::invalid("invalid.duplicate_name", place, message));
            }
            return Ok((body, names, true));
        }
        if self.take('?') {
            let change = self.modifiers(start)?;
            let (body, names) = self.disjunction()?;
            return Ok((Ast::Modified { change, body: Box::new(body) }, names, true));
        }
        let (body, names) = self.disjunction()?;
        Ok((body, names, true))
    }

    /// `ims-ims:`, any part of it empty, after `(?`.
    fn modifiers(&mut self, start: usize) -> Parsed<FlagChange> {
        let mut change = FlagChange::default();
        let (mut on, mut signs) = (true, 0);
        let mut letters = 0;
        loop {
            let letter = self.peek();
            let field = match letter {
                Some('i') => &mut change.ignore_case,
                Some('m') => &mut change.multiline,
                Some('s') => &mut change.dot_all,
                Some('-') if signs == 0 => {
                    self.at += 1;
                    (on, signs) = (false, 1);
                    continue;
                }
                Some(':') if letters > 0 || signs == 0 => {
                    self.at += 1;
                    return Ok(change);
                }
                _ => return Err(self.foreign_group(start)),
            };
            if field.replace(on).is_some() {
                let message = "a modifier stands twice";
                return Err(PatternFault::invalid("invalid.modifiers", self.place(start), message));
            }
            letters += 1;
            self.at += 1;
        }
    }

    /// A group of another dialect, with what to write instead.
    fn foreign_group(&self, start: usize) -> PatternFault {
        let text: String = self.source.get(start + 2..).unwrap_or_default().iter().take(40)
            .map(|unit| char::from_u32(u32::from(*unit)).unwrap_or('\u{FFFD}')).collect();
        let letters = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic() || letter == '-');
        let (slug, message) = if text.starts_with("P<") {
            ("invalid.group_kind", "`(?P<name>` is not ECMAScript; write `(?<name>`")
        } else if text.starts_with("P=") || text.starts_with("P>") {
            ("invalid.group_kind", "`(?P=name)` is not ECMAScript; write `\\k<name>`")
        } else if text.starts_with('>') {
            ("invalid.group_kind", "atomic groups do not exist in ECMAScript; write `(?:`")
        } else if text.starts_with('#') {
            ("invalid.group_kind", "comments do not exist in ECMAScript; leave it out")
        } else if letters.starts_with(')') {
            ("invalid.group_kind", "flags go in the flags, or write `(?i:...)`")
        } else if letters.starts_with(':') {
            ("invalid.modifiers", "only the letters i, m and s can be switched in a group, each once")
        } else {
            ("invalid.group_kind", "not a group of ECMAScript; write `(?:`, `(?=`, `(?!` or `(?<name>`")
        };
        PatternFault::invalid(slug, self.place(start), message)
    }

    /// A group name after its `<`, to its `>`.
    fn group_name(&mut self) -> Parsed<String> {
        let start = self.at;
        let mut name = String::new();
        loop {
            match self.peek() {
                Some('>') if !name.is_empty() => {
                    self.at += 1;
                    return Ok(name);
                }
                Some(letter @ ('a'..='z' | 'A'..='Z' | '$' | '_')) => name.push(letter),
                Some(digit @ '0'..='9') if !name.is_empty() => name.push(digit),
                // An escape or a letter of another script may or may not be an identifier part.
                Some('\\') => return Err(self.exotic_name(start)),
                Some(letter) if !letter.is_ascii() => return Err(self.exotic_name(start)),
                None if self.at < self.source.len() => return Err(self.exotic_name(start)),
                _ => {
                    let message = "a group name is an identifier between `<` and `>`";
                    return Err(PatternFault::invalid("invalid.group_name", self.place(start), message));
                }
            }
            self.at += 1;
        }
    }

    fn exotic_name(&self, start: usize) -> PatternFault {
        let message = "a group name outside ASCII is not supported yet; name it in ASCII";
        PatternFault::unsupported("unsupported.property_table", self.place(start), message)
    }

    fn check_references(&self) -> Parsed<()> {
        match self.references.iter().find(|(name, _)| !self.names.contains(name)) {
            None => Ok(()),
            Some((name, at)) => Err(PatternFault::invalid(
                "invalid.named_reference",
                *at,
                format!("\\k<{name}> names no group"),
            )),
        }
    }

    /// An escape outside a class, but for `\b` and `\B`.
    fn escape(&mut self) -> Parsed<Ast> {
        let start = self.at;
        self.at += 1;
        let Some(unit) = self.source.get(self.at).copied() else {
            let message = "a backslash at the end; write `\\\\` for a backslash";
            return Err(PatternFault::invalid("invalid.trailing_backslash", self.place(start), message));
        };
        if let Some(item) = builtin(unit) {
            self.at += 1;
            return Ok(Ast::Class { negated: false, items: vec![item] });
        }
        let place = self.place(start);
        if (unit_of('1')..=unit_of('9')).contains(&unit)
            && let Some((number, end)) = self.group_number()
        {
            self.at = end;
            return Ok(Ast::Backreference { at: place, name: format!("\\{number}") });
        }
        if unit == unit_of('k') && self.census.named {
            self.at += 1;
            if !self.take('<') {
                let message = "\\k must be \\k<name> where groups have names";
                return Err(PatternFault::invalid("invalid.named_reference", place, message));
            }
            let name = self.group_name()?;
            self.references.push((name.clone(), place));
            return Ok(Ast::Backreference { at: place, name: format!("\\k<{name}>") });
        }
        Ok(Ast::Unit(self.character_escape(false)))
    }

    /// A decimal escape that names an existing group, and where it ends.
    fn group_number(&self) -> Option<(u32, usize)> {
        let rest = self.source.get(self.at..)?;
        let digits: Vec<u16> = rest.iter().copied().take_while(|unit| is_digit(*unit)).collect();
        match bound(&digits) {
            Bound::Count(number) if number <= self.census.groups => {
                Some((number, self.at + digits.len()))
            }
            _ => None,
        }
    }

    /// An escape that stands for one unit (Annex B), from just after its backslash.
    fn character_escape(&mut self, in_class: bool) -> u16 {
        let unit = self.source.get(self.at).copied().unwrap_or_default();
        let letter = char::from_u32(u32::from(unit)).unwrap_or('\u{FFFD}');
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
    fn control(&mut self, in_class: bool) -> u16 {
        let next = self.peek();
        let taken = next.is_some_and(|letter| {
            letter.is_ascii_alphabetic() || (in_class && (letter.is_ascii_digit() || letter == '_'))
        });
        match (taken, self.source.get(self.at)) {
            (true, Some(unit)) => {
                self.at += 1;
                unit % 32
            }
            _ => {
                self.at -= 1;
                unit_of('\\')
            }
        }
    }

    /// Legacy octal: at most three digits, at most 377.
    fn octal(&mut self, first: u16) -> u16 {
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

    fn hexadecimal(&mut self, count: usize) -> Option<u16> {
        let digits = self.source.get(self.at..self.at + count)?;
        let value = digits.iter().try_fold(0_u32, |value, unit| {
            Some(value * 16 + char::from_u32(u32::from(*unit))?.to_digit(16)?)
        })?;
        self.at += count;
        u16::try_from(value).ok()
    }

    fn class(&mut self) -> Parsed<Ast> {
        let start = self.at;
        self.at += 1;
        let negated = self.take('^');
        let mut items = Vec::new();
        while !self.take(']') {
            let low = self.class_atom(start)?;
            if self.peek() == Some('-') && !matches!(self.peek_at(1), None | Some(']')) {
                self.at += 1;
                let high = self.class_atom(start)?;
                self.range(&mut items, low, high, start)?;
            } else {
                items.push(low);
            }
        }
        Ok(Ast::Class { negated, items })
    }

    /// `low-high`; with a built-in set on either side the hyphen is a hyphen (Annex B).
    fn range(
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
            (ClassItem::Range(..), ClassItem::Range(..)) => Err(PatternFault::invalid(
                "invalid.range_order",
                self.place(start),
                "a range in this class is out of order; signs above U+FFFF need the flag u",
            )),
            _ => {
                let hyphen = unit_of('-');
                items.extend([low, ClassItem::Range(hyphen, hyphen), high]);
                Ok(())
            }
        }
    }

    fn class_atom(&mut self, start: usize) -> Parsed<ClassItem> {
        let Some(unit) = self.source.get(self.at).copied() else {
            let message = "the class does not end; write `]`";
            return Err(PatternFault::invalid(
                "invalid.unterminated_class",
                self.place(start),
                message,
            ));
        };
        self.at += 1;
        if unit != unit_of('\\') {
            return Ok(ClassItem::Range(unit, unit));
        }
        let Some(escaped) = self.source.get(self.at).copied() else {
            let message = "the class does not end; write `]`";
            return Err(PatternFault::invalid("invalid.unterminated_class", self.place(start), message));
        };
        if let Some(item) = builtin(escaped) {
            self.at += 1;
            return Ok(item);
        }
        if escaped == unit_of('k') && self.census.named {
            let message = "`\\k` in a class where groups have names; write `k`";
            return Err(PatternFault::invalid("invalid.escape", self.place(start), message));
        }
        let unit = self.character_escape(true);
        Ok(ClassItem::Range(unit, unit))
    }

    /// The next unit as a character; `None` at the end, and for a half.
    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn peek_at(&self, offset: usize) -> Option<char> {
        let unit = self.source.get(self.at + offset)?;
        Some(char::from_u32(u32::from(*unit)).unwrap_or('\u{FFFD}'))
    }

    fn take(&mut self, character: char) -> bool {
        let found = self.peek() == Some(character);
        self.at += usize::from(found);
        found
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, wanted)| self.peek_at(offset) == Some(wanted))
    }

    fn take_all(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Characters before a position: a low half after a high one is no character of its own.
    fn place(&self, at: usize) -> usize {
        let before = self.source.get(..at.min(self.source.len())).unwrap_or_default();
        char::decode_utf16(before.iter().copied()).count()
    }

    fn invalid(&self, slug: &'static str, message: &str) -> PatternFault {
        PatternFault::invalid(slug, self.place(self.at), message)
    }
}

fn is_digit(unit: u16) -> bool {
    (unit_of('0')..=unit_of('9')).contains(&unit)
}

/// Digits as a number that orders: length without leading zeros, then the digits.
fn magnitude(digits: &[u16]) -> (usize, &[u16]) {
    let zeros = digits.iter().take_while(|unit| **unit == unit_of('0')).count();
    let significant = digits.get(zeros..).unwrap_or_default();
    (significant.len(), significant)
}

fn bound(digits: &[u16]) -> Bound {
    let value = digits.iter().try_fold(0_u32, |value, unit| {
        value.checked_mul(10)?.checked_add(u32::from(unit.saturating_sub(unit_of('0'))))
    });
    match value {
        Some(count) if count < 1 << 31 => Bound::Count(count),
        _ => Bound::Unreachable,
    }
}

fn builtin(unit: u16) -> Option<ClassItem> {
    let (set, negated) = match char::from_u32(u32::from(unit))? {
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
