//! Asking many patterns at once says what asking each says.

use proptest::prelude::*;

use super::*;
use crate::limits::Limits;
use crate::pattern::compiled;

const SOURCES: [&str; 16] = [
    "refused",
    "(?:time|timed )out",
    "^[0-9]+ errors?",
    "(?<!not )found",
    "x{2,}y",
    "a|bc|",
    "\\bab\\b",
    "[a-c]{3}",
    "(?=.*ab)bc",
    "😀|é",
    "^.$",
    "ab(?!c)",
    "caf\\u00e9",
    "(?:ab)+c",
    "\\ud83d",
    "k\u{17F}",
];
const FLAGS: [&str; 5] = ["", "i", "u", "iu", "y"];

fn pattern(source: &str, flags: &str, limits: &Limits) -> Arc<Pattern> {
    compiled(source.as_bytes(), flags.as_bytes(), limits).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn asking_many_is_asking_each(
        chosen in proptest::collection::vec((0..SOURCES.len(), 0..FLAGS.len()), 0..80),
        text in "(?:[abcdxyK ſ]|refused|RefuSED|timed out|12 errors|not |found|café|😀|\u{212A}s){0,12}",
    ) {
        let patterns: Vec<_> = chosen
            .iter()
            .map(|(source, flags)| pattern(SOURCES[*source], FLAGS[*flags], &Limits::DEFAULT))
            .collect();
        let mut found = Bits::default();
        Many::new(&patterns).which(text.as_bytes(), &mut found).unwrap();
        for (number, pattern) in patterns.iter().enumerate() {
            prop_assert_eq!(Ok(found.contains(number)), pattern.test(text.as_bytes()), "{:?}", chosen[number]);
        }
    }
}

#[test]
fn what_one_refuses_is_refused() {
    let short = Limits { text_bytes: 3, ..Limits::DEFAULT };
    let patterns = [pattern("ab", "", &Limits::DEFAULT), pattern("cd", "", &short)];
    let (many, mut found) = (Many::new(&patterns), Bits::default());
    assert_eq!(many.which(b"abc", &mut found), Ok(()));
    assert!(found.contains(0) && !found.contains(1));
    let fault = TextFault::TooLong { bytes: 4, limit: 3 };
    assert_eq!(many.which(b"abcd", &mut found), Err(fault));
}

#[test]
fn what_is_too_large_for_one_automaton_is_asked_on_its_own() {
    let patterns: Vec<_> = (0..20)
        .map(|number| pattern(&format!("[^a]{{8}}{number}.{{4000}}"), "", &Limits::DEFAULT))
        .collect();
    let (many, mut found) = (Many::new(&patterns), Bits::default());
    assert!(!many.alone.is_empty());
    many.which(&[b"bbbbbbbb1", &*vec![b'0'; 4_001]].concat(), &mut found).unwrap();
    assert!(found.contains(1) && found.contains(10) && !found.contains(2));
}

#[test]
fn tables_that_are_always_full_are_given_up() {
    let patterns: Vec<_> = (0..Many::FEWEST)
        .map(|number| pattern(&format!("a[ab]{{{}}}c", number + 20), "", &Limits::DEFAULT))
        .collect();
    let (many, mut found, mut seed) = (Many::new(&patterns), Bits::default(), 1_u32);
    let mut text: Vec<u8> = Vec::new();
    for _ in 0..50_000 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push(if seed >> 31 == 0 { b'a' } else { b'b' });
    }
    text.push(b'c');
    many.which(&text, &mut found).unwrap();
    for (number, pattern) in patterns.iter().enumerate() {
        assert_eq!(Ok(found.contains(number)), pattern.test(&text));
    }
    let Scratch { cache, found } = &mut *many.sets[0].pool.get();
    let input = Input::new(&text);
    assert!(many.sets[0].automaton.try_which_overlapping_matches(cache, &input, found).is_err());
}
