//! A few rules, one bit each: short enough to be kept in registers.

/// So many words of 64 rules.
pub(super) const WORDS: usize = 4;

/// Which of so many rules are meant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row([u64; WORDS]);

impl Row {
    pub(super) fn insert(&mut self, rule: usize) {
        if let Some(word) = self.0.get_mut(rule / 64) {
            *word |= 1 << (rule % 64);
        }
    }

    pub(super) fn contains(&self, rule: usize) -> bool {
        self.0.get(rule / 64).is_some_and(|word| word >> (rule % 64) & 1 == 1)
    }

    /// Those of either.
    pub(super) fn or(self, other: Self) -> Self {
        self.with(other, |word, other| word | other)
    }

    /// Those of both.
    pub(super) fn and(self, other: Self) -> Self {
        self.with(other, |word, other| word & other)
    }

    /// Those that are not in another.
    pub(super) fn but(self, other: Self) -> Self {
        self.with(other, |word, other| word & !other)
    }

    pub(super) fn is_empty(self) -> bool {
        let [first, second, third, fourth] = self.0;
        first | second | third | fourth == 0
    }

    /// Words of 64 rules each, the lowest first.
    pub(super) fn words(self) -> [u64; WORDS] {
        self.0
    }

    fn with(mut self, other: Self, mix: impl Fn(u64, u64) -> u64) -> Self {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word = mix(*word, other);
        }
        self
    }
}
