//! Choices read from bytes.

/// Bytes, one for each choice; when they have run out every choice is the first.
#[derive(Debug)]
pub struct Tape<'a>(&'a [u8]);

impl<'a> Tape<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// A number below `count`, which is at most 256.
    pub fn below(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) * count / 256
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Takes half of what is left, at least one byte.
    pub fn rest(&mut self) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(self.0.len().div_ceil(2));
        self.0 = rest;
        taken
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
