//! The sets behind `\p{...}`, in Unicode 17.0.
//!
//! Names are matched exactly, against ECMAScript's own list. The sets come from the tables of
//! `regex-syntax`, which are of Unicode 16.0, with what has changed since from `unicode17.txt`:
//! lines of a name and the ranges to add, or after `!` to take away. Surrogate halves, which those
//! tables do not know, are added here.

mod names;
mod strings;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex_syntax::hir::{Class, HirKind};

pub(super) use strings::Strings;

use super::set::{HALVES, LAST_POINT, UnitSet};

const CHANGES: &str = include_str!("unicode17.txt");

/// A property that ECMAScript has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Property {
    /// Of code points.
    Points(Arc<UnitSet>),
    /// Of strings: only under `v`, and never negated.
    Strings(Arc<Strings>),
}

/// Finds `name` or `name=value` as it stands between the braces; the error is a hint.
pub(super) fn find(text: &str) -> Result<Property, String> {
    let key = match text.split_once('=') {
        Some(("General_Category" | "gc", value)) => among(names::CATEGORIES, value, "gc="),
        Some(("Script" | "sc", value)) => among(names::SCRIPTS, value, "sc="),
        Some(("Script_Extensions" | "scx", value)) => among(names::SCRIPTS, value, "scx="),
        Some(_) => None,
        None => {
            if let Some(strings) = strings::find(text) {
                return Ok(Property::Strings(strings));
            }
            among(names::CATEGORIES, text, "gc=").or_else(|| among(names::BINARY, text, ""))
        }
    };
    key.map(|key| Property::Points(set(&key))).ok_or_else(|| hint(text))
}

/// The key of a name or alias in a table: the prefix, then the name.
fn among(table: &'static str, wanted: &str, prefix: &str) -> Option<String> {
    let entry = table.split(' ').find(|entry| entry.split('=').any(|name| name == wanted))?;
    let name = entry.split('=').next()?;
    Some(format!("{prefix}{name}"))
}

/// What may have been meant.
fn hint(text: &str) -> String {
    let loose = |name: &str| name.replace(['_', ' ', '-'], "").to_ascii_lowercase();
    let (name, value) = text.split_once('=').unwrap_or(("", text));
    let bare = loose(value.strip_prefix("Is").unwrap_or(value));
    let like = |table: &'static str| {
        table.split([' ', '=']).find(|name| loose(name) == bare).map(str::to_owned)
    };
    let script = || like(names::SCRIPTS).map(|script| format!("Script={script}"));
    let other = || like(names::CATEGORIES).or_else(|| like(names::BINARY));
    let meant = if loose(name).starts_with('s') { script() } else { other().or_else(script) };
    match meant {
        Some(meant) => format!("no property is called `{text}`; write `\\p{{{meant}}}`"),
        None => format!("no property is called `{text}`; names are exact, such as `\\p{{Lu}}`"),
    }
}

/// All code points that change under some case mapping or folding.
pub(super) fn cased() -> UnitSet {
    set("Changes_When_Casemapped").union(&set("Changes_When_Casefolded"))
}

/// The set of a key, built once in the life of the process.
pub(super) fn set(key: &str) -> Arc<UnitSet> {
    static SETS: OnceLock<Mutex<BTreeMap<String, Arc<UnitSet>>>> = OnceLock::new();
    let sets = SETS.get_or_init(Mutex::default);
    // A thread that panicked while it held the lock left the map whole: each change is one call.
    let known = sets.lock().unwrap_or_else(PoisonError::into_inner).get(key).map(Arc::clone);
    known.unwrap_or_else(|| {
        let made = Arc::new(build(key));
        let mut sets = sets.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(sets.entry(key.to_owned()).or_insert(made))
    })
}

fn build(key: &str) -> UnitSet {
    let halves = UnitSet::new([HALVES]);
    let all = |keys: &[&str]| keys.iter().fold(halves.clone(), |all, key| all.union(&set(key)));
    match key {
        "Any" => UnitSet::everything(LAST_POINT),
        "ASCII" => UnitSet::everything(0x7F),
        "Assigned" => set("gc=Unassigned").complement(LAST_POINT),
        "gc=Surrogate" => halves,
        "gc=Other" => all(&["gc=Control", "gc=Format", "gc=Private_Use", "gc=Unassigned"]),
        // No script: what is not assigned, private, or a half.
        "sc=Unknown" | "scx=Unknown" => all(&["gc=Private_Use", "gc=Unassigned"]),
        _ => {
            let (added, taken) = changes(key);
            table(key).difference(&halves).union(&added).difference(&taken)
        }
    }
}

/// The set in the tables of `regex-syntax`; empty when they do not have it. They may run across
/// the halves, as those are no characters there.
fn table(key: &str) -> UnitSet {
    let hir = regex_syntax::parse(&format!("\\p{{{key}}}")).map(regex_syntax::hir::Hir::into_kind);
    match hir {
        Ok(HirKind::Class(Class::Unicode(class))) => UnitSet::new(
            class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))),
        ),
        Ok(HirKind::Literal(literal)) => {
            let text = std::str::from_utf8(&literal.0).unwrap_or_default();
            UnitSet::new(text.chars().map(|character| (character.into(), character.into())))
        }
        _ => UnitSet::default(),
    }
}

/// What Unicode 17.0 added to a set, and what it took away.
fn changes(key: &str) -> (UnitSet, UnitSet) {
    let lines = CHANGES.lines().filter_map(|line| line.split_once(' '));
    let words = lines.filter(|(name, _)| *name == key).flat_map(|(_, words)| words.split(' '));
    let (taken, added): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('!'));
    let set = |words: Vec<&str>| UnitSet::new(words.into_iter().filter_map(range));
    (set(added), set(taken))
}

fn range(word: &str) -> Option<(u32, u32)> {
    let word = word.trim_start_matches('!');
    let (low, high) = word.split_once("..").unwrap_or((word, word));
    Some((u32::from_str_radix(low, 16).ok()?, u32::from_str_radix(high, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> UnitSet {
        match find(text) {
            Ok(Property::Points(set)) => (*set).clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn every_name_has_a_set() {
        for (table, prefix) in
            [(names::CATEGORIES, "gc="), (names::SCRIPTS, "scx="), (names::BINARY, "")]
        {
            for name in table.split([' ', '=']) {
                assert!(!points(&format!("{prefix}{name}")).ranges().is_empty(), "{name}");
            }
        }
    }

    #[test]
    fn categories_cover_everything_once() {
        let kinds = ["L", "M", "N", "P", "S", "Z", "C"].map(points);
        let size =
            |set: &UnitSet| set.ranges().iter().map(|(low, high)| high - low + 1).sum::<u32>();
        assert_eq!(kinds.iter().map(size).sum::<u32>(), LAST_POINT + 1);
        assert_eq!(points("Cs"), UnitSet::new([HALVES]));
    }

    #[test]
    fn every_change_has_a_known_name_and_readable_ranges() {
        for line in CHANGES.lines() {
            let (name, words) = line.split_once(' ').unwrap();
            assert!(find(name).is_ok(), "{name}");
            assert!(words.split(' ').all(|word| range(word).is_some()), "{line}");
        }
    }

    #[test]
    fn names_are_exact_and_the_hint_says_which() {
        for (wrong, right) in [
            ("Greek", "Script=Greek"),
            ("greek", "Script=Greek"),
            ("IsGreek", "Script=Greek"),
            ("sc=greek", "Script=Greek"),
            ("lu", "Lu"),
            ("uppercase letter", "Uppercase_Letter"),
        ] {
            assert!(find(wrong).unwrap_err().ends_with(&format!("`\\p{{{right}}}`")), "{wrong}");
        }
        assert!(find("Other_Alphabetic").is_err());
    }
}
