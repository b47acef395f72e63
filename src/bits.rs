//! A set of small numbers, one bit each.

/// Which of so many things are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

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

    /// Whether a number is in it.
    pub fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

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
}
