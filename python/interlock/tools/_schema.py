"""JSON Schemas (2020-12) of specs and of model-facing inputs, made from the core's registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from interlock.tools import _schema_errors as errors
from interlock.tools import _schema_parts as parts
from interlock.tools._limits import (
    ARMS_LIMIT,
    BANDS_LIMIT,
    CYCLE_LIMIT,
    HISTORY_LIMIT,
    OWNERS_LIMIT,
    ROWS_LIMIT,
    RULES_LIMIT,
    SIGNALS_LIMIT,
    STEPS_LIMIT,
    VOTES_LIMIT,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlock.typing import JSON

__all__ = ["input_fields", "model_input", "options", "spec"]

Fields: TypeAlias = "dict[str, JSON]"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NOW = "The present instant; the clock when left out."
_VERSION = "Comes back with the answer."


def spec(tool: str) -> parts.Schema:
    """Return the schema of a spec file of a tool."""
    named: parts.Schema = {"const": tool, "description": "Which tool this is for."}
    fields: Fields = {**_FIELDS[tool](), "tool": named}
    rows = fields.get("rows")
    if isinstance(rows, dict):
        # Only the model-facing form limits the rows of a table.
        fields["rows"] = {key: part for key, part in rows.items() if key != "maxItems"}
    return _whole(tool, fields, _REQUIRED[tool])


def model_input(tool: str, *, has_record: bool) -> parts.Schema:
    """Return the schema of a model-facing call: the spec's fields, the value, what a call takes."""
    if not has_record:
        # What is asked about stands beside the spec, where there is one.
        return _whole(tool, {**_OPTIONS.get(tool, dict)(), **_FIELDS[tool]()}, _REQUIRED[tool])
    value: parts.Schema = {"description": "The record that the conditions look at: any JSON value."}
    fields: Fields = {"value": value, **_FIELDS[tool](), **_OPTIONS.get(tool, dict)()}
    return _whole(tool, fields, ("value", *_REQUIRED[tool]))


def input_fields(tool: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name the fields of the input of a tool without a spec, and those that are required."""
    return tuple(_FIELDS[tool]()), _REQUIRED[tool]


def options(tool: str) -> tuple[str, ...]:
    """Name what a call of a tool takes beside the spec and the value."""
    return tuple(_OPTIONS.get(tool, dict)())


def _whole(tool: str, fields: Fields, required: tuple[str, ...]) -> parts.Schema:
    return {"$schema": _DIALECT, "title": tool, **parts.record(fields, required)}


def _assert() -> Fields:
    return {"checks": parts.checks("Checks that must all hold.")}


def _branch() -> Fields:
    arm: Fields = {
        "name": parts.string("Its name; no two arms share one."),
        **parts.conditions(),
        "result": {"description": "What the arm stands for: any JSON value, handed back as is."},
    }
    arms = parts.record(arm, ("name", "when"))
    return {
        "arms": parts.entries(arms, ARMS_LIMIT, "Arms in order: the first that holds is taken."),
        "otherwise": parts.record(
            {"name": parts.string("Its name."), "result": {"description": "Any JSON value."}},
            ("name",),
            "What answers when no arm holds.",
        ),
    }


def _decision_table() -> Fields:
    row: Fields = {
        "id": parts.string("Its id; no two rows share one."),
        **parts.conditions(),
        "priority": parts.number("Higher wins; 0 when left out."),
        "outputs": {"description": "What the row decides: any JSON value."},
    }
    rows = parts.record(row, ("id", "when", "outputs"))
    return {
        "rows": parts.entries(rows, ROWS_LIMIT, "Rows in order."),
        "policy": {
            "enum": ["first", "unique", "priority", "collect"],
            "description": "first: the first row that holds. unique: at most one may hold. "
            "priority: the highest priority, which must not be shared. collect: all of them.",
        },
        "otherwise": {"description": "The outputs of a miss: any JSON value."},
        "version": parts.string(_VERSION),
    }


def _consensus_vote() -> Fields:
    vote: Fields = {
        "value": {"description": "The answer: any JSON value, also null."},
        "weight": parts.number("How much the vote counts; 1 when left out.", 0),
        "voter": parts.string("Who votes; # and the position when left out."),
    }
    votes = parts.record(vote, ("value",))
    normalize: Fields = {
        "trim": parts.truth("Take white space off both ends; true when left out."),
        "lowercase": parts.truth("Write all letters small."),
        "stripPunctuation": parts.truth("Keep only letters, numbers and white space."),
        "collapseWhitespace": parts.truth("Make one space of any run of white space."),
    }
    return {
        "votes": parts.entries(
            votes, VOTES_LIMIT, "The answers; of a tie the first is listed first."
        ),
        "mode": parts.choice(
            {
                "exact": "equal values are one answer (the default)",
                "numeric": "numbers within the tolerance of the first are",
                "set": "arrays that share enough members with the first are",
            }
        ),
        "tolerance": parts.number("The largest distance under numeric; 0 when left out.", 0),
        "overlap": parts.number("The smallest Jaccard share under set; 1 when left out.", 0, 1),
        "threshold": parts.number("The share of weight that decides; 0.5 when left out.", 0, 1),
        "normalize": parts.record(normalize, (), "How text is normalised before it is compared."),
    }


def _stall_detect() -> Fields:
    snapshot: parts.Schema = {
        "type": "object",
        "additionalProperties": {"description": "The signal's fingerprint: text, or any value."},
        "maxProperties": SIGNALS_LIMIT,
    }
    signals = parts.entries(
        parts.string("A signal's name."),
        SIGNALS_LIMIT,
        "The signals to look at; all when left out.",
        least=0,
    )
    return {
        "history": parts.entries(snapshot, HISTORY_LIMIT, "Snapshots of signals, oldest first."),
        "window": parts.whole("How many snapshots it takes to see a stall; 3 when left out.", 2),
        "maxCycle": parts.whole("The longest cycle to look for; 3 when left out.", 1, CYCLE_LIMIT),
        "signals": signals,
    }


def _rule_score() -> Fields:
    rule: Fields = {
        "id": parts.string("Its id; no two rules share one."),
        "when": parts.checks("Its conditions, all of which must hold."),
        "points": parts.number("What it adds when it holds; may be below 0."),
        "label": parts.string("What it is called in the answer."),
    }
    band: Fields = {
        "name": parts.string("Its name; no two bands share one."),
        "min": parts.number("The least score of the band."),
    }
    rules = parts.record(rule, ("id", "when", "points"))
    bands = parts.record(band, ("name", "min"))
    return {
        "rules": parts.entries(rules, RULES_LIMIT, "Rules; their order never changes the score."),
        "bands": parts.entries(
            bands, BANDS_LIMIT, "Bands: the highest min that the score meets counts.", least=0
        ),
        "min": parts.number("The least score."),
        "max": parts.number("The greatest score; not below min."),
        "version": parts.string(_VERSION),
    }


def _lead_assign() -> Fields:
    owner: Fields = {
        "id": parts.string("Its id; no two owners share one."),
        **parts.conditions("Its conditions. A catch-all is spelled fallback."),
        "load": parts.number("How much the owner has; required under least_loaded.", 0),
        "capacity": parts.number("How much the owner can have; needs a load.", 0),
        "available": parts.truth("Whether the owner is there; true when left out."),
    }
    owners = parts.record(owner, ("id", "when"))
    return {
        "owners": parts.entries(owners, OWNERS_LIMIT, "The roster, in order."),
        "strategy": parts.choice(
            {
                "first": "the first eligible owner",
                "specific": "the one that requires most conditions; a tie is a conflict",
                "least_loaded": "the lowest load, of equal ones the earlier",
                "round_robin": "the first eligible one at or after the cursor",
            }
        ),
        "fallback": parts.record(
            {"id": parts.string("Its id.")}, ("id",), "Who answers when nobody is eligible."
        ),
        "version": parts.string(_VERSION),
    }


def _deadline_check() -> Fields:
    return {
        "deadline": parts.instant("The end. Required unless budgetMs is given, and wins over it."),
        "budgetMs": parts.whole("Milliseconds from the start to the end.", 0),
        "startedAt": parts.instant("The start; now when left out."),
        "now": parts.instant(_NOW),
        "stepCostMs": parts.whole("Milliseconds that one more step takes.", 1),
        "tightAt": parts.number(
            "The fraction left at which time is tight; 0.5 when left out.", 0, 1
        ),
        "criticalAt": parts.number(
            "The fraction left at which it is critical; 0.2 when left out, and not above tightAt.",
            0,
            1,
        ),
    }


def _sequence_run() -> Fields:
    step: Fields = {
        "id": parts.string("Its id; no two steps share one."),
        **parts.conditions("Its conditions; left out where nothing is asked."),
        "needs": _step_ids("Ids of the steps that must be done before."),
        "after": parts.instant("The instant before which it waits."),
        "params": {"description": "What it is run with: any JSON value, handed back as is."},
    }
    steps = parts.record(step, ("id",))
    return {
        "steps": parts.entries(steps, STEPS_LIMIT, "Steps in order; needs may point either way."),
        "version": parts.string(_VERSION),
    }


def _step_ids(description: str) -> parts.Schema:
    return parts.entries({"type": "string"}, STEPS_LIMIT, description, least=0)


_FIELDS: dict[str, Callable[[], Fields]] = {
    "Assert": _assert,
    "Branch": _branch,
    "ConsensusVote": _consensus_vote,
    "DeadlineCheck": _deadline_check,
    "DecisionTable": _decision_table,
    "ErrorClassify": errors.rules_and_packs,
    "LeadAssign": _lead_assign,
    "RuleScore": _rule_score,
    "SequenceRun": _sequence_run,
    "StallDetect": _stall_detect,
}

_REQUIRED: dict[str, tuple[str, ...]] = {
    "Assert": ("checks",),
    "Branch": ("arms",),
    "ConsensusVote": ("votes",),
    "DeadlineCheck": (),
    "DecisionTable": ("rows", "policy"),
    "ErrorClassify": (),
    "LeadAssign": ("owners", "strategy"),
    "RuleScore": ("rules",),
    "SequenceRun": ("steps",),
    "StallDetect": ("history",),
}


def _branch_options() -> Fields:
    about = "Whether the answer says how each arm fared, up to the winner."
    return {"verbose": parts.truth(about)}


def _rule_score_options() -> Fields:
    return {"includeMissed": parts.truth("Whether the answer lists the rules that do not hold.")}


def _lead_assign_options() -> Fields:
    about = "Under round_robin: the cursor of the last answer, 0 at first."
    told = parts.truth("Whether the answer says how each owner fared.")
    return {"cursor": parts.whole(about, 0), "verbose": told}


def _sequence_run_options() -> Fields:
    return {
        "completed": _step_ids("Ids of the steps that are done."),
        "failed": _step_ids("Ids of the steps that failed."),
        "now": parts.instant(_NOW),
    }


_OPTIONS: dict[str, Callable[[], Fields]] = {
    "Branch": _branch_options,
    "ErrorClassify": errors.signals,
    "LeadAssign": _lead_assign_options,
    "RuleScore": _rule_score_options,
    "SequenceRun": _sequence_run_options,
}
"""What a call takes beside the spec and the value, if it has one."""
