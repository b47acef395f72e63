//! How a text is built: what stands between its scalars. A text that is built like one before
//! needs no more than its scalars read, and what is between them compared.

use super::expected::Expected;
use super::pick::Found;
use super::scan::Scanner;

/// What stands between the scalars of a text.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// For each scalar what stands before it, and its place.
    scalars: Vec<(Expected, usize)>,
    /// What stands behind the last; none while nothing is known.
    last: Option<Expected>,
    /// What is found at the places but for scalars.
    containers: Vec<Found>,
    /// Where the scalar before ended in the text that is learned.
    after: usize,
    learning: bool,
    /// How many texts in turn were built differently.
    misses: usize,
    /// Whether the text that was learned has members at its root that nobody asks for.
    pub(super) has_others: bool,
}

/// Longer texts are not learned: nobody keeps as much for the next one.
const LONGEST: usize = 64 << 10;

/// Of so many texts in turn that are built differently one is learned, the first.
const SELDOM: usize = 64;

impl Shape {
    /// Reads a text of this shape; false when it has another.
    pub(super) fn read(&mut self, mut scanner: Scanner<'_>, found: &mut Vec<Found>) -> bool {
        let Some(last) = &self.last else { return false };
        found.clone_from(&self.containers);
        for (between, place) in &self.scalars {
            if !between.is_passed(&mut scanner) {
                return false;
            }
            let Ok(scalar) = scanner.scalar() else { return false };
            if let Some(found) = found.get_mut(*place) {
                *found = Found::Scalar(scalar);
            }
        }
        let is_read = last.is_passed(&mut scanner) && scanner.rest().is_empty();
        if is_read {
            self.misses = 0;
        }
        is_read
    }

    /// Begins a text of another shape, and learns it now and then: where each is built differently,
    /// learning is in vain.
    pub(super) fn begin(&mut self, text: &str) {
        self.learning = self.misses.is_multiple_of(SELDOM) && text.len() <= LONGEST;
        self.misses = self.misses.wrapping_add(1);
        if self.learning {
            self.scalars.clear();
            self.last = None;
            self.after = 0;
        }
    }

    /// Learns a scalar of a text.
    #[inline]
    pub(super) fn scalar(&mut self, text: &str, place: usize, start: usize, end: usize) {
        if self.learning {
            self.scalars.push((self.between(text, start), place));
            self.after = end;
        }
    }

    fn between(&self, text: &str, end: usize) -> Expected {
        Expected::new(text.as_bytes().get(self.after..end).unwrap_or_default())
    }

    /// A text that cannot be told by its shape.
    pub(super) fn give_up(&mut self) {
        self.learning = false;
    }

    /// Learns the end of a text, and what was found in it.
    pub(super) fn end(&mut self, text: &str, found: &[Found], has_others: bool) {
        if !self.learning {
            return;
        }
        self.last = Some(self.between(text, text.len()));
        self.has_others = has_others;
        let container = |found: &Found| match found {
            Found::Scalar(_) => Found::Nothing,
            other => *other,
        };
        self.containers = found.iter().map(container).collect();
    }
}
