//! A value of our own: operands, and plain copies of what a caller hands over.

use super::{MemberName, Node, Number, Read, Step, Text, View};
use crate::limits::Limits;

/// A JSON value that owns its parts. Nesting is bounded when it is read.
#[derive(Clone, Debug)]
pub enum Value {
    /// JSON null.
    Null,
    /// True or false.
    Boolean(bool),
    /// Any number.
    Number(Number),
    /// Text in generalised UTF-8.
    String(Box<[u8]>),
    /// An ordered list.
    Array(Box<[Value]>),
    /// Members in the order they were written, names distinct.
    Object(Box<[(Box<[u8]>, Value)]>),
}

/// Why a value could not be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAValue {
    /// Where in the value: keys and `[0]` positions, the innermost first.
    pub at: Vec<String>,
    /// What stands there.
    pub found: Found,
}

/// What was found where a JSON value was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Something of a type that JSON does not have.
    Type(Box<str>),
    /// A key of a type that is not text.
    Key(Box<str>),
    /// Nesting beyond the limit, which also catches a value that contains itself.
    TooDeep(usize),
    /// More values than the limit.
    TooMany(usize),
    /// The object raised while it was read.
    Raised(String),
}

impl std::fmt::Display for NotAValue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.found {
            Found::Type(name) => write!(out, "{name} is not a JSON value")?,
            Found::Key(name) => write!(out, "a key of type {name}; keys must be strings")?,
            Found::TooDeep(limit) => write!(out, "nested deeper than the limit of {limit}")?,
            Found::TooMany(limit) => write!(out, "more values than the limit of {limit}")?,
            Found::Raised(reason) => write!(out, "could not be read: {reason}")?,
        }
        if self.at.is_empty() { Ok(()) } else { write!(out, " (at {})", self.below("")) }
    }
}

impl Value {
    /// Copies a value whole.
    ///
    /// # Errors
    /// [`NotAValue`] naming the first place that JSON cannot hold, or nesting beyond `depth`.
    pub fn copy<N: Node>(node: &N, depth: usize) -> Result<Self, NotAValue> {
        let mut left = Limits::NODES;
        copy(node, depth, depth, &mut left)
    }

    /// Where a NaN or an infinity stands in it, which JSON cannot write.
    pub fn not_finite(&self) -> Option<NotAValue> {
        match self {
            Self::Number(number) if !number.is_finite() => {
                Some(NotAValue::here(Found::Type(number.text().into())))
            }
            Self::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                item.not_finite().map(|found| found.under(format!("[{index}]")))
            }),
            Self::Object(members) => members.iter().find_map(|(name, member)| {
                member.not_finite().map(|found| found.under(field_name(name)))
            }),
            _ => None,
        }
    }

    /// The text when it is a string.
    pub fn as_text(&self) -> Option<&[u8]> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }
}

fn copy<N: Node>(
    node: &N,
    left: usize,
    depth: usize,
    nodes: &mut usize,
) -> Result<Value, NotAValue> {
    *nodes = nodes.checked_sub(1).ok_or_else(|| NotAValue::here(Found::TooMany(Limits::NODES)))?;
    let raised = |fault: Box<super::Unreadable>| NotAValue::here(Found::Raised(fault.reason));
    let view = node.view().map_err(raised)?;
    if left == 0 && matches!(view, View::Array | View::Object) {
        return Err(NotAValue::here(Found::TooDeep(depth)));
    }
    let below = left.saturating_sub(1);
    Ok(match view {
        View::Null => Value::Null,
        View::Boolean(boolean) => Value::Boolean(boolean),
        View::Number(number) => Value::Number(number),
        View::String(text) => Value::String(text.as_bytes().into()),
        View::Opaque(name) => return Err(NotAValue::here(Found::Type(name))),
        View::Array => {
            let mut items = Vec::new();
            let mut fault = None;
            node.any_item(&mut |item| {
                match copy(&item, below, depth, nodes) {
                    Ok(item) => items.push(item),
                    Err(found) => fault = Some(found.under(format!("[{}]", items.len()))),
                }
                Ok(fault.is_some())
            })
            .map_err(raised)?;
            if let Some(fault) = fault {
                return Err(fault);
            }
            Value::Array(items.into())
        }
        View::Object => {
            let mut members = Vec::new();
            for (name, member) in node.members(usize::MAX).map_err(raised)? {
                let name = match name {
                    MemberName::Text(name) => name,
                    MemberName::Other(kind) => return Err(NotAValue::here(Found::Key(kind))),
                };
                let value = copy(&member, below, depth, nodes)
                    .map_err(|fault| fault.under(field_name(&name)))?;
                members.push((name, value));
            }
            Value::Object(members.into())
        }
    })
}

/// A key as a segment of a field: quoted when it is not plain.
fn field_name(name: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    if !name.is_empty() && name.iter().all(plain) {
        super::text::display(name).into_owned()
    } else {
        format!("[{}]", crate::preview::quote(name, crate::preview::REASON))
    }
}

impl NotAValue {
    /// A fault of a value itself.
    pub fn here(found: Found) -> Self {
        Self { at: Vec::new(), found }
    }

    /// The same fault seen from one level up.
    fn under(mut self, segment: String) -> Self {
        self.at.push(segment);
        self
    }

    /// Its place below a field; the inner part of a very deep one is cut.
    pub fn below(&self, field: &str) -> String {
        let mut place = field.to_owned();
        for segment in self.at.iter().rev() {
            if place.len() > 200 {
                place.push_str("...");
                break;
            }
            if !place.is_empty() && !segment.starts_with('[') {
                place.push('.');
            }
            place.push_str(segment);
        }
        place
    }
}

impl Node for &Value {
    fn view(&self) -> Read<View<'_>> {
        Ok(match self {
            Value::Null => View::Null,
            Value::Boolean(boolean) => View::Boolean(*boolean),
            Value::Number(number) => View::Number(number.clone()),
            Value::String(text) => View::String(Text::from_generalised(&**text)),
            Value::Array(_) => View::Array,
            Value::Object(_) => View::Object,
        })
    }

    fn child(&self, step: &Step<'_>) -> Read<Option<Self>> {
        Ok(match self {
            Value::Array(items) => step.index.and_then(|index| items.get(index)),
            Value::Object(members) => {
                members.iter().find(|(name, _)| **name == *step.key).map(|(_, value)| value)
            }
            _ => None,
        })
    }

    fn length(&self) -> Read<usize> {
        Ok(match self {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        })
    }

    fn any_item(&self, visit: &mut dyn FnMut(Self) -> Read<bool>) -> Read<bool> {
        let Value::Array(items) = self else {
            return Ok(false);
        };
        for item in items {
            if visit(item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn members(&self, limit: usize) -> Read<Vec<(MemberName, Self)>> {
        Ok(match self {
            Value::Object(members) => members
                .iter()
                .take(limit)
                .map(|(name, value)| (MemberName::Text(name.clone()), value))
                .collect(),
            _ => Vec::new(),
        })
    }
}
