"""Patterns are what node says they are, and are found where it finds them.

Cases come from a seed and go to one process of node. Each pattern has its time there: an engine
that backtracks may not come back. What its version does not know is skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from typing import Any

import pytest
from laws.pattern_grammar import Case, Grammar

from interlock import Pattern, PatternError, PatternInvalid

NODE = shutil.which("node")
CASES = 1_000

# Where a match may start is walked as the standard says: node itself starts inside a pair, too.
ASK = """
const vm = require("vm");
const isFound = (source, flags, text) => {
  const regex = new RegExp(source, flags.replace("y", "") + "y");
  const points = regex.unicode || regex.unicodeSets;
  const step = (at) => points && text.codePointAt(at) > 0xFFFF ? 2 : 1;
  for (let at = 0; at <= text.length; at += step(at)) {
    regex.lastIndex = at;
    if (regex.test(text)) return true;
    if (flags.includes("y")) return false;
  }
  return false;
};
const context = vm.createContext({ isFound });
const script = new vm.Script("texts.map((text) => isFound(source, flags, text))");
const answer = ([source, flags, texts]) => {
  try { new RegExp(source, flags) } catch { return "invalid" }
  Object.assign(context, { source, flags, texts });
  try { return script.runInContext(context, { timeout: 200 }) } catch { return "no answer" }
};
const rows = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(rows.map(answer)));
"""

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not on the path")


def ask(cases: list[Case]) -> list[Any]:
    """Give node's answers: a list of booleans, or why there is none."""
    command = [NODE or "node", "-e", ASK]
    done = subprocess.run(
        command, input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


@cache
def knows(probe: str, flags: str) -> bool:
    """Whether this node reads a probe and finds it; node 20 reads the first one and does not."""
    return ask([Case(probe, flags, ["a𐐨ẞ"])]) == [[True]]


def ours(case: Case) -> list[bool] | str:
    try:
        pattern = Pattern(case.source, case.flags)
    except PatternInvalid:
        return "invalid"
    except PatternError:
        return "refused"
    return [pattern.test(text) for text in case.texts]


@pytest.mark.parametrize(
    ("unicode", "modifiers", "probe"),
    [
        ("", False, "a(?<=a)"),
        ("u", False, "(?:𐐀[^k])+"),
        ("v", False, r"(?:𐐀[^k])+|[\q{ab}--\q{a}]"),
        ("", True, "(?m:a)"),
        ("u", True, "(?-s:.𐐀)"),
    ],
)
def test_answers_are_those_of_node(unicode: str, probe: str, *, modifiers: bool) -> None:
    if not knows(probe, "i" + unicode):
        pytest.skip(f"this node is too old: it does not find {probe} with the flags i{unicode}")
    grammar = Grammar(7, unicode, modifiers=modifiers)
    cases = [grammar.case() for _ in range(CASES)]
    rows = list(zip(cases, ask(cases), map(ours, cases), strict=True))
    compared = [row for row in rows if row[1] != "no answer" and row[2] != "refused"]
    assert [] == [row for row in compared if row[1] != row[2]]
    assert len(compared) > CASES * 0.9
    assert sum(row[1] != "invalid" for row in compared) > CASES / 3
