//! The error tables: data, read once, with one search for all message phrases.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::Outcome;
use super::data::{child, members, text_of};
use super::phrases::Phrases;
use crate::value::json::Document;
use crate::value::{Node, Step};

/// Characters of a message that are read.
const MESSAGE_CHARACTERS: usize = 64_000;

/// The tables of `tables.json`.
#[derive(Debug)]
pub struct Tables {
    status: Numbered<Outcome>,
    exit: Numbered<Outcome>,
    signal: BTreeMap<Box<str>, Outcome>,
    exit_signals: Numbered<Box<str>>,
    /// By the number that a code ends with.
    code: Vec<(u64, Box<str>, Outcome)>,
    phrases: Vec<(Box<str>, Outcome)>,
    /// Answers positions in `phrases`.
    search: Phrases,
}

impl Tables {
    /// The tables, read on first use.
    pub fn get() -> &'static Self {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(|| Self::read(include_str!("tables.json")))
    }

    /// A malformed table gives an empty one; a test holds that none is.
    fn read(text: &str) -> Self {
        let document = Document::parse(text.as_bytes()).ok();
        let root = document.as_ref().map(Document::root);
        let table = |name: &str| root.and_then(|root| child(&root, name));
        let outcomes = |name: &str| members(table(name).as_ref(), |node| outcome(node, 0));
        let phrases = phrases(table("message").as_ref());
        let search = Phrases::new(phrases.iter().map(|(phrase, _)| phrase.as_bytes()));
        let coded = |(code, outcome): (Box<str>, _)| (ending(&code), code, outcome);
        let mut code: Vec<_> = outcomes("code").into_iter().map(coded).collect();
        code.sort_by_key(|(ending, ..)| *ending);
        Self {
            status: Numbered::new(outcomes("status")),
            exit: Numbered::new(outcomes("exit")),
            signal: outcomes("signal").into_iter().collect(),
            exit_signals: Numbered::new(members(table("exit_signals").as_ref(), text_of)),
            code,
            phrases,
            search,
        }
    }

    /// How many entries each table has: status, exit, signal, exit signals, code, message.
    pub fn sizes(&self) -> [usize; 6] {
        [
            self.status.count(),
            self.exit.count(),
            self.signal.len(),
            self.exit_signals.count(),
            self.code.len(),
            self.phrases.len(),
        ]
    }

    /// A status by its own entry.
    pub fn status(&self, status: i64) -> Option<Outcome> {
        self.status.get(status).copied()
    }

    /// An exit code by its own entry.
    pub fn exit(&self, code: i64) -> Option<Outcome> {
        self.exit.get(code).copied()
    }

    /// A signal by its name in any case, with the name as the table has it.
    pub fn signal(&self, name: &str) -> Option<(&str, Outcome)> {
        let found = self.signal.get_key_value(name);
        let found = found.or_else(|| self.signal.get_key_value(&*name.to_uppercase()));
        found.map(|(name, outcome)| (&**name, *outcome))
    }

    /// The signal that an exit code of 128 and more stands for.
    pub fn exit_signal(&self, code: i64) -> Option<&str> {
        self.exit_signals.get(code).map(|name| &**name)
    }

    /// An error code as it is written, then in upper case, with the code as the table has it.
    pub fn code(&self, code: &str) -> Option<(&str, Outcome)> {
        let find = |wanted: &str| {
            let ending = ending(wanted);
            let from = self.code.partition_point(|(known, ..)| *known < ending);
            self.code
                .iter()
                .skip(from)
                .take_while(|(known, ..)| *known == ending)
                .find(|(_, code, _)| &**code == wanted)
        };
        let found = find(code).or_else(|| find(&code.to_uppercase()));
        found.map(|(_, code, outcome)| (&**code, *outcome))
    }

    /// The phrase that stands first **in the table** of all that the message holds.
    ///
    /// # Complexity
    /// O(message), whatever the number of phrases.
    pub fn message(&self, message: &str) -> Option<(&str, Outcome)> {
        let head = head(message, MESSAGE_CHARACTERS);
        // Two letters outside ASCII have lower-case forms that begin with an ASCII one.
        let first = if head.is_ascii() || !head.contains(['\u{130}', '\u{212A}']) {
            self.search.first(head.as_bytes())
        } else {
            self.search.first(head.to_lowercase().as_bytes())
        }?;
        self.phrases.get(first).map(|(phrase, outcome)| (&**phrase, *outcome))
    }
}

/// Entries under small numbers, each at its place.
#[derive(Debug)]
struct Numbered<T>(Vec<Option<T>>);

impl<T> Numbered<T> {
    /// A key that is no small number gives no entry.
    fn new(entries: Vec<(Box<str>, T)>) -> Self {
        let mut places = Vec::new();
        for (key, entry) in entries {
            let Ok(number) = key.parse::<u16>() else { continue };
            let number = usize::from(number);
            places.resize_with(places.len().max(number + 1), || None);
            if let Some(place) = places.get_mut(number) {
                *place = Some(entry);
            }
        }
        Self(places)
    }

    fn get(&self, number: i64) -> Option<&T> {
        self.0.get(usize::try_from(number).ok()?)?.as_ref()
    }

    fn count(&self) -> usize {
        self.0.iter().flatten().count()
    }
}

/// The last eight bytes of a code as a number: two codes with the same are rare.
fn ending(code: &str) -> u64 {
    let bytes = code.as_bytes().iter().rev().take(8);
    bytes.fold(0, |ending, byte| ending << 8 | u64::from(*byte))
}

/// As many characters of a text.
pub(super) fn head(text: &str, characters: usize) -> &str {
    if text.len() <= characters {
        return text;
    }
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// `[…, class, action]` with so many entries before the class.
fn outcome<N: Node>(node: &N, before: usize) -> Option<Outcome> {
    let mut texts = Vec::new();
    node.any_item(&mut |item| {
        texts.extend(text_of(&item));
        Ok(false)
    })
    .ok()?;
    Outcome::named(texts.get(before)?, texts.get(before + 1)?)
}

fn phrases<N: Node>(table: Option<&N>) -> Vec<(Box<str>, Outcome)> {
    let mut phrases = Vec::new();
    if let Some(table) = table {
        let read = table.any_item(&mut |entry| {
            let phrase = entry.child(&Step { key: b"0", index: Some(0), slot: None })?;
            let phrase = phrase.as_ref().and_then(text_of);
            phrases.extend(phrase.zip(outcome(&entry, 1)));
            Ok(false)
        });
        debug_assert!(read.is_ok());
    }
    phrases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_read() {
        assert_eq!(Tables::get().sizes(), [30, 6, 12, 12, 44, 47]);
    }

    #[test]
    fn every_phrase_is_found_wherever_it_stands() {
        let tables = Tables::get();
        for (phrase, _) in &tables.phrases {
            for (before, after) in
                (0..9).flat_map(|before| (0..9).map(move |after| (before, after)))
            {
                let text = format!("{}{phrase}{}", "#".repeat(before), "#".repeat(after));
                let found = tables.message(&text).map(|(found, _)| found);
                let earliest = tables.phrases.iter().find(|(known, _)| phrase.contains(&**known));
                assert_eq!(found, earliest.map(|(known, _)| &**known), "in {text}");
            }
        }
    }

    #[test]
    fn the_earliest_entry_wins_not_the_earliest_place() {
        let found = Tables::get().message("Timeout while reading QUOTA").unwrap();
        assert_eq!(found.0, "quota");
    }
}
