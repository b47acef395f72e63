//! What a body says of an error: its codes, its texts, its waits. Bodies come in many shapes; what
//! they have in common are the names of their members.

use super::packs::TEXT_CHARACTERS;
use super::{stream, tables};
use crate::value::json::Document;
use crate::value::text::display;
use crate::value::{MemberName, Node, Read, Step, Text, View};

/// Parts of a body that are looked at, and how deep.
const NODES: usize = 256;
const DEPTH: usize = 6;
/// Bytes of a body that are read as JSON or lines of an event stream, and of a text inside it.
const BODY_BYTES: usize = 32 << 20;
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
/// Members that hold a status.
const STATUSES: [&[u8]; 3] = [b"code", b"status", b"statusCode"];
/// Members that hold words for people.
const TEXTS: [&[u8]; 11] = [
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
];

/// Members whose lists and objects tell of the error; others may quote what was sent.
const PARTS: [&[u8]; 19] = [
    b"error",
    b"errors",
    b"Error",
    b"Errors",
    b"message",
    b"detail",
    b"details",
    b"innererror",
    b"innerError",
    b"inner_error",
    b"cause",
    b"causes",
    b"fault",
    b"violations",
    b"fieldViolations",
    b"metadata",
    b"exception",
    b"response",
    b"raw",
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

impl Hint {
    /// Which of several is heard.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Duration(_) => 0,
            Self::Seconds(_) => 1,
            Self::Milliseconds(_) => 2,
            Self::EpochSeconds(_) => 3,
        }
    }
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

    /// Reads a text: as JSON, as a stream, as XML, or as words.
    pub fn of_text(text: &str, success: bool) -> Self {
        let trimmed = text.trim_start_matches(['\u{FEFF}', ' ', '\t', '\r', '\n']);
        let is_short = trimmed.len() <= BODY_BYTES;
        if is_short
            && trimmed.starts_with(['{', '['])
            && let Some(found) = of_json(trimmed, success)
        {
            return found;
        }
        if is_short && let Some(found) = stream::error_in(trimmed) {
            return found;
        }
        let is_error = is_error_document(trimmed);
        if trimmed.is_empty() || (success && !is_error) {
            // The text of an answer may hold any words.
            return Self::default();
        }
        let messages = elements(trimmed, "Message");
        let codes = elements(trimmed, "Code");
        let texts = if messages.is_empty() { vec![head(text).into()] } else { messages };
        Self { codes, texts, is_error, ..Self::default() }
    }
}

fn of_json(text: &str, success: bool) -> Option<Evidence> {
    let document = Document::parse(text.as_bytes()).ok()?;
    Evidence::of_value(&document.root(), success).ok()
}

/// Whether the root of an XML document is an error: some services send one under a status of 200.
fn is_error_document(text: &str) -> bool {
    let prolog = text.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>"));
    let root = prolog.map_or(text, |(_, rest)| rest.trim_start());
    let after = |name: &str| root.strip_prefix(name);
    let rest = after("<ErrorResponse").or_else(|| after("<Error"));
    rest.is_some_and(|rest| rest.starts_with(['>', ' ', '\t', '\r', '\n']))
}

/// The texts of the XML elements of that name.
fn elements(text: &str, name: &str) -> Vec<Box<str>> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let inside = |after: &str| {
        let (inside, _) = after.split_once(&close)?;
        (!inside.is_empty() && !inside.contains('<')).then(|| Box::from(head(inside)))
    };
    text.split(&open).skip(1).take(NODES).filter_map(inside).collect()
}

/// The part of a text that is read.
fn head(text: &str) -> &str {
    tables::head(text, TEXT_CHARACTERS)
}

struct Reader {
    found: Evidence,
    nodes: usize,
}

impl Reader {
    fn root<N: Node>(&mut self, root: &N, success: bool) -> Read<()> {
        match root.view()? {
            View::Object => self.answer(root, success),
            View::Array => root
                .any_item(&mut |item| {
                    // A list of events or messages is no error for what one of them is called.
                    if matches!(item.view()?, View::Object)
                        && !(success && error_of(&item)?.is_empty())
                    {
                        self.answer(&item, success)?;
                    }
                    self.nodes += 1;
                    Ok(self.nodes >= NODES)
                })
                .map(drop),
            _ => Ok(()),
        }
    }

    /// An object at the top: an answer with an error in it, an error whole, or neither.
    fn answer<N: Node>(&mut self, root: &N, success: bool) -> Read<()> {
        let mut parts = error_of(root)?;
        if parts.is_empty() {
            let marked = is_marked(root)?;
            self.found.is_error |= marked;
            if marked || !success {
                return self.member(root, b"", DEPTH);
            }
            parts = error_list(root)?;
        }
        self.found.is_error |= !parts.is_empty();
        parts.iter().try_for_each(|part| self.member(part, b"", DEPTH))
    }

    /// Collects from a list or an object and what is in it; `name` is the member it stands under.
    fn member<N: Node>(&mut self, node: &N, name: &[u8], depth: usize) -> Read<()> {
        if depth == 0 {
            return Ok(());
        }
        match node.view()? {
            View::Array => node
                .any_item(&mut |item| {
                    if self.is_full() {
                        return Ok(true);
                    }
                    match item.view()? {
                        View::String(text) if name == b"errors" || TEXTS.contains(&name) => {
                            self.text(&display(text.as_bytes()));
                        }
                        _ => self.member(&item, b"", depth - 1)?,
                    }
                    Ok(false)
                })
                .map(drop),
            View::Object => {
                for (name, value) in node.members(NODES)? {
                    if self.is_full() {
                        break;
                    }
                    if let MemberName::Text(name) = name {
                        self.named(&name, &value, depth)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn is_full(&mut self) -> bool {
        self.nodes += 1;
        self.nodes > NODES
    }

    fn named<N: Node>(&mut self, name: &[u8], value: &N, depth: usize) -> Read<()> {
        let (text, is_number) = match value.view()? {
            View::String(text) => (display(text.as_bytes()).into_owned(), false),
            View::Number(number) => (number.text(), true),
            View::Array | View::Object if !PARTS.contains(&name) => return Ok(()),
            View::Array | View::Object => return self.member(value, name, depth - 1),
            _ => return Ok(()),
        };
        if STATUSES.contains(&name)
            && text.len() == 3
            && let Ok(status @ 400..=599) = text.parse()
        {
            self.found.status.get_or_insert(status);
        }
        self.found.hints.extend(hint(name, head(&text)));
        if CODES.contains(&name) && !text.is_empty() && !(is_number && text.contains(['.', 'e'])) {
            // `com.example.service#ThrottlingException`: the name is what stands last.
            let code = if name == b"__type" { text.rsplit('#').next() } else { None };
            self.found.codes.push(head(code.unwrap_or(&text)).into());
        }
        if TEXTS.contains(&name) && !is_number {
            self.text(&text);
            // What a gateway passes on is often the text of the answer that it got.
            if text.starts_with('{')
                && text.len() <= TEXT_BYTES
                && let Ok(document) = Document::parse(text.as_bytes())
            {
                self.member(&document.root(), b"", depth - 1)?;
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.found.texts.push(head(text).into());
        }
    }
}

fn hint(name: &[u8], text: &str) -> Option<Hint> {
    let text = Box::from(text.trim_ascii());
    Some(match name {
        b"retryDelay" => Hint::Duration(text),
        b"retry_after"
        | b"retryAfter"
        | b"retry_after_seconds"
        | b"retryAfterSeconds"
        | b"resets_in_seconds" => Hint::Seconds(text),
        b"retry_after_ms" | b"retryAfterMs" => Hint::Milliseconds(text),
        b"resets_at" => Hint::EpochSeconds(text),
        _ => return None,
    })
}

/// The error objects of an answer: under `error`, in a response that failed, in its choices.
fn error_of<N: Node>(root: &N) -> Read<Vec<N>> {
    let mut found = Vec::new();
    found.extend(child(root, "error")?);
    if has_word(root, "type", "response.failed")?
        && let Some(response) = child(root, "response")?
    {
        found.extend(child(&response, "error")?);
    }
    if let Some(choices) = child(root, "choices")?
        && matches!(choices.view()?, View::Array)
    {
        choices.any_item(&mut |choice| {
            if matches!(choice.view()?, View::Object) {
                found.extend(child(&choice, "error")?);
            }
            Ok(found.len() >= NODES)
        })?;
    }
    only_objects(found)
}

/// What stands in the list `errors`.
fn error_list<N: Node>(root: &N) -> Read<Vec<N>> {
    let mut found = Vec::new();
    if let Some(errors) = child(root, "errors")? {
        errors.any_item(&mut |item| {
            found.push(item);
            Ok(found.len() >= NODES)
        })?;
    }
    only_objects(found)
}

/// Those that are objects with something in them.
fn only_objects<N: Node>(parts: Vec<N>) -> Read<Vec<N>> {
    let mut found = Vec::new();
    for part in parts {
        if matches!(part.view()?, View::Object) && part.length()? > 0 {
            found.push(part);
        }
    }
    Ok(found)
}

/// Whether an object says of itself that it is an error.
fn is_marked<N: Node>(root: &N) -> Read<bool> {
    if child(root, "__type")?.is_some() {
        return Ok(true);
    }
    if says_failed(root)? && is_words(child(root, "error")?.as_ref())? {
        return Ok(true);
    }
    if says_failed(root)?
        && let Some(errors) = child(root, "errors")?
        && matches!(errors.view()?, View::Array)
        && errors.any_item(&mut |item| Ok(matches!(item.view()?, View::String(_))))?
    {
        return Ok(true);
    }
    Ok(has_word(root, "type", "error")?
        || has_word(root, "object", "error")?
        || has_word(root, "kind", "Status")? && has_word(root, "status", "Failure")?)
}

/// Whether words under `error` or `errors` are those of a failure: they may be a field's own.
fn says_failed<N: Node>(root: &N) -> Read<bool> {
    for name in ["ok", "success"] {
        if let Some(member) = child(root, name)?
            && matches!(member.view()?, View::Boolean(false))
        {
            return Ok(true);
        }
    }
    is_words(child(root, "error_description")?.as_ref())
}

fn is_words<N: Node>(member: Option<&N>) -> Read<bool> {
    Ok(match member {
        Some(member) => matches!(member.view()?, View::String(text) if !text.as_bytes().is_empty()),
        None => false,
    })
}

fn has_word<N: Node>(root: &N, name: &str, word: &str) -> Read<bool> {
    let Some(member) = child(root, name)? else {
        return Ok(false);
    };
    let is_word = |text: &Text<'_>| text.as_bytes() == word.as_bytes();
    Ok(matches!(member.view()?, View::String(text) if is_word(&text)))
}

fn child<N: Node>(node: &N, name: &str) -> Read<Option<N>> {
    node.child(&Step::key(name.as_bytes()))
}
