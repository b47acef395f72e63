//! JSON text, told piece by piece: one pass, no recursion, any depth (RFC 8259).

use memchr::memchr;

use super::JsonFault;
use crate::value::text::from_points;

/// Who is told what stands where.
pub(super) trait Sink {
    /// An object or array begins.
    fn begin(&mut self, object: bool);
    /// The innermost one ends.
    fn end(&mut self);
    /// The name of a member, before its value.
    fn name(&mut self, name: Raw);
    /// Anything else, and where it stands, quotes included.
    fn scalar(&mut self, scalar: Scalar, start: usize, end: usize);
}

/// A string as it is written, between its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) escaped: bool,
}

/// A value without parts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar {
    Null,
    True,
    False,
    Number { start: usize, end: usize },
    String(Raw),
}

/// Tells one value, white space around it allowed.
pub(super) fn scan(text: &str, sink: &mut impl Sink) -> Result<(), JsonFault> {
    let mut scanner = Scanner::new(text);
    scanner.blank();
    scanner.value(&mut Vec::new(), sink)?;
    scanner.end()
}

/// A text, and how far it is read. What is rarely needed works on a copy, so that for all else
/// this stays in registers.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0 }
    }

    /// How much is read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next bytes, if there are as many.
    #[inline]
    pub(super) fn chunk<const N: usize>(&self) -> Option<[u8; N]> {
        self.bytes.get(self.at..)?.first_chunk().copied()
    }

    /// A string as it is written.
    pub(super) fn raw(&self, raw: Raw) -> &'a [u8] {
        self.bytes.get(raw.start..raw.end).unwrap_or_default()
    }

    /// Passes over what is known to be there.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Reads a value with all its parts; `open` is room for the containers that are open, true for
    /// objects.
    pub(super) fn value(
        &mut self,
        open: &mut Vec<bool>,
        sink: &mut impl Sink,
    ) -> Result<(), JsonFault> {
        open.clear();
        loop {
            self.blank();
            let mut has_next = false;
            if let Some(bracket @ (b'{' | b'[')) = self.peek() {
                let object = bracket == b'{';
                sink.begin(object);
                has_next = self.begins(object);
                if has_next {
                    open.push(object);
                } else {
                    sink.end();
                }
            } else {
                let start = self.at;
                let scalar = self.scalar()?;
                sink.scalar(scalar, start, self.at);
            }
            loop {
                let Some(object) = open.last() else { return Ok(()) };
                if has_next || self.more(*object)? {
                    if *object {
                        sink.name(self.name()?);
                    }
                    break;
                }
                open.pop();
                sink.end();
            }
        }
    }

    /// Tells the value that begins here, and answers what is behind it.
    #[inline(never)]
    pub(super) fn passed(
        mut self,
        open: &mut Vec<bool>,
        sink: &mut impl Sink,
    ) -> Result<Self, JsonFault> {
        self.value(open, sink)?;
        Ok(self)
    }

    /// Whether the container that begins here has parts: moves to the first, or behind it.
    pub(super) fn begins(&mut self, object: bool) -> bool {
        self.at += 1;
        self.blank();
        !self.take(closing(object))
    }

    /// Whether another part follows in a container: moves from behind a part to the next, or
    /// behind the container.
    pub(super) fn more(&mut self, object: bool) -> Result<bool, JsonFault> {
        if !self.take(b',') {
            self.blank();
            if self.take(closing(object)) {
                return Ok(false);
            }
            if !self.take(b',') {
                let expected = if object { "expected `,` or `}`" } else { "expected `,` or `]`" };
                return Err(self.fault(expected));
            }
        }
        Ok(true)
    }

    /// Nothing but white space may follow.
    pub(super) fn end(&mut self) -> Result<(), JsonFault> {
        self.blank();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault("text after the value")),
        }
    }
}

#[expect(clippy::inline_always, reason = "so that what scalars are stays in registers")]
impl Scanner<'_> {
    /// Reads a value without parts.
    #[inline(always)]
    pub(super) fn scalar(&mut self) -> Result<Scalar, JsonFault> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string().map(Scalar::String)
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                Ok(Scalar::Number { start, end: self.at })
            }
            Some(b't') => self.word(b"true").map(|()| Scalar::True),
            Some(b'f') => self.word(b"false").map(|()| Scalar::False),
            Some(b'n') => self.word(b"null").map(|()| Scalar::Null),
            Some(b'N' | b'I') => Err(self.fault("NaN and Infinity are not JSON")),
            Some(_) => Err(self.fault("expected a value")),
            None => Err(self.fault("the text ends too early")),
        }
    }

    /// Reads a name and its colon, white space before it allowed.
    pub(super) fn name(&mut self) -> Result<Raw, JsonFault> {
        self.blank();
        if !self.take(b'"') {
            return Err(self.fault("expected a key in double quotes"));
        }
        let name = self.string()?;
        self.blank();
        if !self.take(b':') {
            return Err(self.fault("expected `:`"));
        }
        Ok(name)
    }

    fn word(&mut self, word: &[u8]) -> Result<(), JsonFault> {
        if !self.rest().starts_with(word) {
            return Err(self.fault("expected a value"));
        }
        self.at += word.len();
        Ok(())
    }

    #[inline(always)]
    fn number(&mut self) -> Result<(), JsonFault> {
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
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
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
    #[inline(always)]
    fn string(&mut self) -> Result<Raw, JsonFault> {
        let start = self.at;
        self.plain_run();
        let escaped = !self.take(b'"');
        if escaped {
            *self = self.after_escapes()?;
        }
        Ok(Raw { start, end: self.at - 1, escaped })
    }

    /// Behind the string of which the plain start is read.
    #[inline(never)]
    fn after_escapes(mut self) -> Result<Self, JsonFault> {
        while self.take(b'\\') {
            self.escape()?;
            self.plain_run();
        }
        match self.peek() {
            Some(b'"') => self.at += 1,
            Some(_) => return Err(self.fault("a control character in a string must be escaped")),
            None => return Err(self.fault("the string does not end")),
        }
        Ok(self)
    }

    /// Moves to the next quote, backslash or control character, eight bytes at a time.
    #[inline]
    fn plain_run(&mut self) {
        while let Some(chunk) = self.chunk() {
            let stops = stops(u64::from_le_bytes(chunk));
            self.at += stops.trailing_zeros() as usize / 8;
            if stops != 0 {
                return;
            }
        }
        while self.peek().is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F)) {
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<(), JsonFault> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                let digits = self.chunk::<4>();
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return Err(self.fault("expected four hexadecimal digits"));
                }
                self.at += 4;
            }
            _ => return Err(self.fault("unknown escape")),
        }
        Ok(())
    }

    pub(super) fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[cold]
    #[inline(never)]
    fn fault(self, message: &'static str) -> JsonFault {
        JsonFault { offset: self.at, message }
    }
}

fn closing(object: bool) -> u8 {
    if object { b'}' } else { b']' }
}

/// The top bit of each byte that is a quote, a backslash or a control character, exact up to the
/// first of them (Mycroft; Warren, Hacker's Delight, 6-1).
fn stops(chunk: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let below = |chunk: u64, least: u64| chunk.wrapping_sub(ONES * least) & !chunk;
    // Of the printable ones only the quote gets below 0x21 by changing its second bit.
    let quotes_and_controls = below(chunk ^ (ONES * 2), 0x21);
    (quotes_and_controls | below(chunk ^ (ONES * u64::from(b'\\')), 1)) & (ONES << 7)
}

/// Decodes what stands between quotes and was read before, in generalised UTF-8: halves of a
/// surrogate pair side by side are joined.
pub(super) fn decode(mut raw: &[u8], out: &mut Vec<u8>) {
    while let Some(plain) = memchr(b'\\', raw) {
        let (before, mut rest) = raw.split_at(plain);
        out.extend(before);
        let mut points = Vec::new();
        while let Some((point, after)) = escaped(rest) {
            points.push(point);
            rest = after;
        }
        out.extend(from_points(points));
        raw = rest;
    }
    out.extend(raw);
}

/// The code point of the escape that a text begins with, and what is behind it.
fn escaped(raw: &[u8]) -> Option<(u32, &[u8])> {
    let (letter, rest) = raw.strip_prefix(b"\\")?.split_first()?;
    Some(match letter {
        b'b' => (0x08, rest),
        b'f' => (0x0C, rest),
        b'n' => (0x0A, rest),
        b'r' => (0x0D, rest),
        b't' => (0x09, rest),
        b'u' => {
            let (digits, rest) = rest.split_at_checked(4)?;
            (u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, rest)
        }
        other => (u32::from(*other), rest),
    })
}
