//! How a text is built: what stands between its scalars. A text that is built like the one before
//! needs no more than its scalars read, and what is between them compared.

use super::pick::Found;
use super::scan::scalar_at;

/// What stands between the scalars of a text.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// All of it, one after the other.
    between: Vec<u8>,
    /// For each scalar: where in `between` that ends which stands before it, and the place it is.
    scalars: Vec<(usize, Option<usize>)>,
    /// What is found at the places but for scalars.
    containers: Vec<Found>,
    /// Where the scalar before ended in the text that is learned.
    after: usize,
    learning: bool,
    known: bool,
    /// Whether the text that was read last has members at its root that nobody asks for.
    pub(super) has_others: bool,
}

/// Longer texts are not learned: nobody keeps as much for the next one.
const LONGEST: usize = 64 << 10;

impl Shape {
    /// Reads a text of this shape; false when it has another.
    pub(super) fn read(&self, text: &str, found: &mut Vec<Found>) -> bool {
        if !self.known {
            return false;
        }
        found.clone_from(&self.containers);
        let (mut at, mut from) = (0, 0);
        for (end, place) in &self.scalars {
            let between = self.between.get(from..*end).unwrap_or_default();
            let Some(rest) = text.as_bytes().get(at..) else { return false };
            if !rest.starts_with(between) {
                return false;
            }
            let Some((scalar, after)) = scalar_at(text, at + between.len()) else { return false };
            if let Some(found) = place.and_then(|place| found.get_mut(place)) {
                *found = Found::Scalar(scalar);
            }
            (at, from) = (after, *end);
        }
        text.as_bytes().get(at..) == self.between.get(from..)
    }

    /// Begins to learn another.
    pub(super) fn begin(&mut self, text: &str) {
        self.between.clear();
        self.scalars.clear();
        self.after = 0;
        self.learning = text.len() <= LONGEST;
        self.known = false;
        self.has_others = false;
    }

    /// Learns a scalar of a text.
    pub(super) fn scalar(&mut self, text: &str, place: Option<usize>, start: usize, end: usize) {
        if !self.learning {
            return;
        }
        self.between.extend(text.as_bytes().get(self.after..start).unwrap_or_default());
        self.scalars.push((self.between.len(), place));
        self.after = end;
    }

    /// A text that cannot be told by its shape.
    pub(super) fn give_up(&mut self) {
        self.learning = false;
    }

    /// Learns the end of a text, and what was found in it.
    pub(super) fn end(&mut self, text: &str, found: &[Found]) {
        if !self.learning {
            return;
        }
        self.known = true;
        self.between.extend(text.as_bytes().get(self.after..).unwrap_or_default());
        let container = |found: &Found| match found {
            Found::Scalar(_) => Found::Nothing,
            other => *other,
        };
        self.containers = found.iter().map(container).collect();
    }
}
