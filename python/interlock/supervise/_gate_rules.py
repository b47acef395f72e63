"""Gate rules: whether a call is asked about at all, by a table and by a score of its risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast

from interlock import _core
from interlock.errors import Problem
from interlock.supervise._secrets import masked
from interlock.supervise.risk import is_dangerous

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from interlock.spec.runbook import Gate as WrittenGate
    from interlock.supervise._draft import Draft
    from interlock.supervise.gate import Gate
    from interlock.supervise.policy import PolicyStep
    from interlock.tools.decision_table import DecisionTable
    from interlock.tools.rule_score import RuleScore

__all__ = [
    "Ruling",
    "conditions_in",
    "gate_problems",
    "path_problem",
    "ruling",
    "score_problems",
    "table_problems",
    "told",
    "unread",
]

Word: TypeAlias = Literal["allow", "ask", "block"]

WORDS: tuple[Word, ...] = ("allow", "ask", "block")
"""What may be said of a call, from the mildest."""
_FIELDS = ("risk", "effect", "tool", "step", "visit", "args", "facts", "inputs")
"""The record of a call."""
_POLICIES = ("unique", "priority")


class Ruling(NamedTuple):
    """What the rules of a gate say of a call, and why; empty where there are none."""

    word: Word
    said: str = ""


def ruling(
    draft: Draft, gate: Gate, *, tool: str, args: Mapping[str, object], effect: str | None
) -> Ruling:
    """Say whether a call is allowed, asked about or blocked: the stricter of table and score.

    What cannot be decided blocks. Nobody is asked about what is blocked, and a call of a dangerous
    step is asked about even where it would be allowed.
    """
    if gate.rules is None and gate.score is None:
        return Ruling("ask")
    record = _record(draft, tool=tool, args=args, effect=effect)
    said = [] if gate.rules is None else [_by_table(gate.rules, record)]
    said += [] if gate.score is None else [_by_score(gate.score, record)]
    word = max(said, key=lambda one: WORDS.index(one.word)).word
    why = "; ".join(one.said for one in said)
    if word == "allow" and is_dangerous(draft.step.risk):
        return Ruling("ask", f"{why}; a step that is {draft.step.risk} is asked about all the same")
    return Ruling(word, why)


def _record(
    draft: Draft, *, tool: str, args: Mapping[str, object], effect: str | None
) -> dict[str, object]:
    """Make the record that the rules look at, without secrets."""
    state, step = draft.state, draft.step
    given = {
        "args": args,
        "facts": {name: value for name, value in state.facts.items() if name != "inputs"},
        # A secret one is not among them.
        "inputs": state.facts.get("inputs", {}),
    }
    return {
        "risk": step.risk,
        "effect": effect,
        "tool": tool,
        "step": step.id,
        "visit": state.visit,
        **{name: masked(value, state.secrets) for name, value in given.items()},
    }


def _by_table(table: DecisionTable, record: dict[str, object]) -> Ruling:
    found = table.decide(record)
    if found.undetermined is not None:
        return Ruling("block", f"the rules cannot be decided: {found.undetermined}")
    if found.conflict is not None:
        return Ruling("block", f"the rules exclude each other: {found.conflict}")
    if not found.matched:
        return Ruling("ask", "no rule holds")
    word = cast("Word", found.outputs)
    which = "what holds otherwise" if found.fallback else f"the rule {found.decided_by[0]}"
    return Ruling(word, f"{which} says {word}")


def _by_score(score: RuleScore, record: dict[str, object]) -> Ruling:
    found = score.score(record)
    if found.undetermined:
        first = found.undetermined[0]
        return Ruling("block", f"the score cannot be told: {first.id}: {first.reason}")
    of = " + ".join(one.id for one in found.contributors)
    said = f"the score {found.score}" + (f" ({of})" if of else "")
    if found.band is None:
        return Ruling("ask", f"{said} is below every band")
    return Ruling(cast("Word", found.band), f"{said} is in the band {found.band}")


def told(step: PolicyStep) -> str:
    """Say in a sentence what decides whether a call is asked about; empty for all of them."""
    gate, parts = step.gate, list[str]()
    if gate is not None and gate.rules is not None:
        spec = gate.rules.to_spec()
        rows = cast("list[dict[str, str]]", spec["rows"])
        each = [f"{row['id']}: {row['outputs']}" for row in rows]
        each.append(f"else {spec.get('otherwise', 'ask')}")
        parts.append(f"rules ({', '.join(each)})")
    if gate is not None and gate.score is not None:
        bands = cast("list[dict[str, object]]", gate.score.to_spec()["bands"])
        levels = ", ".join(f"{one['name']} from {one['min']}" for one in bands)
        parts.append(f"a score ({levels})")
    if not parts:
        return ""
    stricter = "; the stricter holds" if len(parts) > 1 else ""
    words = (
        "asked about or blocked" if is_dangerous(step.risk) else "allowed, asked about or blocked"
    )
    return f"Each call is {words} by {' and '.join(parts)}{stricter}."


def gate_problems(
    on: str, rules: DecisionTable | None, score: RuleScore | None
) -> Iterator[Problem]:
    """Yield what is wrong with the rules of a gate that was built by hand."""
    for name, one, problems in (("rules", rules, table_problems), ("score", score, score_problems)):
        if one is None:
            continue
        if on == "enter":
            yield unread(name)
        for problem in problems(one.to_spec()):
            yield problem._replace(field=f"{name}.{problem.field}")


def unread(field: str) -> Problem:
    """Say that a gate on entering a step looks at no call."""
    message = "is read by a gate before each call alone: write `on: call`, or leave it out"
    return Problem("runbook/unread-field", field, None, message)


def table_problems(spec: Mapping[str, object]) -> Iterator[Problem]:
    """Yield what no gate can read of a table, which its own faults do not tell."""
    policy = spec.get("policy")
    if policy in ("first", "collect"):
        message = f"must be one of {', '.join(_POLICIES)}: rules that exclude each other block"
        yield Problem("spec/unknown-choice", "policy", _core.preview(policy), message)
    outputs = [
        (f"rows[{at}].outputs", row["outputs"])
        for at, row in _entries(spec, "rows")
        if "outputs" in row
    ]
    if spec.get("otherwise") is not None:
        outputs.append(("otherwise", spec["otherwise"]))
    for field, value in outputs:
        if value not in WORDS:
            yield _choice(field, value, WORDS)


def score_problems(spec: Mapping[str, object]) -> Iterator[Problem]:
    """Yield what no gate can read of a score, which its own faults do not tell."""
    if spec.get("bands") in (None, [], ()):
        message = f"is required: from which score on it says {', '.join(WORDS)}"
        yield Problem("spec/missing-field", "bands", None, message)
    for at, band in _entries(spec, "bands"):
        if isinstance(band.get("name"), str) and band["name"] not in WORDS:
            yield _choice(f"bands[{at}].name", band["name"], WORDS)


def conditions_in(gate: WrittenGate) -> Iterator[tuple[str, list[object]]]:
    """Yield the field and the conditions of every rule of a gate, as they are written."""
    for name, spec, entries in (("rules", gate.rules, "rows"), ("score", gate.score, "rules")):
        for at, entry in _entries(spec or {}, entries):
            when = entry.get("when")
            if isinstance(when, list):
                yield f"gate.{name}.{entries}[{at}].when", cast("list[object]", when)


def path_problem(field: str, path: str) -> Problem | None:
    """Say that a path leads to nothing that the rules of a gate look at."""
    first = path.partition(".")[0].partition("[")[0]
    return None if not first or first in _FIELDS else _choice(field, first, _FIELDS)


def _choice(field: str, value: object, known: Sequence[str]) -> Problem:
    near = _core.nearest(value, list(known)) if isinstance(value, str) else None
    hint = f'; did you mean "{near}"?' if near else ""
    message = f"must be one of {', '.join(known)}{hint}"
    return Problem("spec/unknown-choice", field, _core.preview(value), message)


def _entries(spec: Mapping[str, object], name: str) -> Iterator[tuple[int, dict[str, object]]]:
    given = spec.get(name)
    for at, entry in enumerate(cast("list[object]", given) if isinstance(given, list) else ()):
        if isinstance(entry, dict):
            yield at, cast("dict[str, object]", entry)
