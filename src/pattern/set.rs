//! Sets of units, and the bytes that spell them.
//!
//! A unit is a UTF-16 code unit, or a code point under the flags `u` and `v`.

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir};

use super::ast::Builtin;
use crate::value::text::{from_points, push_code_point};

/// The largest code unit.
pub(super) const LAST_UNIT: u32 = 0xFFFF;

/// The largest code point.
pub(super) const LAST_POINT: u32 = 0x10_FFFF;

/// Surrogate halves.
pub(super) const HALVES: (u32, u32) = (0xD800, 0xDFFF);

/// Sorted ranges of units, apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnitSet(Vec<(u32, u32)>);

/// White space and line terminators of ECMAScript: 25 characters (ECMA-262, `\s`).
const SPACES: [(u32, u32); 10] = [
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

impl UnitSet {
    pub(super) fn new(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut sorted: Vec<(u32, u32)> = ranges.into_iter().collect();
        sorted.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(sorted.len());
        for (low, high) in sorted {
            match merged.last_mut() {
                Some((_, end)) if low <= *end + 1 => *end = high.max(*end),
                _ => merged.push((low, high)),
            }
        }
        Self(merged)
    }

    /// All units up to `last`.
    pub(super) fn everything(last: u32) -> Self {
        Self(vec![(0, last)])
    }

    pub(super) fn builtin(set: Builtin) -> Self {
        match set {
            Builtin::Digit => Self::new([(0x30, 0x39)]),
            Builtin::Word => Self::new([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]),
            Builtin::Space => Self::new(SPACES),
        }
    }

    /// LF, CR, U+2028 and U+2029.
    pub(super) fn line_terminators() -> Self {
        Self::new([(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)])
    }

    /// All units up to `last` that are not in the set.
    pub(super) fn complement(&self, last: u32) -> Self {
        let mut ranges = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for (low, high) in &self.0 {
            if *low > next {
                ranges.push((next, low - 1));
            }
            next = high + 1;
        }
        if next <= last {
            ranges.push((next, last));
        }
        Self(ranges)
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self::new(self.0.iter().chain(&other.0).copied())
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut shared = Vec::new();
        while let (Some((from, to)), Some((start, end))) = (left.peek(), right.peek()) {
            let (low, high) = (*from.max(start), *to.min(end));
            if low <= high {
                shared.push((low, high));
            }
            if to < end {
                left.next()
            } else {
                right.next()
            };
        }
        Self(shared)
    }

    pub(super) fn difference(&self, other: &Self) -> Self {
        self.intersection(&other.complement(LAST_POINT))
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    pub(super) fn contains(&self, unit: u32) -> bool {
        let after = self.0.partition_point(|(low, _)| *low <= unit);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, high)| unit <= *high)
    }

    /// Gives the byte ranges whose products spell the units of the set, in order.
    pub(super) fn spell(&self, emit: &mut Emit<'_>) {
        for (low, high) in &self.0 {
            split(*low, *high, emit);
        }
    }

    /// How many products that are at least, without working them out.
    pub(super) fn spellings(&self) -> usize {
        let crossed = |low: u32, high: u32| {
            [0x7F, 0x7FF, 0xFFFF]
                .into_iter()
                .filter(|border| low <= *border && *border < high)
                .count()
        };
        self.0.iter().map(|(low, high)| 1 + 2 * crossed(*low, *high)).sum()
    }

    /// A matcher for one unit of the set in generalised UTF-8. Characters are left to the automata,
    /// which spell them in little space; halves are spelled here.
    pub(super) fn to_hir(&self) -> Hir {
        if let [(unit, last)] = *self.0
            && unit == last
        {
            return Hir::literal(from_points([unit]));
        }
        let halves = self.intersection(&Self::new([HALVES]));
        let characters = self.difference(&halves);
        let mut branches = Vec::new();
        if !characters.0.is_empty() || halves.0.is_empty() {
            let ranges = characters.0.into_iter().filter_map(|(low, high)| {
                Some(ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high)?))
            });
            branches.push(Hir::class(Class::Unicode(ClassUnicode::new(ranges))));
        }
        halves.spell(&mut |bytes| branches.push(product(bytes)));
        Hir::alternation(branches)
    }
}

/// A byte of each range in a row.
fn product(bytes: &[ByteRange]) -> Hir {
    if bytes.iter().all(|(low, high)| low == high) {
        return Hir::literal(bytes.iter().map(|(low, _)| *low).collect::<Vec<u8>>());
    }
    let byte = |(low, high): &ByteRange| {
        Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(*low, *high)])))
    };
    Hir::concat(bytes.iter().map(byte).collect())
}

/// Bytes from the first to the second, both included.
type ByteRange = (u8, u8);

/// Takes byte ranges whose product spells a run of units.
type Emit<'a> = dyn FnMut(&[ByteRange]) + 'a;

/// Cuts a range into runs whose spellings are a product of byte ranges.
fn split(low: u32, high: u32, emit: &mut Emit<'_>) {
    for border in [0x7F, 0x7FF, 0xFFFF] {
        if low <= border && border < high {
            split(low, border, emit);
            split(border + 1, high, emit);
            return;
        }
    }
    // Continuation bytes are aligned: with 6 bits each, up to as many as the run's spelling has.
    for (bits, shorter) in [(6_u32, 0x7F), (12, 0x7FF), (18, 0xFFFF)] {
        let mask = (1 << bits) - 1;
        if high <= shorter || low & !mask == high & !mask {
            continue;
        }
        if low & mask != 0 {
            split(low, low | mask, emit);
            split((low | mask) + 1, high, emit);
            return;
        }
        if high & mask != mask {
            split(low, (high & !mask) - 1, emit);
            split(high & !mask, high, emit);
            return;
        }
    }
    let (mut first, mut last) = (Vec::new(), Vec::new());
    push_code_point(&mut first, low);
    push_code_point(&mut last, high);
    let bytes: Vec<ByteRange> = first.into_iter().zip(last).collect();
    emit(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_spelled_once() {
        let mut seen = vec![0_u32; 0x11_0000];
        let ranges = [(0x30, 0x39), (0x70, 0x8FF), (0xD7FF, 0xE123), (0xFFFF, 0x1_F123)];
        let set = UnitSet::new(ranges.into_iter().chain([(0x4_0001, 0x10_FFFF)]));
        for (low, high) in set.ranges() {
            split(*low, *high, &mut |bytes| {
                let mut spelled = vec![Vec::new()];
                for (from, to) in bytes {
                    spelled = spelled
                        .iter()
                        .flat_map(|head: &Vec<u8>| {
                            (*from..=*to).map(|byte| [head.as_slice(), &[byte]].concat())
                        })
                        .collect();
                }
                for text in spelled {
                    let points: Vec<u32> = crate::value::text::code_points(&text).collect();
                    assert_eq!(points.len(), 1);
                    seen[points[0] as usize] += 1;
                }
            });
        }
        for (unit, count) in (0_u32..).zip(seen) {
            assert_eq!(count, u32::from(set.contains(unit)), "U+{unit:04X}");
        }
    }

    #[test]
    fn complement_twice_is_the_same_set() {
        let spaces = UnitSet::builtin(Builtin::Space);
        for last in [LAST_UNIT, LAST_POINT] {
            assert_eq!(spaces.complement(last).complement(last), spaces);
            assert_eq!(UnitSet::everything(last).complement(last), UnitSet::default());
        }
    }

    #[test]
    fn algebra_is_by_members() {
        let left = UnitSet::new([(1, 5), (8, 9), (20, 30)]);
        let right = UnitSet::new([(0, 2), (4, 8), (25, 25), (30, 40)]);
        for unit in 0..=50 {
            let (a, b) = (left.contains(unit), right.contains(unit));
            assert_eq!(left.intersection(&right).contains(unit), a && b, "{unit}");
            assert_eq!(left.difference(&right).contains(unit), a && !b, "{unit}");
            assert_eq!(left.union(&right).contains(unit), a || b, "{unit}");
        }
    }
}
