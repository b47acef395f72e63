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

/// Reads one value, white space around it allowed; `open` is room for the containers that are
/// open, true for objects.
pub(super) fn scan(
    text: &str,
    open: &mut Vec<bool>,
    sink: &mut impl Sink,
) -> Result<(), JsonFault> {
    open.clear();
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
    loop {
        scanner.blank();
        if let Some(object) = scanner.value(sink)? {
            open.push(object);
            if object {
                scanner.name(sink)?;
            }
            continue;
        }
        if !scanner.next(open, sink)? {
            return Ok(());
        }
    }
}

/// The scalar that begins at a place of a text, and where it ends; `None` for anything else.
pub(super) fn scalar_at(text: &str, at: usize) -> Option<(Scalar, usize)> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at };
    let scalar = scanner.scalar().ok()?;
    Some((scalar, scanner.at))
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    /// Reads a value; of a container with parts only the bracket, and whether it is an object.
    fn value(&mut self, sink: &mut impl Sink) -> Result<Option<bool>, JsonFault> {
        match self.peek() {
            Some(b'{') => return Ok(self.begins(b'}', sink).then_some(true)),
            Some(b'[') => return Ok(self.begins(b']', sink).then_some(false)),
            _ => {}
        }
        let start = self.at;
        let scalar = self.scalar()?;
        sink.scalar(scalar, start, self.at);
        Ok(None)
    }

    fn scalar(&mut self) -> Result<Scalar, JsonFault> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string().map(Scalar::String)
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true", Scalar::True),
            Some(b'f') => self.word(b"false", Scalar::False),
            Some(b'n') => self.word(b"null", Scalar::Null),
            Some(b'N' | b'I') => Err(self.fault("NaN and Infinity are not JSON")),
            Some(_) => Err(self.fault("expected a value")),
            None => Err(self.fault("the text ends too early")),
        }
    }

    /// Whether the container that begins here has parts.
    fn begins(&mut self, closing: u8, sink: &mut impl Sink) -> bool {
        self.at += 1;
        sink.begin(closing == b'}');
        self.blank();
        let empty = self.take(closing);
        if empty {
            sink.end();
        }
        !empty
    }

    /// From behind a value to before the next one; false at the end of the text.
    fn next(&mut self, open: &mut Vec<bool>, sink: &mut impl Sink) -> Result<bool, JsonFault> {
        loop {
            self.blank();
            match (open.last(), self.peek()) {
                (None, None) => return Ok(false),
                (None, _) => return Err(self.fault("text after the value")),
                (Some(true), Some(b',')) => {
                    self.at += 1;
                    self.blank();
                    return self.name(sink).map(|()| true);
                }
                (Some(false), Some(b',')) => {
                    self.at += 1;
                    return Ok(true);
                }
                (Some(true), Some(b'}')) | (Some(false), Some(b']')) => {
                    self.at += 1;
                    open.pop();
                    sink.end();
                }
                (Some(true), _) => return Err(self.fault("expected `,` or `}`")),
                (Some(false), _) => return Err(self.fault("expected `,` or `]`")),
            }
        }
    }

    /// Reads a name and its colon.
    fn name(&mut self, sink: &mut impl Sink) -> Result<(), JsonFault> {
        if !self.take(b'"') {
            return Err(self.fault("expected a key in double quotes"));
        }
        let name = self.string()?;
        self.blank();
        if !self.take(b':') {
            return Err(self.fault("expected `:`"));
        }
        sink.name(name);
        Ok(())
    }

    fn word(&mut self, word: &[u8], scalar: Scalar) -> Result<Scalar, JsonFault> {
        if !self.bytes.get(self.at..).unwrap_or_default().starts_with(word) {
            return Err(self.fault("expected a value"));
        }
        self.at += word.len();
        Ok(scalar)
    }

    fn number(&mut self) -> Result<Scalar, JsonFault> {
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
        Ok(Scalar::Number { start, end: self.at })
    }

    fn digits(&mut self) -> Result<(), JsonFault> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.fault("expected a digit")) } else { Ok(()) }
    }

    /// Reads a string from just after its opening quote.
    fn string(&mut self) -> Result<Raw, JsonFault> {
        let start = self.at;
        self.plain_run();
        if self.take(b'"') {
            return Ok(Raw { start, end: self.at - 1, escaped: false });
        }
        while self.take(b'\\') {
            self.escape()?;
            self.plain_run();
        }
        match self.peek() {
            Some(b'"') => self.at += 1,
            Some(_) => return Err(self.fault("a control character in a string must be escaped")),
            None => return Err(self.fault("the string does not end")),
        }
        Ok(Raw { start, end: self.at - 1, escaped: true })
    }

    /// Moves to the next quote, backslash or control character, eight bytes at a time.
    fn plain_run(&mut self) {
        while let Some(chunk) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            let stops = stops(u64::from_le_bytes(*chunk));
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
                let digits = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<4>);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return Err(self.fault("expected four hexadecimal digits"));
                }
                self.at += 4;
            }
            _ => return Err(self.fault("unknown escape")),
        }
        Ok(())
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

/// The top bit of each byte that is a quote, a backslash or a control character, exact up to the
/// first of them (Mycroft; Warren, Hacker's Delight, 6-1).
fn stops(chunk: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let below = |chunk: u64, least: u64| chunk.wrapping_sub(ONES * least) & !chunk;
    let is = |byte: u8| below(chunk ^ (ONES * u64::from(byte)), 1);
    (below(chunk, 0x20) | is(b'"') | is(b'\\')) & (ONES << 7)
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
