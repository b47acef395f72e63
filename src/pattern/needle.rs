//! Needles: texts of which at least one stands in every text that a pattern is found in.

use regex_syntax::hir::literal::{Extractor, Seq};
use regex_syntax::hir::{Hir, HirKind};

use super::ir::Ir;

/// Bounds that keep extraction far below the cost of compiling: needles of a pattern, their bytes, the
/// parts of a row that one is looked for in, and how deep and how large a pattern is read.
const NEEDLES: usize = 64;
const BYTES: usize = 16;
const PARTS: usize = 32;
const DEPTH: usize = 8;
const SPELLINGS: usize = 4_096;

/// Shorter ones are in most texts.
const SHORTEST: usize = 2;

/// The needles of a pattern, the best ones that are known.
pub(super) fn needles(ir: &Ir) -> Option<Box<[Box<[u8]>]>> {
    let hir = if ir.spellings() <= SPELLINGS { ir.to_wider_hir()? } else { return None };
    let seq = best(&hir, DEPTH)?;
    let mut needles: Vec<Box<[u8]>> =
        seq.literals()?.iter().map(|literal| literal.as_bytes().into()).collect();
    needles.sort_unstable();
    needles.dedup();
    Some(needles.into())
}

/// The best needles of a part.
fn best(hir: &Hir, depth: usize) -> Option<Seq> {
    let inner = match hir.kind() {
        _ if depth == 0 => None,
        HirKind::Concat(parts) => in_row(parts, depth - 1),
        HirKind::Alternation(branches) => in_each(branches, depth - 1),
        HirKind::Repetition(repetition) if repetition.min > 0 => best(&repetition.sub, depth - 1),
        _ => None,
    };
    better(inner, usable(hir))
}

/// Every part of a row has to be matched, so the needles of any one do, and so does what it leads to.
fn in_row(parts: &[Hir], depth: usize) -> Option<Seq> {
    (0..parts.len().min(PARTS)).fold(None, |found, at| {
        let tail = parts.get(at..(at + PARTS).min(parts.len())).unwrap_or_default();
        let from_here = if at == 0 { None } else { usable(&Hir::concat(tail.to_vec())) };
        let inside = parts.get(at).and_then(|part| best(part, depth));
        better(found, better(inside, from_here))
    })
}

/// One of the branches is matched, so needles of all are needed.
fn in_each(branches: &[Hir], depth: usize) -> Option<Seq> {
    let mut all = Seq::empty();
    for branch in branches {
        all.union(&mut best(branch, depth)?);
        if all.len()? > NEEDLES {
            return None;
        }
    }
    Some(all)
}

/// What every match of a part starts with, where that says enough.
fn usable(hir: &Hir) -> Option<Seq> {
    let mut extractor = Extractor::new();
    extractor.limit_literal_len(BYTES).limit_total(2 * NEEDLES);
    let mut seq = extractor.extract(hir);
    seq.dedup();
    let long = seq.min_literal_len()? >= SHORTEST && seq.len()? <= NEEDLES;
    let whole = seq.literals()?.iter().all(|literal| is_whole(literal.as_bytes()));
    (long && whole).then_some(seq)
}

/// Whether there is no half in it, nor a part of one: a text spells it alike whatever its units are.
fn is_whole(needle: &[u8]) -> bool {
    let mut after = needle.iter().skip(1);
    needle.iter().all(|byte| {
        let next = after.next();
        *byte != 0xED || next.is_some_and(|next| *next < 0xA0)
    })
}

/// The longer ones, and of those as long the fewer.
fn better(one: Option<Seq>, other: Option<Seq>) -> Option<Seq> {
    let worth = |seq: &Seq| {
        (seq.min_literal_len().map(|length| length.min(4)), std::cmp::Reverse(seq.len()))
    };
    match (one, other) {
        (Some(one), Some(other)) => Some(if worth(&other) > worth(&one) { other } else { one }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use crate::limits::Limits;

    fn needles(source: &str, flags: &str) -> Option<Vec<String>> {
        let pattern =
            Pattern::compile(source.as_bytes(), flags.as_bytes(), &Limits::DEFAULT).unwrap();
        let needles = pattern.needles?;
        Some(needles.iter().map(|needle| String::from_utf8_lossy(needle).into_owned()).collect())
    }

    #[test]
    fn what_every_match_holds() {
        for (source, flags, expected) in [
            ("connection refused", "", Some(vec!["connection refus"])),
            (r"[0-9]+ (?:ERROR|FATAL) \[[a-z]+", "", Some(vec![" ERROR [", " FATAL ["])),
            (r"(?<!un)known(?=\s*:)", "", Some(vec!["known"])),
            ("(?:ab|.)+", "", None),
            ("(?:.ab){1,3}", "", Some(vec!["ab"])),
            ("ab|cd|x*", "", None),
            ("(?:ab)*", "", None),
            ("(?=ab)..", "", None),
            ("ßK", "iu", Some(vec!["ßK", "ßk", "ß\u{212A}", "ẞK", "ẞk", "ẞ\u{212A}"])),
            ("[😀x]", "", None),
            ("😀ab", "", Some(vec!["ab"])),
            ("😀", "u", Some(vec!["😀"])),
        ] {
            let expected = expected.map(|each| each.into_iter().map(String::from).collect());
            assert_eq!(needles(source, flags), expected, "{source}");
        }
    }
}
