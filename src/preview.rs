//! One-line previews: compact JSON, cut, without serialising more of the value than is shown.

use crate::value::text::{code_points, push_display, push_unit_escape};
use crate::value::{MemberName, Node, Number, View};

/// Characters of a preview in a report.
pub const REPORT: usize = 80;
/// Characters of a preview inside a reason.
pub const REASON: usize = 60;

/// Compact JSON of a value, at most `limit` characters, cut with `...`.
pub fn preview<N: Node>(node: &N, limit: usize) -> String {
    let mut writer = Writer { out: String::new(), left: limit.saturating_add(1), floats: false };
    writer.value(node);
    cut(writer.out, limit)
}

/// Compact JSON of a value, whole. Recursion follows its nesting: for values of bounded depth.
pub fn compact<N: Node>(node: &N) -> String {
    let mut writer = Writer { out: String::new(), left: usize::MAX, floats: true };
    writer.value(node);
    writer.out
}

/// A string literal of a text, at most `limit` characters.
pub fn quote(text: &[u8], limit: usize) -> String {
    let mut writer = Writer { out: String::new(), left: limit.saturating_add(1), floats: false };
    writer.string(text);
    cut(writer.out, limit)
}

fn cut(text: String, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return text;
    }
    text.chars().take(limit.saturating_sub(3)).chain("...".chars()).collect()
}

/// Writes until its room is used up; what follows is not looked at.
struct Writer {
    out: String,
    left: usize,
    /// Whether a double keeps its point, so that whoever reads it gets a double again.
    floats: bool,
}

impl Writer {
    fn full(&self) -> bool {
        self.left == 0
    }

    fn text(&mut self, text: &str) {
        for character in text.chars().take(self.left) {
            self.out.push(character);
            self.left -= 1;
        }
    }

    /// Every level writes at least one character, so the room bounds the recursion.
    fn value<N: Node>(&mut self, node: &N) {
        match node.view() {
            Err(_) => self.text("<unreadable>"),
            Ok(View::Null) => self.text("null"),
            Ok(View::Boolean(true)) => self.text("true"),
            Ok(View::Boolean(false)) => self.text("false"),
            Ok(View::Number(number)) => {
                let text = number.text();
                let bare = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                self.text(&text);
                if self.floats && bare && matches!(number, Number::Float(_)) {
                    self.text(".0");
                }
            }
            Ok(View::String(text)) => self.string(text.as_bytes()),
            Ok(View::Opaque(name)) => self.text(&format!("<{name}>")),
            Ok(View::Array) => self.array(node),
            Ok(View::Object) => self.object(node),
        }
    }

    fn array<N: Node>(&mut self, node: &N) {
        self.text("[");
        let mut first = true;
        let read = node.any_item(&mut |item| {
            if !std::mem::take(&mut first) {
                self.text(",");
            }
            if !self.full() {
                self.value(&item);
            }
            Ok(self.full())
        });
        if read.is_err() {
            self.text("<unreadable>");
        }
        self.text("]");
    }

    fn object<N: Node>(&mut self, node: &N) {
        self.text("{");
        let Ok(members) = node.members(self.left) else {
            self.text("<unreadable>}");
            return;
        };
        for (position, (name, member)) in members.iter().enumerate() {
            if self.full() {
                return;
            }
            if position > 0 {
                self.text(",");
            }
            match name {
                MemberName::Text(name) => self.string(name),
                MemberName::Other(kind) => self.text(&format!("<{kind}>")),
            }
            self.text(":");
            self.value(member);
        }
        self.text("}");
    }

    fn string(&mut self, text: &[u8]) {
        self.text("\"");
        for point in code_points(text) {
            if self.full() {
                return;
            }
            let mut piece = String::new();
            escape(&mut piece, point);
            self.text(&piece);
        }
        self.text("\"");
    }
}

/// Appends one code point as JSON string content; lone halves as `\udXXX`.
pub fn escape(out: &mut String, point: u32) {
    match point {
        0x22 => out.push_str("\\\""),
        0x5C => out.push_str("\\\\"),
        0x08 => out.push_str("\\b"),
        0x0C => out.push_str("\\f"),
        0x0A => out.push_str("\\n"),
        0x0D => out.push_str("\\r"),
        0x09 => out.push_str("\\t"),
        0..=0x1F => push_unit_escape(out, point),
        _ => push_display(out, point),
    }
}
