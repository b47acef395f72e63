//! Sources that are mostly patterns, and texts that they may be found in.

use crate::Tape;

const ATOMS: [&str; 72] = [
    "a",
    "b",
    "k",
    "s",
    "A",
    "K",
    "S",
    "0",
    "1",
    "_",
    " ",
    "-",
    ",",
    "\n",
    "é",
    "É",
    "ß",
    "ẞ",
    "ſ",
    "\u{212A}",
    "\u{2028}",
    "σ",
    "ς",
    "😀",
    "\u{E000}",
    "\u{E400}",
    "𐐀",
    "𐐨",
    "👩🏽‍🚀",
    "1\u{FE0F}\u{20E3}",
    ".",
    ".",
    "[^]",
    "[]",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    r"\n",
    r"\t",
    r"\0",
    r"\cA",
    r"\x41",
    r"\u0061",
    r"\ud83d",
    r"\ude00",
    r"\ud83d\ude00",
    r"\u{1F600}",
    r"\p{L}",
    r"\P{L}",
    r"\p{Lu}",
    r"\P{Lu}",
    r"\p{Script=Greek}",
    r"\p{Any}",
    r"\p{RGI_Emoji}",
    r"\p{Emoji_Keycap_Sequence}",
    r"\1",
    r"\2",
    r"\k<n>",
    r"\101",
    r"\8",
    r"\c",
    r"\-",
    r"\/",
    r"\$",
    "{",
    "}",
    "]",
    "a{,2}",
    "()",
];
const ASSERTIONS: [&str; 4] = ["^", "$", r"\b", r"\B"];
const GROUPS: [&str; 16] = [
    "(", "(", "(?:", "(?:", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>", "(?<m>", "(?i:", "(?-i:",
    "(?m:", "(?s:", "(?im-s:",
];
const COUNTS: [&str; 16] = [
    "*",
    "+",
    "?",
    "*?",
    "+?",
    "??",
    "{2}",
    "{0}",
    "{1,}",
    "{0,2}",
    "{2,3}",
    "{3}?",
    "{1,40}",
    "{0,300}",
    "{300,}",
    "{99999999999}",
];
const MEMBERS: [&str; 32] = [
    "a",
    "b",
    "-",
    "^",
    "a-c",
    "A-Z",
    "0-9",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    r"\b",
    r"\-",
    r"\]",
    r"\\",
    r"\x62",
    r"\u0061-\u0063",
    r"\ud800-\udbff",
    "\u{E000}",
    "😀",
    "ſ",
    "é-ö",
    "α-ω",
    r"\u{1F600}-\u{1F64F}",
    r"\p{L}",
    r"\P{Lu}",
    "ß",
    "𐐀",
    ".",
    r"\n",
];
const SETS: [&str; 8] = [
    r"\q{ab|c|}",
    r"\q{ss}",
    r"\p{RGI_Emoji_Flag_Sequence}",
    "[a-z]",
    "[^b]",
    r"[\p{L}--\p{Lu}]",
    r"\p{Ll}",
    "k",
];
const LETTERS: [&str; 40] = [
    "a",
    "a",
    "a",
    "b",
    "b",
    "c",
    "k",
    "s",
    "A",
    "B",
    "K",
    "S",
    "0",
    "1",
    "_",
    " ",
    "-",
    ",",
    "\n",
    "\r",
    "\u{2028}",
    "é",
    "É",
    "ß",
    "ẞ",
    "ſ",
    "\u{212A}",
    "σ",
    "Σ",
    "ς",
    "😀",
    "\u{E000}",
    "\u{E400}",
    "𐐀",
    "𐐨",
    "👩🏽‍🚀",
    "1\u{FE0F}\u{20E3}",
    "x",
    "{",
    "]",
];

/// The points of a source.
pub(crate) fn source(tape: &mut Tape<'_>) -> impl Iterator<Item = u32> {
    let mut out = String::new();
    alternatives(tape, &mut out, 0);
    points(out)
}

/// The points of a text; now and then a long one.
pub(crate) fn text(tape: &mut Tape<'_>) -> impl Iterator<Item = u32> {
    let mut out: String = (0..tape.below(16)).map(|_| tape.pick(&LETTERS)).collect();
    if tape.below(12) == 11 {
        out = out.repeat(200) + tape.pick(&LETTERS);
    }
    points(out)
}

/// Points of the private area stand for lone halves.
fn points(text: String) -> impl Iterator<Item = u32> {
    let points: Vec<u32> = text.chars().map(u32::from).collect();
    points
        .into_iter()
        .map(|point| if (0xE000..0xE800).contains(&point) { point - 0x800 } else { point })
}

fn alternatives(tape: &mut Tape<'_>, out: &mut String, depth: usize) {
    for branch in 0..[1, 1, 1, 2, 3][tape.below(5)] {
        if branch > 0 {
            out.push('|');
        }
        for _ in 0..=tape.below(4) {
            term(tape, out, depth);
        }
    }
}

fn term(tape: &mut Tape<'_>, out: &mut String, depth: usize) {
    match tape.below(10) {
        0..=4 => out.push_str(tape.pick(&ATOMS)),
        5 => out.push_str(tape.pick(&ASSERTIONS)),
        6 => class(tape, out, 0),
        _ if depth > 5 || tape.is_empty() => out.push('a'),
        _ => {
            out.push_str(tape.pick(&GROUPS));
            alternatives(tape, out, depth + 1);
            out.push(')');
        }
    }
    if tape.below(3) == 2 {
        out.push_str(tape.pick(&COUNTS));
    }
}

fn class(tape: &mut Tape<'_>, out: &mut String, depth: usize) {
    out.push_str(["[", "[", "[^"][tape.below(3)]);
    let operator = ["", "", "", "", "&&", "--"][tape.below(6)];
    for member in 0..=tape.below(3) {
        if member > 0 {
            out.push_str(operator);
        }
        match tape.below(6) {
            0 => out.push_str(tape.pick(&SETS)),
            1 if depth < 2 => class(tape, out, depth + 1),
            _ => out.push_str(tape.pick(&MEMBERS)),
        }
    }
    out.push(']');
}
