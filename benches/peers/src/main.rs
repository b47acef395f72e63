//! Times searches of other engines: one JSON object a line in, one out.
//!
//! In: `{"engine": "regex" | "corvus", "pattern", "flags", "text", "seconds"}`. Out: `{"found", "ns"}`, CPU
//! time of the process a search. A pattern is compiled once, its first search is not timed.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Duration;

use cpu_time::ProcessTime;
use serde_json::{Value, json};

enum Engine {
    Regex(regex::Regex),
    Corvus(corvus_regex_ecma262::Regex),
}

impl Engine {
    fn new(engine: &str, pattern: &str, flags: &str) -> Result<Self, Box<dyn Error>> {
        Ok(match engine {
            "regex" => Self::Regex(regex::Regex::new(pattern)?),
            _ => Self::Corvus(corvus_regex_ecma262::Regex::new(pattern, flags)?),
        })
    }

    fn is_match(&self, text: &str) -> Result<bool, Box<dyn Error>> {
        Ok(match self {
            Self::Regex(regex) => regex.is_match(text),
            Self::Corvus(regex) => regex.is_match(text)?,
        })
    }
}

/// Nanoseconds of a search, from as many as fill the time.
fn timed(engine: &Engine, text: &str, time: Duration) -> Result<f64, Box<dyn Error>> {
    let mut searches = 1_u32;
    loop {
        let started = ProcessTime::now();
        for _ in 0..searches {
            std::hint::black_box(engine.is_match(std::hint::black_box(text))?);
        }
        let spent = started.elapsed();
        if spent >= time {
            return Ok(spent.as_secs_f64() * 1e9 / f64::from(searches));
        }
        searches = searches.saturating_mul(2);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut engines = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let field = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
        let key = [field("engine"), field("pattern"), field("flags")];
        if !engines.contains_key(&key) {
            engines.insert(key.clone(), Engine::new(&key[0], &key[1], &key[2])?);
        }
        let (engine, text) = (&engines[&key], field("text"));
        let found = engine.is_match(&text)?;
        let time = Duration::from_secs_f64(case["seconds"].as_f64().unwrap_or(0.01));
        println!("{}", json!({"found": found, "ns": timed(engine, &text, time)?}));
        std::io::stdout().flush()?;
    }
    Ok(())
}
