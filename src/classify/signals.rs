//! What is known of an error.

use super::evidence::Evidence;
use super::program::program;
use crate::instant::Instant;

/// A text that was said, exactly and as it is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'a> {
    /// In generalised UTF-8: what patterns see.
    pub exact: &'a [u8],
    /// What tables see; half of a surrogate pair is shown as its escape.
    pub shown: &'a str,
}

impl<'a> From<&'a str> for Said<'a> {
    fn from(text: &'a str) -> Self {
        Self { exact: text.as_bytes(), shown: text }
    }
}

/// How many of the plain signals are whole numbers; they come first.
pub const NUMBERS: usize = 4;
/// How many of them are texts.
pub const TEXTS: usize = 4;
/// The plain signals by their names in data, in both spellings, with their places.
pub const PLAIN: [(&str, usize); 11] = [
    ("status", 0),
    ("exitCode", 1),
    ("exit_code", 1),
    ("attempt", 2),
    ("maxAttempts", 3),
    ("max_attempts", 3),
    ("signal", 4),
    ("code", 5),
    ("message", 6),
    ("retryAfter", 7),
    ("retry_after", 7),
];

/// What is known of an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signals<'a> {
    /// An HTTP status.
    pub status: Option<i64>,
    /// The exit code of a process.
    pub exit_code: Option<i64>,
    /// The name of a signal, such as `SIGKILL`, in any case.
    pub signal: Option<&'a str>,
    /// An error code, such as `ECONNRESET`.
    pub code: Option<Said<'a>>,
    /// What was said.
    pub message: Option<Said<'a>>,
    /// The value of a `Retry-After` header.
    pub retry_after: Option<&'a str>,
    /// The instant that dates are counted from.
    pub now: Option<Instant>,
    /// Whether this was the last attempt that is allowed.
    pub exhausted: bool,
    /// The longest wait that the caller takes.
    pub max_wait_ms: Option<i64>,
    /// What calls for packs.
    pub more: Option<&'a More<'a>>,
}

impl<'a> Signals<'a> {
    /// Takes plain signals in their order; `None` for one that is out of range.
    pub fn plain(numbers: [Option<i64>; NUMBERS], texts: [Option<&'a str>; TEXTS]) -> Option<Self> {
        let [status, exit_code, attempt, most] = numbers;
        let is_over = |number: &i64| number.unsigned_abs() >= 1 << 53;
        if most.is_some_and(|most| most < 1) || numbers.iter().flatten().any(is_over) {
            return None;
        }
        let [signal, code, message, retry_after] = texts;
        Some(Self {
            status,
            exit_code,
            signal,
            code: code.map(Said::from),
            message: message.map(Said::from),
            retry_after,
            exhausted: attempt.zip(most).is_some_and(|(attempt, most)| attempt >= most),
            ..Self::default()
        })
    }

    /// Whether status or exit code claim that all is well.
    pub(super) fn is_success(&self) -> bool {
        is_success(self.status, self.exit_code)
    }

    /// Whether the body tells of an error where all else claims that all is well.
    pub(super) fn is_contradicted(&self) -> bool {
        self.is_success() && self.more.is_some_and(|more| more.body.is_error)
    }

    /// The status, or the one that the error object names where there is none to be heard.
    pub(super) fn heard_status(&self) -> Option<i64> {
        let own = self.status.filter(|_| !self.is_contradicted());
        own.or_else(|| self.more?.body.status)
    }

    /// The exit code, unless the body contradicts it.
    pub(super) fn heard_exit_code(&self) -> Option<i64> {
        self.exit_code.filter(|code| *code != 0 || !self.is_contradicted())
    }

    /// All codes, the narrowest first.
    pub(super) fn codes(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let of_more = |more: &'a More<'a>| {
            let of_body = more.body.codes.iter().map(|code| &**code);
            more.errno.into_iter().chain(of_body).chain(more.header_codes())
        };
        self.code.map(|code| code.shown).into_iter().chain(self.more.into_iter().flat_map(of_more))
    }

    /// The texts that name an error: what a program printed may speak of anything.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let of_body = |more: &'a More<'a>| more.body.texts.iter().map(|text| &**text);
        self.message
            .map(|text| text.shown)
            .into_iter()
            .chain(self.more.into_iter().flat_map(of_body))
    }
}

/// Whether a status, or without one an exit code, claims that all is well.
pub fn is_success(status: Option<i64>, exit_code: Option<i64>) -> bool {
    status.map_or(exit_code == Some(0), |status| (200..300).contains(&status))
}

/// The signals that call for packs.
#[derive(Clone, Debug, Default)]
pub struct More<'a> {
    /// Who answered.
    pub provider: Option<&'a str>,
    /// The name of the program that ran.
    pub program: Option<&'a str>,
    /// The name of an error number, such as `ECONNRESET`.
    pub errno: Option<&'a str>,
    /// What the program printed.
    pub stdout: Option<&'a str>,
    /// Headers; their names in lower case.
    pub headers: &'a [(String, String)],
    /// What the body says.
    pub body: Evidence,
    /// Whether there is an answer of a server: a provider, headers or a body.
    pub has_answer: bool,
    /// Whether there is something of a process: a command, an error number or an output.
    pub has_process: bool,
}

/// Headers that hold an error code.
const CODE_HEADERS: [&str; 3] = ["x-amzn-errortype", "x-ms-error-code", "x-amz-error-code"];

impl<'a> More<'a> {
    /// Takes a command line, and the exit code that it gave.
    pub fn set_command(&mut self, command: &'a str, exit_code: Option<i64>) {
        self.program = program(command, exit_code);
        self.has_process = true;
    }

    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.trim_ascii())
    }

    pub(super) fn header_codes(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let value = |name| self.header(name);
        // `service#ThrottlingException:http://…`: the code is what stands between the two.
        let code = |value: &'a str| value.split(':').next()?.rsplit('#').next().map(str::trim);
        CODE_HEADERS.map(value).into_iter().flatten().filter_map(code)
    }
}
