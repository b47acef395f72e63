//! The seven properties whose members are strings, in Unicode 17.0.
//!
//! `strings.txt` has what no rule gives: the flags as pairs of letters, the tags of regions, and the
//! joined signs, in which `*` stands for any skin tone and two `!` for two different ones.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::set;
use crate::pattern::set::UnitSet;

const LISTS: &str = include_str!("strings.txt");

/// The presentation selector after a sign that is text by itself.
const AS_EMOJI: u32 = 0xFE0F;

const TONES: std::ops::RangeInclusive<u32> = 0x1_F3FB..=0x1_F3FF;

/// The one base that takes a tone alone, yet not by recommendation.
const FAMILY: u32 = 0x1_F46A;

/// Members of one unit, and those of more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::pattern) struct Strings {
    pub(in crate::pattern) set: UnitSet,
    pub(in crate::pattern) longer: Vec<Vec<u32>>,
}

/// The property of a name, built once in the life of the process.
pub(super) fn find(name: &str) -> Option<Arc<Strings>> {
    static ALL: OnceLock<BTreeMap<&'static str, Arc<Strings>>> = OnceLock::new();
    ALL.get_or_init(all).get(name).map(Arc::clone)
}

fn all() -> BTreeMap<&'static str, Arc<Strings>> {
    let emoji = set("Emoji");
    let shown = set("Emoji_Presentation");
    let ascii = UnitSet::everything(0x7F);
    let selected = emoji.difference(&shown).difference(&ascii);
    let bases = set("Emoji_Modifier_Base").difference(&UnitSet::new([(FAMILY, FAMILY)]));
    let keys = emoji.intersection(&ascii);
    let longer = |longer: Vec<Vec<u32>>| Strings { set: UnitSet::default(), longer };
    let mut all = BTreeMap::from([
        (
            "Basic_Emoji",
            Strings {
                set: shown.difference(&set("Regional_Indicator")),
                longer: points(&selected).map(|point| vec![point, AS_EMOJI]).collect(),
            },
        ),
        (
            "Emoji_Keycap_Sequence",
            longer(points(&keys).map(|key| vec![key, AS_EMOJI, 0x20E3]).collect()),
        ),
        (
            "RGI_Emoji_Modifier_Sequence",
            longer(
                points(&bases).flat_map(|base| TONES.map(move |tone| vec![base, tone])).collect(),
            ),
        ),
        ("RGI_Emoji_Flag_Sequence", longer(words("flags").map(flag).collect())),
        ("RGI_Emoji_Tag_Sequence", longer(words("tags").map(tag).collect())),
        ("RGI_Emoji_ZWJ_Sequence", longer(words("joined").flat_map(joined).collect())),
    ]);
    let whole = Strings {
        set: all.values().fold(UnitSet::default(), |whole, part| whole.union(&part.set)),
        longer: all.values().flat_map(|part| part.longer.iter().cloned()).collect(),
    };
    all.insert("RGI_Emoji", whole);
    all.into_iter().map(|(name, strings)| (name, Arc::new(strings))).collect()
}

fn points(set: &UnitSet) -> impl Iterator<Item = u32> {
    set.ranges().iter().flat_map(|(low, high)| *low..=*high)
}

/// The words of all lines that begin with a name.
fn words(name: &str) -> impl Iterator<Item = &'static str> {
    let lines = LISTS.lines().filter_map(|line| line.split_once(' '));
    lines.filter(move |(first, _)| *first == name).flat_map(|(_, words)| words.split(' '))
}

/// Letters as regional indicators.
fn flag(letters: &str) -> Vec<u32> {
    letters.bytes().map(|letter| 0x1_F1E6 - u32::from(b'A') + u32::from(letter)).collect()
}

/// A black flag with the letters of a region as tags.
fn tag(letters: &str) -> Vec<u32> {
    let tags = letters.bytes().map(|letter| 0xE_0000 + u32::from(letter));
    [0x1_F3F4].into_iter().chain(tags).chain([0xE_007F]).collect()
}

/// All strings that a sign with places for tones stands for.
fn joined(word: &str) -> Vec<Vec<u32>> {
    let mut strings: Vec<(Vec<u32>, Option<u32>)> = vec![(Vec::new(), None)];
    for letter in word.chars() {
        let longer = |string: &[u32], point: u32| [string, &[point]].concat();
        strings = strings
            .iter()
            .flat_map(|(string, before)| -> Vec<(Vec<u32>, Option<u32>)> {
                match letter {
                    '*' => TONES.map(|tone| (longer(string, tone), None)).collect(),
                    '!' => TONES
                        .filter(|tone| Some(*tone) != *before)
                        .map(|tone| (longer(string, tone), Some(tone)))
                        .collect(),
                    _ => vec![(longer(string, letter.into()), *before)],
                }
            })
            .collect();
    }
    strings.into_iter().map(|(string, _)| string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_unicode_lists() {
        for (name, units, longer) in [
            ("Basic_Emoji", 1_193, 207),
            ("Emoji_Keycap_Sequence", 0, 12),
            ("RGI_Emoji_Modifier_Sequence", 0, 665),
            ("RGI_Emoji_Flag_Sequence", 0, 259),
            ("RGI_Emoji_Tag_Sequence", 0, 3),
            ("RGI_Emoji_ZWJ_Sequence", 0, 1_614),
            ("RGI_Emoji", 1_193, 2_760),
        ] {
            let strings = find(name).unwrap();
            assert_eq!(
                (points(&strings.set).count(), strings.longer.len()),
                (units, longer),
                "{name}"
            );
        }
    }

    #[test]
    fn tones_that_differ() {
        assert_eq!(joined("a!b!").len(), 20);
        assert_eq!(joined("a*b*").len(), 25);
        assert_eq!(joined("ab"), [vec![0x61, 0x62]]);
    }
}
