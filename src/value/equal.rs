//! Structural equality between any value and an operand.

use std::collections::BTreeMap;

use super::{MemberName, Node, Read, Step, Unreadable, Value, View};

/// Whether a value equals an operand: same kind, same members, key order irrelevant.
///
/// Recursion follows the operand, whose nesting is bounded when it is read.
///
/// # Errors
/// [`super::Unreadable`] when the value cannot be read.
pub fn equals<N: Node>(node: &N, operand: &Value) -> Read<bool> {
    equals_seen(node, &node.view()?, operand)
}

/// As [`equals`], for a value that was looked at already.
///
/// # Errors
/// As [`equals`].
pub fn equals_seen<N: Node>(node: &N, view: &View<'_>, operand: &Value) -> Read<bool> {
    if let Some(scalar) = view.scalar() {
        return Ok(scalar.equals(operand));
    }
    Ok(match (view, operand) {
        (View::Number(left), Value::Number(right)) => left.equals(right),
        (View::Array, Value::Array(items)) => {
            if node.length()? != items.len() {
                return Ok(false);
            }
            let mut rest = items.iter();
            let differs = node.any_item(&mut |child| match rest.next() {
                Some(item) => Ok(!equals(&child, item)?),
                None => Ok(true),
            })?;
            !differs && rest.next().is_none()
        }
        (View::Object, Value::Object(members)) => {
            if node.length()? != members.len() {
                return differs(node);
            }
            if members.len() > FEW {
                return equal_members(node, members);
            }
            for (name, member) in members {
                match node.child(&Step::key(name))? {
                    Some(child) if equals(&child, member)? => {}
                    Some(_) => return Ok(false),
                    None => return differs(node),
                }
            }
            true
        }
        (View::Opaque(kind), _) => return Err(Unreadable::foreign(kind)),
        _ => false,
    })
}

/// Not equal, unless the object is no JSON value in the first place.
fn differs<N: Node>(node: &N) -> Read<bool> {
    match node.foreign_key()? {
        Some(kind) => Err(Unreadable::foreign(&format!("a key of type {kind}"))),
        None => Ok(false),
    }
}

/// Up to here looking each name up is cheaper than sorting them.
const FEW: usize = 8;

/// Members against members in n log n, however a back end looks names up. Names are distinct and
/// the counts are equal.
fn equal_members<N: Node>(node: &N, members: &[(Box<[u8]>, Value)]) -> Read<bool> {
    let mut wanted: BTreeMap<&[u8], &Value> =
        members.iter().map(|(name, value)| (&**name, value)).collect();
    for (name, child) in node.members(usize::MAX)? {
        let MemberName::Text(name) = name else { return differs(node) };
        match wanted.remove(&*name) {
            Some(member) if equals(&child, member)? => {}
            _ => return Ok(false),
        }
    }
    Ok(wanted.is_empty())
}
