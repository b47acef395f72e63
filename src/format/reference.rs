//! Names of things: mail addresses, URIs (RFC 3986), UUIDs (RFC 9562), JSON pointers (RFC 6901).

use super::network::is_hostname;
use crate::value::text::code_points;

/// RFC 5321 `Mailbox` without quoted local parts, literals and non-ASCII.
pub(super) fn is_email(text: &[u8]) -> bool {
    let Some(at) = memchr::memrchr(b'@', text) else {
        return false;
    };
    let (Some(local), Some(domain)) = (text.get(..at), text.get(at + 1..)) else {
        return false;
    };
    local.len() <= 64
        && local.split(|byte| *byte == b'.').all(is_atom)
        && domain.contains(&b'.')
        && is_hostname(domain)
}

/// RFC 5322 `atom` characters, at least one.
fn is_atom(atom: &[u8]) -> bool {
    let special = b"!#$%&'*+/=?^_`{|}~-";
    !atom.is_empty()
        && atom.iter().all(|byte| byte.is_ascii_alphanumeric() || special.contains(byte))
}

pub(super) fn is_uri(text: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', text) else {
        return false;
    };
    let (Some([first, scheme @ ..]), Some(rest)) = (text.get(..colon), text.get(colon + 1..))
    else {
        return false;
    };
    first.is_ascii_alphabetic()
        && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(byte))
        && !rest.is_empty()
        && !has_blank(text)
}

pub(super) fn is_uri_reference(text: &[u8]) -> bool {
    !has_blank(text) && memchr::memchr_iter(b'#', text).count() <= 1
}

/// White space, a control character, or a lone half.
fn has_blank(text: &[u8]) -> bool {
    let blank = |point: u32| match char::from_u32(point) {
        Some(character) => {
            character.is_whitespace() || character.is_control() || character == '\u{FEFF}'
        }
        None => true,
    };
    code_points(text).any(blank)
}

pub(super) fn is_uuid(text: &[u8]) -> bool {
    let groups: Vec<&[u8]> = text.split(|byte| *byte == b'-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.iter().all(u8::is_ascii_hexdigit))
}

pub(super) fn is_json_pointer(text: &[u8]) -> bool {
    let escaped = |at: usize| matches!(text.get(at + 1), Some(b'0' | b'1'));
    (text.is_empty() || text.first() == Some(&b'/')) && memchr::memchr_iter(b'~', text).all(escaped)
}
