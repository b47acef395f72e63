//! How to read a value: one trait over every representation, so that nothing is converted.
//!
//! A value is what JSON can hold. Back ends are siblings: [`owned`] for operands, [`json`] for
//! parsed text, `arrow` for rows of columns, and the Python one in the boundary room. All must agree
//! on the same data.

#[cfg(feature = "arrow")]
pub mod arrow;
mod equal;
pub mod json;
pub mod number;
pub mod owned;
mod scalar;
pub mod text;

pub use equal::{equals, equals_seen};
pub use number::Number;
pub use owned::Value;
pub use scalar::Scalar;
pub use text::Text;

/// The answer of a read. Most back ends cannot fail; a foreign object may raise.
pub type Read<T> = Result<T, Box<Unreadable>>;

/// A value that could not be read, and what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// One line for a person.
    pub reason: String,
    /// Whether it is no JSON value at all: a check that reaches it does not hold. Else it could not
    /// be looked at, and the check is undetermined.
    pub foreign: bool,
}

impl Unreadable {
    /// Wraps a reason.
    pub fn new(reason: impl Into<String>) -> Box<Self> {
        Box::new(Self { reason: reason.into(), foreign: false })
    }

    /// Something that is no JSON value.
    pub fn foreign(what: &str) -> Box<Self> {
        Box::new(Self { reason: format!("{what} is not a JSON value"), foreign: true })
    }
}

/// One value, seen.
#[derive(Clone, Debug)]
pub enum View<'a> {
    /// JSON null.
    Null,
    /// True or false; never a number.
    Boolean(bool),
    /// Any number.
    Number(Number),
    /// Text.
    String(Text<'a>),
    /// An ordered list; see [`Node::length`] and [`Node::any_item`].
    Array,
    /// A mapping from text; see [`Node::length`] and [`Node::child`].
    Object,
    /// Something that is no JSON value, under the name of its type.
    Opaque(Box<str>),
}

impl View<'_> {
    /// The type name of the grammar; a number without fraction is an `integer`.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Number(number) if number.is_integer() => "integer",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array => "array",
            Self::Object => "object",
            Self::Opaque(name) => name,
        }
    }
}

/// One step of a path: always a key, in an array an index when it is spelled in digits.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The key in generalised UTF-8.
    pub key: &'a [u8],
    /// The position in an array.
    pub index: Option<usize>,
    /// Where a back end finds its own prepared form of the key.
    pub slot: Option<usize>,
}

impl<'a> Step<'a> {
    /// A key that is not an index and has no prepared form.
    pub fn key(key: &'a [u8]) -> Self {
        Self { key, index: None, slot: None }
    }
}

/// A member name as found in a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberName {
    /// Text in generalised UTF-8.
    Text(Box<[u8]>),
    /// A key that is no text, under the name of its type.
    Other(Box<str>),
}

/// A value in some representation. Clones are cheap handles.
pub trait Node: Clone {
    /// Looks at the value. Must agree with every other back end on the same data.
    ///
    /// # Errors
    /// [`Unreadable`] when a foreign object raises.
    fn view(&self) -> Read<View<'_>>;

    /// The value when it is a scalar that this back end can tell in less time than a view.
    fn scalar(&self) -> Option<Scalar<'_>> {
        None
    }

    /// The member or item that a step leads to; `None` when there is none.
    ///
    /// # Errors
    /// [`Unreadable`] when a foreign object raises.
    fn child(&self, step: &Step<'_>) -> Read<Option<Self>>;

    /// What is at a prepared place below, any number of steps away, where this back end has found
    /// the places beforehand; `None` where it has not, or nothing is there.
    fn at(&self, _slot: usize) -> Option<Self> {
        None
    }

    /// Items of an array or distinct keys of an object; zero for anything else.
    ///
    /// # Errors
    /// [`Unreadable`] when a foreign object raises.
    fn length(&self) -> Read<usize>;

    /// Visits the items of an array in order until `visit` answers true; whether it did.
    ///
    /// # Errors
    /// [`Unreadable`] when a foreign object raises, or what `visit` gives.
    fn any_item(&self, visit: &mut dyn FnMut(Self) -> Read<bool>) -> Read<bool>;

    /// The type of a key that is no text, if an object has one.
    ///
    /// # Errors
    /// [`Unreadable`] when a foreign object raises.
    fn foreign_key(&self) -> Read<Option<Box<str>>> {
        Ok(None)
    }

    /// At most `limit` members of an object in its own order. For previews and whole reads.
    ///
    /// # Errors
    /// [`Unreadable`] when a foreign object raises.
    fn members(&self, limit: usize) -> Read<Vec<(MemberName, Self)>>;
}
