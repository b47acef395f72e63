//! What a pattern became: for a person who wonders what it means here.

use super::ast::Ast;
use super::note::Note;
use super::{Flags, Pattern, PatternFault, backreference, parsed};
use crate::limits::Limits;

/// How a pattern is run, and how its parts are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// `plain`, or `guarded` for what asks about places in ways of its own.
    pub engine: &'static str,
    /// States of our own automata.
    pub states: Option<usize>,
    /// Memory of the compiled form, as its limit counts it.
    pub bytes: usize,
    /// Lookarounds in the source.
    pub lookarounds: usize,
    /// In the order of the source.
    pub notes: Vec<Note>,
}

impl Pattern {
    /// Explains the pattern that was compiled from this source with these flags.
    ///
    /// # Errors
    /// [`PatternFault`] as [`Pattern::compile`].
    pub fn explain(
        &self,
        source: &[u8],
        flags: &[u8],
        limits: &Limits,
    ) -> Result<Explanation, Box<PatternFault>> {
        let flags = Flags::parse(flags)?;
        let parsed = parsed(source, flags, limits)?;
        let by_cases = backreference::places_of_values(&parsed.ast);
        let mut notes: Vec<Note> = parsed
            .remarks
            .into_iter()
            .map(|(place, remark)| Note::of(place, remark, flags, by_cases.contains(&place.0)))
            .collect();
        notes.sort_by_key(|note| (note.start, note.end));
        Ok(Explanation {
            engine: self.engine.name(),
            states: self.engine.states(),
            bytes: self.engine.memory(),
            lookarounds: lookarounds(&parsed.ast),
            notes,
        })
    }
}

fn lookarounds(ast: &Ast) -> usize {
    let mut count = usize::from(matches!(ast, Ast::Look { .. }));
    ast.each_part(&mut |part| count += lookarounds(part));
    count
}
