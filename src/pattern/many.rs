//! Many patterns over one text.
//!
//! One pass finds the needles of all patterns at once, and only patterns with a needle in the text, or
//! without any, are asked one by one. (As the filter of RE2: Cox, 2012.)

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Pattern, TextFault};
use crate::bits::Bits;

/// Bytes of all needles together; patterns beyond are always asked.
const BYTES: usize = 256 << 10;

/// Fewer patterns with needles are asked sooner than searched for.
const FEWEST: usize = 4;

/// Compiled patterns that are asked about the same texts.
#[derive(Debug)]
pub struct Many {
    patterns: Box<[Arc<Pattern>]>,
    /// The patterns without needles.
    always: Box<[usize]>,
    filter: Option<Filter>,
    /// A text of this length is refused by none.
    text_bytes: usize,
}

/// Finds needles, whatever the case of ASCII letters.
#[derive(Debug)]
struct Filter {
    needles: AhoCorasick,
    /// The patterns of each needle.
    patterns: Box<[Box<[usize]>]>,
}

impl Many {
    /// Prepares patterns, which are known by their place.
    ///
    /// # Complexity
    /// Linear in the patterns; needles take at most a few megabytes.
    pub fn new(patterns: &[Arc<Pattern>]) -> Self {
        let mut owners: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        let (mut always, mut room) = (Vec::new(), BYTES);
        for (number, pattern) in patterns.iter().enumerate() {
            let needles = pattern.needles.as_deref().unwrap_or_default();
            let bytes = needles.iter().map(|needle| needle.len()).sum();
            match room.checked_sub(bytes) {
                Some(left) if bytes > 0 => room = left,
                _ => {
                    always.push(number);
                    continue;
                }
            }
            for needle in needles {
                let owners = owners.entry(needle.to_ascii_lowercase()).or_default();
                if owners.last() != Some(&number) {
                    owners.push(number);
                }
            }
        }
        let mut filter = None;
        if patterns.len() - always.len() >= FEWEST {
            filter = Filter::new(owners);
        }
        if filter.is_none() {
            always = (0..patterns.len()).collect();
        }
        let text_bytes = patterns.iter().map(|pattern| pattern.longest()).min();
        Self {
            patterns: patterns.into(),
            always: always.into(),
            filter,
            text_bytes: text_bytes.unwrap_or(usize::MAX),
        }
    }

    /// Puts the places of the patterns that are found in a text in generalised UTF-8 into `found`.
    ///
    /// # Errors
    /// [`TextFault`] when a pattern refuses the text; then each has to be asked on its own.
    ///
    /// # Complexity
    /// O(text) where no needle is found, at worst that of asking each pattern.
    pub fn which(&self, text: &[u8], found: &mut Bits) -> Result<(), TextFault> {
        found.reset(self.patterns.len());
        if text.len() > self.text_bytes {
            self.patterns.iter().try_for_each(|pattern| pattern.accepts(text.len()))?;
        }
        let mut question = Question { many: self, text, units: None, found };
        for number in &self.always {
            question.ask(*number);
        }
        if let Some(filter) = &self.filter {
            filter.each_candidate(text, self.patterns.len(), |number| question.ask(number));
        }
        Ok(())
    }
}

impl Filter {
    fn new(owners: BTreeMap<Vec<u8>, Vec<usize>>) -> Option<Self> {
        let needles = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(owners.keys())
            .ok()?;
        let patterns = owners.into_values().map(Vec::into_boxed_slice).collect();
        Some(Self { needles, patterns })
    }

    /// Names each pattern with a needle in the text once.
    fn each_candidate(&self, text: &[u8], count: usize, mut take: impl FnMut(usize)) {
        let (mut needles, mut patterns) = (Bits::default(), Bits::default());
        needles.reset(self.patterns.len());
        patterns.reset(count);
        for met in self.needles.find_overlapping_iter(text) {
            let needle = met.pattern().as_usize();
            if !needles.insert(needle) {
                continue;
            }
            for number in self.patterns.get(needle).into_iter().flatten() {
                if patterns.insert(*number) {
                    take(*number);
                }
            }
        }
    }
}

/// One text, and what is known of it.
struct Question<'a> {
    many: &'a Many,
    text: &'a [u8],
    /// Its spelling in code units, once a pattern needs it.
    units: Option<Cow<'a, [u8]>>,
    found: &'a mut Bits,
}

impl Question<'_> {
    fn ask(&mut self, number: usize) {
        let Some(pattern) = self.many.patterns.get(number) else { return };
        let text = self.text;
        let units = if pattern.unicode {
            text
        } else {
            self.units.get_or_insert_with(|| super::in_units(text))
        };
        if pattern.engine.is_match(units) {
            self.found.insert(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limits::Limits;

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
        Arc::new(Pattern::compile(source.as_bytes(), flags.as_bytes(), limits).unwrap())
    }

    proptest! {
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
    fn needles_beyond_the_bound_are_not_kept() {
        let patterns: Vec<_> = (0..BYTES / 16 + 9)
            .map(|number| pattern(&format!("needle of {number:06}"), "", &Limits::DEFAULT))
            .collect();
        let (many, mut found) = (Many::new(&patterns), Bits::default());
        assert_eq!(many.always.len(), 9);
        many.which(b"a needle of 000007 and needle of 016391", &mut found).unwrap();
        assert!(found.contains(7) && found.contains(16_391) && !found.contains(8));
    }
}
