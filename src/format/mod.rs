//! The named string formats: each a stated subset of its standard, one family a file.

mod calendar;
mod network;
mod reference;

use crate::limits::Limits;
use crate::pattern;

/// A named format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Format(&'static Entry);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    name: &'static str,
    summary: &'static str,
}

/// Every format with the subset it accepts, in the order they are listed to people.
const ENTRIES: [Entry; 12] = [
    Entry {
        name: "email",
        summary: "unquoted ASCII local part of at most 64 characters, `@`, a host name with a dot",
    },
    Entry { name: "uri", summary: "a scheme, a colon and something; no white space or controls" },
    Entry {
        name: "uri-reference",
        summary: "no white space or controls, at most one `#` (absolute or relative, also empty)",
    },
    Entry {
        name: "hostname",
        summary: "labels of 1-63 ASCII letters, digits and inner hyphens, at most 253 in all",
    },
    Entry { name: "ipv4", summary: "four decimal octets without leading zeros" },
    Entry {
        name: "ipv6",
        summary: "eight groups, one `::` for at least one of them, an IPv4 tail; no zone",
    },
    Entry { name: "uuid", summary: "8-4-4-4-12 hexadecimal digits, any version" },
    Entry { name: "date", summary: "RFC 3339 full-date that the calendar has" },
    Entry {
        name: "time",
        summary: "RFC 3339 full-time with its offset; second 60 only at 23:59 UTC",
    },
    Entry { name: "date-time", summary: "a date, `T` or `t`, and a time" },
    Entry { name: "json-pointer", summary: "RFC 6901, not its URI fragment form" },
    Entry { name: "regex", summary: "compiles as an ECMAScript pattern without flags" },
];

impl Format {
    /// The format of that name; names are case-sensitive.
    pub fn named(name: &str) -> Option<Self> {
        if name == "regex" {
            pattern::make_ready();
        }
        ENTRIES.iter().find(|entry| entry.name == name).map(Self)
    }

    /// All formats: name and accepted subset.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
        ENTRIES.iter().map(|entry| (entry.name, entry.summary))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What it accepts, in one line.
    pub fn summary(self) -> &'static str {
        self.0.summary
    }

    /// Whether text in generalised UTF-8 is of this format; `None` when that cannot be told
    /// (a pattern over a limit). A lone half is in none of them but a pattern and a pointer.
    pub fn accepts(self, text: &[u8]) -> Option<bool> {
        Some(match self.0.name {
            "email" => reference::is_email(text),
            "uri" => reference::is_uri(text),
            "uri-reference" => reference::is_uri_reference(text),
            "hostname" => network::is_hostname(text),
            "ipv4" => network::is_ipv4(text),
            "ipv6" => network::is_ipv6(text),
            "uuid" => reference::is_uuid(text),
            "date" => calendar::is_date(text),
            "time" => calendar::is_time(text),
            "date-time" => calendar::is_date_time(text),
            "json-pointer" => reference::is_json_pointer(text),
            _ => return pattern::is_valid(text, &Limits::DEFAULT),
        })
    }
}
