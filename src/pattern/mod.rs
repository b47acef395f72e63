//! ECMAScript patterns in linear time: what `new RegExp(source, flags).test(text)` answers.
//!
//! Our own parser, lowered structure by structure to byte classes over generalised UTF-8, run by
//! finite automata. Without the flags `u` and `v` each UTF-16 code unit is spelled on its own. What
//! is not run is refused and never run with another meaning. Captures and positions are out of
//! scope.

mod ast;
mod backreference;
mod cache;
mod class;
mod engine;
mod explain;
mod fault;
mod fold;
mod guard;
mod ir;
mod lower;
mod many;
mod note;
mod parse;
mod property;
mod set;
mod small;
mod words;

pub use cache::compiled;
pub use explain::Explanation;
pub use fault::{FaultKind, PatternFault};
pub use many::Many;
pub use note::Note;

use std::borrow::Cow;

use ir::Body;

use crate::limits::Limits;
use crate::value::text::{code_points, code_units, in_units, length};

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    engine: engine::Engine,
    shortcut: small::Shortcut,
    /// What it was made of: other automata are made of it when they are needed.
    body: Body,
    sticky: bool,
    unicode: bool,
    memory: usize,
    text_bytes: usize,
    work: usize,
    hints: Box<[Note]>,
}

/// Why a text was not matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextFault {
    /// The text has more bytes than the limit.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Pattern and text together take too long.
    TooMuchWork {
        /// How many states may be looked at.
        limit: usize,
    },
}

impl std::fmt::Display for TextFault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong { bytes, limit } => {
                write!(out, "a text of {bytes} bytes, over the limit of {limit}")
            }
            Self::TooMuchWork { limit } => write!(
                out,
                "matching takes more than {limit} steps; write smaller repeats, or give less text"
            ),
        }
    }
}

/// The flags that change what is matched.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "flags are independent of each other")]
struct Flags {
    ignore_case: bool,
    multiline: bool,
    dot_all: bool,
    sticky: bool,
    /// `u` or `v`: code points, and the strict grammar.
    unicode: bool,
    /// `v`.
    unicode_sets: bool,
}

impl Pattern {
    /// Compiles a pattern; source and flags in generalised UTF-8.
    ///
    /// # Errors
    /// [`PatternFault`] saying whether it is not ECMAScript, not run here, or too large.
    pub fn compile(
        source: &[u8],
        flags: &[u8],
        limits: &Limits,
    ) -> Result<Self, Box<PatternFault>> {
        let flags = Flags::parse(flags)?;
        let parse::Source { ast, largest, remarks } = parsed(source, flags, limits)?;
        let body = lower::lower(&backreference::resolved(ast, flags.ignore_case), flags)?;
        let engine = engine::Engine::new(&body, flags.sticky, limits)
            .map_err(|fault| fault.because_of(largest))?;
        Ok(Self {
            memory: engine.memory() + body.ir.memory(),
            engine,
            shortcut: small::Shortcut::default(),
            // Lookarounds are in the engine, and in no other.
            body: Body { ir: body.ir, looks: Vec::new() },
            sticky: flags.sticky,
            work: limits.pattern_work,
            hints: note::first_hints(&remarks, flags),
            unicode: flags.unicode,
            text_bytes: limits.text_bytes,
        })
    }

    /// Whether the pattern is found in a text in generalised UTF-8.
    ///
    /// # Errors
    /// [`TextFault`] when the text is over the limit or out of what is run.
    ///
    /// # Complexity
    /// O(pattern × text).
    pub fn test(&self, text: &[u8]) -> Result<bool, TextFault> {
        self.accepts(text.len())?;
        if text.len() <= small::SHORT
            && let Some(found) = self.shortcut.find(text, || self.search())
        {
            return Ok(found);
        }
        let units = if self.unicode { Cow::Borrowed(text) } else { in_units(text) };
        self.finds(&units)
    }

    /// As [`Pattern::test`] for a text without characters above U+FFFF, which is not looked through
    /// for them: an answer that stands at its start takes no longer in a long text.
    ///
    /// # Errors
    /// As [`Pattern::test`].
    pub fn test_narrow(&self, text: &[u8]) -> Result<bool, TextFault> {
        self.accepts(text.len())?;
        self.finds(text)
    }

    fn search(&self) -> Option<small::Search> {
        let hir =
            self.engine.is_plain().then(|| engine::searched(&self.body.ir, self.sticky))??;
        Some(small::Search { hir, sticky: self.sticky, unicode: self.unicode })
    }

    fn finds(&self, units: &[u8]) -> Result<bool, TextFault> {
        let found = self.engine.is_match(units, &self.body, self.work);
        found.ok_or(TextFault::TooMuchWork { limit: self.work })
    }

    /// Whether a text of so many bytes is matched at all.
    fn accepts(&self, bytes: usize) -> Result<(), TextFault> {
        if bytes > self.text_bytes {
            return Err(TextFault::TooLong { bytes, limit: self.text_bytes });
        }
        Ok(())
    }

    /// The first parts that were probably meant otherwise; [`Pattern::explain`] has them all.
    pub fn hints(&self) -> &[Note] {
        &self.hints
    }

    /// Heap memory of the compiled form, in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }
}

/// Makes what [`is_valid`] looks up, so that no thread that asks it is ever in the midst of that: one
/// that is when its process forks would leave it unfinished in the child, where others wait for it.
pub fn make_ready() {
    for first in [true, false] {
        parse::letters(first);
    }
}

/// Whether a source compiles as ECMAScript without flags; `None` when it is over a limit or uses
/// what the parser does not know yet.
pub fn is_valid(source: &[u8], limits: &Limits) -> Option<bool> {
    match parsed(source, Flags::default(), limits) {
        Ok(_) => Some(true),
        Err(fault) if fault.kind == FaultKind::Invalid => Some(false),
        Err(_) => None,
    }
}

fn parsed(
    source: &[u8],
    flags: Flags,
    limits: &Limits,
) -> Result<parse::Source, Box<PatternFault>> {
    let characters = length(source);
    if characters > limits.pattern_characters {
        return Err(Box::new(PatternFault::too_large(format!(
            "{characters} characters, over the limit of {}",
            limits.pattern_characters
        ))));
    }
    let units: Vec<u32> = if flags.unicode {
        code_points(source).collect()
    } else {
        code_units(source).map(u32::from).collect()
    };
    Ok(parse::parse(&units, flags, limits.pattern_nesting)?)
}

impl Flags {
    /// The largest unit.
    fn last(self) -> u32 {
        if self.unicode { set::LAST_POINT } else { set::LAST_UNIT }
    }

    fn parse(flags: &[u8]) -> Result<Self, PatternFault> {
        let mut parsed = Self::default();
        let mut seen = Vec::new();
        for point in code_points(flags) {
            let letter = char::from_u32(point).unwrap_or('\u{FFFD}');
            match letter {
                'i' => parsed.ignore_case = true,
                'm' => parsed.multiline = true,
                's' => parsed.dot_all = true,
                'y' => parsed.sticky = true,
                'u' => parsed.unicode = true,
                'v' => (parsed.unicode, parsed.unicode_sets) = (true, true),
                // Neither changes the answer of a fresh test.
                'g' | 'd' => {}
                'x' | 'U' | 'a' | 'L' | 'A' | 'n' => {
                    return Err(PatternFault::flags(format!(
                        "flag \"{letter}\" belongs to another dialect; the flags are d g i m s u v y"
                    )));
                }
                _ => {
                    return Err(PatternFault::flags(format!(
                        "unknown flag \"{letter}\"; the flags are d g i m s u v y"
                    )));
                }
            }
            if seen.contains(&letter) {
                return Err(PatternFault::flags(format!("flag \"{letter}\" stands twice")));
            }
            seen.push(letter);
        }
        if seen.contains(&'u') && seen.contains(&'v') {
            return Err(PatternFault::flags("the flags u and v exclude each other"));
        }
        Ok(parsed)
    }
}
