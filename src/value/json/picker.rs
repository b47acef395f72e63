//! Reading for wanted places alone: what stands elsewhere is checked and passed over. What is
//! written as it was in a text before is told by its bytes: all of it at best, else the names.

use std::cell::OnceCell;

use super::members::Members;
use super::pick::{Found, Picked, Wanted};
use super::scan::{Raw, Scalar, Scanner, Sink, decode};
use super::shape::Shape;
use super::{JsonFault, utf8};

/// Reads one text after the other; keeps its room between them, and how they were built.
#[derive(Debug)]
pub struct Picker<'w> {
    wanted: &'w Wanted,
    found: Vec<Found>,
    shape: Shape,
    members: Members,
    around: Vec<Frame>,
    open: Vec<bool>,
}

/// A container of which parts are wanted.
#[derive(Clone, Copy, Debug)]
struct Frame {
    place: usize,
    object: bool,
    /// Of an array how many items it has had; of an object which member was the last.
    last: usize,
    /// Which member is expected to be the next.
    next: usize,
}

/// The place of all that is not wanted.
const ELSEWHERE: usize = usize::MAX;

impl<'w> Picker<'w> {
    /// A reader of these places.
    pub fn new(wanted: &'w Wanted) -> Self {
        let (shape, members) = (Shape::default(), Members::new(wanted.len()));
        let (found, around, open) = (Vec::new(), Vec::new(), Vec::new());
        Self { wanted, found, shape, members, around, open }
    }

    /// Reads one JSON value, white space around it allowed.
    ///
    /// # Errors
    /// [`JsonFault`] exactly where [`Document::parse`](super::Document::parse) has one.
    pub fn pick<'a>(&'a mut self, input: &'a [u8]) -> Result<Picked<'a>, JsonFault> {
        let text = utf8(input)?;
        let Self { wanted, found, shape, members, around, open } = self;
        let scanner = Scanner::new(text);
        let has_others = if shape.read(scanner, found) {
            shape.has_others
        } else {
            found.clear();
            found.resize(wanted.len(), Found::Nothing);
            around.clear();
            shape.begin(text);
            let mut reading = Reading { wanted, text, found, shape, members, has_others: false };
            reading.read(scanner, around, open)?;
            let has_others = reading.has_others;
            shape.end(text, found, has_others);
            has_others
        };
        Ok(Picked { wanted, text, found, has_others, whole: OnceCell::new() })
    }
}

/// The reading of one text.
struct Reading<'a> {
    wanted: &'a Wanted,
    text: &'a str,
    found: &'a mut [Found],
    shape: &'a mut Shape,
    members: &'a mut Members,
    has_others: bool,
}

impl<'a> Reading<'a> {
    fn read(
        &mut self,
        mut scanner: Scanner<'a>,
        around: &mut Vec<Frame>,
        open: &mut Vec<bool>,
    ) -> Result<(), JsonFault> {
        let mut place = 0;
        let mut inside: Option<Frame> = None;
        loop {
            scanner.blank();
            let bracket = scanner.peek();
            let mut has_next = false;
            if let Some(b'{' | b'[') = bracket {
                let object = bracket == Some(b'{');
                self.note(place, if object { Found::Object } else { Found::Array });
                if self.wanted.children(place).is_empty() {
                    scanner = scanner.passed(open, &mut Inner(self.shape, self.text))?;
                } else if scanner.begins(object) {
                    has_next = true;
                    let next = self.members.next(place);
                    let last = if object { place } else { 0 };
                    around.extend(inside.replace(Frame { place, object, last, next }));
                }
            } else {
                let start = scanner.at();
                let scalar = scanner.scalar()?;
                self.note(place, Found::Scalar(scalar));
                self.shape.scalar(self.text, place, start, scanner.at());
            }
            place = loop {
                let Some(frame) = &mut inside else { return scanner.end() };
                if has_next || scanner.more(frame.object)? {
                    break if frame.object {
                        self.name(&mut scanner, frame)?
                    } else {
                        self.item(frame)
                    };
                }
                inside = around.pop();
            };
        }
    }

    /// Reads the name of a member up to its value, and answers the place of that.
    #[inline]
    fn name(&mut self, scanner: &mut Scanner<'_>, frame: &mut Frame) -> Result<usize, JsonFault> {
        let place = match self.members.get(frame.next) {
            Some(member) if member.written.is_passed(scanner) => {
                frame.last = frame.next;
                frame.next = member.next;
                member.place
            }
            _ => {
                let (place, after) = self.other_name(*scanner, frame)?;
                *scanner = after;
                place
            }
        };
        if place == ELSEWHERE {
            self.has_others |= frame.place == 0;
        }
        Ok(place)
    }

    /// The same for a name that is not the expected one.
    #[inline(never)]
    fn other_name<'s>(
        &mut self,
        mut scanner: Scanner<'s>,
        frame: &mut Frame,
    ) -> Result<(usize, Scanner<'s>), JsonFault> {
        if let Some(at) = self.members.pass(frame.next, &mut scanner)
            && let Some(member) = self.members.get(at)
        {
            frame.last = at;
            frame.next = member.next;
            return Ok((member.place, scanner));
        }
        let text = scanner.rest();
        let name = scanner.name()?;
        scanner.blank();
        let written = scanner.raw(name);
        let place = if name.escaped {
            let mut decoded = Vec::new();
            decode(written, &mut decoded);
            self.wanted.child(frame.place, |child| *child.key == *decoded)
        } else {
            self.wanted.child(frame.place, |child| *child.key == *written)
        };
        let place = place.unwrap_or(ELSEWHERE);
        let length = text.len() - scanner.rest().len();
        let written = text.get(..length).unwrap_or_default();
        frame.last = self.members.learn(frame.last, written, place);
        frame.next = self.members.next(frame.last);
        Ok((place, scanner))
    }

    /// The place of the next item.
    fn item(&self, frame: &mut Frame) -> usize {
        let at = frame.last;
        frame.last += 1;
        self.wanted.child(frame.place, |child| child.index == Some(at)).unwrap_or(ELSEWHERE)
    }

    /// Notes what is at a place; of a repeated name the last value counts.
    #[inline]
    fn note(&mut self, place: usize, value: Found) {
        if let Some(found) = self.found.get_mut(place) {
            let is_repeated = !matches!(found, Found::Nothing);
            *found = value;
            if is_repeated {
                self.forget(place);
            }
        }
    }

    /// Forgets what the earlier value at a place held.
    #[cold]
    fn forget(&mut self, place: usize) {
        self.shape.give_up();
        let mut gone: Vec<usize> = self.wanted.below(place).collect();
        while let Some(place) = gone.pop() {
            if let Some(found) = self.found.get_mut(place) {
                *found = Found::Nothing;
            }
            gone.extend(self.wanted.below(place));
        }
    }
}

/// Tells a shape what stands in a container of which no part is wanted.
struct Inner<'s, 't>(&'s mut Shape, &'t str);

impl Sink for Inner<'_, '_> {
    fn begin(&mut self, _: bool) {}
    fn end(&mut self) {}
    fn name(&mut self, _: Raw) {}
    fn scalar(&mut self, _: Scalar, start: usize, end: usize) {
        self.0.scalar(self.1, ELSEWHERE, start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_that_nobody_asks_for_takes_no_frames() {
        let places = [(0, &b""[..], None), (0, b"a", None), (1, b"b", None)];
        let wanted = Wanted::new(places.into_iter());
        for open in ["[", "{\"c\":"] {
            let mut picker = Picker::new(&wanted);
            picker.pick(open.repeat(100_000).as_bytes()).unwrap_err();
            assert!(picker.around.capacity() < 100);
        }
    }
}
