//! What a body says of an error: its codes, its texts, its waits. Bodies come in many shapes; what
//! they have in common are the names of their members.

use smallvec::SmallVec;

use crate::value::json::Document;
use crate::value::text::display;
use crate::value::{MemberName, Node, Read, Step, View};

/// Parts of a body that are looked at, and how deep.
const NODES: usize = 256;
const DEPTH: usize = 6;
/// Bytes of a text that are read as JSON or lines of an event stream.
const TEXT_BYTES: usize = 1 << 20;

/// Members that hold a code or the name of a kind.
const CODES: [&[u8]; 13] = [
    b"code",
    b"type",
    b"status",
    b"reason",
    b"error",
    b"__type",
    b"Code",
    b"quotaId",
    b"error_code",
    b"errorCode",
    b"errorType",
    b"sqlstate",
    b"Type",
];
/// Members that hold words for people.
const TEXTS: [&[u8]; 12] = [
    b"message",
    b"Message",
    b"detail",
    b"details",
    b"title",
    b"error",
    b"error_description",
    b"errorMessage",
    b"msg",
    b"description",
    b"raw",
    b"reason",
];

/// A wait that a body names, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Seconds.
    Seconds(Box<str>),
    /// Milliseconds.
    Milliseconds(Box<str>),
    /// Seconds with an `s` (JSON form of a protobuf `Duration`).
    Duration(Box<str>),
    /// Seconds from 1970.
    EpochSeconds(Box<str>),
}

/// What was found in a body.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Codes, in the order of the body.
    pub codes: Vec<Box<str>>,
    /// Texts, in the order of the body.
    pub texts: Vec<Box<str>>,
    /// Waits, in the order of the body.
    pub hints: Vec<Hint>,
    /// A status that the error object names.
    pub status: Option<i64>,
    /// Whether there is an error object: it outranks a status that says all is well.
    pub is_error: bool,
}

impl Evidence {
    /// Reads a value; `success` says that the status claims one, and only an error object counts.
    ///
    /// # Errors
    /// [`crate::value::Unreadable`] when a foreign object raises.
    pub fn of_value<N: Node>(root: &N, success: bool) -> Read<Self> {
        let mut reader = Reader { found: Self::default(), nodes: 0 };
        reader.root(root, success)?;
        Ok(reader.found)
    }

    /// Reads a text: as JSON, as an event stream, as XML, or as words.
    pub fn of_text(text: &str, success: bool) -> Self {
        let trimmed = text.trim_start_matches(['\u{FEFF}', ' ', '\t', '\r', '\n']);
        let is_short = trimmed.len() <= TEXT_BYTES;
        if is_short && trimmed.starts_with(['{', '[']) {
            if let Some(found) = of_json(trimmed, success) {
                return found;
            }
        } else if is_short && (trimmed.starts_with("data:") || trimmed.starts_with("event:")) {
            return of_events(trimmed);
        }
        if success {
            // The text of an answer may hold any words.
            return Self::default();
        }
        let mut found = Self { texts: vec![text.into()], ..Self::default() };
        if trimmed.starts_with('<') {
            found.codes.extend(element(trimmed, "Code").map(Box::from));
            if let Some(message) = element(trimmed, "Message") {
                found.texts.insert(0, message.into());
            }
        }
        found
    }
}

fn of_json(text: &str, success: bool) -> Option<Evidence> {
    let document = Document::parse(text.as_bytes()).ok()?;
    Evidence::of_value(&document.root(), success).ok()
}

/// The first error object of a stream of server-sent events; what else it holds is an answer.
fn of_events(text: &str) -> Evidence {
    text.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter(|data| data.contains("error"))
        .filter_map(|data| of_json(data, true))
        .find(|found| found.is_error)
        .unwrap_or_default()
}

/// The text of the first element of that name.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = after.split_once(&format!("</{name}>"))?;
    Some(inside.trim()).filter(|inside| !inside.is_empty() && !inside.contains('<'))
}

struct Reader {
    found: Evidence,
    nodes: usize,
}

impl Reader {
    fn root<N: Node>(&mut self, root: &N, success: bool) -> Read<()> {
        match root.view()? {
            View::Object => self.answer(root, success),
            View::Array => {
                root.any_item(&mut |item| {
                    if matches!(item.view()?, View::Object) {
                        self.answer(&item, success)?;
                    }
                    self.nodes += 1;
                    Ok(self.nodes >= NODES)
                })?;
                Ok(())
            }
            View::String(text) if !success => {
                self.found.texts.push(display(text.as_bytes()).into());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// An object at the top: an error whole, an answer with an error in it, or neither.
    fn answer<N: Node>(&mut self, root: &N, success: bool) -> Read<()> {
        let error = child(root, "error")?;
        let whole = is_marked(root)? || error.as_ref().map_or(Ok(false), is_words)?;
        if whole || !success {
            self.found.is_error |= whole || holds_error(root)?;
            return self.member(root, DEPTH);
        }
        if holds_error(root)? {
            self.found.is_error = true;
            for part in [error, child(root, "errors")?].into_iter().flatten() {
                self.member(&part, DEPTH)?;
            }
        }
        Ok(())
    }

    /// Collects from a value and what is in it.
    fn member<N: Node>(&mut self, node: &N, depth: usize) -> Read<()> {
        self.nodes += 1;
        if depth == 0 || self.nodes > NODES {
            return Ok(());
        }
        match node.view()? {
            View::Array => node
                .any_item(&mut |item| {
                    if let View::String(text) = item.view()? {
                        self.found.texts.push(display(text.as_bytes()).into());
                    } else {
                        self.member(&item, depth - 1)?;
                    }
                    Ok(self.nodes > NODES)
                })
                .map(drop),
            View::Object => {
                for (name, value) in node.members(NODES)? {
                    if let MemberName::Text(name) = name {
                        self.named(&name, &value, depth)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn named<N: Node>(&mut self, name: &[u8], value: &N, depth: usize) -> Read<()> {
        let text = match value.view()? {
            View::String(text) => display(text.as_bytes()).into_owned(),
            View::Number(number) => {
                let text = number.text();
                if matches!(name, b"code" | b"status" | b"statusCode")
                    && let Ok(status @ 400..=599) = text.parse()
                {
                    self.found.status.get_or_insert(status);
                }
                if is_code(name) && number.is_integer() {
                    self.found.codes.push(text.as_str().into());
                }
                self.found.hints.extend(hint(name, &text));
                return Ok(());
            }
            View::Array | View::Object => return self.member(value, depth - 1),
            _ => return Ok(()),
        };
        if text.is_empty() {
            return Ok(());
        }
        self.found.hints.extend(hint(name, &text));
        if is_code(name) {
            // `com.example.service#ThrottlingException`: the name is what stands last.
            let code =
                if name == b"__type" { text.rsplit('#').next().unwrap_or(&text) } else { &text };
            self.found.codes.push(code.into());
        }
        if TEXTS.contains(&name) {
            self.found.texts.push(text.into());
        }
        Ok(())
    }
}

fn is_code(name: &[u8]) -> bool {
    CODES.contains(&name)
}

fn hint(name: &[u8], text: &str) -> Option<Hint> {
    let text = Box::from(text);
    Some(match name {
        b"retryDelay" => Hint::Duration(text),
        b"retry_after" | b"retryAfter" | b"retry_after_seconds" | b"resets_in_seconds" => {
            Hint::Seconds(text)
        }
        b"retry_after_ms" | b"retryAfterMs" => Hint::Milliseconds(text),
        b"resets_at" => Hint::EpochSeconds(text),
        _ => return None,
    })
}

/// Whether an object says of itself that it is an error.
fn is_marked<N: Node>(root: &N) -> Read<bool> {
    if child(root, "__type")?.is_some() {
        return Ok(true);
    }
    for (name, value) in [("type", "error"), ("object", "error"), ("status", "Failure")] {
        if let Some(member) = child(root, name)?
            && matches!(member.view()?, View::String(text) if text.as_bytes() == value.as_bytes())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an answer has an error in it: an object that is not empty, or a list of some.
fn holds_error<N: Node>(root: &N) -> Read<bool> {
    let parts: SmallVec<[N; 2]> =
        [child(root, "error")?, child(root, "errors")?].into_iter().flatten().collect();
    for part in parts {
        if matches!(part.view()?, View::Object | View::Array) && part.length()? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_words<N: Node>(error: &N) -> Read<bool> {
    Ok(matches!(error.view()?, View::String(text) if !text.as_bytes().is_empty()))
}

fn child<N: Node>(node: &N, name: &str) -> Read<Option<N>> {
    node.child(&Step::key(name.as_bytes()))
}
