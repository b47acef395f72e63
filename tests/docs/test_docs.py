"""What the documentation shows is what the package does.

A page is read from top to bottom. Its `python` blocks share one namespace, and what they print must
stand in the `text` block below. The commands of its `console` blocks run in one directory, with a
copy of the examples. A `yaml` block that starts with `# file: NAME` is written there. A line of
three dots stands for any lines.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from engines import engine

from interlock import _core
from interlock.supervise._codes import CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in NAMES), *sorted(DOCS.rglob("*.md"))]
# Its commands take minutes, and its numbers are those of one machine.
MEASURED = DOCS / "benchmarks.md"
RUN = [page for page in PAGES if page != MEASURED]
RUNBOOKS = DOCS / "runbooks.md"
NEEDED = {"integrations.md": ("pyarrow", "polars", "duckdb"), "ray.md": ("pyarrow", "ray")}
PACKS = ROOT / "src" / "classify" / "packs"
PACKS_KNOWN = _core.error_packs()
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)$")


class Block(NamedTuple):
    """One fenced block of a page."""

    language: str
    line: int
    text: str


def named(page: Path) -> str:
    """Return a page's path in the repository, which names its tests."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Read the fenced blocks of a page, in order."""
    found: list[Block] = []
    inside: list[str] | None = None
    language, start = "", 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if inside is None and fence:
            inside, language, start = [], fence[1], number
        elif inside is not None and line == "```":
            found.append(Block(language, start, "\n".join(inside)))
            inside = None
        elif inside is not None:
            inside.append(line)
    assert inside is None, f"{named(page)}:{start}: the block does not end"
    return found


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def trimmed(text: str) -> str:
    """Drop what nobody sees: blanks at the ends of lines, empty lines at both ends."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).rstrip()


def agrees(printed: str, shown: str) -> bool:
    """Say whether what was printed is what is shown; a line `...` stands for any lines."""
    lines = (
        r"(?:.*\n)*" if line.strip() == "..." else re.escape(line) + r"\n"
        for line in trimmed(shown).splitlines()
    )
    seen = "".join(f"{line}\n" for line in trimmed(printed).splitlines())
    return re.fullmatch("".join(lines), seen) is not None


def compare(printed: str, shown: str, where: str) -> None:
    """Fail, with both texts, when they differ."""
    if not agrees(printed, shown):
        pytest.fail(f"{where}: shown:\n{trimmed(shown)}\n\nprinted:\n{trimmed(printed)}")


def run_python(block: Block, namespace: dict[str, object], where: str) -> str:
    """Run a block and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, where, "exec"), namespace)  # noqa: S102  (that is the test)
    return printed.getvalue()


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block with what is shown below each."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def run_command(command: str, directory: Path) -> str:
    """Run a command line and return what it prints on both streams."""
    scripts = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([scripts, os.environ.get("PATH", "")]),
        "COLUMNS": "80",
        "PYTHONUTF8": "1",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    return done.stdout.decode()


def write_spec(block: Block, directory: Path, where: str) -> None:
    """Write a spec that names its file, and lint it; a `broken` one is meant to have faults."""
    name = re.match(r"# file: (\S+)\n", block.text)
    body = block.text[name.end() :] if name else block.text
    if name is None and not body.startswith("tool:"):
        return
    path = directory / (name[1] if name else "block.yaml")
    path.write_text(body + "\n", encoding="utf-8")
    # As JSON only problems are printed, of a runbook too.
    lint = "runbook lint --json" if body.startswith("runbook:") else "lint"
    if not path.name.startswith("broken"):
        compare(run_command(f"interlock {lint} {path.name}", directory), "", where)


def run_page(page: Path, directory: Path) -> None:
    """Run the blocks of a page in order, and compare what they print with what is shown."""
    namespace: dict[str, object] = {"__name__": "page"}
    all_blocks = blocks(page)
    for block, below in zip(all_blocks, [*all_blocks, Block("", 0, "")][1:], strict=True):
        where = f"{named(page)}:{block.line}"
        if block.language == "yaml":
            write_spec(block, directory, where)
        elif block.language == "python":
            printed = run_python(block, namespace, where)
            compare(printed, below.text if below.language == "text" else "", where)
        elif block.language == "console":
            for command, shown in commands(block):
                compare(run_command(command, directory), shown, f"{where}: {command}")


def rows(page: Path, heading: str) -> list[list[str]]:
    """Read the first table below a heading, without its head; code marks are taken off."""
    _, _, below = f"\n{page.read_text(encoding='utf-8')}".partition(f"\n{heading}\n")
    table = re.search(r"(?:^\|.*\|\n)+", below, flags=re.MULTILINE)
    assert table is not None, f"{named(page)}: no table below {heading}"
    lines = table[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def unquoted(cell: str) -> str:
    """Take the code marks off a cell that is one piece of code."""
    return cell.strip("`")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as repository hosts make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    """Yield the relative links of a page that lead nowhere."""
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.skipif(
    not Path("/bin/sh").exists(),
    reason="the commands of the pages are for a POSIX shell, which Windows lacks",
)
@pytest.mark.parametrize("page", RUN, ids=named)
def test_a_page_shows_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NEEDED.get(page.name, ()):
        engine(name)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)

    run_page(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_the_readme_lists_the_ops() -> None:
    listed = [(unquoted(op), holds) for op, holds in rows(ROOT / "README.md", "## The 23 ops")]

    assert listed == [(name, summary) for name, _, summary in _core.ops()]


def test_the_codes_of_runbooks_are_listed() -> None:
    listed = [(unquoted(code), means) for code, means in rows(RUNBOOKS, "## What lint says")]

    assert listed == list(CODES.items())


def test_every_code_has_its_heading() -> None:
    headings = re.findall(r"^#+ `(\S+)`$", prose(DOCS / "errors.md"), flags=re.MULTILINE)

    assert headings == [code for code, _ in _core.codes()]


def test_the_formats_are_listed_with_their_subsets() -> None:
    listed = [(unquoted(name), subset) for name, subset in rows(DOCS / "formats.md", "# Formats")]

    assert listed == _core.formats()


def test_every_format_has_its_heading() -> None:
    headings = re.findall(r"^## `(\S+)`$", prose(DOCS / "formats.md"), flags=re.MULTILINE)

    assert headings == [name for name, _ in _core.formats()]


def test_the_limits_are_listed_with_their_defaults() -> None:
    listed = {
        unquoted(name): int(default.replace(",", ""))
        for name, default, *_ in rows(DOCS / "limits.md", "## Limits of the core")
    }

    assert listed == _core.limits()


def code_words(names: list[str]) -> str:
    """Write names as the cell of a table does."""
    return " ".join(f"`{name}`" for name in names) or "\N{EN DASH}"


def test_the_packs_are_listed_with_what_they_serve() -> None:
    listed = rows(DOCS / "packs.md", "## All packs")
    served = [json.loads((PACKS / f"{name}.json").read_text("utf-8")) for name, *_ in PACKS_KNOWN]

    assert listed == [
        [
            f"`{name}`",
            code_words(pack.get("providers", [])),
            code_words(pack.get("commands", [])),
            str(rules),
            version,
        ]
        for (name, version, rules), pack in zip(PACKS_KNOWN, served, strict=True)
    ]
    assert sorted(path.stem for path in PACKS.glob("*.json")) == sorted(
        name for name, *_ in PACKS_KNOWN
    )


@pytest.mark.parametrize(
    ("list_name", "heading"), [("CODES", "codes"), ("TEXTS", "texts"), ("STATUSES", "status")]
)
def test_the_members_that_are_read_are_listed(list_name: str, heading: str) -> None:
    source = (ROOT / "src" / "classify" / "evidence.rs").read_text("utf-8")
    found = re.search(rf"const {list_name}: .*? = \[(.*?)\];", source, re.DOTALL)
    assert found is not None
    names = re.findall(r'b"(\w+)"', found[1])
    cells = [about for name, about in rows(DOCS / "packs.md", "## The evidence") if name == heading]

    assert code_words(names) in cells[0]


def test_the_reset_headers_are_listed() -> None:
    source = (ROOT / "src" / "classify" / "waits.rs").read_text("utf-8")
    pairs = re.findall(r'^    \("([\w-]+)", "([\w-]+)"\),$', source, re.MULTILINE)
    heading = "| header that names the reset | passed over unless this one is 0 or absent |"
    _, _, below = (DOCS / "tools.md").read_text("utf-8").partition(heading)

    listed = re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \|$", below, re.MULTILINE)
    assert pairs == listed[: len(pairs)]
    assert len(pairs) == 11


@pytest.mark.parametrize(
    ("printed", "shown", "agree"),
    [
        ("one\ntwo \n", "one\ntwo", True),
        ("one\ntwo\nthree\n", "one\n...\nthree", True),
        ("one\nthree\n", "one\n...\nthree", True),
        ("one\n", "one\ntwo", False),
        ("1.5\n", "1x5", False),
        ("", "", True),
        ("one\n", "", False),
    ],
)
def test_only_three_dots_stand_for_other_lines(printed: str, shown: str, *, agree: bool) -> None:
    assert agrees(printed, shown) is agree
