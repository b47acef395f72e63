//! Times searches of other engines, and of many patterns of ours: one JSON object a line in, one out.
//!
//! In: `{"engine", "patterns", "flags", "texts"}`. Out: `{"found", "ns"}`, how many patterns are found in
//! the texts and the CPU time of the process a text. Patterns are compiled once; the first search of each
//! text is not timed.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Duration;

use _core::bits::Bits;
use _core::limits::Limits;
use _core::pattern::{Many, Pattern};
use cpu_time::ProcessTime;
use serde_json::{Value, json};

const ROUND: Duration = Duration::from_millis(10);

type Fallible<T> = Result<T, Box<dyn Error>>;

enum Engine {
    Regex(regex::Regex),
    RegexSet(regex::RegexSet),
    Corvus(corvus_regex_ecma262::Regex),
    /// Our patterns, one by one.
    Each(Vec<Arc<Pattern>>),
    Many(Many, usize),
}

impl Engine {
    fn new(name: &str, patterns: &[String], flags: &str) -> Fallible<Self> {
        let first = patterns.first().map(String::as_str).unwrap_or_default();
        let compiled = |source: &String| {
            Pattern::compile(source.as_bytes(), flags.as_bytes(), &Limits::DEFAULT)
                .map(Arc::new)
                .map_err(|fault| format!("{fault:?}"))
        };
        let each = || patterns.iter().map(compiled).collect::<Result<Vec<_>, _>>();
        Ok(match name {
            "regex" => Self::Regex(regex::Regex::new(first)?),
            "regex set" => {
                Self::RegexSet(regex::RegexSetBuilder::new(patterns).size_limit(1 << 30).build()?)
            }
            "corvus" => Self::Corvus(corvus_regex_ecma262::Regex::new(first, flags)?),
            "each" => Self::Each(each()?),
            "many" => Self::Many(Many::new(&each()?), patterns.len()),
            _ => return Err(format!("no engine {name}").into()),
        })
    }

    /// How many patterns are found.
    fn found(&self, text: &str, bits: &mut Bits) -> Fallible<usize> {
        let fault = |fault| format!("{fault}");
        Ok(match self {
            Self::Regex(regex) => usize::from(regex.is_match(text)),
            Self::RegexSet(set) => set.matches(text).iter().count(),
            Self::Corvus(regex) => usize::from(regex.is_match(text)?),
            Self::Each(patterns) => {
                let mut count = 0;
                for pattern in patterns {
                    count += usize::from(pattern.test(text.as_bytes()).map_err(fault)?);
                }
                count
            }
            Self::Many(many, count) => {
                many.which(text.as_bytes(), bits).map_err(fault)?;
                (0..*count).filter(|number| bits.contains(*number)).count()
            }
        })
    }
}

/// Nanoseconds a text, from as many as fill a round.
fn timed(engine: &Engine, texts: &[String]) -> Fallible<f64> {
    let (mut searches, mut bits) = (1_usize, Bits::default());
    loop {
        let started = ProcessTime::now();
        for text in texts.iter().cycle().take(searches * texts.len()) {
            std::hint::black_box(engine.found(std::hint::black_box(text), &mut bits)?);
        }
        let spent = started.elapsed();
        if spent >= ROUND {
            return Ok(spent.as_secs_f64() * 1e9 / (searches * texts.len()) as f64);
        }
        searches = searches.saturating_mul(2);
    }
}

fn main() -> Fallible<()> {
    let mut engines = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let field = |name: &str| case[name].as_str().unwrap_or_default();
        let patterns: Vec<String> = serde_json::from_value(case["patterns"].clone())?;
        let key = (field("engine").to_owned(), patterns, field("flags").to_owned());
        if !engines.contains_key(&key) {
            let engine = Engine::new(&key.0, &key.1, &key.2)?;
            engines.insert(key.clone(), engine);
        }
        let (engine, mut found) = (&engines[&key], 0);
        let texts: Vec<String> = serde_json::from_value(case["texts"].clone())?;
        for text in &texts {
            found += engine.found(text, &mut Bits::default())?;
        }
        println!("{}", json!({"found": found, "ns": timed(engine, &texts)?}));
        std::io::stdout().flush()?;
    }
    Ok(())
}
