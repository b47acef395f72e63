//! Reading condition lists out of data: every fault of the whole input, with its field.

use std::collections::BTreeMap;

use crate::check::{Check, Op, Operand};
use crate::error::{Code, Problem, did_you_mean};
use crate::limits::Limits;
use crate::preview::{REPORT, preview, quote};
use crate::value::owned::{Found, NotAValue};
use crate::value::text::display;
use crate::value::{MemberName, Node, Value, View};

/// What a list of named condition lists looks like in data.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// The field under which the list stands, such as `arms`.
    pub field: &'a str,
    /// The field that names an entry: `name` or `id`.
    pub label: &'a str,
    /// Other fields that an entry may have.
    pub extra: &'a [&'a str],
    /// Whether an entry may leave `when` out; its list then always holds.
    pub optional_when: bool,
}

/// A condition list as read.
pub(super) struct RuleSource {
    pub(super) name: Option<Box<[u8]>>,
    pub(super) any: bool,
    /// Where its checks stand, such as `arms[0].when`.
    pub(super) field: String,
    /// Each with its position in the list as written.
    pub(super) checks: Vec<(usize, Check)>,
}

/// What to write where a list without checks stands for a catch-all.
const OTHERWISE: &str = "a catch-all is spelled `otherwise`";
const WITHOUT_WHEN: &str = "leave `when` out where nothing is asked";

const CHECK_FIELDS: [&str; 5] = ["path", "op", "expected", "flags", "message"];

pub(super) struct Reader<'a> {
    pub(super) limits: &'a Limits,
    pub(super) problems: Vec<Problem>,
}

impl Reader<'_> {
    /// Reads `[{label, when, match?, …}]`.
    pub(super) fn rules<N: Node>(&mut self, list: &N, shape: &Shape<'_>) -> Vec<RuleSource> {
        let field = shape.field;
        let entries = self.list(list, field, self.limits.rules);
        let mut seen = BTreeMap::new();
        let mut rules = Vec::new();
        for (position, entry) in entries.iter().enumerate() {
            let place = format!("{field}[{position}]");
            let Some(rule) = self.rule(entry, &place, shape) else {
                continue;
            };
            if let Some(name) = &rule.name
                && let Some(first) = seen.insert(name.clone(), position)
            {
                let message =
                    format!("the {} of {field}[{first}] too; each must be its own", shape.label);
                let code = Code::DuplicateName;
                let value = Some(quote(name, REPORT));
                self.fault(code, format!("{place}.{}", shape.label), value, message);
            }
            rules.push(rule);
        }
        rules
    }

    fn rule<N: Node>(&mut self, entry: &N, place: &str, shape: &Shape<'_>) -> Option<RuleSource> {
        let known = [shape.label, "when", "match"].into_iter().chain(shape.extra.iter().copied());
        let fields = self.fields(entry, place, &known.collect::<Vec<_>>())?;
        let name = self.text(&fields, place, shape.label, true);
        let shown = name.as_deref().map(|name| format!(" of {}", quote(name, REPORT)));
        let list = fields.get("when");
        let any = match self.text(&fields, place, "match", false).as_deref() {
            None | Some(b"all") => false,
            Some(b"any") => list.is_some(),
            Some(other) => {
                let message = "must be \"all\" or \"any\"";
                let value = Some(quote(other, REPORT));
                self.fault(Code::UnknownChoice, format!("{place}.match"), value, message);
                false
            }
        };
        let field = format!("{place}.when");
        let advice = if shape.optional_when { WITHOUT_WHEN } else { OTHERWISE };
        let checks = if let Some(list) = list {
            self.checks(list, &field, shown.as_deref().unwrap_or_default(), advice)
        } else {
            if !shape.optional_when {
                let message = "is required: the list of checks";
                self.fault(Code::MissingField, field.clone(), None, message);
            }
            Vec::new()
        };
        Some(RuleSource { name, any, field, checks })
    }

    /// Reads a list of checks that belongs to nobody.
    pub(super) fn lone_checks<N: Node>(&mut self, list: &N, field: &str) -> Vec<(usize, Check)> {
        self.checks(list, field, "", OTHERWISE)
    }

    /// Reads `[{path?, op, expected?, flags?, message?}]`; `owner` names whose list it is, and
    /// `advice` says what to write instead of an empty one.
    fn checks<N: Node>(
        &mut self,
        list: &N,
        field: &str,
        owner: &str,
        advice: &str,
    ) -> Vec<(usize, Check)> {
        let before = self.problems.len();
        let entries = self.list(list, field, self.limits.checks);
        if entries.is_empty() && self.problems.len() == before + 1 {
            // The list itself was refused: say whose it is.
            if let Some(problem) = self.problems.last_mut()
                && problem.code == Code::EmptyList
            {
                problem.message = format!(
                    "the list{owner} has no checks and would hold for everything; {advice}"
                );
            }
        }
        let place = |position: usize| format!("{field}[{position}]");
        let checks = entries.iter().enumerate();
        checks
            .filter_map(|(at, entry)| self.check(entry, &place(at)).map(|check| (at, check)))
            .collect()
    }

    fn check<N: Node>(&mut self, entry: &N, place: &str) -> Option<Check> {
        let fields = self.fields(entry, place, &CHECK_FIELDS)?;
        let op = self.op(&fields, place);
        let path = self.text(&fields, place, "path", false);
        let flags = self.text(&fields, place, "flags", false);
        let message = self.text(&fields, place, "message", false);
        let expected = match fields.get("expected") {
            None => None,
            Some(node) => Some(self.operand(node, &format!("{place}.expected"))?),
        };
        let path = path.unwrap_or_default();
        Some(Check { path, op: op?, expected, flags, message })
    }

    fn op<N: Node>(&mut self, fields: &BTreeMap<&str, N>, place: &str) -> Option<Op> {
        let name = self.text(fields, place, "op", true)?;
        let name = display(&name);
        let op = Op::named(&name);
        if op.is_none() {
            let near = did_you_mean(&name, Op::ALL.iter().map(|op| op.name()));
            let value = Some(quote(name.as_bytes(), REPORT));
            self.fault(Code::UnknownOp, format!("{place}.op"), value, format!("unknown op{near}"));
        }
        op
    }

    fn operand<N: Node>(&mut self, node: &N, field: &str) -> Option<Operand> {
        match Value::copy(node, self.limits.depth) {
            Ok(value) => Some(Operand::Value(value)),
            Err(fault) if matches!(fault.found, Found::TooDeep(_)) => {
                Some(Operand::TooDeep(self.limits.depth))
            }
            Err(fault) => {
                let value = Some(preview(node, REPORT));
                let found = NotAValue::here(fault.found.clone()).to_string();
                self.fault(Code::NotJson, fault.below(field), value, found);
                None
            }
        }
    }

    /// The entries of a list that must not be empty.
    fn list<N: Node>(&mut self, list: &N, field: &str, limit: usize) -> Vec<N> {
        if !matches!(list.view(), Ok(View::Array)) {
            let value = Some(preview(list, REPORT));
            self.fault(Code::WrongType, field, value, "must be a list");
            return Vec::new();
        }
        let length = list.length().unwrap_or(0);
        if length == 0 {
            self.fault(Code::EmptyList, field, Some("[]".to_owned()), "must not be empty");
            return Vec::new();
        }
        if length > limit {
            let message = format!("{length} entries, over the limit of {limit}");
            self.fault(Code::OverLimit, field, None, message);
            return Vec::new();
        }
        let mut entries = Vec::new();
        let read = list.any_item(&mut |entry| {
            entries.push(entry);
            Ok(false)
        });
        if let Err(fault) = read {
            self.fault(Code::NotJson, field, None, format!("could not be read: {}", fault.reason));
        }
        entries
    }

    /// The fields of a mapping by name; unknown ones are faults.
    fn fields<'k, N: Node>(
        &mut self,
        entry: &N,
        place: &str,
        known: &[&'k str],
    ) -> Option<BTreeMap<&'k str, N>> {
        if !matches!(entry.view(), Ok(View::Object)) {
            let message = format!("must be a mapping with {}", known.join(", "));
            self.fault(Code::WrongType, place, Some(preview(entry, REPORT)), message);
            return None;
        }
        let members = match entry.members(usize::MAX) {
            Ok(members) => members,
            Err(fault) => {
                let message = format!("could not be read: {}", fault.reason);
                self.fault(Code::NotJson, place, None, message);
                return None;
            }
        };
        let mut fields = BTreeMap::new();
        for (name, value) in members {
            let name = match name {
                MemberName::Text(name) => display(&name).into_owned(),
                MemberName::Other(kind) => {
                    let message = format!("a key of type {kind}; keys must be strings");
                    self.fault(Code::NotJson, place, None, message);
                    continue;
                }
            };
            if let Some(known) = known.iter().find(|known| ***known == *name) {
                fields.insert(*known, value);
            } else {
                let near = did_you_mean(&name, known.iter().copied());
                let message = format!("unknown field{near} (known: {})", known.join(", "));
                let value = Some(preview(&value, REPORT));
                let field = format!("{place}.{}", preview_name(&name));
                self.fault(Code::UnknownField, field, value, message);
            }
        }
        Some(fields)
    }

    fn text<N: Node>(
        &mut self,
        fields: &BTreeMap<&str, N>,
        place: &str,
        name: &str,
        required: bool,
    ) -> Option<Box<[u8]>> {
        let field = format!("{place}.{name}");
        let Some(node) = fields.get(name) else {
            if required {
                self.fault(Code::MissingField, field, None, "is required");
            }
            return None;
        };
        if let Ok(View::String(text)) = node.view() {
            return Some(text.as_bytes().into());
        }
        self.fault(Code::WrongType, field, Some(preview(node, REPORT)), "must be a string");
        None
    }

    fn fault(
        &mut self,
        code: Code,
        field: impl Into<String>,
        value: Option<String>,
        message: impl Into<String>,
    ) {
        self.problems.push(Problem::new(code, field, value, message));
    }
}

/// A field name of a caller's, kept to one short line.
fn preview_name(name: &str) -> String {
    let plain = name.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter));
    if plain && name.chars().count() <= 60 { name.to_owned() } else { quote(name.as_bytes(), 60) }
}
