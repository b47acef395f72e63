//! Which of a few dozen phrases stands first in its table, of all that a text holds.

use std::iter;

/// Bytes of a phrase that stand for it, and how many of them begin next to each other: one of
/// them is met where a text is read in steps of that many.
const PART: usize = 4;
const STEP: usize = 4;
const RUN: usize = PART + STEP - 1;
/// How many parts of a text are looked at at once.
const GROUP: usize = 64;
/// How many hashes are told apart while a text is read.
const HASHES: usize = 1 << 14;
/// Among how many lists the parts are dealt.
const OWNERS: usize = 1 << 10;

/// Letters from frequent to rare, roughly as in messages; what is not here is rarer.
const FREQUENT: &[u8] = b" etaoinsrhldcumfpgwybvkx";
/// Words that messages of every kind hold: a part of one tells little.
const EVERYWHERE: &[u8] = b" the error request response connection server service message \
    failed calling reading returned with command file and from invalid ";

/// Searches for all phrases at once, ASCII case ignored.
///
/// Looks for the rarest parts of each phrase, and for the whole phrase only where it meets one:
/// ordinary text has next to none of these parts. An automaton takes twice as long, because each
/// of its steps has to wait for the one before.
#[derive(Debug)]
pub(super) struct Phrases {
    all: Vec<Box<[u8]>>,
    /// 1 for each hash of a part.
    seen: Box<[u8; HASHES]>,
    /// By the low bits of a hash: the hash of a part, a phrase, and how far after the beginning
    /// of the phrase the part stands, plus one.
    owners: Vec<Vec<(u16, usize, usize)>>,
}

impl Phrases {
    /// Takes phrases of at least five bytes in lower case.
    pub(super) fn new<'a>(phrases: impl Iterator<Item = &'a [u8]>) -> Self {
        let all: Vec<Box<[u8]>> = phrases.map(Box::from).collect();
        let mut seen = Box::new([0; HASHES]);
        let mut owners = vec![Vec::new(); OWNERS];
        for (place, phrase) in all.iter().enumerate() {
            for (part, after) in parts(phrase) {
                let hash = hash(part);
                if let Some(seen) = seen.get_mut(usize::from(hash >> 2)) {
                    *seen = 1;
                }
                if let Some(owners) = owners.get_mut(usize::from(hash) % OWNERS) {
                    owners.push((hash, place, after));
                }
            }
        }
        Self { all, seen, owners }
    }

    /// The least position in the table of the phrases in a text.
    ///
    /// # Complexity
    /// O(text).
    pub(super) fn first(&self, text: &[u8]) -> Option<usize> {
        let mut first = None;
        let (parts, rest) = text.as_chunks();
        for (group, parts) in parts.chunks(GROUP).enumerate() {
            // A bit for each part: nothing is decided, so nothing is guessed, before all are seen.
            let mut met = parts.iter().rev().fold(0, |met, part| met << 1 | self.seen(hash(*part)));
            while met != 0 {
                let at = (group * GROUP + met.trailing_zeros() as usize) * STEP;
                first = self.better(text, at, first);
                met &= met - 1;
            }
            if first == Some(0) {
                return first;
            }
        }
        match text.len().checked_sub(PART) {
            Some(last) if !rest.is_empty() => self.better(text, last, first),
            _ => first,
        }
    }

    /// 1 when a part of that hash may be looked for, else 0.
    fn seen(&self, hash: u16) -> u64 {
        self.seen.get(usize::from(hash >> 2)).copied().unwrap_or(0).into()
    }

    /// The least position of `first` and of the phrases that have the part at a place of a text
    /// and stand there.
    fn better(&self, text: &[u8], at: usize, first: Option<usize>) -> Option<usize> {
        let part = text.get(at..).and_then(<[u8]>::first_chunk);
        let hash = part.map_or(0, |part| hash(*part));
        let owners = self.owners.get(usize::from(hash) % OWNERS).map_or(&[][..], |owners| owners);
        owners.iter().fold(first, |first, (known, place, after)| {
            let better = *known == hash && first.is_none_or(|first| *place < first);
            let stands = better && self.stands(text, *place, (at + 1).checked_sub(*after));
            if stands { Some(*place) } else { first }
        })
    }

    fn stands(&self, text: &[u8], place: usize, start: Option<usize>) -> bool {
        let phrase = self.all.get(place).map_or(&[][..], |phrase| phrase);
        let there = start.and_then(|start| text.get(start..start + phrase.len()));
        there.is_some_and(|there| there.eq_ignore_ascii_case(phrase))
    }
}

/// A place among 65,536, upper and lower case alike (Knuth, multiplicative hashing); some signs
/// are alike too, which is no harm.
fn hash(part: [u8; PART]) -> u16 {
    let folded = u32::from_le_bytes(part) | 0x2020_2020;
    let [high, low, ..] = folded.wrapping_mul(0x9E37_79B1).to_be_bytes();
    u16::from_be_bytes([high, low])
}

/// The parts that stand for a phrase, and how far after its beginning, plus one.
fn parts(phrase: &[u8]) -> Vec<([u8; PART], usize)> {
    // One letter before and after it may be any.
    let letters = phrase.iter().copied().map(Some);
    let letters: Vec<_> = iter::once(None).chain(letters).chain([None]).collect();
    let runs = letters.windows(RUN).enumerate();
    let Some((start, run)) = runs.max_by_key(|(_, run)| rarity(run)) else { return Vec::new() };
    let parts = run.windows(PART).zip(start..);
    parts
        .flat_map(|(part, after)| spelled(part).into_iter().map(move |part| (part, after)))
        .collect()
}

/// All that a part can be.
fn spelled(part: &[Option<u8>]) -> Vec<[u8; PART]> {
    let mut all = vec![[0; PART]];
    for (at, letter) in part.iter().enumerate() {
        // Of two letters that are alike, one is enough.
        let letters = letter.map_or(0..=u8::MAX, |letter| letter..=letter);
        let letters = letters.filter(|any| letter.is_some() || any & 0x20 != 0);
        let with = |part: &[u8; PART], letter| {
            let mut part = *part;
            part.iter_mut().skip(at).take(1).for_each(|place| *place = letter);
            part
        };
        all = all
            .iter()
            .flat_map(|part| letters.clone().map(move |letter| with(part, letter)))
            .collect();
    }
    all
}

/// How rare the parts of a run are: the rarer, the more.
fn rarity(run: &[Option<u8>]) -> (usize, usize, usize) {
    let known: Vec<u8> = run.iter().copied().flatten().collect();
    let everywhere = |part: &[u8]| EVERYWHERE.windows(PART).any(|other| other == part);
    let telling = known.windows(PART).filter(|part| !everywhere(part)).count();
    let rare = |letter: &u8| FREQUENT.iter().position(|known| known == letter);
    let rare = known.iter().map(|letter| rare(letter).unwrap_or(FREQUENT.len())).sum();
    (known.len(), telling, rare)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const TABLE: [&str; 8] = [
        "rate_l",
        "rate limit",
        "quota",
        "javascript heap out of memory",
        "out of memory",
        "aaaaa",
        "nospac",
        "limits",
    ];

    proptest! {
        #[test]
        fn the_first_of_the_table_is_found(
            parts in vec(prop_oneof![select(&TABLE[..]).prop_map(str::to_owned), "[a-zA ]{0,9}"], 0..9),
            shout in any::<bool>(),
        ) {
            let text = if shout { parts.concat().to_uppercase() } else { parts.concat() };
            let phrases = Phrases::new(TABLE.iter().map(|phrase| phrase.as_bytes()));
            let lower = text.to_ascii_lowercase();
            let slow = TABLE.iter().position(|phrase| lower.contains(phrase));
            prop_assert_eq!(phrases.first(text.as_bytes()), slow);
        }
    }
}
