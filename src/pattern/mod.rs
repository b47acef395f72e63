//! ECMAScript patterns in linear time: what `new RegExp(source, flags).test(text)` answers.
//!
//! Our own parser, lowered structure by structure to byte classes over generalised UTF-8, run by
//! finite automata. Without the flags `u` and `v` each UTF-16 code unit is spelled on its own. What is not run is refused
//! and never run with another meaning. Captures and positions are out of scope.

mod ast;
mod cache;
mod class;
mod fault;
mod fold;
mod lower;
mod parse;
mod property;
mod set;

use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::{Anchored, Input};

pub use cache::compiled;
pub use fault::{FaultKind, PatternFault};

use crate::limits::Limits;
use crate::value::text::{code_points, code_units, length, push_code_point};

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
    sticky: bool,
    unicode: bool,
    line_assertions: bool,
    memory: usize,
    text_bytes: usize,
    work: usize,
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
    /// Pattern and text together would take too long.
    TooMuchWork {
        /// Bytes of the pattern times bytes of the text.
        work: usize,
        /// The limit.
        limit: usize,
    },
    /// A line assertion and a line terminator other than LF.
    LineTerminator,
}

impl std::fmt::Display for TextFault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong { bytes, limit } => {
                write!(out, "a text of {bytes} bytes, over the limit of {limit}")
            }
            Self::TooMuchWork { work, limit } => write!(
                out,
                "pattern times text is {work} bytes squared, over the limit of {limit}; write \
                 smaller repeats"
            ),
            Self::LineTerminator => out.write_str(
                "`^` or `$` with the flag m on a text with CR, U+2028 or U+2029 is not supported \
                 yet; split the text into lines",
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
        let ast = parsed(source, flags, limits)?;
        let lowered = lower::lower(&ast, flags)?;
        let config = Config::new()
            .utf8_empty(false)
            .which_captures(WhichCaptures::None)
            .hybrid_cache_capacity(1 << 20)
            .nfa_size_limit(Some(limits.pattern_bytes));
        let regex = Regex::builder().configure(config).build_from_hir(&lowered.hir);
        let regex = regex.map_err(|_| {
            PatternFault::too_large(format!(
                "compiled, the pattern is over the limit of {} bytes; write smaller repeats",
                limits.pattern_bytes
            ))
        })?;
        // What is compiled so far; tables that grow while matching are bounded on their own.
        let memory = regex.memory_usage();
        Ok(Self {
            regex,
            memory,
            work: limits.pattern_work,
            sticky: flags.sticky,
            unicode: flags.unicode,
            line_assertions: lowered.line_assertions,
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
        if text.len() > self.text_bytes {
            return Err(TextFault::TooLong { bytes: text.len(), limit: self.text_bytes });
        }
        let work = self.memory.saturating_mul(text.len());
        if work > self.work {
            return Err(TextFault::TooMuchWork { work, limit: self.work });
        }
        if self.line_assertions && has_other_line_terminator(text) {
            return Err(TextFault::LineTerminator);
        }
        // Code points are spelled as they are. Of code units a character above U+FFFF is two, each
        // spelled on its own.
        if !self.unicode && text.iter().any(|byte| *byte >= 0xF0) {
            let mut units = Vec::with_capacity(text.len() * 3 / 2);
            for unit in code_units(text) {
                push_code_point(&mut units, u32::from(unit));
            }
            return Ok(self.found(&units));
        }
        Ok(self.found(text))
    }

    fn found(&self, units: &[u8]) -> bool {
        let anchored = if self.sticky { Anchored::Yes } else { Anchored::No };
        self.regex.is_match(Input::new(units).anchored(anchored))
    }

    /// Heap memory of the compiled form, in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }
}

fn has_other_line_terminator(text: &[u8]) -> bool {
    memchr::memchr(b'\r', text).is_some()
        || memchr::memmem::find(text, "\u{2028}".as_bytes()).is_some()
        || memchr::memmem::find(text, "\u{2029}".as_bytes()).is_some()
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

fn parsed(source: &[u8], flags: Flags, limits: &Limits) -> Result<ast::Ast, Box<PatternFault>> {
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
