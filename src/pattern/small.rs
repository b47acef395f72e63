//! Patterns of few states as one table, for short texts: other engines take longer to start.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson::{Compiler, Config, WhichCaptures};
use regex_automata::util::alphabet::Unit;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

/// The longest text, in bytes; in a longer one it pays to search for literals.
pub(super) const SHORT: usize = 32;
/// A table is made when a pattern was asked so often: it takes as long as some hundred answers.
const OFTEN: u32 = 100;
/// Entries of a table, at most.
const ENTRIES: usize = 1 << 12;
/// Bytes of the automaton that a table is made of, and of the states of it.
const BYTES: usize = 1 << 18;

/// The table of a pattern that is asked often.
#[derive(Debug, Default)]
pub(super) struct Shortcut {
    asked: AtomicU32,
    /// Held by who makes the table. It is never waited for: a thread may be at it when its process
    /// forks, and is not there to finish in the child.
    making: Mutex<()>,
    table: OnceLock<Option<Table>>,
}

impl Shortcut {
    /// The answer for a short text, where a table has it; `searched` is what is searched for.
    pub(super) fn find(
        &self,
        text: &[u8],
        searched: impl FnOnce() -> Option<Search>,
    ) -> Option<bool> {
        if let Some(table) = self.table.get() {
            return table.as_ref()?.find(text);
        }
        if self.asked.fetch_add(1, Ordering::Relaxed) >= OFTEN
            && let Ok(_making) = self.making.try_lock()
        {
            let table = searched().and_then(|search| Table::new(&search));
            self.table.get_or_init(|| table).as_ref()?.find(text)
        } else {
            None
        }
    }
}

/// What is searched for, and how.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) hir: Hir,
    pub(super) sticky: bool,
    pub(super) unicode: bool,
}

/// A deterministic automaton. Each state has a row: where the next one begins for each class of
/// bytes, and in the last two places for a byte it cannot read and for the end of the text.
#[derive(Debug)]
struct Table {
    classes: Box<[u8; 256]>,
    /// How many classes there are; the place of bytes that cannot be read.
    unread: u8,
    rows: Box<[u16]>,
}

/// Nothing that follows leads to a match.
const LOST: u16 = u16::MAX;
/// A match, whatever follows.
const FOUND: u16 = u16::MAX - 1;
/// The table does not tell.
const UNTOLD: u16 = u16::MAX - 2;

impl Table {
    /// `None` for too many states.
    fn new(search: &Search) -> Option<Self> {
        let config = Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(BYTES));
        let nfa = Compiler::new().configure(config).build_from_hir(&search.hir).ok()?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(BYTES)
            .skip_cache_capacity_check(true)
            // What is forgotten would be numbered anew.
            .minimum_cache_clear_count(Some(0));
        let automaton = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        let mut cache = automaton.create_cache();
        let anchored = if search.sticky { Anchored::Yes } else { Anchored::No };
        let start = Input::new(b"").anchored(anchored);
        let mut states = States {
            known: vec![automaton.start_state_forward(&mut cache, &start).ok()?],
            width: automaton.byte_classes().alphabet_len().checked_add(1)?,
        };
        let classes = automaton.byte_classes();
        let bytes: Vec<u8> = classes.representatives(..).filter_map(Unit::as_u8).collect();
        let (mut rows, mut at) = (Vec::new(), 0);
        while let Some(state) = states.known.get(at).copied() {
            for byte in &bytes {
                let next = automaton.next_state(&mut cache, state, *byte).ok()?;
                rows.push(states.place(next)?);
            }
            let end = automaton.next_eoi_state(&mut cache, state).ok()?;
            rows.extend([UNTOLD, if end.is_match() { FOUND } else { LOST }]);
            at += 1;
        }
        let unread = u8::try_from(bytes.len()).ok()?;
        // A character that takes four bytes is two units, which are spelled otherwise.
        let is_read = |byte: u8| search.unicode || byte < 0xF0;
        let class = |byte: u8| if is_read(byte) { classes.get(byte) } else { unread };
        let mut table = Self { classes: Box::new([unread; 256]), unread, rows: rows.into() };
        for (slot, byte) in table.classes.iter_mut().zip(0..=u8::MAX) {
            *slot = class(byte);
        }
        Some(table)
    }

    fn find(&self, text: &[u8]) -> Option<bool> {
        let mut state = 0;
        for byte in text {
            let class = self.classes.get(usize::from(*byte))?;
            match *self.rows.get(state + usize::from(*class))? {
                LOST => return Some(false),
                FOUND => return Some(true),
                UNTOLD => return None,
                next => state = usize::from(next),
            }
        }
        let end = state + usize::from(self.unread) + 1;
        self.rows.get(end).map(|told| *told == FOUND)
    }
}

/// The states of an automaton in the order of their rows.
struct States {
    known: Vec<LazyStateID>,
    width: usize,
}

impl States {
    /// Where the row of a state begins, or what it says already; `None` when there is no room.
    fn place(&mut self, state: LazyStateID) -> Option<u16> {
        if state.is_match() {
            return Some(FOUND);
        }
        if state.is_dead() {
            return Some(LOST);
        }
        if state.is_quit() {
            return Some(UNTOLD);
        }
        let known = self.known.iter().position(|known| *known == state);
        let place = known.unwrap_or(self.known.len()).checked_mul(self.width)?;
        if known.is_none() {
            self.known.push(state);
        }
        u16::try_from(place).ok().filter(|place| usize::from(*place) < ENTRIES)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::limits::Limits;
    use crate::pattern::compiled;

    /// Each with what a text that it suits is made of.
    const SOURCES: &[&str] = &[
        "",
        "^",
        "$",
        "^$",
        "a",
        "^ab",
        "ab$",
        "^ab$",
        "a|bc|",
        "[a-c]{3}",
        "^[^@\\s]+@ab\\.c$",
        "\\bab\\b",
        "\\Bb",
        "^\\w+\\b",
        "(?:ab)+c",
        "a*?b",
        "^.$",
        "^..$",
        "\\s",
        "[^a]",
        "é|😀",
        "^\\ud83d",
        "\\ude00$",
        "x{2,}y",
        "(?=b)ab",
        "(a)\\1",
        "^2\\.[0-9]+",
        "[]",
        "[^]",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_table_tells_what_the_engine_tells(
            source in select(SOURCES),
            flags in select(&["", "i", "u", "iu", "y", "m", "my", "s", "su"][..]),
            text in "(?:[abcAxy@. 0-9\n]|ab|abc|2\\.|\u{212A}|é|😀){0,9}",
        ) {
            let pattern = compiled(source.as_bytes(), flags.as_bytes(), &Limits::DEFAULT);
            let Ok(pattern) = pattern else { return Ok(()) };
            let units = if pattern.unicode { text.as_bytes().into() } else { crate::value::text::in_units(text.as_bytes()) };
            let expected = pattern.finds(&units);
            let table = pattern.search().and_then(|search| Table::new(&search));
            let told = table.as_ref().and_then(|table| table.find(text.as_bytes()));
            prop_assert!(told.is_none_or(|told| Ok(told) == expected), "{told:?}");
            let narrow = pattern.unicode || text.bytes().all(|byte| byte < 0xF0);
            prop_assert!(table.is_none() || !narrow || told.is_some());
        }
    }

    #[test]
    fn it_answers_from_some_time_on() {
        let pattern = compiled(b"^a+b$", b"", &Limits::DEFAULT).unwrap();
        for _ in 0..=OFTEN {
            assert_eq!([pattern.test(b"aab"), pattern.test(b"aa")], [Ok(true), Ok(false)]);
        }
        assert!(matches!(pattern.shortcut.table.get(), Some(Some(_))));
    }

    #[test]
    fn nobody_waits_for_who_makes_it() {
        let pattern = compiled(b"^a+b+$", b"", &Limits::DEFAULT).unwrap();
        let making = pattern.shortcut.making.lock().unwrap();
        assert!((0..=2 * OFTEN).all(|_| pattern.test(b"aab") == Ok(true)));
        assert!(pattern.shortcut.table.get().is_none());
        drop(making);
        assert_eq!(pattern.test(b"aab"), Ok(true));
        assert!(pattern.shortcut.table.get().is_some());
    }

    #[test]
    fn too_many_states_are_left_to_the_engine() {
        let pattern = compiled(b"a[ab]{12}c", b"", &Limits::DEFAULT).unwrap();
        assert!(Table::new(&pattern.search().unwrap()).is_none());
    }
}
