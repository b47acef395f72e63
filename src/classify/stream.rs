//! Errors in answers that come in parts: server-sent events, and JSON line by line.

use super::Evidence;
use crate::value::json::Document;
use crate::value::{Node, View};

/// What the first line of server-sent events begins with.
const FIELDS: [&str; 5] = ["data:", "event:", "id:", "retry:", ":"];

/// The first error object of a stream; what else it holds is an answer. Nothing of other text.
pub(super) fn error_in(text: &str) -> Option<Evidence> {
    if FIELDS.iter().any(|field| text.starts_with(field)) {
        return in_events(text);
    }
    let lines = || text.lines().map(str::trim_ascii).filter(|line| !line.is_empty());
    let is_stream = lines().take(2).filter(|line| is_object(line)).count() == 2;
    lines().filter(|_| is_stream).find_map(error_of)
}

/// The lines of one event's data are one text; where that is no JSON, each is one of its own.
fn in_events(text: &str) -> Option<Evidence> {
    let mut data = Vec::new();
    for line in text.lines().chain([""]) {
        if let Some(part) = line.strip_prefix("data:") {
            data.push(part.trim_ascii());
        } else if line.is_empty() {
            let whole = data.join("\n");
            let found = if data.len() < 2 || Document::parse(whole.as_bytes()).is_ok() {
                error_of(&whole)
            } else {
                data.iter().find_map(|part| error_of(part))
            };
            if found.is_some() {
                return found;
            }
            data.clear();
        }
    }
    None
}

fn error_of(text: &str) -> Option<Evidence> {
    let document = Document::parse(text.as_bytes()).ok()?;
    Evidence::of_value(&document.root(), true).ok().filter(|found| found.is_error)
}

fn is_object(text: &str) -> bool {
    Document::parse(text.as_bytes())
        .is_ok_and(|document| matches!(document.root().view(), Ok(View::Object)))
}
