//! Which of a few dozen phrases stands first in its table, of all that a text holds.

use memchr::memchr2_iter;

/// Bytes of a phrase that stand for it, and how many of them begin next to each other: one of
/// them is met where a text is read in steps of that many.
const PART: usize = 4;
const STEP: usize = 4;
/// The shortest phrase that has so many parts.
const WHOLE: usize = PART + STEP - 1;

/// Letters from frequent to rare, roughly as in messages; what is not here is rarer.
const FREQUENT: &[u8] = b" etaoinsrhldcumfpgwybvkx";

/// Searches for all phrases at once, ASCII case ignored.
///
/// Looks for the rarest part of each phrase, and for the whole phrase only where it meets one:
/// ordinary text has next to none of these parts. An automaton takes twice as long, because each
/// of its steps has to wait for the one before.
#[derive(Debug)]
pub(super) struct Phrases {
    all: Vec<Box<[u8]>>,
    /// A bit for each hash of a part.
    seen: [u64; 256],
    /// Parts in order, each with a phrase that has it and where in it.
    parts: Vec<(u64, usize, usize)>,
    /// Phrases too short for parts, each with its rarest letter and where that is.
    short: Vec<(usize, u8, usize)>,
}

impl Phrases {
    /// Takes phrases in lower case.
    pub(super) fn new<'a>(phrases: impl Iterator<Item = &'a [u8]>) -> Self {
        let all: Vec<Box<[u8]>> = phrases.map(Box::from).collect();
        let (mut parts, mut short) = (Vec::new(), Vec::new());
        for (place, phrase) in all.iter().enumerate() {
            if phrase.len() < WHOLE {
                let letters = phrase.iter().enumerate();
                let rarest = letters.max_by_key(|(_, letter)| rarity(**letter));
                short.extend(rarest.map(|(at, letter)| (place, *letter, at)));
                continue;
            }
            let offset = rarest(phrase);
            for at in offset..offset + STEP {
                let part = phrase.get(at..).and_then(<[u8]>::first_chunk);
                let part = part.map(|part| folded(u32::from_le_bytes(*part).into()));
                parts.extend(part.map(|part| (part, place, at)));
            }
        }
        parts.sort_unstable();
        let mut seen = [0; 256];
        for (part, ..) in &parts {
            let (word, bit) = hash(*part);
            if let Some(word) = seen.get_mut(usize::from(word)) {
                *word |= bit;
            }
        }
        Self { all, seen, parts, short }
    }

    /// The least position in the table of the phrases in a text.
    ///
    /// # Complexity
    /// O(text).
    pub(super) fn first(&self, text: &[u8]) -> Option<usize> {
        let mut first = self.first_short(text);
        let mut at = 0;
        // Four parts of 16 bytes are looked up before anything is decided: none waits for another.
        while let Some((low, rest)) = text.get(at..).and_then(<[u8]>::split_first_chunk)
            && let Some(high) = rest.first_chunk()
        {
            let (low, high) = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
            let parts = [low, low >> 32, high, high >> 32].map(folded);
            let seen = parts.map(|part| self.may_be(part));
            let [one, two, three, four] = seen;
            if one | two | three | four != 0 {
                for (number, (part, seen)) in parts.into_iter().zip(seen).enumerate() {
                    if seen != 0 {
                        first = self.better(text, part, at + number * STEP, first);
                    }
                }
                if first == Some(0) {
                    return first;
                }
            }
            at += 4 * STEP;
        }
        while let Some(part) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let part = folded(u32::from_le_bytes(*part).into());
            if self.may_be(part) != 0 {
                first = self.better(text, part, at, first);
            }
            at += STEP;
        }
        first
    }

    fn first_short(&self, text: &[u8]) -> Option<usize> {
        let stands = |(place, letter, offset): &(usize, u8, usize)| {
            let holds = |at| self.holds(text, *place, at, *offset);
            memchr2_iter(*letter, letter.to_ascii_uppercase(), text).any(holds)
        };
        self.short.iter().find(|short| stands(short)).map(|(place, ..)| *place)
    }

    /// Whether a phrase stands where the byte at `offset` of it is met at `at`.
    fn holds(&self, text: &[u8], place: usize, at: usize, offset: usize) -> bool {
        let (Some(start), Some(phrase)) = (at.checked_sub(offset), self.all.get(place)) else {
            return false;
        };
        let there = text.get(start..start + phrase.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(phrase))
    }

    /// Not zero when the part may be one that is looked for.
    fn may_be(&self, part: u64) -> u64 {
        let (word, bit) = hash(part);
        self.seen.get(usize::from(word)).copied().unwrap_or(0) & bit
    }

    /// The least position of a phrase whose part is met at `at`, when it is before `first`.
    fn better(&self, text: &[u8], part: u64, at: usize, first: Option<usize>) -> Option<usize> {
        let from = self.parts.partition_point(|(known, ..)| *known < part);
        let owners = self.parts.iter().skip(from).take_while(|(known, ..)| *known == part);
        let found = owners
            .filter(|(_, place, offset)| self.holds(text, *place, at, *offset))
            .map(|(_, place, _)| *place)
            .min();
        first.into_iter().chain(found).min()
    }
}

/// The lower four bytes, upper and lower case alike; some signs are alike too, which is no harm.
fn folded(bytes: u64) -> u64 {
    bytes & 0xFFFF_FFFF | 0x2020_2020
}

/// A place among 256 words and a bit of it (Knuth, multiplicative hashing).
fn hash(part: u64) -> (u8, u64) {
    let [high, low, ..] = part.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    (high, 1 << (low & 63))
}

/// How rare a letter is: the rarer, the more.
fn rarity(letter: u8) -> usize {
    FREQUENT.iter().position(|known| *known == letter).unwrap_or(FREQUENT.len())
}

/// Where the parts of a phrase begin that are least likely in a text.
fn rarest(phrase: &[u8]) -> usize {
    let score = |parts: &[u8]| parts.iter().map(|letter| rarity(*letter)).sum::<usize>();
    let parts = phrase.windows(WHOLE).enumerate();
    parts.max_by_key(|(_, parts)| score(parts)).map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const TABLE: [&str; 6] = [
        "rate limit",
        "quota",
        "javascript heap out of memory",
        "out of memory",
        "aaaaa",
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
