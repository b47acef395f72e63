//! Host names (RFC 1123) and addresses (RFC 3986 `dec-octet`, RFC 4291).

/// Labels of letters, digits and inner hyphens; no trailing dot, no underscore.
pub(super) fn is_hostname(text: &[u8]) -> bool {
    text.len() <= 253 && text.split(|byte| *byte == b'.').all(is_label)
}

fn is_label(label: &[u8]) -> bool {
    (1..=63).contains(&label.len())
        && label.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        && label.first() != Some(&b'-')
        && label.last() != Some(&b'-')
}

pub(super) fn is_ipv4(text: &[u8]) -> bool {
    let octets: Vec<&[u8]> = text.split(|byte| *byte == b'.').collect();
    octets.len() == 4 && octets.into_iter().all(is_octet)
}

fn is_octet(octet: &[u8]) -> bool {
    octet.iter().all(u8::is_ascii_digit)
        && match octet {
            [_] => true,
            [first, rest @ ..] => {
                *first != b'0'
                    && rest.len() <= 2
                    && std::str::from_utf8(octet).is_ok_and(|digits| digits.parse::<u8>().is_ok())
            }
            [] => false,
        }
}

/// Eight groups of up to four hexadecimal digits, one `::` standing for at least one group, the
/// last two groups possibly as a dotted quad.
pub(super) fn is_ipv6(text: &[u8]) -> bool {
    let Some(gap) = memchr::memmem::find(text, b"::") else {
        return groups(text, true) == Some(8);
    };
    let (head, tail) = (text.get(..gap), text.get(gap + 2..));
    let (Some(head), Some(tail)) = (head, tail) else {
        return false;
    };
    let count = |part: &[u8], quad_allowed| {
        if part.is_empty() { Some(0) } else { groups(part, quad_allowed) }
    };
    // A second `::` leaves an empty group in the tail, which no group may be.
    match (count(head, false), count(tail, true)) {
        (Some(before), Some(after)) => before + after <= 7,
        _ => false,
    }
}

/// How many groups a run without `::` holds; `None` when one of them is wrong.
fn groups(text: &[u8], quad_allowed: bool) -> Option<usize> {
    let parts: Vec<&[u8]> = text.split(|byte| *byte == b':').collect();
    let (last, before) = parts.split_last()?;
    let is_group =
        |part: &&[u8]| (1..=4).contains(&part.len()) && part.iter().all(u8::is_ascii_hexdigit);
    if !before.iter().all(is_group) {
        return None;
    }
    if is_group(last) {
        Some(parts.len())
    } else if quad_allowed && is_ipv4(last) {
        Some(parts.len() + 1)
    } else {
        None
    }
}
