//! From text to tape.

use super::{Entry, JsonFault};
use crate::value::text::from_points;

/// One pass over a text; open containers are kept on a stack of its own.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    pub(super) decoded: Vec<u8>,
    pub(super) tape: Vec<Entry>,
    /// Tape positions of the containers that are still open.
    open: Vec<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        Self { bytes, at: 0, decoded: Vec::new(), tape: Vec::new(), open: Vec::new() }
    }

    pub(super) fn document(&mut self) -> Result<(), JsonFault> {
        self.value()?;
        while let Some(container) = self.open.last().copied() {
            self.blank();
            match self.tape.get(container).copied() {
                Some(Entry::Array { count, .. }) => self.array_part(container, count)?,
                Some(Entry::Object { count, .. }) => self.object_part(container, count)?,
                _ => return Err(self.fault("unexpected state")),
            }
        }
        self.blank();
        if self.at < self.bytes.len() { Err(self.fault("text after the value")) } else { Ok(()) }
    }

    fn array_part(&mut self, container: usize, count: usize) -> Result<(), JsonFault> {
        if self.take(b']') {
            return self.close(Entry::Array { count, next: self.tape.len() });
        }
        if count > 0 && !self.take(b',') {
            return Err(self.fault("expected `,` or `]`"));
        }
        self.count(container, Entry::Array { count: count + 1, next: 0 });
        self.blank();
        self.value()
    }

    fn object_part(&mut self, container: usize, count: usize) -> Result<(), JsonFault> {
        if self.take(b'}') {
            return self.close(Entry::Object { count, next: self.tape.len(), repeats: false });
        }
        if count > 0 && !self.take(b',') {
            return Err(self.fault("expected `,` or `}`"));
        }
        self.count(container, Entry::Object { count: count + 1, next: 0, repeats: false });
        self.blank();
        if !self.take(b'"') {
            return Err(self.fault("expected a key in double quotes"));
        }
        self.string()?;
        self.blank();
        if !self.take(b':') {
            return Err(self.fault("expected `:`"));
        }
        self.blank();
        self.value()
    }

    fn count(&mut self, container: usize, entry: Entry) {
        if let Some(place) = self.tape.get_mut(container) {
            *place = entry;
        }
    }

    fn close(&mut self, entry: Entry) -> Result<(), JsonFault> {
        match self.open.pop() {
            Some(container) => self.count(container, entry),
            None => return Err(self.fault("unexpected end of a container")),
        }
        Ok(())
    }

    fn value(&mut self) -> Result<(), JsonFault> {
        self.blank();
        let Some(first) = self.peek() else {
            return Err(self.fault("the text ends too early"));
        };
        match first {
            b'{' => self.begin(Entry::Object { count: 0, next: 0, repeats: false }),
            b'[' => self.begin(Entry::Array { count: 0, next: 0 }),
            b'"' => {
                self.at += 1;
                self.string()?;
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.word(b"true", Entry::True)?,
            b'f' => self.word(b"false", Entry::False)?,
            b'n' => self.word(b"null", Entry::Null)?,
            b'N' | b'I' => return Err(self.fault("NaN and Infinity are not JSON")),
            _ => return Err(self.fault("expected a value")),
        }
        Ok(())
    }

    fn begin(&mut self, entry: Entry) {
        self.at += 1;
        self.open.push(self.tape.len());
        self.tape.push(entry);
    }

    fn word(&mut self, word: &[u8], entry: Entry) -> Result<(), JsonFault> {
        if !self.bytes.get(self.at..).unwrap_or_default().starts_with(word) {
            return Err(self.fault("expected a value"));
        }
        self.at += word.len();
        self.tape.push(entry);
        Ok(())
    }

    fn number(&mut self) -> Result<(), JsonFault> {
        let start = self.at;
        self.take(b'-');
        if self.take(b'0') {
            if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(self.fault("a number may not start with 0"));
            }
        } else {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        self.tape.push(Entry::Number { start, end: self.at });
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonFault> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.fault("expected a digit")) } else { Ok(()) }
    }

    /// Reads a string from just after its opening quote.
    fn string(&mut self) -> Result<(), JsonFault> {
        let start = self.at;
        self.plain_run()?;
        if self.take(b'"') {
            self.tape.push(Entry::Plain { start, end: self.at - 1 });
            return Ok(());
        }
        let decoded_start = self.decoded.len();
        let mut from = start;
        loop {
            self.decoded.extend(self.bytes.get(from..self.at).unwrap_or_default());
            if self.take(b'"') {
                break;
            }
            self.escapes()?;
            from = self.at;
            self.plain_run()?;
        }
        self.tape.push(Entry::Decoded {
            start: decoded_start,
            end: self.decoded.len(),
            source: start,
        });
        Ok(())
    }

    /// Moves to the next quote or backslash.
    fn plain_run(&mut self) -> Result<(), JsonFault> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let stop = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F));
        self.at += stop.unwrap_or(rest.len());
        match self.peek() {
            Some(b'"' | b'\\') => Ok(()),
            Some(_) => Err(self.fault("a control character in a string must be escaped")),
            None => Err(self.fault("the string does not end")),
        }
    }

    /// Decodes a run of escapes together, so that halves side by side are joined.
    fn escapes(&mut self) -> Result<(), JsonFault> {
        let mut points = Vec::new();
        while self.take(b'\\') {
            points.push(self.escape()?);
        }
        self.decoded.extend(from_points(points));
        Ok(())
    }

    fn escape(&mut self) -> Result<u32, JsonFault> {
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            Some(b'"') => 0x22,
            Some(b'\\') => 0x5C,
            Some(b'/') => 0x2F,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0C,
            Some(b'n') => 0x0A,
            Some(b'r') => 0x0D,
            Some(b't') => 0x09,
            Some(b'u') => {
                let digits = self.bytes.get(self.at..self.at + 4).unwrap_or_default();
                let hex = std::str::from_utf8(digits).ok().filter(|hex| {
                    hex.len() == 4 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
                });
                let unit = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
                let Some(unit) = unit else {
                    return Err(self.fault("expected four hexadecimal digits"));
                };
                self.at += 4;
                unit
            }
            _ => {
                self.at -= 1;
                return Err(self.fault("unknown escape"));
            }
        })
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn fault(&self, message: &'static str) -> JsonFault {
        JsonFault { offset: self.at, message }
    }
}
