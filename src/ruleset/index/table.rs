//! A hash table that is filled once, whose order never shows.

/// Positions by hash: where the entry of a key stands in a list that the owner keeps.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// A part of the hash, and the position plus one or zero where nothing is; a power of two of
    /// them, at most half taken.
    slots: Box<[(u32, u32)]>,
}

impl Table {
    /// Files entries by the hashes of their keys, which are distinct.
    pub(super) fn new(hashes: impl ExactSizeIterator<Item = u64>) -> Self {
        let size = hashes.len().saturating_mul(2).next_power_of_two();
        let mut table = Self { slots: vec![(0, 0); size].into() };
        for (position, hash) in hashes.enumerate() {
            let mut at = table.home(hash);
            while table.slots.get(at).is_some_and(|taken| taken.1 != 0) {
                at = table.after(at);
            }
            if let Some(slot) = table.slots.get_mut(at) {
                let position = u32::try_from(position).unwrap_or(u32::MAX);
                *slot = (part(hash), position.saturating_add(1));
            }
        }
        table
    }

    /// The position of the entry with that hash for which `is_it` holds.
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let mut at = self.home(hash);
        loop {
            let (known, taken) = self.slots.get(at)?;
            let position = taken.checked_sub(1)? as usize;
            if *known == part(hash) && is_it(position) {
                return Some(position);
            }
            at = self.after(at);
        }
    }

    fn home(&self, hash: u64) -> usize {
        // The upper bits are the mixed ones; 32 of them are enough for positions of 32 bits.
        usize::try_from(hash >> 32).unwrap_or(0) & self.slots.len().saturating_sub(1)
    }

    fn after(&self, at: usize) -> usize {
        at.saturating_add(1) & self.slots.len().saturating_sub(1)
    }
}

/// The part of a hash that is kept to tell keys apart; another one than where it is filed by.
fn part(hash: u64) -> u32 {
    u32::try_from(hash & u64::from(u32::MAX)).unwrap_or(0)
}

/// Odd, with its bits spread evenly (2^64 over the golden ratio): Knuth's multiplicative hashing.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes one more word into a hash.
pub(super) fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(SPREAD)
}

/// The hash of a text.
pub(super) fn text_hash(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let start = mixed(0, u64::try_from(text.len()).unwrap_or(0));
    let whole = words.iter().fold(start, |hash, word| mixed(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
    mixed(mixed(whole, last), 0)
}
