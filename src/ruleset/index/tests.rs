//! The index answers exactly as the walk: verdicts, order, undecided ones.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::Index;
use super::text::Heads;
use crate::limits::Limits;
use crate::ruleset::{RuleSet, Shape};
use crate::value::json::{Document, JsonNode};
use crate::value::{MemberName, Node, Read, Step, Unreadable, View};

/// A node some of whose texts stand for what JSON does not have.
#[derive(Clone)]
struct Odd<'a>(JsonNode<'a>);

impl Node for Odd<'_> {
    fn view(&self) -> Read<View<'_>> {
        match self.0.view()? {
            View::String(text) if text.as_bytes() == b"!raises" => Err(Unreadable::new("raised")),
            View::String(text) if text.as_bytes() == b"!opaque" => Ok(View::Opaque("set".into())),
            View::String(text) if text.as_bytes() == b"!nan" => {
                Ok(View::Number(crate::value::Number::Float(f64::NAN)))
            }
            View::String(text) if text.as_bytes() == b"!infinite" => {
                Ok(View::Number(crate::value::Number::Float(f64::INFINITY)))
            }
            view => Ok(view),
        }
    }

    fn child(&self, step: &Step<'_>) -> Read<Option<Self>> {
        match self.0.view()? {
            View::String(text) if text.as_bytes() == b"!raises" => Err(Unreadable::new("raised")),
            _ => Ok(self.0.child(step)?.map(Odd)),
        }
    }

    fn length(&self) -> Read<usize> {
        self.0.length()
    }

    fn any_item(&self, visit: &mut dyn FnMut(Self) -> Read<bool>) -> Read<bool> {
        self.0.any_item(&mut |item| visit(Odd(item)))
    }

    fn members(&self, limit: usize) -> Read<Vec<(MemberName, Self)>> {
        let members = self.0.members(limit)?;
        Ok(members.into_iter().map(|(name, value)| (name, Odd(value))).collect())
    }
}

const SCALARS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0.0",
    "1",
    "1.0",
    "2",
    "2.5",
    "-3",
    "0.1",
    "0.7",
    "1e2",
    "9007199254740992",
    "9007199254740993",
    "9007199254740992.0",
    "18446744073709551616",
    "1e400",
    "1E-400",
    "123456789012345678901234567890",
    r#""""#,
    r#""a""#,
    r#""ab""#,
    r#""abc""#,
    r#""b""#,
    r#""bc""#,
    r#""c""#,
    r#""é""#,
    r#""\ud83d\ude00""#,
    r#""\ud83d""#,
    r#""\ude00""#,
];
const OTHERS: &[&str] = &[
    r#""!raises""#,
    r#""!opaque""#,
    r#""!nan""#,
    r#""!infinite""#,
    "[]",
    "{}",
    r#"["a",1]"#,
    r#"["a","!opaque","b"]"#,
    r#"["b","!raises"]"#,
    r#"{"a":1}"#,
    r#"[[1],"abc"]"#,
    r#"{"p":"a"}"#,
];
/// More than are asked one by one, and of each kind: exact in an automaton of all, wider in it, and in none.
const PATTERNS: &[&str] = &[
    "^a", "b$", "^$", "a|c", "[ab]{2}", "é", "^.$", "^[^]$", "^b?c", "(?=a)ab", "(?<=a)b",
    "(?!a)b", "(a)\\\\1", "^abc$", "a.c", "\\\\bb",
];
const PATHS: &[&str] = &["p", "q", "p.p", "r", "", "p[", "q[0]"];

fn values() -> impl Strategy<Value = String> {
    prop_oneof![4 => select(SCALARS), 1 => select(OTHERS)].prop_map(str::to_owned)
}

fn records() -> impl Strategy<Value = String> {
    let member = prop_oneof![5 => values().prop_map(Some), 1 => Just(None)];
    prop_oneof![
        9 => vec(member, 3).prop_map(|members| {
            let named = ["p", "q", "r"].iter().zip(members);
            let shown: Vec<String> = named
                .filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)))
                .collect();
            format!("{{{}}}", shown.join(","))
        }),
        1 => values(),
    ]
}

/// A check; the first part says how common its kind is in this set.
pub(in crate::ruleset) fn checks() -> impl Strategy<Value = String> {
    let order = select(&["greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"][..]);
    let length = select(&["hasLength", "minLength", "maxLength"][..]);
    let list = vec(values(), 0..4).prop_map(|members| format!("[{}]", members.join(",")));
    let word = select(&SCALARS[20..]).prop_map(str::to_owned);
    let asked = prop_oneof![
        6 => (select(&["equals", "equals", "notEquals"][..]), values()),
        4 => (select(&["oneOf", "notOneOf"][..]), list),
        6 => (order, select(&SCALARS[3..20]).prop_map(str::to_owned)),
        2 => (order_of_nothing(), values()),
        4 => (select(&["contains", "notContains"][..]), values()),
        3 => (select(&["startsWith", "endsWith"][..]), word),
        1 => (select(&["exists", "notExists", "isEmpty", "isNotEmpty"][..]), Just("1".to_owned())),
        1 => (select(&["matches", "notMatches"][..]), Just(r#""^a|(b)\\1""#.to_owned())),
        1 => (select(&["matches", "notMatches"][..]), Just(r#""(""#.to_owned())),
        1 => (select(&["matches"][..]), Just(r#""^a""#.to_owned())),
        1 => (select(&["isType"][..]), Just(r#"["integer","string"]"#.to_owned())),
        1 => (length, select(&["1", "2.0", "0"][..]).prop_map(str::to_owned)),
        1 => (select(&["hasFormat"][..]), Just(r#""regex""#.to_owned())),
    ];
    (select(PATHS), asked).prop_map(|(path, (op, expected))| {
        format!(r#"{{"path":"{path}","op":"{op}","expected":{expected}}}"#)
    })
}

/// Ops with an operand that they do not take.
fn order_of_nothing() -> impl Strategy<Value = &'static str> {
    select(&["lessThan", "startsWith", "oneOf", "matches"][..])
}

/// A check by one of many patterns of one place.
fn patterned() -> impl Strategy<Value = String> {
    let op = select(&["matches", "matches", "notMatches"][..]);
    (op, select(PATTERNS))
        .prop_map(|(op, source)| format!(r#"{{"path":"p","op":"{op}","expected":"{source}"}}"#))
}

fn sets(checks: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let either = select(&["all", "all", "all", "any"][..]);
    let rule = (vec(checks, 0..4), either).prop_map(|(checks, either)| {
        if checks.is_empty() {
            return String::new();
        }
        format!(r#","when":[{}],"match":"{either}""#, checks.join(","))
    });
    vec(rule, 1..60).prop_map(|rules| {
        let rules = rules.iter().enumerate();
        let shown: Vec<String> =
            rules.map(|(at, rule)| format!(r#"{{"id":"r{at}"{rule}}}"#)).collect();
        format!("[{}]", shown.join(","))
    })
}

pub(in crate::ruleset) fn compiled(rules: &str) -> RuleSet {
    let document = Document::parse(rules.as_bytes()).unwrap();
    let shape = Shape { field: "rules", label: "id", extra: &[], optional_when: true };
    RuleSet::compile(&document.root(), &shape, &Limits::DEFAULT).set.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_index_answers_as_the_walk(
        rules in prop_oneof![3 => sets(checks()), 1 => sets(patterned())],
        records in vec(records(), 1..12),
    ) {
        let set = compiled(&rules);
        let mut index = Index::new(&set);
        for record in &records {
            let document = Document::parse(record.as_bytes()).unwrap();
            let record = Odd(document.root());
            prop_assert_eq!(index.first(&set, &record), set.walk_first(&record));
            let standing = set.walk_standing(&record);
            prop_assert_eq!(&index.standing(&set, &record), &standing);
            let masks = index.masks.take();
            prop_assert_eq!(index.standing(&set, &record), standing);
            index.masks = masks;
        }
    }

    #[test]
    fn heads_are_those_that_a_text_starts_with(
        texts in vec("[ab]{0,4}", 0..12),
        text in "[ab]{0,6}",
    ) {
        let mut sorted: Vec<Box<[u8]>> = texts.iter().map(|head| head.as_bytes().into()).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let held = (0..).zip(&sorted).filter(|(_, head)| text.as_bytes().starts_with(head));
        let expected: Vec<u32> = held.map(|(at, _)| at).collect();
        prop_assert_eq!(Heads::new(sorted.into()).find(text.as_bytes()).to_vec(), expected);
    }
}

/// One row per place that nothing but its own value brings up.
fn table(rows: usize) -> RuleSet {
    let row = |at: usize| {
        format!(
            r#"{{"id":"r{at}","when":[{{"path":"p","op":"equals","expected":"C{at}"}},
               {{"path":"q","op":"lessThan","expected":{at}}}]}}"#
        )
    };
    compiled(&format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join(",")))
}

#[test]
fn only_large_sets_are_indexed() {
    assert!(table(15).index.is_none());
    assert!(table(16).index.is_some());
}
