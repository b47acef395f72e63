//! Dotted paths: parsed once, resolved on any node.
//!
//! `order.items[0].sku`, `items.0.id`, `["odd.key"].x`, `['it\'s']`. The empty path and `$` alone
//! mean the value itself; stray dots are ignored; anything else between segments is malformed.

use std::borrow::Cow;

use crate::limits::Limits;
use crate::preview::{REASON, quote};
use crate::value::text::{display, length};
use crate::value::{Node, Step, Unreadable};

/// A parsed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    segments: Box<[Segment]>,
}

/// One segment: a key, and an index when it is spelled in decimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    key: Box<[u8]>,
    index: Option<usize>,
}

/// A path that cannot be read: one line saying why and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFault {
    /// One line for a person, without the path itself.
    pub message: String,
}

/// Where a path led.
#[derive(Clone, Debug)]
pub enum Resolved<N> {
    /// The value is there (it may be null).
    Found(N),
    /// The first segment that led nowhere, by position.
    Missing(usize),
    /// The path leads through something that is no JSON value: how many segments led to it, and
    /// the name of its type.
    Barred(Box<(usize, Box<str>)>),
    /// Something on the way could not be read.
    Unreadable(Box<Unreadable>),
}

impl<N: Clone> Resolved<N> {
    /// What is below a place that is not there.
    #[cold]
    pub(crate) fn carried(&self) -> Self {
        self.clone()
    }

    /// The position of the segment that led nowhere; zero where the path led somewhere.
    pub fn stopped_at(&self) -> usize {
        match self {
            Self::Found(_) | Self::Unreadable(_) => 0,
            Self::Missing(at) => *at,
            Self::Barred(barred) => barred.0,
        }
    }
}

impl Segment {
    fn new(key: impl Into<Box<[u8]>>) -> Self {
        let key = key.into();
        let digits = !key.is_empty() && key.iter().all(u8::is_ascii_digit);
        // A number no array can reach finds nothing, which is what `None` does.
        let index = digits.then(|| std::str::from_utf8(&key).ok()?.parse().ok()).flatten();
        Self { key, index }
    }

    /// The key in generalised UTF-8.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The step this segment takes; `slot` is where a back end keeps its own form of the key.
    pub fn step(&self, slot: Option<usize>) -> Step<'_> {
        Step { key: &self.key, index: self.index, slot }
    }
}

impl Path {
    /// Parses a path from generalised UTF-8.
    ///
    /// # Errors
    /// [`PathFault`] when it is malformed or over a limit.
    pub fn parse(source: &[u8], limits: &Limits) -> Result<Self, PathFault> {
        let characters = length(source);
        if characters > limits.path_characters {
            return Err(over("characters", characters, limits.path_characters));
        }
        if source == b"$" {
            return Ok(Self { segments: Box::default() });
        }
        let mut scanner = Scanner { source, at: 0 };
        let mut segments = Vec::new();
        while let Some(segment) = scanner.segment()? {
            segments.push(segment);
        }
        if segments.len() > limits.path_segments {
            return Err(over("segments", segments.len(), limits.path_segments));
        }
        Ok(Self { segments: segments.into() })
    }

    /// Its segments in order; none for the value itself.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Follows the path from a value.
    pub fn resolve<N: Node>(&self, root: &N) -> Resolved<N> {
        let mut node = root.clone();
        for (position, segment) in self.segments.iter().enumerate() {
            match node.child(&segment.step(None)) {
                Ok(Some(child)) => node = child,
                Ok(None) => return Resolved::Missing(position),
                Err(fault) => return Resolved::Unreadable(fault),
            }
        }
        Resolved::Found(node)
    }

    /// The prefix up to and including a segment, joined by dots, in generalised UTF-8.
    pub fn prefix(&self, last: usize) -> Vec<u8> {
        let parts: Vec<&[u8]> =
            self.segments.iter().take(last.saturating_add(1)).map(Segment::key).collect();
        parts.join(&b'.')
    }
}

fn over(what: &str, count: usize, limit: usize) -> PathFault {
    PathFault { message: format!("{count} {what}, over the limit of {limit}") }
}

struct Scanner<'a> {
    source: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn segment(&mut self) -> Result<Option<Segment>, PathFault> {
        while self.take(b'.') {}
        match self.peek() {
            None => Ok(None),
            Some(b'[') => self.bracket().map(Some),
            Some(_) => self.bare().map(Some),
        }
    }

    fn bare(&mut self) -> Result<Segment, PathFault> {
        let rest = self.source.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|byte| matches!(byte, b'.' | b'[' | b']'));
        let key = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += key.len();
        if self.peek() == Some(b']') {
            return Err(self.fault("a `]` without its `[`; quote the key: `[\"a]b\"]`"));
        }
        Ok(Segment::new(key))
    }

    fn bracket(&mut self) -> Result<Segment, PathFault> {
        self.at += 1;
        let key = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote)?,
            Some(b'0'..=b'9') => self.digits(),
            _ => {
                return Err(self.fault("brackets hold an index `[0]` or a quoted key `[\"a.b\"]`"));
            }
        };
        if !self.take(b']') {
            return Err(self.fault("expected `]`"));
        }
        Ok(Segment::new(key))
    }

    fn digits(&mut self) -> Vec<u8> {
        let rest = self.source.get(self.at..).unwrap_or_default();
        let digits: Vec<u8> = rest.iter().copied().take_while(u8::is_ascii_digit).collect();
        self.at += digits.len();
        digits
    }

    fn quoted(&mut self, quote: u8) -> Result<Vec<u8>, PathFault> {
        self.at += 1;
        let mut key = Vec::new();
        loop {
            let byte = self.peek();
            self.at += 1;
            match byte {
                None => return Err(self.fault("the quoted key does not end")),
                Some(byte) if byte == quote => return Ok(key),
                Some(b'\\') => match self.peek() {
                    Some(escaped) => {
                        key.push(escaped);
                        self.at += 1;
                    }
                    None => return Err(self.fault("the quoted key does not end")),
                },
                Some(byte) => key.push(byte),
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn fault(&self, what: &str) -> PathFault {
        let before = self.source.get(..self.at.min(self.source.len())).unwrap_or_default();
        PathFault { message: format!("{what} (at character {})", length(before)) }
    }
}

/// A path as shown to a person in one line: the value itself is `value`.
pub fn shown(path: &[u8]) -> Cow<'_, str> {
    let plain = path.len() <= REASON && !path.iter().any(u8::is_ascii_control);
    match path {
        b"" | b"$" => "value".into(),
        _ if plain => display(path),
        _ => quote(path, REASON).into(),
    }
}
