//! Times searches of other engines, and of many patterns of ours: one JSON object a line in, one out.
//!
//! In: `{"engine", "patterns", "flags", "text"}`. Out: `{"found", "ns"}`, how many patterns are found
//! and the CPU time of the process a search. Patterns are compiled once; the first search of a text is
//! not timed.

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

/// Nanoseconds of a search, from as many as fill a round.
fn timed(engine: &Engine, text: &str) -> Fallible<f64> {
    let (mut searches, mut bits) = (1_u32, Bits::default());
    loop {
        let started = ProcessTime::now();
        for _ in 0..searches {
            std::hint::black_box(engine.found(std::hint::black_box(text), &mut bits)?);
        }
        let spent = started.elapsed();
        if spent >= ROUND {
            return Ok(spent.as_secs_f64() * 1e9 / f64::from(searches));
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
        let (engine, text) = (&engines[&key], field("text"));
        let found = engine.found(text, &mut Bits::default())?;
        println!("{}", json!({"found": found, "ns": timed(engine, text)?}));
        std::io::stdout().flush()?;
    }
    Ok(())
}
