//! From what a pattern says to what the engines run: sets of units and structure. Nothing is passed
//! on as pattern text.

use super::Flags;
use super::ast::{Assertion, Ast, Bound, ClassItem, GroupName};
use super::class::{Content, content, folded, range_count, string_count};
use super::fault::PatternFault;
use super::ir::{Beside, Body, Ir, Lookaround, Question, Word};
use super::set::UnitSet;

/// Most strings in all classes of a pattern together.
const STRINGS: usize = 10_000;

/// Most ranges in all classes of a pattern together.
const RANGES: usize = 100_000;

/// Units of a string that are read as a tree.
const DEPTH: usize = 16;

/// Lowers a parsed pattern.
pub(super) fn lower(ast: &Ast, flags: Flags) -> Result<Body, PatternFault> {
    let mut lowering = Lowering { looks: Vec::new(), strings: 0, ranges: 0 };
    let ir = lowering.lower(ast, flags)?;
    Ok(Body { ir, looks: lowering.looks })
}

struct Lowering {
    /// The lookarounds met so far in the body that is being lowered.
    looks: Vec<Lookaround>,
    /// The strings in classes met so far.
    strings: usize,
    /// The ranges in classes met so far.
    ranges: usize,
}

impl Lowering {
    fn lower(&mut self, ast: &Ast, flags: Flags) -> Result<Ir, PatternFault> {
        Ok(match ast {
            Ast::Empty => Ir::Empty,
            Ast::Unit(unit) => one(*unit, flags),
            Ast::Dot if flags.dot_all => Ir::Set(UnitSet::everything(flags.last())),
            Ast::Dot => Ir::Set(UnitSet::line_terminators().complement(flags.last())),
            Ast::Class { negated, items } => self.class(*negated, items, flags)?,
            Ast::Assert(assertion) => assert(*assertion, flags),
            Ast::Modified { change, body } => self.lower(body, change.applied(flags))?,
            Ast::Look { behind, negated, body } => self.look(*behind, *negated, body, flags)?,
            Ast::Group { body, .. } => self.lower(body, flags)?,
            Ast::Backreference { at, to } => {
                let name = match to {
                    GroupName::Number(number) => format!("\\{number}"),
                    GroupName::Name(name) => format!("\\k<{name}>"),
                };
                let message = format!(
                    "backreference {name} needs exponential time in general; compare the two \
                     parts with a separate check"
                );
                return Err(PatternFault::unsupported("unsupported.backreference", *at, message));
            }
            Ast::Concat(parts) => Ir::Concat(self.each(parts, flags)?),
            Ast::Alternate(branches) => Ir::Alternate(self.each(branches, flags)?),
            Ast::Repeat { body, min, max } => repeat(self.lower(body, flags)?, *min, *max)?,
        })
    }

    fn each(&mut self, parts: &[Ast], flags: Flags) -> Result<Vec<Ir>, PatternFault> {
        parts.iter().map(|part| self.lower(part, flags)).collect()
    }

    /// One unit of the class, or one of its strings.
    fn class(
        &mut self,
        negated: bool,
        items: &[ClassItem],
        flags: Flags,
    ) -> Result<Ir, PatternFault> {
        self.strings += items.iter().map(string_count).sum::<usize>();
        if self.strings > STRINGS {
            let message =
                format!("classes with more than {STRINGS} strings together; name fewer sets");
            return Err(PatternFault::too_large(message));
        }
        self.ranges += items.iter().map(range_count).sum::<usize>();
        if self.ranges > RANGES {
            let message =
                format!("classes with more than {RANGES} ranges together; name fewer sets");
            return Err(PatternFault::too_large(message));
        }
        let Content { set, strings } = content(negated, items, flags);
        if strings.is_empty() {
            return Ok(Ir::Set(set));
        }
        let strings: Vec<&[u32]> = strings.iter().map(Vec::as_slice).collect();
        Ok(Ir::Alternate(vec![Ir::Set(set), any_of(&strings, flags, DEPTH)]))
    }

    /// Numbers a lookaround, unless it comes down to something smaller.
    fn look(
        &mut self,
        behind: bool,
        negated: bool,
        body: &Ast,
        flags: Flags,
    ) -> Result<Ir, PatternFault> {
        let outer = std::mem::take(&mut self.looks);
        let ir = self.lower(body, flags)?;
        let looks = std::mem::replace(&mut self.looks, outer);
        if let Some(beside) = beside(&ir, behind) {
            return Ok(Ir::ask(Question::Beside(beside), negated));
        }
        Ok(match ir {
            Ir::Empty if negated => Ir::never(),
            Ir::Empty => Ir::Empty,
            // A question about the place itself looks in no direction. One about a lookaround
            // inside speaks of a number of this body.
            Ir::Ask { question, negated: inner } if looks.is_empty() => {
                Ir::ask(question, inner != negated)
            }
            ir => {
                self.looks.push(Lookaround { behind, body: Body { ir, looks } });
                Ir::ask(Question::Look(self.looks.len() - 1), negated)
            }
        })
    }
}

/// A body of one unit, or of one unit or the edge of the text on that side.
fn beside(ir: &Ir, behind: bool) -> Option<Beside> {
    let edge = if behind { Question::Start } else { Question::End };
    match ir {
        Ir::Set(set) => Some(Beside { behind, set: set.clone(), at_edge: false }),
        Ir::Ask { question, negated: false } if *question == edge => {
            Some(Beside { behind, set: UnitSet::default(), at_edge: true })
        }
        Ir::Alternate(branches) => {
            let each: Option<Vec<Beside>> =
                branches.iter().map(|branch| beside(branch, behind)).collect();
            let each = each?;
            Some(Beside {
                behind,
                at_edge: each.iter().any(|one| one.at_edge),
                set: UnitSet::new(each.iter().flat_map(|one| one.set.ranges().iter().copied())),
            })
        }
        _ => None,
    }
}

fn assert(assertion: Assertion, flags: Flags) -> Ir {
    let line = |behind| {
        Question::Beside(Beside { behind, set: UnitSet::line_terminators(), at_edge: true })
    };
    // There U+017F and U+212A are word characters too.
    let word = if flags.unicode && flags.ignore_case { Word::Folded } else { Word::Ascii };
    let (question, negated) = match assertion {
        Assertion::Start if flags.multiline => (line(true), false),
        Assertion::End if flags.multiline => (line(false), false),
        Assertion::Start => (Question::Start, false),
        Assertion::End => (Question::End, false),
        Assertion::WordBoundary => (Question::WordBorder(word), false),
        Assertion::NotWordBoundary => (Question::WordBorder(word), true),
    };
    Ir::ask(question, negated)
}

fn one(unit: u32, flags: Flags) -> Ir {
    Ir::Set(folded(&UnitSet::new([(unit, unit)]), flags))
}

/// Any of sorted strings: what begins alike is said once, and so are ends that are the same. Only
/// so many units deep, as what is made is nested as deep.
fn any_of(strings: &[&[u32]], flags: Flags, depth: usize) -> Ir {
    let row = |string: &[u32]| match string {
        [] => Ir::Empty,
        [unit] => one(*unit, flags),
        units => Ir::Concat(units.iter().map(|unit| one(*unit, flags)).collect()),
    };
    if let ([_], _) | (_, 0) = (strings, depth) {
        return Ir::Alternate(strings.iter().map(|string| row(string)).collect());
    }
    let mut branches: Vec<(Ir, Vec<(u32, u32)>)> = Vec::new();
    let mut ends = Vec::new();
    for group in strings.chunk_by(|string, next| string.first() == next.first()) {
        let Some(first) = group.first().and_then(|string| string.first()).copied() else {
            ends.push(Ir::Empty);
            continue;
        };
        let tails: Vec<&[u32]> = group.iter().filter_map(|string| string.get(1..)).collect();
        let tail = any_of(&tails, flags, depth - 1);
        match branches.iter_mut().find(|(other, _)| *other == tail) {
            Some((_, units)) => units.push((first, first)),
            None => branches.push((tail, vec![(first, first)])),
        }
    }
    let branches = branches
        .into_iter()
        .map(|(tail, units)| Ir::Concat(vec![Ir::Set(folded(&UnitSet::new(units), flags)), tail]));
    Ir::Alternate(branches.chain(ends).collect())
}

/// Laziness does not change whether there is a match. A minimum that no text can reach matches
/// only where the body can be empty.
fn repeat(body: Ir, min: Bound, max: Option<Bound>) -> Result<Ir, PatternFault> {
    if max == Some(Bound::Count(0)) {
        return Ok(Ir::Empty);
    }
    // Never longer than empty: one turn says as much as any number of them.
    if body.is_only_empty() {
        return Ok(if min == Bound::Count(0) { Ir::Empty } else { body });
    }
    let min = match min {
        Bound::Count(count) => count,
        Bound::Unreachable if !body.can_be_empty() => return Ok(Ir::never()),
        Bound::Unreachable if !body.asks(&|_, _| true) => 0,
        Bound::Unreachable => {
            let message = "a repeat of at least 2^31 - 1 turns over something that is empty only \
                           in places; write a smaller count";
            return Err(PatternFault::too_large(message));
        }
    };
    let max = match max {
        Some(Bound::Count(count)) => Some(count),
        Some(Bound::Unreachable) | None => None,
    };
    Ok(Ir::Repeat { body: Box::new(body), min, max })
}
