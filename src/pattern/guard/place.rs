//! Questions about a place that the units right beside it answer.

use crate::pattern::set::UnitSet;
use crate::value::text::code_points;

/// A set to look units up in, one at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lookup {
    ascii: [bool; 128],
    set: UnitSet,
}

impl Lookup {
    pub(super) fn new(set: UnitSet) -> Self {
        let mut ascii = [false; 128];
        for (unit, slot) in (0..).zip(&mut ascii) {
            *slot = set.contains(unit);
        }
        Self { ascii, set }
    }

    /// Heap memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of_val(self.set.ranges())
    }

    /// Whether the unit after a place is in the set; `None` at the end of the text.
    pub(super) fn after(&self, text: &[u8], at: usize) -> Option<bool> {
        text.get(at).map(|first| self.holds(*first, text, at))
    }

    /// Whether the unit before a place is in the set; `None` at the start of the text.
    pub(super) fn before(&self, text: &[u8], at: usize) -> Option<bool> {
        let mut start = at.checked_sub(1)?;
        while start > 0 && text.get(start).is_some_and(|byte| byte & 0xC0 == 0x80) {
            start -= 1;
        }
        text.get(start).map(|first| self.holds(*first, text, start))
    }

    /// Whether the set holds the unit that starts at a place with this byte.
    fn holds(&self, first: u8, text: &[u8], at: usize) -> bool {
        if let Some(holds) = self.ascii.get(usize::from(first)) {
            return *holds;
        }
        let unit = text.get(at..).and_then(|rest| code_points(rest).next());
        unit.is_some_and(|unit| self.set.contains(unit))
    }

    /// Whether exactly one side of the place is in the set.
    pub(super) fn is_border(&self, text: &[u8], at: usize) -> bool {
        self.before(text, at).unwrap_or(false) != self.after(text, at).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_on_both_sides_of_a_place() {
        let text = "aé中b".as_bytes();
        let letters = Lookup::new(UnitSet::new([(0x61, 0x62), (0x4E2D, 0x4E2D)]));
        let borders = [0, 1, 3, 6, 7];
        let before: Vec<_> = borders.iter().map(|at| letters.before(text, *at)).collect();
        let after: Vec<_> = borders.iter().map(|at| letters.after(text, *at)).collect();
        assert_eq!(before, [None, Some(true), Some(false), Some(true), Some(true)]);
        assert_eq!(after, [Some(true), Some(false), Some(true), Some(true), None]);
        let borders: Vec<_> = borders.iter().filter(|at| letters.is_border(text, **at)).collect();
        assert_eq!(borders, [&0, &1, &3, &7]);
    }
}
