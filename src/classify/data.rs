//! Reading the data files of this room: what is malformed is left out, and tests hold that nothing is.

use crate::value::{MemberName, Node, Step, View};

/// The member of that name.
pub(super) fn child<N: Node>(node: &N, name: &str) -> Option<N> {
    node.child(&Step::key(name.as_bytes())).ok().flatten()
}

/// All members that `read` makes something of, in order.
pub(super) fn members<N: Node, T>(
    table: Option<&N>,
    read: impl Fn(&N) -> Option<T>,
) -> Vec<(Box<str>, T)> {
    let members = table.and_then(|table| table.members(usize::MAX).ok()).unwrap_or_default();
    let read_one = |(name, node): (MemberName, N)| match name {
        MemberName::Text(name) => {
            Some((String::from_utf8_lossy(&name).into_owned().into_boxed_str(), read(&node)?))
        }
        MemberName::Other(_) => None,
    };
    members.into_iter().filter_map(read_one).collect()
}

/// The text of a string.
pub(super) fn text_of<N: Node>(node: &N) -> Option<Box<str>> {
    match node.view().ok()? {
        View::String(text) => text.as_str().map(Box::from),
        _ => None,
    }
}

/// The items of a list that `read` makes something of; none when it is no list.
pub(super) fn items<N: Node, T>(list: Option<&N>, read: impl Fn(&N) -> Option<T>) -> Vec<T> {
    let mut found = Vec::new();
    if let Some(list) = list {
        let all = list.any_item(&mut |item| {
            found.extend(read(&item));
            Ok(false)
        });
        debug_assert!(all.is_ok());
    }
    found
}

/// The whole number of a value.
pub(super) fn whole_of<N: Node>(node: &N) -> Option<i64> {
    match node.view().ok()? {
        View::Number(number) if number.is_integer() => number.floor(),
        _ => None,
    }
}

/// Whether a value is `true`.
pub(super) fn is_true<N: Node>(node: &N) -> bool {
    matches!(node.view(), Ok(View::Boolean(true)))
}
