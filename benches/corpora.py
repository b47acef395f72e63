"""How many patterns of real programs run, by what they use.

    python benches/corpora.py FILE...

Each line of a file is a JSON object with `pattern` and `flags`. Whether it is ECMAScript at all is
asked of node where there is one (24 or newer knows all of ECMAScript 2025), else of the package.
Where the two differ, the row goes to standard error and is not counted. Prints Markdown.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from interlock import Pattern, PatternError, PatternInvalid

Row: TypeAlias = "dict[str, Any]"

IS_VALID = """
const rows = JSON.parse(require("fs").readFileSync(0, "utf8"));
const isValid = ([source, flags]) => {
  try { new RegExp(source, flags); return true } catch { return false }
};
console.log(JSON.stringify(rows.map(isValid)));
"""

# An escape, a class, or the start of a group; what stands between them is of no interest here.
TOKEN = re.compile(
    r"\\k<|\\[pP]\{|\\.|\[(?:\\.|[^\]\\])*\]?|\(\?<?[=!]|\(\?<|\(\?[ims-]|\(", re.DOTALL
)
KINDS = {
    "(?=": "lookahead",
    "(?!": "lookahead",
    "(?<=": "lookbehind",
    "(?<!": "lookbehind",
    "(?<": "named group",
    "\\k<": "backreference",
}
COUNT = re.compile(r"\{(?:\d+,)?\d{4,}\}")
ORDER = (
    *("all", "lookahead", "lookbehind", "backreference", "named group", "modifiers `(?i:...)`"),
    *("property `\\p{...}`", "count above 999"),
    *(f"flag `{letter}`" for letter in "dgimsuvy"),
)


def features(source: str, flags: str) -> set[str]:
    """Name what a pattern uses."""
    tokens = TOKEN.findall(source)
    groups = sum(token in {"(", "(?<"} for token in tokens)
    unicode = bool(set("uv") & set(flags))
    found = {"all"} | {f"flag `{letter}`" for letter in flags}
    for token in tokens:
        kind = KINDS.get(token, "")
        if token[1:].isdigit() and 0 < int(token[1:]) <= groups:
            kind = "backreference"
        elif kind == "backreference" and not unicode and "(?<" not in tokens:
            kind = ""
        elif len(token) == 3 and token[:2] == "(?" and not kind:
            kind = "modifiers `(?i:...)`"
        has_property = re.search(r"\\[pP]\{", token) and unicode
        found |= {kind} if kind else {"property `\\p{...}`"} if has_property else set[str]()
    return found | ({"count above 999"} if COUNT.search(source) else set[str]())


def outcome(source: str, flags: str) -> str:
    """Compile a pattern and run it once: `run`, or the slug of the refusal."""
    try:
        Pattern(source, flags).test("some text, 2 lines\n")
    except PatternError as error:
        slug = re.search(r"\[([\w.]+)\]$", error.problems[0].message)
        return "invalid" if isinstance(error, PatternInvalid) else slug[1] if slug else "refused"
    return "run"


def valid(rows: list[Row], outcomes: list[str]) -> list[bool]:
    """Tell which rows are ECMAScript."""
    node = shutil.which("node")
    if not node:
        return [outcome != "invalid" for outcome in outcomes]
    asked = json.dumps([[row["pattern"], row["flags"]] for row in rows])
    answer = subprocess.run(  # noqa: S603 (the program is ours)
        [node, "-e", IS_VALID], input=asked, capture_output=True, text=True, check=True
    )
    return list(json.loads(answer.stdout))


def read(paths: Iterable[str]) -> Iterator[Row]:
    for path in paths:
        with Path(path).open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def counted(rows: list[Row], outcomes: list[str]) -> dict[str, Counter[str]]:
    """Count the outcomes of what is ECMAScript, by feature; print where node differs."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row, found, is_valid in zip(rows, outcomes, valid(rows, outcomes), strict=True):
        if is_valid == (found == "invalid"):
            print(f"node says valid: {is_valid}, here: {found}: {json.dumps(row)}", file=sys.stderr)
        elif is_valid:
            for feature in features(row["pattern"], row["flags"]):
                counts[feature][found] += 1
    return counts


def main() -> None:
    rows = list(read(sys.argv[1:]))
    outcomes = [outcome(row["pattern"], row["flags"]) for row in rows]
    counts = counted(rows, outcomes)
    print(f"{len(rows):,} patterns, {counts['all'].total():,} of them ECMAScript\n")
    print("| using | valid | run | share | the rest |", "|---|---|---|---|---|", sep="\n")
    for feature in ORDER:
        if total := counts[feature].total():
            run = counts[feature].pop("run", 0)
            rest = ", ".join(f"`{slug}` {number}" for slug, number in counts[feature].most_common())
            print(f"| {feature} | {total:,} | {run:,} | {run / total:.2%} | {rest} |")


if __name__ == "__main__":
    main()
