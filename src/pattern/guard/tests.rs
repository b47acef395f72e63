//! Tables and simulation answer alike, also when tables overflow, and as `regex-automata` does where
//! it can. No time is measured: what would be quadratic would not end.

use proptest::prelude::*;

use super::*;
use crate::limits::Limits;
use crate::pattern::engine::Engine;
use crate::pattern::{Flags, lower, parse};

/// Tables of this size overflow after every few bytes.
const TINY: usize = 2_000;

fn body(source: &str, flags: &str) -> Body {
    let flags = Flags::parse(flags.as_bytes()).unwrap();
    let units: Vec<u32> = source.encode_utf16().map(u32::from).collect();
    lower::lower(&parse::parse(&units, flags, 100).unwrap().ast, flags).unwrap()
}

fn guarded(body: &Body, table_bytes: usize, simulate: bool) -> Guarded {
    let mut guarded = Guarded::new(body, false, Limits::PATTERN_STATES).unwrap();
    guarded.setting = Setting { table_bytes, simulate };
    guarded
}

fn found(source: &str, flags: &str, text: &str) -> bool {
    guarded(&body(source, flags), TABLES, false).is_match(text.as_bytes(), usize::MAX) == Some(true)
}

fn atoms(looks: bool) -> impl Strategy<Value = String> {
    let sets = ["a", "b", "é", ".", "\\w", "[^a]", "\\s", "[^]", "中"].map(str::to_owned).to_vec();
    let places = ["^", "$", "\\b", "\\B", ""].map(str::to_owned).to_vec();
    let leaf = prop_oneof![
        4 => proptest::sample::select(sets),
        1 => proptest::sample::select(places),
    ];
    let openings: &[&str] = if looks { &["(?:", "(?=", "(?!", "(?<=", "(?<!"] } else { &["(?:"] };
    let openings: Vec<String> = openings.iter().map(|opening| (*opening).to_owned()).collect();
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let row = proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat());
        let group = (proptest::sample::select(openings.clone()), row.clone(), inner.clone())
            .prop_map(|(opening, one, other)| format!("{opening}{one}|{other})"));
        let count = proptest::sample::select(vec!["*", "+", "?", "{2}", "{1,3}", "{0,2}"]);
        let counted = (row.clone(), count).prop_map(|(body, count)| format!("(?:{body}){count}"));
        prop_oneof![row, group, counted]
    })
}

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(vec!["a", "b", " ", "\n", "é", "中"]), 0..40)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn tables_and_simulation_agree(
        source in atoms(true),
        multiline in any::<bool>(),
        inputs in proptest::collection::vec(texts(), 1..4),
    ) {
        let body = body(&source, if multiline { "m" } else { "" });
        let ways = [(TABLES, true), (TABLES, false), (TINY, false), (0, false)];
        let ways = ways.map(|(bytes, simulate)| guarded(&body, bytes, simulate));
        for text in &inputs {
            let answers = ways.each_ref().map(|way| way.is_match(text.as_bytes(), usize::MAX));
            prop_assert_eq!(answers, [answers[0]; 4], "{} on {:?}", source, text);
        }
    }

    #[test]
    fn both_engines_agree_without_lookaround(source in atoms(false), text in texts()) {
        let body = body(&source, "");
        let plain = Engine::new(&body, false, &Limits::DEFAULT).unwrap();
        prop_assume!(matches!(plain, Engine::Plain { .. }));
        let ours = guarded(&body, TABLES, false).is_match(text.as_bytes(), usize::MAX);
        prop_assert_eq!(ours, plain.is_match(text.as_bytes(), &body, usize::MAX), "{} on {:?}", source, text);
    }
}

#[test]
fn a_repeat_shares_its_lookaround_among_copies() {
    let body = body("(?:(?=a|bb)[ab]){2,60}", "");
    assert_eq!(body.looks.len(), 1);
    let guarded = guarded(&body, TABLES, false);
    assert!(guarded.is_match(b"ba bbba", usize::MAX) == Some(true));
    assert!(guarded.is_match(b"ba b", usize::MAX) == Some(false));
}

#[test]
fn more_predicates_than_bits_of_a_word() {
    let each: Vec<String> = (0..70).map(|number| format!("(?!x{number}y)")).collect();
    let source = format!("{}x\\d+y", each.concat());
    assert!(!found(&source, "", "x1y x69y x0y"));
    assert!(found(&source, "", "x1y x70y x0y"));
}

#[test]
fn directions_that_alternate_in_nesting() {
    assert!(found("(?<=(?=abc)a)b", "", "abc"));
    assert!(!found("(?<=(?=abd)a)b", "", "abc"));
    assert!(found("(?=a(?<=xa(?=bc))b)a", "", "xabc"));
    assert!(!found("(?=a(?<=xa(?=bc))b)a", "", "yabc"));
    assert!(found("^(?=.*(?<!(?!ab)a.)c$)", "", "abc"));
}

#[test]
fn too_many_states_are_refused_at_once() {
    let body = body("(?=(?:a{1000}){1000})b", "");
    assert!(Guarded::new(&body, false, Limits::PATTERN_STATES).is_none());
}

#[test]
fn hostile_questions_cost_one_pass_each() {
    let text = "a".repeat(200_000);
    for source in ["(?=.*b)c", "a(?=a*b)", "(?<=b.*)a", "(?<!^a*)c", "(?=(?=.*b)a|(?<=b.*)c)"] {
        assert!(!found(source, "", &text), "{source}");
    }
}
