"""The twelve text formats, each a stated subset of its standard."""

import re
import unicodedata

from .patterns import PatternInvalid, check_syntax
from .values import joined

LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+")
OCTET = re.compile(r"0|[1-9][0-9]{0,2}")
GROUP = re.compile(r"[0-9A-Fa-f]{1,4}")
UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
TIME = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
POINTER = re.compile(r"(?:/(?:[^~/]|~0|~1)*)*")
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
DAY_MINUTES = 24 * 60


def is_hostname(text: str) -> bool:
    """Labels of 1 to 63 ASCII letters, digits and inner hyphens; 253 characters in all."""
    return len(text) <= 253 and all(LABEL.fullmatch(label) for label in text.split("."))


def is_email(text: str) -> bool:
    """A dotted run of unquoted ASCII atoms, at most 64, and a host name with a dot."""
    local, at, domain = text.rpartition("@")
    return (
        at == "@"
        and len(local) <= 64
        and all(ATOM.fullmatch(atom) for atom in local.split("."))
        and "." in domain
        and is_hostname(domain)
    )


def is_ipv4(text: str) -> bool:
    """Four numbers from 0 to 255, without leading zeros."""
    octets = text.split(".")
    return len(octets) == 4 and all(
        OCTET.fullmatch(octet) and int(octet) <= 255 for octet in octets
    )


def _ipv6_groups(text: str, may_end_in_ipv4: bool) -> int | None:
    """Count the groups of one side of ``::``; an IPv4 tail is two. None if one is wrong."""
    if text == "":
        return 0
    groups = text.split(":")
    count = len(groups)
    if may_end_in_ipv4 and "." in groups[-1]:
        if not is_ipv4(groups.pop()):
            return None
        count += 1
    return count if all(GROUP.fullmatch(group) for group in groups) else None


def is_ipv6(text: str) -> bool:
    """Eight groups, or fewer with one ``::`` for at least one; no zone."""
    sides = text.split("::")
    if len(sides) > 2:
        return False
    counts = [_ipv6_groups(side, side is sides[-1]) for side in sides]
    total = 0
    for count in counts:
        if count is None:
            return False
        total += count
    return total == 8 if len(sides) == 1 else total <= 7


def is_uuid(text: str) -> bool:
    """Hexadecimal digits in groups of 8, 4, 4, 4 and 12, of any version."""
    return UUID.fullmatch(text) is not None


def is_date(text: str) -> bool:
    """A day of the Gregorian calendar, extended back to the year 0000."""
    found = DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = (int(part) for part in found.groups())
    if not 1 <= month <= 12:
        return False
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = 29 if month == 2 and is_leap else MONTH_DAYS[month - 1]
    return 1 <= day <= days


def is_time(text: str) -> bool:
    """A time with an offset; second 60 only where the clock reads 23:59 in UTC."""
    found = TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = (int(part) for part in found.groups()[:3])
    sign, hours_off, minutes_off = found[4], int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 60 or hours_off > 23 or minutes_off > 59:
        return False
    offset = (hours_off * 60 + minutes_off) * (-1 if sign == "-" else 1)
    utc = (hour * 60 + minute - offset) % DAY_MINUTES
    return second < 60 or utc == DAY_MINUTES - 1


def is_date_time(text: str) -> bool:
    """A date, ``T`` or ``t``, and a time."""
    return is_date(text[:10]) and text[10:11] in ("T", "t") and is_time(text[11:])


def _has_space_or_control(text: str) -> bool:
    """Tell whether the text holds white space, U+FEFF included, or a control character."""
    return any(
        char.isspace() or char == "\ufeff" or unicodedata.category(char) == "Cc" for char in text
    )


def is_uri(text: str) -> bool:
    """A scheme, a colon and something after it, without white space and controls."""
    scheme, _, rest = text.partition(":")
    return SCHEME.fullmatch(scheme) is not None and rest != "" and not _has_space_or_control(text)


def is_uri_reference(text: str) -> bool:
    """Anything without white space and controls, with at most one ``#``."""
    return text.count("#") <= 1 and not _has_space_or_control(text)


def is_json_pointer(text: str) -> bool:
    """Empty, or tokens that each follow a slash; a tilde only as ``~0`` and ``~1``."""
    return POINTER.fullmatch(text) is not None


def is_regex(text: str) -> bool:
    """A valid ECMAScript pattern without flags, supported or not."""
    try:
        check_syntax(text, "")
    except PatternInvalid:
        return False
    return True


FORMATS = {
    "email": is_email,
    "uri": is_uri,
    "uri-reference": is_uri_reference,
    "hostname": is_hostname,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "uuid": is_uuid,
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
    "json-pointer": is_json_pointer,
    "regex": is_regex,
}


def check_format(text: str, name: str) -> bool:
    """Tell whether a text has a format; an unknown format name is a ``ValueError``."""
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}")
    return FORMATS[name](joined(text))
