//! What is worth saying of a part of a source: how it is read here, and what may have been meant.

use super::Flags;

/// A part of a source, in characters, and what there is to say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Characters before it.
    pub start: usize,
    /// Characters up to its end.
    pub end: usize,
    /// Whether something else was probably meant.
    pub is_hint: bool,
    /// One line for a person.
    pub text: String,
}

impl Note {
    /// What there is to say of a part; `by_cases` for a reference to a group of few values.
    pub(super) fn of(place: (usize, usize), remark: Remark, flags: Flags, by_cases: bool) -> Self {
        let (start, end) = place;
        Self { start, end, is_hint: remark.is_hint(), text: remark.text(flags, by_cases) }
    }
}

/// Most hints that a compiled pattern keeps.
const HINTS: usize = 4;

/// The first hints among remarks.
pub(super) fn first_hints(remarks: &[((usize, usize), Remark)], flags: Flags) -> Box<[Note]> {
    let hints = remarks.iter().filter(|(_, remark)| remark.is_hint()).take(HINTS);
    hints.map(|(place, remark)| Note::of(*place, *remark, flags, false)).collect()
}

/// What the parser remarks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remark {
    Dot,
    Everything,
    Nothing,
    Digit,
    /// Whether `i` holds there, as for the border of a word.
    Word(bool),
    Space,
    Property,
    Strings,
    LineStart,
    LineEnd,
    End,
    WordBorder(bool),
    Ahead,
    Behind,
    Reference,
    Octal,
    PlainDigit(char),
    Lazy,
    Slashes,
    BareProperty,
    BracedHex,
    BracedPoint,
    EdgeLetter(char),
    PlainLetter(char),
    AngleBorder(char),
    NamedBorder,
    Posix,
    SetOperator,
    LiteralBraces,
    PunctuationToo,
    TwoUnits,
}

impl Remark {
    pub(super) fn is_hint(self) -> bool {
        matches!(
            self,
            Self::Slashes
                | Self::BareProperty
                | Self::BracedHex
                | Self::BracedPoint
                | Self::EdgeLetter(_)
                | Self::PlainLetter(_)
                | Self::AngleBorder(_)
                | Self::NamedBorder
                | Self::Posix
                | Self::SetOperator
                | Self::LiteralBraces
                | Self::PunctuationToo
                | Self::TwoUnits
        )
    }

    /// The line for a person; `by_cases` for a reference to a group of few values.
    pub(super) fn text(self, flags: Flags, by_cases: bool) -> String {
        let word = |ignore_case: bool| {
            let more = if flags.unicode && ignore_case { ", U+017F and U+212A" } else { "" };
            format!("word characters are [A-Za-z0-9_]{more}")
        };
        let line = "LF, CR, U+2028 or U+2029";
        match self {
            Self::Dot => "any character but LF, CR, U+2028 and U+2029".to_owned(),
            Self::Everything => "any character".to_owned(),
            Self::Nothing => "an empty class: matches nothing".to_owned(),
            Self::Digit => "digits are [0-9]".to_owned(),
            Self::Word(ignore_case) => word(ignore_case),
            Self::Space => "white space: 25 characters, U+00A0 and U+FEFF among them".to_owned(),
            Self::Property => "a set of Unicode 17.0".to_owned(),
            Self::Strings => "strings: branches beside the characters of the class".to_owned(),
            Self::LineStart => format!("the start of the text, or a place after {line}"),
            Self::LineEnd => format!("the end of the text, or a place before {line}"),
            Self::End => "the very end of the text, not before a last line break".to_owned(),
            Self::WordBorder(ignore_case) => {
                format!("the border of a word; {}", word(ignore_case))
            }
            Self::Ahead => "asks what follows, and takes no text".to_owned(),
            Self::Behind => "asks what stands before, of any length, and takes no text".to_owned(),
            Self::Reference if by_cases => {
                "a group of few values: written out once for each value".to_owned()
            }
            Self::Reference => "its group is never set here: always empty".to_owned(),
            Self::Octal => "an octal escape: no group has that number".to_owned(),
            Self::PlainDigit(digit) => format!("the digit {digit}: no group has that number"),
            Self::Lazy => "lazy: does not change whether there is a match".to_owned(),
            Self::Slashes => {
                "the slashes are ordinary characters; give the source without them, and the flags \
                 apart"
                    .to_owned()
            }
            Self::BareProperty => {
                "no property without the flag u: the letter and what follows; add the flag u"
                    .to_owned()
            }
            Self::BracedHex => {
                "the letter x and what follows, `{n}` a repeat; write `\\xHH`, or `\\u{...}` with \
                 the flag u"
                    .to_owned()
            }
            Self::BracedPoint => {
                "the letter u and what follows, `{n}` a repeat; add the flag u".to_owned()
            }
            Self::EdgeLetter(letter) => {
                let sign = if letter == 'A' { '^' } else { '$' };
                format!("the letter {letter}; write `{sign}`")
            }
            Self::PlainLetter(letter) => {
                format!("the letter {letter} itself: no escape of ECMAScript")
            }
            Self::AngleBorder(sign) => format!("the sign `{sign}` itself; write `\\b`"),
            Self::NamedBorder => "`\\b` and then that text; write `\\b` alone".to_owned(),
            Self::Posix => {
                "no POSIX class: a class of these characters, then `]`; write ranges, or `\\p{...}` \
                 with the flag u"
                    .to_owned()
            }
            Self::SetOperator => {
                "no set operation without the flag v: these characters themselves".to_owned()
            }
            Self::LiteralBraces => {
                "no repeat but this very text; write `{0,n}`, `{n}` or `{n,m}` without spaces"
                    .to_owned()
            }
            Self::PunctuationToo => "also holds the signs between Z and a: [ \\ ] ^ _ `".to_owned(),
            Self::TwoUnits => {
                "a character above U+FFFF is two units without the flag u, and this takes each for \
                 itself; add the flag u"
                    .to_owned()
            }
        }
    }
}
