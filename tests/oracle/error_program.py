"""The program that a command line runs, where it is certain that it is one, and which."""

import re
from typing import NamedTuple

SPACES = " \t\r\n\f"
PART = r""""[^"]*"|'[^']*'|\\[\\;|&\n]|[<>]&|[^;|& \t\r\n\f]"""
WORDS = re.compile(rf"(?:(?:{PART})|[ \t\r\f])*+")
WORD = re.compile(rf"(?:{PART})++")
PYTHON_FLAGS = ("-u", "-B", "-E", "-I", "-O", "-OO", "-P", "-S", "-b", "-bb", "-q", "-s", "-v")
PYTHON_VALUED = ("-X", "-W")

EXPIRED = (124, 137)


class Wrapper(NamedTuple):
    """What may stand before a program: its flags, and its options with a value."""

    flags: tuple[str, ...] = ()
    valued: tuple[str, ...] = ()
    first: str | None = None


WRAPPERS = {
    "sudo": Wrapper(
        ("-E", "-H", "-n", "-S", "-A", "-k", "--preserve-env", "--non-interactive"),
        ("-u", "-g", "-p", "-h", "-D", "--user", "--group", "--preserve-env"),
    ),
    "env": Wrapper(("-", "-i", "--ignore-environment"), ("-u", "-C", "--unset", "--chdir")),
    "time": Wrapper(("-p", "-v"), ("-f", "-o")),
    "nohup": Wrapper(),
    "nice": Wrapper((), ("-n", "--adjustment")),
    "timeout": Wrapper(
        ("-v", "--verbose", "--foreground", "--preserve-status"),
        ("-k", "-s", "--kill-after", "--signal"),
    ),
    "uv": Wrapper(
        ("-q", "--quiet", "--frozen", "--locked", "--no-sync", "--isolated"),
        ("-p", "--python", "--with", "--extra", "--group", "--project", "--directory"),
        first="run",
    ),
    "poetry": Wrapper(
        ("-q", "--quiet", "-n", "--no-interaction"),
        ("-C", "--directory", "-P", "--project"),
        first="run",
    ),
}


def program(command: str, exit_code: int | None) -> str | None:
    """Name the program; None where it is not certain. Time that ran out is `timeout`'s."""
    text = command.strip(SPACES)
    is_unclear = '\\"' in text and re.search("[;|&\n]", text)
    if is_unclear or not WORDS.fullmatch(text):
        return None
    return of_words([word.strip("\"'") for word in WORD.findall(text)], exit_code)


def of_words(words: list[str], exit_code: int | None) -> str | None:
    """Pass over assignments and wrappers."""
    while words and re.match(r"[A-Za-z_][A-Za-z0-9_]*=", words[0]):
        words = words[1:]
    if not words:
        return None
    name, rest = last_part(words[0]), words[1:]
    if re.fullmatch(r"python[0-9.]*", name):
        after = without_options(rest, PYTHON_FLAGS, PYTHON_VALUED)
        if after is None or after == ["-m"]:
            return None
        if after[:1] != ["-m"]:
            is_known = not after or after[0] in ("-", "-c") or not after[0].startswith("-")
            return name if is_known else None
        name, rest = after[1], after[2:]
    if name not in WRAPPERS:
        return name or None
    wrapper = WRAPPERS[name]
    if wrapper.first is not None:
        if rest[:1] != [wrapper.first]:
            is_hidden = rest and rest[0].startswith("-") and wrapper.first in rest
            return None if is_hidden else name
        rest = rest[1:]
    left = without_options(rest, wrapper.flags, wrapper.valued)
    if left is None or (left and left[0].startswith("-") and left[0] != "--"):
        return None
    left = left[1:] if left[:1] == ["--"] else left
    if name == "timeout":
        if not left:
            return None
        if exit_code in EXPIRED or not re.match("[0-9]", left[0]):
            return name
        left = left[1:]
    return of_words(left, exit_code)


def without_options(
    words: list[str], flags: tuple[str, ...], valued: tuple[str, ...]
) -> list[str] | None:
    """Drop the options that are known; None when the value of one is missing."""
    while words:
        word = words[0]
        if word.startswith("--"):
            has_own_value = "=" in word and word.partition("=")[0] in valued
        else:
            has_own_value = len(word) > len("-x") and word[:2] in valued
        if not (word in flags or has_own_value or word in valued):
            break
        taken = 1 if word in flags or has_own_value else 2
        if len(words) < taken:
            return None
        words = words[taken:]
    return words


def last_part(word: str) -> str:
    """The file name of a path, without `.exe`, `.cmd` or `.bat`."""
    name = re.split(r"[/\\]", word)[-1]
    return name[:-4] if name[-4:].lower() in (".exe", ".cmd", ".bat") else name
