//! Which automata run a pattern.

use std::sync::{Arc, RwLock};

use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use super::fault::PatternFault;
use super::guard::Guarded;
use super::ir::{Body, Ir, Question};
use super::set::{LAST_POINT, UnitSet};
use crate::limits::Limits;

/// What a row of bytes takes at least in the automata of `regex-automata`, in bytes.
const SPELLING: usize = 24;

/// Parts in a row, and weight in all, up to which a pattern is looked through for literals to search
/// for: a searcher is built for each part, and nested parts are copied once for each level.
const PARTS: usize = 64;
const WEIGHT: usize = 8_000;

/// Bytes of a compiled pattern times bytes of a text from which `regex-automata` is not asked: it
/// may simulate, and cannot be stopped.
const HEAVY: usize = 1 << 33;

/// A compiled pattern, ready to run.
#[derive(Debug)]
pub(super) enum Engine {
    /// Sets and structure.
    Plain {
        regex: Regex,
        sticky: bool,
        /// Longer texts are left to `counted`.
        longest: usize,
        counted: Counted,
    },
    /// Guards too.
    Guarded(Box<Guarded>),
}

/// Ours beside `regex-automata`, made when the first long text comes; none where it is too large.
///
/// It is never waited for: a thread may be at it when its process forks, and is not there to finish
/// in the child. Whoever cannot have it makes one.
#[derive(Debug, Default)]
pub(super) struct Counted(RwLock<Option<Arc<Option<Guarded>>>>);

impl Counted {
    fn get_or_make(&self, make: impl FnOnce() -> Option<Guarded>) -> Arc<Option<Guarded>> {
        let known = self.0.try_read().ok().and_then(|known| known.clone());
        known.unwrap_or_else(|| {
            let made = Arc::new(make());
            if let Ok(mut slot) = self.0.try_write() {
                *slot = Some(Arc::clone(&made));
            }
            made
        })
    }
}

impl Engine {
    pub(super) fn new(body: &Body, sticky: bool, limits: &Limits) -> Result<Self, PatternFault> {
        let fits = |engine: &Self| engine.memory() <= limits.pattern_bytes;
        // Ours is the smaller form, so what does not fit there may still fit here.
        let may_fit = body.ir.spellings().saturating_mul(SPELLING) <= limits.pattern_bytes;
        let plain = if may_fit { searched(&body.ir, sticky) } else { None }
            .and_then(|hir| Self::plain(&hir, body.ir.weight() > WEIGHT, sticky, limits));
        if let Some(engine) = plain.filter(fits) {
            return Ok(engine);
        }
        let states = Limits::PATTERN_STATES;
        let guarded = Guarded::new(body, sticky, states).ok_or_else(|| {
            PatternFault::too_large(format!(
                "compiled, the pattern has more than {states} states; write smaller repeats"
            ))
        })?;
        let engine = Self::Guarded(Box::new(guarded));
        if fits(&engine) {
            return Ok(engine);
        }
        Err(PatternFault::too_large(format!(
            "compiled, the pattern is over the limit of {} bytes; write smaller repeats",
            limits.pattern_bytes
        )))
    }

    fn plain(hir: &Hir, is_heavy: bool, sticky: bool, limits: &Limits) -> Option<Self> {
        let config = Config::new()
            .utf8_empty(false)
            .which_captures(WhichCaptures::Implicit)
            .hybrid_cache_capacity(1 << 20)
            .nfa_size_limit(Some(limits.pattern_bytes));
        let config =
            if is_heavy || has_many_parts(hir) { only_prefix(config, hir) } else { config };
        let regex = Regex::builder().configure(config).build_from_hir(hir).ok()?;
        let longest = HEAVY / regex.memory_usage().max(1);
        Some(Self::Plain { regex, sticky, longest, counted: Counted::default() })
    }

    /// Whether the pattern is found in a text of whole units; `None` when finding out takes more
    /// than `work`. The pattern is given once more, as what was compiled.
    pub(super) fn is_match(&self, units: &[u8], body: &Body, work: usize) -> Option<bool> {
        match self {
            Self::Plain { sticky, longest, counted, .. } if units.len() > *longest => {
                let ours = || Guarded::new(body, *sticky, Limits::PATTERN_STATES);
                counted.get_or_make(ours).as_ref().as_ref()?.is_match(units, work)
            }
            Self::Plain { regex, sticky, .. } => {
                let anchored = if *sticky { Anchored::Yes } else { Anchored::No };
                let input = Input::new(units).anchored(anchored).earliest(true);
                // PERF: `is_match` would leave the lazy automata for good when a reverse scan fails.
                Some(regex.search_half(&input).is_some())
            }
            Self::Guarded(guarded) => guarded.is_match(units, work),
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain { .. })
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Plain { .. } => "plain",
            Self::Guarded(_) => "guarded",
        }
    }

    /// How many states there are in all, where that is known.
    pub(super) fn states(&self) -> Option<usize> {
        match self {
            Self::Plain { .. } => None,
            Self::Guarded(guarded) => Some(guarded.states()),
        }
    }

    /// Heap memory of the compiled form, in bytes; tables that grow while matching are bounded on
    /// their own.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Plain { regex, .. } => regex.memory_usage(),
            Self::Guarded(guarded) => guarded.memory(),
        }
    }
}

fn has_many_parts(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Concat(parts) if parts.len() > PARTS)
}

/// Searches for literals at the start of a match only.
fn only_prefix(config: Config, hir: &Hir) -> Config {
    let prefix = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir);
    config.auto_prefilter(false).prefilter(prefix)
}

/// What `regex-automata` searches for, if it can answer all that is asked; a sticky search is anchored.
pub(super) fn searched(ir: &Ir, sticky: bool) -> Option<Hir> {
    let hir = ir.to_hir()?;
    let inside_units =
        ir.asks(&|question, negated| negated && matches!(question, Question::WordBorder(_)));
    // A sticky match starts at the very start, which is a border of units.
    Some(if inside_units && !sticky { aligned(hir) } else { hir })
}

/// `\B` also holds between the bytes of one unit. Walking to the match in whole units keeps it
/// from starting there; once started, a match consumes whole units only.
fn aligned(hir: Hir) -> Hir {
    let before = Hir::repetition(Repetition {
        min: 0,
        max: None,
        greedy: false,
        sub: Box::new(UnitSet::everything(LAST_POINT).to_hir()),
    });
    Hir::concat(vec![Hir::look(Look::Start), before, hir])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_who_holds_ours() {
        let counted = Counted::default();
        let held = counted.0.write().unwrap();
        assert!(counted.get_or_make(|| None).is_none());
        drop(held);
        assert!(counted.get_or_make(|| None).is_none());
        let again = counted.get_or_make(|| panic!("it is kept"));
        assert!(again.is_none());
    }
}
