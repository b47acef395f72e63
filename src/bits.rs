//! A set of small numbers, one bit each.

use smallvec::SmallVec;

/// Which of so many things are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(SmallVec<[u64; 4]>);

impl Bits {
    /// Empties it and makes room for the numbers below `count`.
    pub fn reset(&mut self, count: usize) {
        self.0.clear();
        self.0.resize(count.div_ceil(64), 0);
    }

    /// Adds a number; false when it is there already, or when there is no room for it.
    pub fn insert(&mut self, number: usize) -> bool {
        let bit = 1 << (number % 64);
        match self.0.get_mut(number / 64) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }

    /// The numbers of words of 64 each, the lowest first.
    pub fn of_words(words: impl Iterator<Item = u64>) -> Self {
        Self(words.collect())
    }

    /// As words of 64 numbers each, the lowest first.
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Adds the numbers of one word of 64, as far as there is room for them.
    pub fn join(&mut self, at: usize, bits: u64) {
        if let Some(word) = self.0.get_mut(at) {
            *word |= bits;
        }
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// How many numbers are in it.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The numbers in it, in order.
    pub fn iter(&self) -> Ones<'_> {
        let (first, rest) =
            self.0.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        Ones { word: first, base: 0, rest, left: self.count() }
    }
}

impl<'b> IntoIterator for &'b Bits {
    type Item = usize;
    type IntoIter = Ones<'b>;

    fn into_iter(self) -> Ones<'b> {
        self.iter()
    }
}

/// The numbers of a set, in order.
#[derive(Clone, Debug)]
pub struct Ones<'b> {
    /// What is left of the word that starts at `base`.
    word: u64,
    base: usize,
    rest: &'b [u64],
    left: usize,
}

impl Iterator for Ones<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            let (next, rest) = self.rest.split_first()?;
            (self.word, self.rest, self.base) = (*next, rest, self.base.saturating_add(64));
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word.wrapping_sub(1);
        self.left = self.left.saturating_sub(1);
        Some(self.base.saturating_add(bit))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Ones<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_once_and_only_where_there_is_room() {
        let mut bits = Bits::default();
        bits.reset(65);
        assert_eq!([true, false, false], [64, 64, 128].map(|number| bits.insert(number)));
        assert_eq!([false, true, false], [63, 64, 128].map(|number| bits.contains(number)));
        bits.reset(65);
        assert!(!bits.contains(64));
    }

    #[test]
    fn numbers_come_out_in_order() {
        let mut bits = Bits::default();
        bits.reset(300);
        let numbers = [0, 1, 63, 64, 255, 299];
        numbers.iter().rev().for_each(|number| assert!(bits.insert(*number)));
        assert_eq!(bits.iter().collect::<Vec<_>>(), numbers);
        assert_eq!((bits.count(), bits.iter().len()), (6, 6));
    }
}
