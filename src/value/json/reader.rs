//! From text to tape.

use super::scan::{Raw, Scalar, Sink, decode, scan};
use super::{Entry, JsonFault};

/// Writes what is told to a tape; open containers are kept on a stack of its own.
pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) decoded: Vec<u8>,
    pub(super) tape: Vec<Entry>,
    /// Tape positions of the containers that are still open.
    open: Vec<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, JsonFault> {
        let mut reader = Self { text, decoded: Vec::new(), tape: Vec::new(), open: Vec::new() };
        scan(text, &mut reader)?;
        Ok(reader)
    }

    fn innermost(&mut self) -> Option<&mut Entry> {
        self.open.last().and_then(|at| self.tape.get_mut(*at))
    }

    fn item(&mut self) {
        if let Some(Entry::Array { count, .. }) = self.innermost() {
            *count += 1;
        }
    }

    fn string(&mut self, Raw { start, end, escaped }: Raw) {
        if !escaped {
            return self.tape.push(Entry::Plain { start, end });
        }
        let decoded_start = self.decoded.len();
        decode(self.text.as_bytes().get(start..end).unwrap_or_default(), &mut self.decoded);
        let end = self.decoded.len();
        self.tape.push(Entry::Decoded { start: decoded_start, end, source: start });
    }
}

impl Sink for Reader<'_> {
    fn begin(&mut self, object: bool) {
        self.item();
        self.open.push(self.tape.len());
        self.tape.push(if object {
            Entry::Object { count: 0, next: 0, repeats: false }
        } else {
            Entry::Array { count: 0, next: 0 }
        });
    }

    fn end(&mut self) {
        let after = self.tape.len();
        if let Some(Entry::Array { next, .. } | Entry::Object { next, .. }) = self.innermost() {
            *next = after;
        }
        self.open.pop();
    }

    fn name(&mut self, name: Raw) {
        if let Some(Entry::Object { count, .. }) = self.innermost() {
            *count += 1;
        }
        self.string(name);
    }

    fn scalar(&mut self, scalar: Scalar, _: usize, _: usize) {
        self.item();
        match scalar {
            Scalar::Null => self.tape.push(Entry::Null),
            Scalar::True => self.tape.push(Entry::True),
            Scalar::False => self.tape.push(Entry::False),
            Scalar::Number { start, end } => self.tape.push(Entry::Number { start, end }),
            Scalar::String(raw) => self.string(raw),
        }
    }
}
