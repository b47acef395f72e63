//! Packs: rules for the errors of one provider or program, as data, with one automaton for all
//! their phrases.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::data::{child, is_true, items, members, text_of, whole_of};
use super::tables::head;
use super::verdict::{Found, Source};
use super::{More, Outcome, Signals};
use crate::limits::Limits;
use crate::pattern::Pattern;
use crate::value::Node;
use crate::value::json::Document;

/// Characters of a text that are read.
pub(super) const TEXT_CHARACTERS: usize = 64_000;

/// The files in the order in which they are asked.
const FILES: [&str; 21] = [
    include_str!("packs/openai.json"),
    include_str!("packs/anthropic.json"),
    include_str!("packs/google.json"),
    include_str!("packs/azure.json"),
    include_str!("packs/aws.json"),
    include_str!("packs/mistral.json"),
    include_str!("packs/cohere.json"),
    include_str!("packs/openrouter.json"),
    include_str!("packs/github.json"),
    include_str!("packs/docker.json"),
    include_str!("packs/kubectl.json"),
    include_str!("packs/postgres.json"),
    include_str!("packs/git.json"),
    include_str!("packs/npm.json"),
    include_str!("packs/pip.json"),
    include_str!("packs/cargo.json"),
    include_str!("packs/terraform.json"),
    include_str!("packs/pytest.json"),
    include_str!("packs/ssh.json"),
    include_str!("packs/curl.json"),
    include_str!("packs/shell.json"),
];
/// The pack of whatever runs in a shell: asked last, for any program.
const SHELL: &str = "shell";

/// The rules for one provider or program.
#[derive(Debug)]
pub struct Pack {
    /// Its name.
    pub name: Box<str>,
    /// Its version.
    pub version: Box<str>,
    /// The providers it is for, in lower case.
    pub providers: Vec<Box<str>>,
    /// The programs it is for.
    pub commands: Vec<Box<str>>,
    /// Whether it hears what a program printed, which may quote anything.
    hears_stdout: bool,
    rules: Vec<Rule>,
}

impl Pack {
    /// How many rules it has.
    pub fn rules(&self) -> usize {
        self.rules.len()
    }
}

/// Conditions that must all hold; of those in one list any one.
#[derive(Debug)]
struct Rule {
    /// `pack/id`
    name: Box<str>,
    outcome: Outcome,
    wait_ms: Option<i64>,
    /// Whether its pack has to be there by name.
    is_named: bool,
    providers: Vec<Box<str>>,
    commands: Vec<Box<str>>,
    status: Vec<i64>,
    exit: Vec<i64>,
    codes: Vec<Box<str>>,
    /// Positions in [`Packs::phrases`].
    phrases: Vec<usize>,
    matches: Option<Pattern>,
    headers: Vec<(Box<str>, Box<str>)>,
}

/// All packs.
#[derive(Debug)]
pub struct Packs {
    all: Vec<Pack>,
    phrases: Vec<Box<str>>,
    /// Answers positions in `phrases`; `None` only if it could not be built.
    automaton: Option<AhoCorasick>,
}

impl Packs {
    /// The packs, read on first use.
    pub fn get() -> &'static Self {
        static PACKS: OnceLock<Packs> = OnceLock::new();
        PACKS.get_or_init(Self::read)
    }

    /// Every pack, in the order in which they are asked.
    pub fn all(&self) -> &[Pack] {
        &self.all
    }

    fn read() -> Self {
        let mut phrases = BTreeMap::new();
        let read = |text: &&str| Document::parse(text.as_bytes()).ok();
        let all = FILES
            .iter()
            .filter_map(read)
            .filter_map(|document| read_pack(&document.root(), &mut phrases))
            .collect();
        let mut in_order: Vec<(usize, Box<str>)> =
            phrases.into_iter().map(|(phrase, place)| (place, phrase)).collect();
        in_order.sort_unstable();
        let phrases: Vec<Box<str>> = in_order.into_iter().map(|(_, phrase)| phrase).collect();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(phrases.iter().map(|phrase| phrase.as_bytes()));
        Self { all, phrases, automaton: automaton.ok() }
    }

    /// The first rule that holds of the packs that these signals call for.
    ///
    /// # Complexity
    /// O(texts + rules).
    pub(super) fn ask(
        &'static self,
        signals: &Signals<'_>,
        more: &More<'_>,
        chosen: Option<&[bool]>,
    ) -> Option<Found> {
        let asked = self.called_for(more, chosen);
        if asked.is_empty() {
            return None;
        }
        let texts: Vec<&str> = signals.texts().flat_map(ends).collect();
        let codes = signals.codes().collect();
        let mut hits = vec![false; self.phrases.len()];
        for text in &texts {
            self.hit(text, &mut hits);
        }
        let evidence = Evidence { signals, more, codes, texts, hits };
        let is_heard = asked.iter().any(|(pack, _)| pack.hears_stdout);
        let with_stdout = more.stdout.filter(|_| is_heard).map(|stdout| {
            let mut evidence = evidence.clone();
            for end in ends(stdout) {
                self.hit(end, &mut evidence.hits);
                evidence.texts.push(end);
            }
            evidence
        });
        asked.iter().find_map(|(pack, by_name)| {
            let heard = with_stdout.as_ref().filter(|_| pack.hears_stdout).unwrap_or(&evidence);
            let rule = pack.rules.iter().find(|rule| rule.holds(heard, *by_name))?;
            let mut found = Found::named(rule.outcome, &rule.name, Source::Pack);
            found.wait_ms = rule.wait_ms;
            Some(found)
        })
    }

    /// The packs to ask, each with whether it is there by name: the program's own, the provider's
    /// (all of them when it is not known and there is an answer of a server), the shell's.
    fn called_for(&self, more: &More<'_>, chosen: Option<&[bool]>) -> Vec<(&Pack, bool)> {
        let may = |place: usize| chosen.is_none_or(|chosen| chosen.get(place) == Some(&true));
        let of_program = |pack: &Pack| {
            more.program.is_some_and(|name| pack.commands.iter().any(|known| **known == *name))
        };
        let of_provider =
            |pack: &Pack| more.provider.is_some_and(|name| is_among(name, &pack.providers));
        let is_known = self.all.iter().any(of_provider);
        let packs = || self.all.iter().enumerate().filter(|(place, _)| may(*place));
        let own = packs().filter(|(_, pack)| of_program(pack));
        let served = packs().filter(|(_, pack)| {
            !of_program(pack)
                && if is_known {
                    of_provider(pack)
                } else {
                    more.has_answer && !pack.providers.is_empty()
                }
        });
        let shell = packs().filter(|(_, pack)| more.has_process && *pack.name == *SHELL);
        own.map(|(_, pack)| (pack, true))
            .chain(served.map(|(_, pack)| (pack, is_known)))
            .chain(shell.map(|(_, pack)| (pack, false)))
            .collect()
    }

    /// Marks which phrases stand in a text, with borders of words around them.
    fn hit(&self, text: &str, hits: &mut [bool]) {
        let Some(automaton) = &self.automaton else {
            return;
        };
        for found in automaton.find_overlapping_iter(text) {
            if let Some(hit) = hits.get_mut(found.pattern().as_usize())
                && !*hit
            {
                let bytes = text.as_bytes();
                *hit = has_border(bytes, found.start()) && has_border(bytes, found.end());
            }
        }
    }
}

fn is_among(name: &str, known: &[Box<str>]) -> bool {
    known.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Both ends of a text, or the whole of one that is not long: a long output ends with its error.
fn ends(text: &str) -> impl Iterator<Item = &str> {
    let start = head(text, TEXT_CHARACTERS / 2);
    let is_long = head(text, TEXT_CHARACTERS).len() < text.len();
    let tail = || text.char_indices().rev().nth(TEXT_CHARACTERS / 2 - 1).map_or(0, |(at, _)| at);
    let tail = if is_long { text.get(tail()..) } else { None };
    [if is_long { start } else { text }].into_iter().chain(tail)
}

/// Whether two letters of a word do not meet there.
fn has_border(text: &[u8], at: usize) -> bool {
    let is_word = |at: Option<usize>| {
        at.and_then(|at| text.get(at)).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    !(is_word(at.checked_sub(1)) && is_word(Some(at)))
}

#[derive(Clone)]
struct Evidence<'a> {
    signals: &'a Signals<'a>,
    more: &'a More<'a>,
    codes: Vec<&'a str>,
    texts: Vec<&'a str>,
    hits: Vec<bool>,
}

impl Rule {
    fn holds(&self, evidence: &Evidence<'_>, by_name: bool) -> bool {
        let is_narrow = !(self.codes.is_empty()
            && self.phrases.is_empty()
            && self.headers.is_empty()
            && self.commands.is_empty()
            && self.matches.is_none());
        let number = |wanted: &[i64], given: Option<i64>| {
            wanted.is_empty() || given.is_some_and(|given| wanted.contains(&given))
        };
        let more = evidence.more;
        (by_name || is_narrow && !self.is_named)
            && number(&self.status, evidence.signals.heard_status())
            && number(&self.exit, evidence.signals.exit_code)
            && (self.providers.is_empty()
                || more.provider.is_some_and(|name| is_among(name, &self.providers)))
            && (self.commands.is_empty()
                || more.program.is_some_and(|name| self.commands.iter().any(|own| **own == *name)))
            && (self.codes.is_empty()
                || evidence.codes.iter().any(|code| self.codes.iter().any(|own| **own == **code)))
            && (self.phrases.is_empty()
                || self.phrases.iter().any(|place| evidence.hits.get(*place) == Some(&true)))
            && self.headers.iter().all(|(name, value)| {
                more.header(name).is_some_and(|given| given.eq_ignore_ascii_case(value))
            })
            && self.matches.as_ref().is_none_or(|pattern| {
                let mut parts = evidence.codes.iter().chain(&evidence.texts);
                parts.any(|part| pattern.test(part.as_bytes()) == Ok(true))
            })
    }
}

type Phrases = BTreeMap<Box<str>, usize>;

fn read_pack<N: Node>(root: &N, phrases: &mut Phrases) -> Option<Pack> {
    let name = child(root, "pack").as_ref().and_then(text_of)?;
    let rules = items(child(root, "rules").as_ref(), |rule| Some(rule.clone()));
    let rules = rules.iter().filter_map(|rule| read_rule(rule, &name, phrases)).collect();
    Some(Pack {
        rules,
        version: child(root, "version").as_ref().and_then(text_of)?,
        providers: items(child(root, "providers").as_ref(), text_of),
        commands: items(child(root, "commands").as_ref(), text_of),
        hears_stdout: child(root, "stdout").as_ref().is_some_and(is_true),
        name,
    })
}

fn read_rule<N: Node>(rule: &N, pack: &str, phrases: &mut Phrases) -> Option<Rule> {
    let text = |name: &str| child(rule, name).as_ref().and_then(text_of);
    let texts = |name: &str| items(child(rule, name).as_ref(), text_of);
    let numbers = |name: &str| items(child(rule, name).as_ref(), whole_of);
    let mut place = |phrase: Box<str>| {
        let next = phrases.len();
        *phrases.entry(phrase.to_ascii_lowercase().into()).or_insert(next)
    };
    let matches = match text("matches") {
        Some(source) => Some(Pattern::compile(source.as_bytes(), b"i", &Limits::DEFAULT).ok()?),
        None => None,
    };
    Some(Rule {
        name: format!("{pack}/{}", text("id")?).into(),
        outcome: Outcome::named(&text("class")?, &text("action")?)?,
        wait_ms: child(rule, "waitMs").as_ref().and_then(whole_of),
        is_named: child(rule, "named").as_ref().is_some_and(is_true),
        providers: texts("providers"),
        commands: texts("commands"),
        status: numbers("status"),
        exit: numbers("exit"),
        codes: texts("codes"),
        phrases: texts("phrases").into_iter().map(&mut place).collect(),
        matches,
        headers: members(child(rule, "headers").as_ref(), text_of),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_and_every_rule_is_read() {
        let packs = Packs::get();
        assert_eq!(packs.all.len(), FILES.len());
        let written: usize = FILES.iter().map(|text| text.matches("\"id\":").count()).sum();
        assert_eq!(packs.all.iter().map(Pack::rules).sum::<usize>(), written);
        assert!(packs.automaton.is_some());
    }

    #[test]
    fn borders_are_those_of_words() {
        let text = b"id_429 rate limit.";
        assert!(has_border(text, 7) && has_border(text, text.len()) && has_border(text, 0));
        assert!(!has_border(text, 3) && !has_border(text, 8));
    }
}
