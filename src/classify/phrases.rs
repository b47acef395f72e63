//! Which of a few dozen phrases stands first in its table, of all that a text holds.

/// Bytes of a phrase that stand for it, and how many of them begin next to each other: one of
/// them is met where a text is read in steps of that many.
const PART: usize = 4;
const STEP: usize = 2;
/// The shortest phrase that can be looked for.
pub(super) const SHORTEST: usize = PART + STEP - 1;

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
}

impl Phrases {
    /// Takes phrases of at least [`SHORTEST`] bytes.
    pub(super) fn new<'a>(phrases: impl Iterator<Item = &'a [u8]>) -> Self {
        let all: Vec<Box<[u8]>> = phrases.map(Box::from).collect();
        let mut parts = Vec::new();
        for (place, phrase) in all.iter().enumerate() {
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
        Self { all, seen, parts }
    }

    /// The least position in the table of the phrases in a text.
    ///
    /// # Complexity
    /// O(text).
    pub(super) fn first(&self, text: &[u8]) -> Option<usize> {
        let mut first = None;
        let mut at = 0;
        // Three parts of eight bytes are looked up before anything is decided: none waits for
        // another.
        while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let eight = u64::from_le_bytes(*eight);
            let parts = [eight, eight >> 16, eight >> 32].map(folded);
            let [one, two, three] = parts.map(|part| self.may_be(part));
            if one | two | three != 0 {
                for (number, part) in parts.into_iter().enumerate() {
                    first = self.better(text, part, at + number * STEP, first);
                }
                if first == Some(0) {
                    return first;
                }
            }
            at += 3 * STEP;
        }
        while let Some(part) = text.get(at..).and_then(<[u8]>::first_chunk) {
            first = self.better(text, folded(u32::from_le_bytes(*part).into()), at, first);
            at += STEP;
        }
        first
    }

    /// Not zero when the part may be one that is looked for.
    fn may_be(&self, part: u64) -> u64 {
        let (word, bit) = hash(part);
        self.seen.get(usize::from(word)).copied().unwrap_or(0) & bit
    }

    /// The least position of a phrase whose part is met at `at`, when it is before `first`.
    fn better(&self, text: &[u8], part: u64, at: usize, first: Option<usize>) -> Option<usize> {
        if self.may_be(part) == 0 {
            return first;
        }
        let from = self.parts.partition_point(|(known, ..)| *known < part);
        let owners = self.parts.iter().skip(from).take_while(|(known, ..)| *known == part);
        let holds = |place: usize, offset: usize| {
            let (start, phrase) = (at.checked_sub(offset)?, self.all.get(place)?);
            text.get(start..start + phrase.len())?.eq_ignore_ascii_case(phrase).then_some(place)
        };
        let found = owners.filter_map(|(_, place, offset)| holds(*place, *offset)).min();
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

/// Where the parts of a phrase begin that are least likely in a text: two words that meet are
/// rarer than any letters of one.
fn rarest(phrase: &[u8]) -> usize {
    let rank = |byte: &u8| FREQUENT.iter().position(|known| known == byte);
    let score = |part: &[u8]| -> (bool, usize) {
        let ranks = part.iter().map(|byte| rank(byte).unwrap_or(FREQUENT.len()));
        (part.get(SHORTEST / 2) == Some(&b' '), ranks.sum())
    };
    let parts = phrase.windows(SHORTEST).enumerate();
    parts.max_by_key(|(_, part)| score(part)).map_or(0, |(at, _)| at)
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
