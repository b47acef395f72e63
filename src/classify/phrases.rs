//! Which of a few dozen phrases stands first in its table, of all that a text holds.

use aho_corasick::packed::{Config, Searcher};
use aho_corasick::{AhoCorasick, MatchKind, Span};

/// Bytes of a phrase that are looked for in its place.
const PART: usize = 4;

/// Lower-case letters from frequent to rare, roughly as in messages; what is not here is rarer.
const FREQUENT: &[u8] = b" etaoinsrhldcumfpgwybvkx";

/// Searches for all phrases at once.
///
/// Where the machine compares many bytes at a time, it looks for the rarest part of each phrase
/// and for the whole phrase only there: ordinary text has next to none of these parts.
#[derive(Debug)]
pub(super) struct Phrases {
    all: Vec<Box<[u8]>>,
    parts: Option<Parts>,
    /// For any machine; `None` only if it could not be built.
    automaton: Option<AhoCorasick>,
}

#[derive(Debug)]
struct Parts {
    searcher: Searcher,
    /// For each part, the phrases that have it and where in them, the first of the table first.
    owners: Vec<Vec<(usize, usize)>>,
}

impl Phrases {
    /// Takes phrases in lower case.
    pub(super) fn new<'a>(phrases: impl Iterator<Item = &'a [u8]>) -> Self {
        let all: Vec<Box<[u8]>> = phrases.map(Box::from).collect();
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&all);
        Self { parts: Parts::new(&all), all, automaton: automaton.ok() }
    }

    /// The least position in the table of the phrases in a text in lower case.
    ///
    /// # Complexity
    /// O(text).
    pub(super) fn first(&self, text: &[u8]) -> Option<usize> {
        match &self.parts {
            Some(parts) => parts.first(&self.all, text),
            None => self.first_by_automaton(text),
        }
    }

    fn first_by_automaton(&self, text: &[u8]) -> Option<usize> {
        let found = self.automaton.as_ref()?.find_overlapping_iter(text);
        found.map(|found| found.pattern().as_usize()).min()
    }
}

impl Parts {
    fn new(phrases: &[Box<[u8]>]) -> Option<Self> {
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut owners: Vec<Vec<(usize, usize)>> = Vec::new();
        for (place, phrase) in phrases.iter().enumerate() {
            let (offset, part) = rarest(phrase)?;
            let at = parts.iter().position(|known| *known == part).unwrap_or(parts.len());
            if at == parts.len() {
                parts.push(part);
                owners.push(Vec::new());
            }
            owners.get_mut(at)?.push((place, offset));
        }
        let searcher = Config::new().builder().extend(parts).build()?;
        Some(Self { searcher, owners })
    }

    /// All parts are of one length, so at most one begins anywhere, and every one is met.
    fn first(&self, phrases: &[Box<[u8]>], text: &[u8]) -> Option<usize> {
        let mut first = None;
        let mut span = Span::from(0..text.len());
        while let Some(found) = self.searcher.find_in(text, span) {
            let owners = self.owners.get(found.pattern().as_usize()).into_iter().flatten();
            for (place, offset) in owners {
                if first.is_none_or(|first| *place < first)
                    && let Some(start) = found.start().checked_sub(*offset)
                    && let (Some(rest), Some(phrase)) = (text.get(start..), phrases.get(*place))
                    && rest.starts_with(phrase)
                {
                    first = Some(*place);
                }
            }
            if first == Some(0) {
                break;
            }
            span.start = found.start() + 1;
        }
        first
    }
}

/// The part of a phrase that is least likely in a text, and where it stands.
fn rarest(phrase: &[u8]) -> Option<(usize, &[u8])> {
    let rank = |byte: &u8| FREQUENT.iter().position(|known| known == byte);
    let score = |part: &[u8]| -> usize {
        part.iter().map(|byte| rank(byte).unwrap_or(FREQUENT.len())).sum()
    };
    phrase.windows(PART).enumerate().max_by_key(|(offset, part)| (score(part), usize::MAX - offset))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const TABLE: [&str; 6] =
        ["rate limit", "quota", "javascript heap out of memory", "out of memory", "aaaa", "limits"];

    fn built() -> Phrases {
        Phrases::new(TABLE.iter().map(|phrase| phrase.as_bytes()))
    }

    proptest! {
        #[test]
        fn both_ways_of_searching_find_the_same(
            parts in vec(prop_oneof![select(&TABLE[..]).prop_map(str::to_owned), "[a-z ]{0,9}"], 0..9),
        ) {
            let (text, phrases) = (parts.concat(), built());
            let slow = TABLE.iter().position(|phrase| text.contains(phrase));
            prop_assert_eq!(phrases.first(text.as_bytes()), slow);
            prop_assert_eq!(phrases.first_by_automaton(text.as_bytes()), slow);
        }
    }

    #[test]
    fn the_rarest_part_stands_for_a_phrase() {
        assert_eq!(rarest(b"too many requests"), Some((9, &b"requ"[..])));
        assert_eq!(rarest(b"abc"), None);
    }
}
