//! Bytes that are likely to come next in a text.

use super::scan::Scanner;

/// Some bytes, of which the first sixteen are compared as one number.
#[derive(Debug)]
pub(super) struct Expected {
    head: u128,
    /// The bits of the head that count.
    mask: u128,
    bytes: Box<[u8]>,
}

/// How many bytes a head has.
const HEAD: usize = size_of::<u128>();

impl Expected {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let first = bytes.iter().take(HEAD).rev();
        let (head, mask) = first
            .fold((0, 0), |(head, mask), byte| (head << 8 | u128::from(*byte), mask << 8 | 0xFF));
        Self { head, mask, bytes: bytes.into() }
    }

    /// Moves behind the bytes if they come next.
    #[inline]
    pub(super) fn is_passed(&self, scanner: &mut Scanner<'_>) -> bool {
        let is_next = match scanner.chunk() {
            Some(head) if self.bytes.len() <= HEAD => {
                u128::from_le_bytes(head) & self.mask == self.head
            }
            _ => scanner.rest().starts_with(&self.bytes),
        };
        if is_next {
            scanner.skip(self.bytes.len());
        }
        is_next
    }
}
