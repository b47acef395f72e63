//! From what a pattern says to what the engine runs: sets of units as byte classes, structure by
//! structure. Nothing is passed on as pattern text.

use regex_syntax::hir::{Hir, Look, Repetition};

use super::Flags;
use super::ast::{Assertion, Ast, Bound, ClassItem};
use super::class::{content, folded};
use super::fault::PatternFault;
use super::set::UnitSet;

/// A lowered pattern and what a text must be for it.
pub(super) struct Lowered {
    pub(super) hir: Hir,
    /// `^` or `$` with `m`: the engine knows only LF, so a text with CR, U+2028 or U+2029 is out.
    pub(super) line_assertions: bool,
}

/// Lowers a parsed pattern.
pub(super) fn lower(ast: &Ast, flags: Flags) -> Result<Lowered, PatternFault> {
    let mut lowering = Lowering { line_assertions: false, inside_units: false };
    let hir = lowering.lower(ast, flags)?;
    // A sticky match starts at the very start, which is a border of units.
    let hir = if lowering.inside_units && !flags.sticky { aligned(hir, flags) } else { hir };
    Ok(Lowered { hir, line_assertions: lowering.line_assertions })
}

/// `\B` also holds between the bytes of one unit. Walking to the match in whole units keeps it
/// from starting there; once started, a match consumes whole units only.
fn aligned(hir: Hir, flags: Flags) -> Hir {
    let before = Hir::repetition(Repetition {
        min: 0,
        max: None,
        greedy: false,
        sub: Box::new(UnitSet::everything(flags.last()).to_hir()),
    });
    Hir::concat(vec![Hir::look(Look::Start), before, hir])
}

struct Lowering {
    line_assertions: bool,
    inside_units: bool,
}

impl Lowering {
    fn lower(&mut self, ast: &Ast, flags: Flags) -> Result<Hir, PatternFault> {
        Ok(match ast {
            Ast::Empty => Hir::empty(),
            Ast::Unit(unit) => one(*unit, flags),
            Ast::Dot if flags.dot_all => UnitSet::everything(flags.last()).to_hir(),
            Ast::Dot => UnitSet::line_terminators().complement(flags.last()).to_hir(),
            Ast::Class { negated, items } => class(*negated, items, flags)?,
            Ast::Assert(assertion) => self.assertion(*assertion, flags)?,
            Ast::Modified { change, body } => {
                let flags = Flags {
                    ignore_case: change.ignore_case.unwrap_or(flags.ignore_case),
                    multiline: change.multiline.unwrap_or(flags.multiline),
                    dot_all: change.dot_all.unwrap_or(flags.dot_all),
                    ..flags
                };
                self.lower(body, flags)?
            }
            Ast::Look { at, what } => {
                let message = format!("{what} is not supported yet; write it as a separate check");
                return Err(PatternFault::unsupported("unsupported.lookaround", *at, message));
            }
            Ast::Backreference { at, name } => {
                let message = format!(
                    "backreference {name} needs exponential time in general; compare the two \
                     parts with a separate check"
                );
                return Err(PatternFault::unsupported("unsupported.backreference", *at, message));
            }
            Ast::Concat(parts) => Hir::concat(self.each(parts, flags)?),
            Ast::Alternate(branches) => Hir::alternation(self.each(branches, flags)?),
            Ast::Repeat { body, min, max } => repeat(self.lower(body, flags)?, *min, *max)?,
        })
    }

    fn each(&mut self, parts: &[Ast], flags: Flags) -> Result<Vec<Hir>, PatternFault> {
        parts.iter().map(|part| self.lower(part, flags)).collect()
    }

    fn assertion(&mut self, assertion: Assertion, flags: Flags) -> Result<Hir, PatternFault> {
        Ok(Hir::look(match (assertion, flags.multiline) {
            (Assertion::Start, false) => Look::Start,
            (Assertion::End, false) => Look::End,
            (Assertion::Start, true) => {
                self.line_assertions = true;
                Look::StartLF
            }
            (Assertion::End, true) => {
                self.line_assertions = true;
                Look::EndLF
            }
            // There U+017F and U+212A are word characters, of which the engine does not know.
            (Assertion::WordBoundary | Assertion::NotWordBoundary, _)
                if flags.unicode && flags.ignore_case =>
            {
                return Err(PatternFault::word_boundary());
            }
            (Assertion::WordBoundary, _) => Look::WordAscii,
            (Assertion::NotWordBoundary, _) => {
                self.inside_units = true;
                Look::WordAsciiNegate
            }
        }))
    }
}

fn one(unit: u32, flags: Flags) -> Hir {
    folded(&UnitSet::new([(unit, unit)]), flags).to_hir()
}

/// One unit of the class, or one of its strings.
fn class(negated: bool, items: &[ClassItem], flags: Flags) -> Result<Hir, PatternFault> {
    let content = content(negated, items, flags)?;
    let string =
        |string: &Vec<u32>| Hir::concat(string.iter().map(|unit| one(*unit, flags)).collect());
    let strings = content.strings.iter().map(string);
    Ok(Hir::alternation(strings.chain([content.set.to_hir()]).collect()))
}

/// Laziness does not change whether there is a match. A minimum that no text can reach matches
/// only where the body can be empty.
fn repeat(body: Hir, min: Bound, max: Option<Bound>) -> Result<Hir, PatternFault> {
    let properties = body.properties();
    let min = match min {
        Bound::Count(count) => count,
        Bound::Unreachable if properties.minimum_len() != Some(0) => return Ok(Hir::fail()),
        // Never longer than empty: one turn says as much as any number of them.
        Bound::Unreachable if properties.maximum_len() == Some(0) => 1,
        Bound::Unreachable if properties.look_set().is_empty() => 0,
        Bound::Unreachable => {
            let message = "a repeat of at least 2^31 turns over something that is empty only in \
                           places; write a smaller count";
            return Err(PatternFault::too_large(message));
        }
    };
    let max = match max {
        Some(Bound::Count(count)) => Some(count),
        Some(Bound::Unreachable) | None => None,
    };
    Ok(Hir::repetition(Repetition { min, max, greedy: true, sub: Box::new(body) }))
}
