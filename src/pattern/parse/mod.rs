//! ECMAScript pattern syntax: ES2025, with Annex B where neither `u` nor `v` is set.
//!
//! The source is read as UTF-16 code units, or as code points under `u` and `v`, as the standard
//! does. Everything valid is parsed, also
//! what lowering refuses, so that "not ECMAScript" and "not run here" are never confused.

use std::collections::BTreeSet;

use crate::pattern::Flags;
use crate::pattern::ast::{Assertion, Ast, Bound};
use crate::pattern::fault::PatternFault;
use crate::pattern::note::Remark;

mod class_set;
mod escapes;
mod groups;
mod names;
mod places;
mod remarks;
mod strict;

pub(super) use names::letters;

type Parsed<T> = Result<T, PatternFault>;

/// A pattern, and what there is to remark on: each with where it starts and ends, in characters.
pub(super) struct Source {
    pub(super) ast: Ast,
    pub(super) remarks: Vec<((usize, usize), Remark)>,
    pub(super) largest: Option<Largest>,
}

/// The repeat with the largest count, as it is written, and where.
pub(super) struct Largest {
    count: u32,
    pub(super) at: usize,
    pub(super) text: String,
}

/// Parses a pattern given in units.
pub(super) fn parse(source: &[u32], flags: Flags, nesting: usize) -> Parsed<Source> {
    let mut census = Census::of(source);
    // There `\k` is always a reference.
    census.named |= flags.unicode;
    let pair = |pair: &[u32]| !flags.unicode && matches!(pair, [0xD800..=0xDBFF, 0xDC00..=0xDFFF]);
    let pairs = source.windows(2).zip(1..).filter(|(units, _)| pair(units));
    let mut parser = Parser {
        source,
        second_halves: pairs.map(|(_, second)| second).collect(),
        flags,
        at: 0,
        nesting,
        depth: 0,
        census,
        opened: 0,
        names: BTreeSet::new(),
        references: Vec::new(),
        remarks: Vec::new(),
        largest: None,
    };
    parser.remark_slashes();
    let (ast, _) = parser.disjunction()?;
    if parser.peek().is_some() {
        return Err(parser.invalid(
            "invalid.unmatched_paren",
            "a `)` without its `(`; write `\\)` to mean the sign",
        ));
    }
    parser.check_references()?;
    Ok(Source { ast, remarks: parser.remarks, largest: parser.largest })
}

/// What has to be known before the first escape is read.
struct Census {
    groups: u32,
    named: bool,
}

impl Census {
    fn of(source: &[u32]) -> Self {
        let mut census = Self { groups: 0, named: false };
        let mut in_class = false;
        let mut units = source.iter().enumerate();
        while let Some((at, unit)) = units.next() {
            match char::from_u32(*unit) {
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
const fn unit_of(character: char) -> u32 {
    character as u32
}

struct Parser<'a> {
    source: &'a [u32],
    /// Where in the source a low half follows a high one.
    second_halves: Vec<usize>,
    flags: Flags,
    at: usize,
    nesting: usize,
    depth: usize,
    census: Census,
    /// Capturing groups opened so far.
    opened: u32,
    /// All group names met so far.
    names: BTreeSet<String>,
    /// `\k<name>` references, to be checked at the end.
    references: Vec<(String, usize)>,
    remarks: Vec<((usize, usize), Remark)>,
    largest: Option<Largest>,
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
                let message =
                    format!("two groups named \"{name}\" that can both take part; rename one");
                return Err(PatternFault::invalid(
                    "invalid.duplicate_name",
                    self.place(start),
                    message,
                ));
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
        let start = self.at;
        match self.peek() {
            Some('^') => {
                self.at += 1;
                if self.flags.multiline {
                    self.remark(start, Remark::LineStart);
                }
                assertion(Assertion::Start)
            }
            Some('$') => {
                self.at += 1;
                let line = self.flags.multiline;
                self.remark(start, if line { Remark::LineEnd } else { Remark::End });
                assertion(Assertion::End)
            }
            Some('(') => self.group(),
            Some('.') => {
                self.at += 1;
                let all = self.flags.dot_all;
                self.remark(start, if all { Remark::Everything } else { Remark::Dot });
                plain(Ast::Dot)
            }
            Some('[') => plain(self.class()?),
            Some('\\') if self.looking_at("\\b") => {
                self.at += 2;
                self.remark_border(start);
                assertion(Assertion::WordBoundary)
            }
            Some('\\') if self.looking_at("\\B") => {
                self.at += 2;
                self.remark(start, Remark::WordBorder(self.flags.ignore_case));
                assertion(Assertion::NotWordBoundary)
            }
            Some('\\') => plain(self.escape()?),
            Some('*' | '+' | '?') => Err(self.nothing_to_repeat()),
            Some('{') if self.braces()?.is_some() => Err(self.nothing_to_repeat()),
            Some(bracket @ ('{' | '}' | ']')) if self.flags.unicode => {
                let message = format!("a lone `{bracket}`; write `\\{bracket}` to mean the sign");
                Err(self.invalid("invalid.lone_bracket", &message))
            }
            _ => {
                let unit = self.source.get(self.at).copied().unwrap_or_default();
                self.remark_braces();
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
        self.compare_count(place, max.unwrap_or(min));
        if !quantifiable {
            let fault = "an assertion cannot be repeated; once says as much";
            return Err(PatternFault::invalid(
                "invalid.nothing_to_repeat",
                self.place(start),
                fault,
            ));
        }
        if self.take('?') {
            self.remark(place, Remark::Lazy);
        }
        if matches!(atom, Ast::Unit(_)) && self.is_second_half(start) {
            self.remark(self.whole(start), Remark::TwoUnits);
        }
        let again = matches!(self.peek(), Some('*' | '+' | '?'))
            || (self.peek() == Some('{') && self.braces()?.is_some());
        if again {
            let hint = if self.peek() == Some('+') {
                "possessive quantifiers do not exist in ECMAScript; this engine never backtracks, \
                 so leave the second `+` out"
            } else {
                "nothing to repeat: a quantifier after a quantifier; group the first one"
            };
            return Err(PatternFault::invalid(
                "invalid.nothing_to_repeat",
                self.place(place),
                hint,
            ));
        }
        Ok(Ast::Repeat { body: Box::new(atom), min, max })
    }

    /// Keeps the repeat from `start` to here if its count is the largest so far.
    fn compare_count(&mut self, start: usize, bound: Bound) {
        let count = if let Bound::Count(count) = bound { count } else { u32::MAX };
        if count > self.largest.as_ref().map_or(1, |largest| largest.count) {
            self.largest = Some(Largest { count, at: self.place(start), text: self.since(start) });
        }
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
            return Err(self.invalid(
                "invalid.repeat_order",
                "the counts are in the wrong order; write the smaller one first",
            ));
        }
        let max = high.map(bound).filter(|bound| *bound != Bound::Unreachable);
        Ok(Some((bound(low), max, end + 1)))
    }

    /// The next unit as a character; `None` at the end, and for a half.
    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn peek_at(&self, offset: usize) -> Option<char> {
        let unit = self.source.get(self.at + offset)?;
        Some(char::from_u32(*unit).unwrap_or('\u{FFFD}'))
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

    fn invalid(&self, slug: &'static str, message: &str) -> PatternFault {
        PatternFault::invalid(slug, self.place(self.at), message)
    }
}

fn is_digit(unit: u32) -> bool {
    (unit_of('0')..=unit_of('9')).contains(&unit)
}

/// Digits as a number that orders: length without leading zeros, then the digits.
fn magnitude(digits: &[u32]) -> (usize, &[u32]) {
    let zeros = digits.iter().take_while(|unit| **unit == unit_of('0')).count();
    let significant = digits.get(zeros..).unwrap_or_default();
    (significant.len(), significant)
}

fn bound(digits: &[u32]) -> Bound {
    let value = digits.iter().try_fold(0_u32, |value, unit| {
        value.checked_mul(10)?.checked_add(unit.saturating_sub(unit_of('0')))
    });
    match value {
        Some(count) if count < Bound::UNREACHABLE => Bound::Count(count),
        _ => Bound::Unreachable,
    }
}
