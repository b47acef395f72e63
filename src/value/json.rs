//! JSON text as a flat tape: one pass, no recursion, any depth, nothing rounded.
//!
//! RFC 8259 strictly, with what both forms of a record need to answer alike: lone halves in
//! escapes are kept, an integer keeps all its digits, the last of a repeated key counts. Ready
//! parsers refuse the first two (see `docs/adr/0002-json-reader.md`).

use std::collections::BTreeMap;

use super::text::from_points;
use super::{MemberName, Node, Number, Read, Step, Text, Unreadable, View};

/// A parsed JSON document: its text, and a tape of what stands where.
#[derive(Debug)]
pub struct Document {
    input: Box<str>,
    /// Strings that had escapes, decoded.
    decoded: Vec<u8>,
    tape: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    Null,
    True,
    False,
    Number { start: usize, end: usize },
    /// A string without escapes, in the input.
    Plain { start: usize, end: usize },
    /// A string with escapes, in `decoded`.
    Decoded { start: usize, end: usize },
    /// `next` is the tape position after the last part.
    Array { count: usize, next: usize },
    /// As an array, each member a name entry and a value.
    Object { count: usize, next: usize },
}

/// Text that is not JSON: where, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// Byte offset in the text.
    pub offset: usize,
    /// One line for a person.
    pub message: &'static str,
}

impl JsonFault {
    /// Line and column (in characters), both from 1.
    pub fn place(&self, input: &[u8]) -> (usize, usize) {
        let before = input.get(..self.offset.min(input.len())).unwrap_or_default();
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let column = 1 + super::text::length(before.get(line_start..).unwrap_or_default());
        (line, column)
    }
}

impl Document {
    /// Reads one JSON value, white space around it allowed.
    ///
    /// # Errors
    /// [`JsonFault`] at the first byte that is not JSON.
    pub fn parse(input: &[u8]) -> Result<Self, JsonFault> {
        let input = input.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(input);
        let text = std::str::from_utf8(input)
            .map_err(|fault| JsonFault { offset: fault.valid_up_to(), message: "invalid UTF-8" })?;
        let mut reader = Reader {
            bytes: text.as_bytes(),
            at: 0,
            decoded: Vec::new(),
            tape: Vec::new(),
            open: Vec::new(),
        };
        reader.document()?;
        let Reader { decoded, tape, .. } = reader;
        Ok(Self { input: text.into(), decoded, tape })
    }

    /// The value itself.
    pub fn root(&self) -> JsonNode<'_> {
        JsonNode { document: self, at: 0 }
    }

    /// The text it was read from.
    pub fn input(&self) -> &str {
        &self.input
    }

    fn entry(&self, at: usize) -> Entry {
        self.tape.get(at).copied().unwrap_or(Entry::Null)
    }

    /// The tape position after the value at `at`.
    fn after(&self, at: usize) -> usize {
        match self.entry(at) {
            Entry::Array { next, .. } | Entry::Object { next, .. } => next,
            _ => at + 1,
        }
    }

    fn string(&self, at: usize) -> &[u8] {
        match self.entry(at) {
            Entry::Plain { start, end } => self.input.as_bytes().get(start..end),
            Entry::Decoded { start, end } => self.decoded.get(start..end),
            _ => None,
        }
        .unwrap_or_default()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    decoded: Vec<u8>,
    tape: Vec<Entry>,
    /// Tape positions of the containers that are still open.
    open: Vec<usize>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<(), JsonFault> {
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
            return self.close(Entry::Object { count, next: self.tape.len() });
        }
        if count > 0 && !self.take(b',') {
            return Err(self.fault("expected `,` or `}`"));
        }
        self.count(container, Entry::Object { count: count + 1, next: 0 });
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
        let Some(first) = self.peek() else { return Err(self.fault("the text ends too early")) };
        match first {
            b'{' => self.begin(Entry::Object { count: 0, next: 0 }),
            b'[' => self.begin(Entry::Array { count: 0, next: 0 }),
            b'"' => {
                self.at += 1;
                self.string()
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true", Entry::True),
            b'f' => self.word(b"false", Entry::False),
            b'n' => self.word(b"null", Entry::Null),
            b'N' | b'I' => Err(self.fault("NaN and Infinity are not JSON")),
            _ => Err(self.fault("expected a value")),
        }
    }

    fn begin(&mut self, entry: Entry) -> Result<(), JsonFault> {
        self.at += 1;
        self.open.push(self.tape.len());
        self.tape.push(entry);
        Ok(())
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
        self.tape.push(Entry::Decoded { start: decoded_start, end: self.decoded.len() });
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

/// A value in a parsed document.
#[derive(Clone, Copy, Debug)]
pub struct JsonNode<'d> {
    document: &'d Document,
    at: usize,
}

impl<'d> JsonNode<'d> {
    fn part(self, at: usize) -> Self {
        Self { document: self.document, at }
    }

    /// Name and value of each member as written, repeats included.
    fn raw_members(self) -> impl Iterator<Item = (&'d [u8], Self)> {
        let document = self.document;
        let (count, mut at) = match document.entry(self.at) {
            Entry::Object { count, .. } => (count, self.at + 1),
            _ => (0, 0),
        };
        (0..count).map(move |_| {
            let (name, value) = (document.string(at), at + 1);
            at = document.after(value);
            (name, self.part(value))
        })
    }

    /// Members with distinct names: the place of the first, the value of the last.
    fn distinct_members(self) -> Vec<(&'d [u8], Self)> {
        let mut places = BTreeMap::new();
        let mut members: Vec<(&[u8], Self)> = Vec::new();
        for (name, value) in self.raw_members() {
            let place = *places.entry(name).or_insert(members.len());
            match members.get_mut(place) {
                Some(member) => member.1 = value,
                None => members.push((name, value)),
            }
        }
        members
    }

    /// The first name that stands twice in one object, anywhere in the value.
    pub fn repeated_name(self) -> Option<&'d [u8]> {
        (self.at..self.document.after(self.at)).map(|at| self.part(at)).find_map(|node| {
            let mut seen = std::collections::BTreeSet::new();
            node.raw_members().map(|(name, _)| name).find(|name| !seen.insert(*name))
        })
    }
}

impl Node for JsonNode<'_> {
    fn view(&self) -> Read<View<'_>> {
        Ok(match self.document.entry(self.at) {
            Entry::Null => View::Null,
            Entry::True => View::Boolean(true),
            Entry::False => View::Boolean(false),
            Entry::Number { start, end } => {
                let token = self.document.input.get(start..end).unwrap_or_default();
                match Number::from_json(token) {
                    Some(number) => View::Number(number),
                    None => return Err(Unreadable::new("a number that cannot be read")),
                }
            }
            Entry::Plain { .. } | Entry::Decoded { .. } => {
                View::String(Text::from_generalised(self.document.string(self.at)))
            }
            Entry::Array { .. } => View::Array,
            Entry::Object { .. } => View::Object,
        })
    }

    fn child(&self, step: &Step<'_>) -> Read<Option<Self>> {
        Ok(match self.document.entry(self.at) {
            Entry::Object { .. } => self
                .raw_members()
                .filter(|(name, _)| *name == step.key)
                .last()
                .map(|(_, value)| value),
            Entry::Array { count, .. } => step.index.filter(|index| *index < count).map(|index| {
                let place = (0..index).fold(self.at + 1, |at, _| self.document.after(at));
                self.part(place)
            }),
            _ => None,
        })
    }

    fn length(&self) -> Read<usize> {
        Ok(match self.document.entry(self.at) {
            Entry::Array { count, .. } => count,
            Entry::Object { count, .. } if count > 1 => self.distinct_members().len(),
            Entry::Object { count, .. } => count,
            _ => 0,
        })
    }

    fn any_item(&self, visit: &mut dyn FnMut(Self) -> Read<bool>) -> Read<bool> {
        let Entry::Array { count, .. } = self.document.entry(self.at) else { return Ok(false) };
        let mut at = self.at + 1;
        for _ in 0..count {
            if visit(self.part(at))? {
                return Ok(true);
            }
            at = self.document.after(at);
        }
        Ok(false)
    }

    fn members(&self, limit: usize) -> Read<Vec<(MemberName, Self)>> {
        Ok(self
            .distinct_members()
            .into_iter()
            .take(limit)
            .map(|(name, value)| (MemberName::Text(name.into()), value))
            .collect())
    }
}
