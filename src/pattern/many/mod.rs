//! Many patterns over one text.
//!
//! One automaton of all is run, which stands for each pattern exactly, or for more than it where its
//! questions about places have to be left out; those are asked again on their own.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{Compiler, Config, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::{Input, MatchKind, PatternSet};
use regex_syntax::hir::{Hir, Look};

use super::engine::searched;
use super::{Pattern, TextFault};
use crate::bits::Bits;
use crate::value::text::in_units;

/// Rows of bytes in one pattern and in all that share an automaton, and the bytes that it takes; what is
/// larger is asked on its own.
const SPELLINGS: usize = 1 << 10;
const ALL_SPELLINGS: usize = 1 << 17;
const BYTES: usize = 16 << 20;

/// Bytes of the tables of one thread. When they are full so often, and each time after few bytes of text
/// for each state, the patterns are asked one by one.
const TABLES: usize = 4 << 20;
const CLEARS: usize = 3;
const BYTES_A_STATE: usize = 10;

/// Compiled patterns that are asked about the same texts.
#[derive(Debug)]
pub struct Many {
    patterns: Box<[Arc<Pattern>]>,
    sets: Vec<Set>,
    /// The patterns that are in no set.
    alone: Box<[usize]>,
    /// The longest text that none refuses.
    text_bytes: usize,
}

/// Patterns of which one automaton is made.
#[derive(Debug)]
struct Set {
    /// Their places, and whether the automaton answers for them exactly.
    members: Vec<(usize, bool)>,
    unicode: bool,
    automaton: DFA,
    pool: Pool<Scratch, Create>,
}

type Create = Box<dyn Fn() -> Scratch + Send + Sync + UnwindSafe + RefUnwindSafe>;

#[derive(Debug)]
struct Scratch {
    cache: Cache,
    found: PatternSet,
}

impl Many {
    /// Fewer patterns are asked one by one sooner.
    pub const FEWEST: usize = 12;

    /// Prepares patterns, which are known by their places.
    pub fn new(patterns: &[Arc<Pattern>]) -> Self {
        let sets: Vec<Set> =
            [false, true].iter().filter_map(|unicode| Set::new(patterns, *unicode)).collect();
        let mut together = Bits::default();
        together.reset(patterns.len());
        for (number, _) in sets.iter().flat_map(|set| &set.members) {
            together.insert(*number);
        }
        let text_bytes = patterns.iter().map(|pattern| pattern.text_bytes).min();
        Self {
            alone: (0..patterns.len()).filter(|number| !together.contains(*number)).collect(),
            patterns: patterns.into(),
            sets,
            text_bytes: text_bytes.unwrap_or(usize::MAX),
        }
    }

    /// The place of a pattern.
    pub fn position(&self, pattern: &Arc<Pattern>) -> Option<usize> {
        self.patterns.iter().position(|known| Arc::ptr_eq(known, pattern))
    }

    /// Puts the places of the patterns that are found in a text in generalised UTF-8 into `found`.
    ///
    /// # Errors
    /// [`TextFault`] when a pattern refuses the text; then each has to be asked on its own.
    ///
    /// # Complexity
    /// O(patterns × text); O(text) once the tables know what stands in it.
    pub fn which(&self, text: &[u8], found: &mut Bits) -> Result<(), TextFault> {
        found.reset(self.patterns.len());
        if text.len() > self.text_bytes {
            self.patterns.iter().try_for_each(|pattern| pattern.accepts(text.len()))?;
        }
        let mut question = Question { many: self, text, units: None, found };
        for number in &self.alone {
            question.ask(*number)?;
        }
        for set in &self.sets {
            set.which(&mut question)?;
        }
        Ok(())
    }
}

impl Set {
    /// An automaton of the patterns of one kind; `None` when it is too small or too large to be worth it.
    fn new(patterns: &[Arc<Pattern>], unicode: bool) -> Option<Self> {
        let (mut members, mut hirs, mut room) = (Vec::new(), Vec::new(), ALL_SPELLINGS);
        for (number, pattern) in patterns.iter().enumerate() {
            let spellings = pattern.body.ir.spellings();
            let Some(left) = room.checked_sub(spellings) else { continue };
            if pattern.unicode != unicode || spellings > SPELLINGS {
                continue;
            }
            let Some((hir, is_exact)) = in_set(pattern) else { continue };
            room = left;
            members.push((number, is_exact));
            hirs.push(hir);
        }
        let automaton =
            if members.len() >= Many::FEWEST { automaton(&hirs)? } else { return None };
        let (count, shared) = (members.len(), automaton.clone());
        let create: Create = Box::new(move || Scratch {
            cache: shared.create_cache(),
            found: PatternSet::new(count),
        });
        Some(Self { members, unicode, automaton, pool: Pool::new(create) })
    }

    /// Answers for the patterns of the set.
    fn which(&self, question: &mut Question<'_>) -> Result<(), TextFault> {
        let mut scratch = self.pool.get();
        let Scratch { cache, found } = &mut *scratch;
        found.clear();
        let input = Input::new(question.spelled(self.unicode));
        if self.automaton.try_which_overlapping_matches(cache, &input, found).is_err() {
            return self.members.iter().try_for_each(|(number, _)| question.ask(*number));
        }
        for (number, is_exact) in found.iter().filter_map(|each| self.members.get(each.as_usize()))
        {
            if *is_exact {
                question.found.insert(*number);
            } else {
                question.ask(*number)?;
            }
        }
        Ok(())
    }
}

/// What stands for a pattern in a set, and whether it does exactly.
fn in_set(pattern: &Pattern) -> Option<(Hir, bool)> {
    let exact = searched(&pattern.body.ir, pattern.sticky);
    let is_exact = exact.is_some();
    let hir = exact.or_else(|| pattern.body.ir.to_wider_hir())?;
    Some((
        if pattern.sticky { Hir::concat(vec![Hir::look(Look::Start), hir]) } else { hir },
        is_exact,
    ))
}

fn automaton(hirs: &[Hir]) -> Option<DFA> {
    let config =
        Config::new().utf8(false).which_captures(WhichCaptures::None).nfa_size_limit(Some(BYTES));
    let nfa = Compiler::new().configure(config).build_many_from_hir(hirs).ok()?;
    let config = DFA::config()
        .match_kind(MatchKind::All)
        .cache_capacity(TABLES)
        .minimum_cache_clear_count(Some(CLEARS))
        .minimum_bytes_per_state(Some(BYTES_A_STATE));
    DFA::builder().configure(config).build_from_nfa(nfa).ok()
}

/// One text, and what is known of it.
struct Question<'a> {
    many: &'a Many,
    text: &'a [u8],
    /// Its spelling in code units, once a pattern needs it.
    units: Option<Cow<'a, [u8]>>,
    found: &'a mut Bits,
}

impl Question<'_> {
    fn spelled(&mut self, unicode: bool) -> &[u8] {
        let text = self.text;
        if unicode { text } else { self.units.get_or_insert_with(|| in_units(text)) }
    }

    /// Asks one pattern on its own.
    fn ask(&mut self, number: usize) -> Result<(), TextFault> {
        let Some(pattern) = self.many.patterns.get(number) else { return Ok(()) };
        if pattern.finds(self.spelled(pattern.unicode))? {
            self.found.insert(number);
        }
        Ok(())
    }
}
