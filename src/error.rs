//! The catalogue of faults: what can be wrong with a spec, and how it is reported.

/// One fault of an input: what, where, the value there, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its entry in the catalogue.
    pub code: Code,
    /// The field as a path into the input, such as `arms[2].when[0].op`.
    pub field: String,
    /// A preview of the value there; `None` when nothing is there.
    pub value: Option<String>,
    /// What is wrong and what to write instead, without the field.
    pub message: String,
}

macro_rules! codes {
    ($($(#[$doc:meta])+ $name:ident = $slug:literal, $meaning:literal;)+) => {
        /// A kind of fault, under a slug that never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])+ $name,)+ }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The stable slug.
            pub fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug,)+ }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)+ }
            }
        }
    };
}

codes! {
    /// An op that is not one of the 23.
    UnknownOp = "spec/unknown-op", "the op is not one of the grammar; names are case-sensitive";
    /// A field outside the vocabulary.
    UnknownField = "spec/unknown-field", "the field is not part of the vocabulary";
    /// A required field is absent.
    MissingField = "spec/missing-field", "a required field is absent";
    /// A field of the wrong type.
    WrongType = "spec/wrong-type", "the field holds a value of another type than it must";
    /// A value outside a closed set.
    UnknownChoice = "spec/unknown-choice", "the value is not one of the allowed ones";
    /// An empty list where it would hold for everything or decide nothing.
    EmptyList = "spec/empty-list", "an empty list: a catch-all is spelled `otherwise` or `fallback`";
    /// Two entries of one name.
    DuplicateName = "spec/duplicate-name", "two entries share one name or id";
    /// Two fields that exclude each other.
    Conflict = "spec/conflict", "two fields, or entries of two lists, that exclude each other";
    /// Entries that need each other.
    Cycle = "spec/cycle", "entries that need each other in a circle, so that none could be first";
    /// A value that is no instant.
    NoInstant = "spec/no-instant", "neither epoch milliseconds nor ISO-8601 text with an offset";
    /// A value that JSON cannot hold.
    NotJson = "spec/not-json", "a value that JSON cannot hold";
    /// More entries than a limit allows.
    OverLimit = "spec/over-limit", "more than a limit allows; the caller may raise the limit";
    /// A repeated key in a spec file.
    RepeatedKey = "spec/repeated-key", "one key stands twice in a mapping of a spec file";
    /// A file that cannot be read as YAML or JSON.
    Unreadable = "spec/unreadable", "the file or text is not well-formed YAML or JSON";
    /// Text that is no JSON.
    JsonSyntax = "json/syntax", "the text is not JSON (RFC 8259)";
    /// A path that cannot be parsed.
    PathMalformed = "check/path-malformed", "the path cannot be parsed, or is over a limit";
    /// An operand that the op can never accept.
    Operand = "check/operand", "an expected value that the op can never accept";
    /// A format that does not exist.
    UnknownFormat = "check/unknown-format", "the format is not one of the twelve";
    /// A type name that does not exist.
    UnknownType = "check/unknown-type", "the type name is not one of the seven";
    /// An operand or flags that the op does not read.
    Unused = "lint/unused", "a field that this op does not read (a warning)";
    /// A part of a pattern that was probably meant otherwise.
    PatternHint = "lint/pattern", "a part of a pattern was probably meant otherwise (a warning)";
    /// A pattern that is not ECMAScript.
    PatternInvalid = "pattern/invalid", "the pattern is not valid ECMAScript";
    /// A pattern that is ECMAScript but is not run here.
    PatternUnsupported = "pattern/unsupported", "valid ECMAScript that is not run in linear time here";
    /// A pattern over a size limit.
    PatternTooLarge = "pattern/too-large", "the pattern is over a size limit";
}

impl Code {
    /// Whether it only warns.
    pub fn is_warning(self) -> bool {
        self.slug().starts_with("lint/")
    }
}

impl Problem {
    /// A fault at a field that holds something.
    pub fn new(
        code: Code,
        field: impl Into<String>,
        value: Option<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { code, field: field.into(), value, message: message.into() }
    }
}

/// The nearest of the known names, when one is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A hostile name is not worth measuring.
    if name.len() > 64 {
        return None;
    }
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean "x"?` or nothing.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default()
}
