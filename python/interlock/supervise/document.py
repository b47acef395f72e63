"""How well structured a document is, and a skeleton of one made of prose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from interlock.errors import Problem, RunbookInvalid
from interlock.supervise._source import SIZE_LIMIT, read_source
from interlock.supervise.derive import lint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.supervise._source import Document
    from interlock.supervise.policy import Policy
    from interlock.typing import JSON

__all__ = ["DocumentProfile", "Skeleton", "document_profile", "from_markdown"]

DocumentProfile: TypeAlias = Literal["P0", "P1", "P2"]

_STEPS_LIMIT = 500
_TITLE = 80
_SHELLS = {"bash", "console", "sh", "shell", "zsh"}
_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_NUMBERED = re.compile(r"^(?:step\s+)?\d{1,3}\s*[.):\u2013\u2014-]\s*(.+)$", re.IGNORECASE)
_ITEM = re.compile(r"^ {0,3}\d{1,3}[.)]\s+(.+)$")
_TASK = re.compile(r"^ {0,3}[-*+]\s+\[[ xX]\]\s+(.+)$")
_FENCE = re.compile(r"^\s*(?:```|~~~)\s*(\S*)")
_PROGRAM = re.compile(r"^\s*(?:\$\s+)?(?:sudo\s+)?([a-z][a-z0-9_.-]*)(?:\s|$)")


class Skeleton(NamedTuple):
    """What could be made of a text.

    Attributes:
        document: A runbook document, to be filled in.
        profile: P0 when no steps were found, else P1.
        missing: What lint says of it: all that stands between it and a policy without warnings.
    """

    document: dict[str, JSON]
    profile: DocumentProfile
    missing: tuple[Problem, ...]


def document_profile(document: Document, *, runbooks: Iterable[Policy] = ()) -> DocumentProfile:
    """Say how well structured a document is; another axis than what a client enforces.

    Args:
        document: A document as `derive_policy` takes it, or a text in Markdown.
        runbooks: As `derive_policy` takes them.

    Returns:
        P2: a policy is derived without faults and warnings. P1: there are steps in an order. P0:
        prose.

    Raises:
        RunbookInvalid: As `from_markdown`.
        OSError: When it is the path of a file that cannot be read.
    """
    source = read_source(document)
    if source.data is None or not {"runbook", "steps"} & source.data.keys():
        if isinstance(document, str) and "\n" in document:
            return from_markdown(document).profile
        return "P0"
    steps = source.data.get("steps")
    if not isinstance(steps, list) or not steps:
        return "P0"
    return "P1" if lint(document, runbooks=runbooks) else "P2"


def from_markdown(text: str) -> Skeleton:
    """Make a skeleton of a document from a text in Markdown.

    Steps are numbered headings (`## 2. Drain the node`, `## Step 2: ...`), else the items of
    numbered lists, else those of task lists. Each leads to the next. The programs that its shell
    blocks call become its tools, whose effects only you can say.

    Raises:
        RunbookInvalid: When the text is over 1 MiB or has more than 500 steps.
    """
    if len(text) > SIZE_LIMIT:
        message = f"{len(text)} characters, over the limit of {SIZE_LIMIT}"
        raise RunbookInvalid((Problem("spec/over-limit", "text", None, message),))
    title, summary, parts = _parts(text.splitlines())
    if len(parts) > _STEPS_LIMIT:
        message = f"{len(parts)} steps, over the limit of {_STEPS_LIMIT}"
        raise RunbookInvalid((Problem("spec/over-limit", "steps", None, message),))
    taken = {"done"}
    steps = [_step(part, taken) for part in parts]
    for step, target in zip(steps, [*(one["id"] for one in steps[1:]), "done"], strict=False):
        step["next"] = target
    programs = dict.fromkeys(tool for step in steps for tool in step.get("tools", ()))
    document: dict[str, JSON] = {
        "runbook": "1",
        "id": _slug(title or "runbook", set()),
        "title": title[:200],
        "summary": summary[:2_000],
        "tools": [{"id": tool} for tool in programs],
        "steps": [dict(step) for step in steps],
        "terminals": [{"id": "done", "outcome": "done"}],
    }
    return Skeleton(document, "P1" if steps else "P0", lint(document))


class _Part(NamedTuple):
    title: str
    lines: list[str]


def _parts(lines: list[str]) -> tuple[str, str, list[_Part]]:
    """Return the title, the first paragraph, and the steps."""
    title = next((_heading(line) for line in lines if _HEADING.match(line)), "")
    summary = _summary(lines)
    for find in (_numbered_heading, _item_of(_ITEM), _item_of(_TASK)):
        parts = _split(lines, find)
        if parts:
            return title, summary, parts
    return title, summary, []


def _summary(lines: list[str]) -> str:
    """Return the first paragraph that stands before any step."""
    told: list[str] = []
    for line in _prose(lines):
        if _begins(line) or (told and not line.strip()):
            break
        if line.strip() and not _HEADING.match(line):
            told.append(line.strip())
    return " ".join(told)


def _prose(lines: Iterable[str]) -> Iterator[str]:
    is_code = False
    for line in lines:
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            yield line


def _begins(line: str) -> bool:
    return bool(_ITEM.match(line) or _TASK.match(line) or _numbered_heading(line))


def _heading(line: str) -> str:
    """Return the words of a heading; nothing of a line that is none."""
    found = _HEADING.match(line)
    return found[2].rstrip().rstrip("#").rstrip() if found else ""


def _numbered_heading(line: str) -> str | None:
    numbered = _NUMBERED.match(_heading(line))
    return numbered[1] if numbered else None


def _item_of(pattern: re.Pattern[str]) -> Any:
    def find(line: str) -> str | None:
        found = pattern.match(line)
        return found[1] if found else None

    return find


def _split(lines: list[str], find: Any) -> list[_Part]:
    """Cut a text where a step begins; a heading that begins none ends the one before."""
    parts: list[_Part] = []
    current: _Part | None = None
    is_code = False
    for line in lines:
        is_code ^= bool(_FENCE.match(line))
        begins = None if is_code else find(line)
        if begins is not None:
            current = _Part(begins, [])
            parts.append(current)
        elif not is_code and _HEADING.match(line):
            current = None
        elif current is not None:
            current.lines.append(line)
    return parts


def _step(part: _Part, taken: set[str]) -> dict[str, Any]:
    """Make a step of a part: its title, its text, and what its shell blocks call."""
    title = re.sub(r"[*_`]", "", part.title).strip()
    short = title if len(title) <= _TITLE else title[: _TITLE - 1].rsplit(" ", 1)[0]
    text = "\n".join((title, *part.lines)).strip()[:20_000]
    made: dict[str, Any] = {"id": _slug(short, taken), "title": short, "kind": "action", "do": text}
    programs = dict.fromkeys(f"cli:{one}" for one in _programs(part.lines))
    if programs:
        made["tools"] = list(programs)
    return made


def _programs(lines: Iterable[str]) -> Iterator[str]:
    language: str | None = None
    for line in lines:
        fence = _FENCE.match(line)
        if fence:
            language = fence[1].lower() if language is None else None
        elif language in _SHELLS:
            called = _PROGRAM.match(line)
            if called and (language != "console" or line.lstrip().startswith("$")):
                yield called[1]


def _slug(title: str, taken: set[str]) -> str:
    """Make an id of a title that no other has."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:48].strip("-") or "step"
    slug, number = words, 1
    while slug in taken:
        number += 1
        slug = f"{words}-{number}"
    taken.add(slug)
    return slug
