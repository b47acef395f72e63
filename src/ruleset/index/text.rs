//! Which of many texts a text starts with, ends with, or holds: all of them found in one go.

use aho_corasick::AhoCorasick;
use memchr::memmem;
use smallvec::SmallVec;

use crate::value::{Node, Read, Unreadable, View};

/// Positions of what was found, in order.
pub(super) type Hits = SmallVec<[u32; 4]>;

/// Texts in order, each with the longest other one that it starts with.
#[derive(Debug)]
pub(super) struct Heads {
    texts: Box<[Box<[u8]>]>,
    parents: Box<[Option<usize>]>,
}

impl Heads {
    /// Takes texts in order, each once.
    pub(super) fn new(texts: Box<[Box<[u8]>]>) -> Self {
        let mut open: Vec<usize> = Vec::new();
        let mut parents = Vec::with_capacity(texts.len());
        for (at, text) in texts.iter().enumerate() {
            while let Some(last) = open.last()
                && !texts.get(*last).is_some_and(|head| text.starts_with(head))
            {
                open.pop();
            }
            parents.push(open.last().copied());
            open.push(at);
        }
        Self { texts, parents: parents.into() }
    }

    pub(super) fn position(&self, text: &[u8]) -> Option<usize> {
        self.texts.binary_search_by(|known| (**known).cmp(text)).ok()
    }

    /// Those that the text starts with. The longest is the nearest one before it in order or one
    /// that this starts with: whatever stands between a head and the text has that head too.
    pub(super) fn find(&self, text: &[u8]) -> Hits {
        let after = self.texts.partition_point(|known| **known <= *text);
        let mut at = after.checked_sub(1);
        let mut hits = Hits::new();
        while let Some(position) = at {
            let known = self.texts.get(position);
            if !hits.is_empty() || known.is_some_and(|head| text.starts_with(head)) {
                hits.push(u32::try_from(position).unwrap_or(u32::MAX));
            }
            at = self.parents.get(position).copied().flatten();
        }
        hits.reverse();
        hits
    }
}

/// So many bytes are passed, at least, when one text is looked for alone, in the time that a hit takes.
const PASSED: usize = 256;
/// So many hits are never too many.
const FOUND: usize = 64;

/// Texts that are looked for inside of texts, and among the items of lists.
#[derive(Debug)]
pub(super) struct Parts {
    texts: Box<[Box<[u8]>]>,
    automaton: AhoCorasick,
}

impl Parts {
    /// Takes texts in order, each once; `None` when they are too many for an automaton.
    pub(super) fn new(texts: Box<[Box<[u8]>]>) -> Option<Self> {
        let automaton = AhoCorasick::new(&texts).ok()?;
        Some(Self { texts, automaton })
    }

    pub(super) fn position(&self, text: &[u8]) -> Option<usize> {
        self.texts.binary_search_by(|known| (**known).cmp(text)).ok()
    }

    /// Those that a text holds.
    pub(super) fn find(&self, text: &[u8]) -> Hits {
        let most = FOUND.saturating_add(text.len().saturating_mul(self.texts.len()) / PASSED);
        let mut hits = Hits::new();
        for (count, part) in self.automaton.find_overlapping_iter(text).enumerate() {
            if count == most {
                return self.one_by_one(text);
            }
            add(&mut hits, part.pattern().as_u32());
            if hits.len() == self.texts.len() {
                break;
            }
        }
        hits
    }

    /// As `find`; less work where the same texts come again and again.
    fn one_by_one(&self, text: &[u8]) -> Hits {
        let parts = (0..).zip(&self.texts);
        parts.filter(|(_, part)| memmem::find(text, part).is_some()).map(|(at, _)| at).collect()
    }

    /// Those that are items of a list; not when one of its items is no value or cannot be read,
    /// since then it matters where it stands.
    pub(super) fn items<N: Node>(&self, list: &N) -> Read<Hits> {
        let mut hits = Hits::new();
        list.any_item(&mut |item| {
            match item.view()? {
                View::String(text) => {
                    let found = self.position(text.as_bytes());
                    if let Some(at) = found.and_then(|at| u32::try_from(at).ok()) {
                        add(&mut hits, at);
                    }
                }
                View::Opaque(kind) => return Err(Unreadable::foreign(&kind)),
                _ => {}
            }
            Ok(false)
        })?;
        Ok(hits)
    }
}

/// Adds a hit in its place; what is found again and again takes no more room.
fn add(hits: &mut Hits, hit: u32) {
    if let Err(place) = hits.binary_search(&hit) {
        hits.insert(place, hit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_again_and_again_takes_no_more_room() {
        let texts = ["a", "aa", "aaa", "b"].map(|text| text.as_bytes().into());
        let parts = Parts::new(texts.into()).unwrap();
        let hits = parts.find(&b"a".repeat(100_000));
        assert_eq!(*hits, [0, 1, 2]);
        assert!(!hits.spilled());
    }
}
