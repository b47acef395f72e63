//! A check made ready: patterns compiled, bounds read, names looked up, and what is wrong with it.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Check, Op, Operand, OperandKind, TYPE_NAMES};
use crate::error::{Code, did_you_mean};
use crate::format::Format;
use crate::limits::Limits;
use crate::pattern::{self, FaultKind, Pattern};
use crate::value::text::display;
use crate::value::{Number, Value};

/// What a check asks of a value, prepared: all that answering needs, in one place.
#[derive(Clone, Debug)]
pub enum Test {
    /// Whether the path resolves.
    Exists,
    /// Equality with the operand.
    Equals(Value),
    /// Membership of the operand.
    Contains(Value),
    /// A pattern found in a string.
    Matches(Arc<Pattern>),
    /// A string at the start.
    StartsWith(Box<[u8]>),
    /// A string at the end.
    EndsWith(Box<[u8]>),
    /// An order that must hold between value and bound.
    Order(Bounds, Number),
    /// Null or no members.
    Empty,
    /// One of the types whose bits are set, by position in [`TYPE_NAMES`].
    Type(u8),
    /// An order that must hold between length and bound.
    Length(Bounds, Number),
    /// Equality with one of these.
    OneOf(Box<[Value]>),
    /// A named format.
    Format(Format),
    /// A broken check: it fails, whatever the value.
    Broken(Box<str>),
    /// A check that cannot be evaluated; of a pattern still false for what is no string.
    Undetermined {
        /// What keeps it from being evaluated.
        reason: Box<str>,
        /// Whether it asks about strings only.
        of_text: bool,
    },
}

/// Which orders satisfy a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Less satisfies it.
    pub less: bool,
    /// Equal satisfies it.
    pub equal: bool,
    /// Greater satisfies it.
    pub greater: bool,
}

impl Bounds {
    /// Whether the order satisfies it.
    pub fn admit(self, order: Ordering) -> bool {
        match order {
            Ordering::Less => self.less,
            Ordering::Equal => self.equal,
            Ordering::Greater => self.greater,
        }
    }

    fn of(op: Op) -> Self {
        let (less, equal, greater) = match op {
            Op::GreaterThan => (false, false, true),
            Op::GreaterThanOrEqual | Op::MinLength => (false, true, true),
            Op::LessThan => (true, false, false),
            Op::LessThanOrEqual | Op::MaxLength => (true, true, false),
            _ => (false, true, false),
        };
        Self { less, equal, greater }
    }
}

/// Something wrong with an operand: reported when checking strictly, a reason otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperandFault {
    pub(crate) code: Code,
    /// The field of the check it is about.
    pub(crate) field: &'static str,
    pub(crate) message: String,
}

impl Test {
    /// Prepares a check; the second part names what an operand can never be accepted for.
    pub(crate) fn prepare(check: &Check, limits: &Limits) -> (Self, Option<OperandFault>) {
        if let Some(Operand::TooDeep(limit)) = check.expected {
            let message = format!("nested deeper than the limit of {limit}");
            let reason = format!("expected is {message}").into();
            let fault = OperandFault { code: Code::OverLimit, field: "expected", message };
            return (Self::Undetermined { reason, of_text: false }, Some(fault));
        }
        match ready(check, limits) {
            Ok(test) => (test, names_fault(check)),
            Err(fault) => {
                let reason = format!("{} {}", fault.field, fault.message).into();
                let undetermined =
                    matches!(fault.code, Code::PatternUnsupported | Code::PatternTooLarge);
                let test = if undetermined {
                    Self::Undetermined { reason, of_text: true }
                } else {
                    Self::Broken(reason)
                };
                (test, Some(fault))
            }
        }
    }
}

fn ready(check: &Check, limits: &Limits) -> Result<Test, OperandFault> {
    let operand = check.operand();
    let wrong = |message: &str| OperandFault {
        code: Code::Operand,
        field: "expected",
        message: message.to_owned(),
    };
    let number = |operand: &Value| match operand {
        Value::Number(number) if number.is_finite() => Some(number.clone()),
        _ => None,
    };
    if check.op.operand() != OperandKind::None && operand.is_none() {
        return Err(wrong("is absent; an omitted operand is not null"));
    }
    let needed = operand.unwrap_or(&Value::Null);
    Ok(match check.op {
        Op::Exists | Op::NotExists => Test::Exists,
        Op::Equals | Op::NotEquals => Test::Equals(needed.clone()),
        Op::Contains | Op::NotContains => Test::Contains(needed.clone()),
        Op::IsEmpty | Op::IsNotEmpty => Test::Empty,
        Op::StartsWith | Op::EndsWith => {
            let text = needed.as_text().ok_or_else(|| wrong("must be a string"))?;
            if check.op == Op::StartsWith {
                Test::StartsWith(text.into())
            } else {
                Test::EndsWith(text.into())
            }
        }
        Op::OneOf | Op::NotOneOf => match needed {
            Value::Array(members) => Test::OneOf(members.clone()),
            _ => return Err(wrong("must be a list of values")),
        },
        Op::GreaterThan | Op::GreaterThanOrEqual | Op::LessThan | Op::LessThanOrEqual => {
            let bound = number(needed).ok_or_else(|| wrong("must be a finite number"))?;
            Test::Order(Bounds::of(check.op), bound)
        }
        Op::HasLength | Op::MinLength | Op::MaxLength => {
            let bound = number(needed).ok_or_else(|| wrong("must be a finite number"))?;
            Test::Length(Bounds::of(check.op), bound)
        }
        Op::IsType => Test::Type(types(needed).ok_or_else(|| {
            wrong("must be a type name or a list of them: null boolean integer number string array object")
        })?),
        Op::HasFormat => Test::Format(format_named(needed)?),
        Op::Matches | Op::NotMatches => Test::Matches(compiled(check, needed, limits)?),
    })
}

fn compiled(check: &Check, operand: &Value, limits: &Limits) -> Result<Arc<Pattern>, OperandFault> {
    let Some(source) = operand.as_text() else {
        let message = "must be a pattern, written as a string".to_owned();
        return Err(OperandFault { code: Code::Operand, field: "expected", message });
    };
    let flags = check.flags.as_deref().unwrap_or_default();
    pattern::compiled(source, flags, limits).map_err(|fault| {
        let (code, what) = match fault.kind {
            FaultKind::Invalid => (Code::PatternInvalid, "is not a valid regex"),
            FaultKind::Unsupported => (Code::PatternUnsupported, "is a pattern that is not run"),
            FaultKind::TooLarge => (Code::PatternTooLarge, "is a pattern over a limit"),
        };
        let field = if fault.slug == "invalid.flags" { "flags" } else { "expected" };
        OperandFault { code, field, message: format!("{what}: {fault}") }
    })
}

/// The types named, as bits; `None` when not one usable name is given.
fn types(operand: &Value) -> Option<u8> {
    let names: Vec<&[u8]> = match operand {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_text).collect(),
        _ => Vec::new(),
    };
    if names.is_empty() {
        return None;
    }
    let bit = |name: &[u8]| TYPE_NAMES.iter().position(|known| known.as_bytes() == name);
    Some(names.into_iter().filter_map(bit).fold(0, |bits, position| bits | (1 << position)))
}

fn format_named(operand: &Value) -> Result<Format, OperandFault> {
    let fault = |code, message| OperandFault { code, field: "expected", message };
    let Some(name) = operand.as_text() else {
        return Err(fault(Code::Operand, "must be the name of a format".to_owned()));
    };
    let name = display(name);
    Format::named(&name).ok_or_else(|| {
        let near = did_you_mean(&name, Format::all().map(|(known, _)| known));
        fault(Code::UnknownFormat, format!("is no known format{near}"))
    })
}

/// What can be evaluated but was hardly meant: NaN, type names that no value has, fields that the
/// op does not read.
fn names_fault(check: &Check) -> Option<OperandFault> {
    let fault = |code, field, message| Some(OperandFault { code, field, message });
    if let Some(found) = check.operand().and_then(Value::not_finite) {
        return fault(Code::NotJson, "expected", format!("holds what JSON cannot: {found}"));
    }
    if check.op == Op::IsType {
        let names: Vec<&Value> = match check.operand()? {
            Value::Array(names) => names.iter().collect(),
            name => vec![name],
        };
        for name in names {
            let Some(name) = name.as_text() else {
                let message = "holds something that is no type name".to_owned();
                return fault(Code::Operand, "expected", message);
            };
            let name = display(name);
            if !TYPE_NAMES.contains(&&*name) {
                let near = did_you_mean(&name, TYPE_NAMES);
                let message = format!("names no type: \"{name}\"{near}");
                return fault(Code::UnknownType, "expected", message);
            }
        }
    }
    let takes_pattern = check.op.operand() == OperandKind::Pattern;
    if check.flags.is_some() && !takes_pattern {
        let message = format!("is not read by {}", check.op.name());
        return fault(Code::Unused, "flags", message);
    }
    if check.expected.is_some() && check.op.operand() == OperandKind::None {
        let message = format!("is not read by {}", check.op.name());
        return fault(Code::Unused, "expected", message);
    }
    None
}
