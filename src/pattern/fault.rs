//! Why a pattern is not run.

use std::fmt;

use super::parse::Largest;

/// A pattern that is refused: which way, where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternFault {
    /// Which way.
    pub kind: FaultKind,
    /// Stable slug, such as `invalid.range_order`.
    pub slug: &'static str,
    /// Characters before the construct; `None` when it is about the flags or the whole.
    pub offset: Option<usize>,
    /// One line for a person.
    pub message: String,
}

/// The three ways to refuse a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It is not ECMAScript: a broken check.
    Invalid,
    /// It is ECMAScript that is not run here: the check is undetermined.
    Unsupported,
    /// It is over a size limit: the check is undetermined.
    TooLarge,
}

impl PatternFault {
    pub(super) fn invalid(slug: &'static str, offset: usize, message: impl Into<String>) -> Self {
        Self { kind: FaultKind::Invalid, slug, offset: Some(offset), message: message.into() }
    }

    pub(super) fn unsupported(
        slug: &'static str,
        offset: usize,
        message: impl Into<String>,
    ) -> Self {
        Self { kind: FaultKind::Unsupported, slug, offset: Some(offset), message: message.into() }
    }

    pub(super) fn too_large(message: impl Into<String>) -> Self {
        let slug = "unsupported.too_large";
        Self { kind: FaultKind::TooLarge, slug, offset: None, message: message.into() }
    }

    /// Names the repeat that is most to blame for the size.
    pub(super) fn because_of(mut self, largest: Option<Largest>) -> Self {
        if let Some(Largest { at, text, .. }) = largest {
            self.offset = Some(at);
            self.message.push_str(": `");
            self.message.push_str(&text);
            self.message.push_str("` is the largest");
        }
        self
    }

    pub(super) fn flags(message: impl Into<String>) -> Self {
        let slug = "invalid.flags";
        Self { kind: FaultKind::Invalid, slug, offset: None, message: message.into() }
    }
}

impl fmt::Display for PatternFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        match self.offset {
            Some(offset) => write!(out, " (at character {offset}) [{}]", self.slug),
            None => write!(out, " [{}]", self.slug),
        }
    }
}
