//! JSON text as a flat tape: one pass, no recursion, any depth, nothing rounded.
//!
//! RFC 8259 strictly, with what both forms of a record need to answer alike: lone halves in
//! escapes are kept, an integer keeps all its digits, the last of a repeated key counts. Ready
//! parsers refuse the first two (see `docs/adr/0002-json-reader.md`).

mod expected;
mod members;
mod pick;
mod picker;
mod reader;
mod scan;
mod shape;

pub use pick::{Picked, PickedNode, Wanted};
pub use picker::Picker;

use std::collections::BTreeMap;

use reader::Reader;

use crate::limits::Limits;

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
    Number {
        start: usize,
        end: usize,
    },
    /// A string without escapes, in the input.
    Plain {
        start: usize,
        end: usize,
    },
    /// A string with escapes, in `decoded`; `source` is where it stands in the input.
    Decoded {
        start: usize,
        end: usize,
        source: usize,
    },
    /// `next` is the tape position after the last part.
    Array {
        count: usize,
        next: usize,
    },
    /// As an array, each member a name entry and a value; whether a name stands twice.
    Object {
        count: usize,
        next: usize,
        repeats: bool,
    },
}

/// Text that is not JSON: where, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// Byte offset in the text.
    pub offset: usize,
    /// One line for a person.
    pub message: &'static str,
}

/// Up to here comparing names pair by pair is cheaper than sorting them.
const FEW: usize = 12;

/// What is said of bytes that are not UTF-8.
pub const INVALID_UTF8: &str = "invalid UTF-8";

impl JsonFault {
    /// Line and column (in characters), both from 1.
    pub fn place(&self, input: &[u8]) -> (usize, usize) {
        let before = input.get(..self.offset.min(input.len())).unwrap_or_default();
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let column = 1 + crate::value::text::length(before.get(line_start..).unwrap_or_default());
        (line, column)
    }
}

impl Document {
    /// Reads one JSON value, white space around it allowed.
    ///
    /// # Errors
    /// [`JsonFault`] at the first byte that is not JSON.
    pub fn parse(input: &[u8]) -> Result<Self, JsonFault> {
        let text = utf8(input)?;
        let Reader { decoded, tape, .. } = Reader::read(text)?;
        let mut document = Self { input: text.into(), decoded, tape };
        document.mark_repeats();
        Ok(document)
    }

    /// Notes which objects have a name twice, so that all others are read as they stand.
    fn mark_repeats(&mut self) {
        for at in 0..self.tape.len() {
            if let Entry::Object { count, next, .. } = self.entry(at)
                && count > 1
                && self.root().part(at).has_repeats(count)
                && let Some(entry) = self.tape.get_mut(at)
            {
                *entry = Entry::Object { count, next, repeats: true };
            }
        }
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

    /// Where a string's quote stands in the input.
    fn offset(&self, at: usize) -> usize {
        match self.entry(at) {
            Entry::Plain { start, .. } => start.saturating_sub(1),
            Entry::Decoded { source, .. } => source.saturating_sub(1),
            _ => 0,
        }
    }

    fn string(&self, at: usize) -> &[u8] {
        match self.entry(at) {
            Entry::Plain { start, end } => self.input.as_bytes().get(start..end),
            Entry::Decoded { start, end, .. } => self.decoded.get(start..end),
            _ => None,
        }
        .unwrap_or_default()
    }
}

/// The text of an input.
fn utf8(input: &[u8]) -> Result<&str, JsonFault> {
    if input.starts_with(b"\xEF\xBB\xBF") {
        return Err(JsonFault { offset: 0, message: "a byte-order mark; leave it out" });
    }
    std::str::from_utf8(input)
        .map_err(|fault| JsonFault { offset: fault.valid_up_to(), message: INVALID_UTF8 })
}

/// A number as it is written, seen.
fn number(token: &str) -> Read<View<'static>> {
    if token.len() > Limits::DIGITS && token.bytes().all(|b| b != b'.' && b | 32 != b'e') {
        let message = format!("an integer of more than {} digits", Limits::DIGITS);
        return Err(Unreadable::new(message));
    }
    match Number::from_json(token) {
        Some(number) => Ok(View::Number(number)),
        None => Err(Unreadable::new("a number that cannot be read")),
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

    /// Whether a name stands twice in this object.
    fn has_repeats(self, count: usize) -> bool {
        if count <= FEW {
            let names = || self.raw_members().map(|(name, _)| name);
            return names()
                .enumerate()
                .any(|(at, name)| names().take(at).any(|other| other == name));
        }
        let mut seen = std::collections::BTreeSet::new();
        !self.raw_members().all(|(name, _)| seen.insert(name))
    }

    /// The first name that stands twice in one object, anywhere in the value, and its offset.
    pub fn repeated_name(self) -> Option<(&'d [u8], usize)> {
        (self.at..self.document.after(self.at)).map(|at| self.part(at)).find_map(|node| {
            let mut seen = std::collections::BTreeSet::new();
            let (name, value) = node.raw_members().find(|(name, _)| !seen.insert(*name))?;
            Some((name, value.document.offset(value.at.saturating_sub(1))))
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
                number(self.document.input.get(start..end).unwrap_or_default())?
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
            Entry::Object { repeats: true, .. } => self.distinct_members().len(),
            Entry::Array { count, .. } | Entry::Object { count, .. } => count,
            _ => 0,
        })
    }

    fn any_item(&self, visit: &mut dyn FnMut(Self) -> Read<bool>) -> Read<bool> {
        let Entry::Array { count, .. } = self.document.entry(self.at) else {
            return Ok(false);
        };
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
        let named = |(name, value): (&[u8], Self)| (MemberName::Text(name.into()), value);
        Ok(match self.document.entry(self.at) {
            Entry::Object { repeats: true, .. } => {
                self.distinct_members().into_iter().take(limit).map(named).collect()
            }
            _ => self.raw_members().take(limit).map(named).collect(),
        })
    }
}
