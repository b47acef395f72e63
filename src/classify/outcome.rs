//! The classes, the actions, and the two together.

macro_rules! names {
    ($(#[$doc:meta])+ $kind:ident: $($(#[$entry:meta])+ $name:ident = $text:literal,)+) => {
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind { $($(#[$entry])+ $name,)+ }

        impl $kind {
            /// Every one, in the order they are listed to people.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its name in data.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// The one of that name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == name)
            }
        }
    };
}

names! {
    /// What kind of error.
    Class:
    /// No error.
    Ok = "ok",
    /// Passes by itself.
    Transient = "transient",
    /// Took too long.
    Timeout = "timeout",
    /// The other side is not there, or overloaded.
    Unavailable = "unavailable",
    /// Asked too often.
    RateLimited = "rate_limited",
    /// An allowance is spent; no wait heals it soon.
    Quota = "quota",
    /// Who is asking is not known.
    Auth = "auth",
    /// Who is asking may not.
    Permission = "permission",
    /// What was asked for is not there.
    NotFound = "not_found",
    /// The request itself is wrong.
    BadRequest = "bad_request",
    /// Something else stands in the way.
    Conflict = "conflict",
    /// The input is too large.
    TooLarge = "too_large",
    /// Not offered at all.
    Unsupported = "unsupported",
    /// Memory, disk, handles.
    Capacity = "capacity",
    /// What came does not add up.
    Integrity = "integrity",
    /// Somebody stopped it.
    Cancelled = "cancelled",
    /// It is elsewhere.
    Redirect = "redirect",
    /// A fault of a program.
    Bug = "bug",
    /// Nothing is known.
    Unknown = "unknown",
}

names! {
    /// What to do next.
    Action:
    /// Nothing is wrong.
    Continue = "continue",
    /// Try again at once.
    Retry = "retry",
    /// Try again after the wait that was named.
    RetryAfter = "retry_after",
    /// Try again, with a growing pause.
    Backoff = "backoff",
    /// Get new credentials first.
    Reauth = "reauth",
    /// Ask for less.
    ReduceInput = "reduce_input",
    /// Ask somebody.
    Escalate = "escalate",
    /// Leave it out.
    Skip = "skip",
    /// Give up.
    Fail = "fail",
}

impl Action {
    /// Whether it is one that tries again.
    pub fn tries_again(self) -> bool {
        matches!(self, Self::Retry | Self::RetryAfter | Self::Backoff)
    }
}

/// A class and an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What kind of error.
    pub class: Class,
    /// What to do next.
    pub action: Action,
}

impl Outcome {
    pub(super) const fn new(class: Class, action: Action) -> Self {
        Self { class, action }
    }

    pub(super) fn named(class: &str, action: &str) -> Option<Self> {
        Some(Self { class: Class::named(class)?, action: Action::named(action)? })
    }
}
