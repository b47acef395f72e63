"""Two decisions over a value: which arm (``branch``) and which rows (``decision_table``).

Whatever is wrong with the arms or rows themselves is refused with ``ValueError``, naming the
culprits, before anything is evaluated.
"""

from collections.abc import Mapping
from typing import NamedTuple

from .canonical import digest
from .checks import combine, report, verify_list
from .operations import short
from .values import exact, is_finite_number

MAX_ARMS = 64
MAX_ROWS = 512
POLICIES = ("first", "unique", "priority", "collect")
HASH_LENGTH = 16

Json = Mapping[str, object]


class Decided(NamedTuple):
    """What the conditions of one arm or row came to."""

    verdict: str
    passed: int
    failed: int
    reason: str
    undetermined_reason: str


def decide(owner: Json, value: object) -> Decided:
    """Evaluate the conditions of an arm or row."""
    whole = report(owner["when"], value)
    results, failures = whole["results"], whole["failures"]
    assert isinstance(results, list)
    assert isinstance(failures, list)
    statuses = []
    undetermined_reason = ""
    for result in results:
        if "undetermined" in result:
            statuses.append("undetermined")
            undetermined_reason = undetermined_reason or result["reason"]
        else:
            statuses.append("ok" if result["ok"] else "failed")
    verdict = combine(statuses, str(owner.get("match", "all")))
    reason = "" if verdict == "pass" else failures[0]["reason"]
    passed = statuses.count("ok")
    return Decided(verdict, passed, len(statuses) - passed, reason, undetermined_reason)


def verify_owners(given: Json, field: str, label: str, limit: int) -> list[Json]:
    """Read the arms or rows.

    Refused: none or too many, one without a name, without conditions or with a match mode
    other than all and any, and two of one name.
    """
    owners = given.get(field)
    if not isinstance(owners, list | tuple) or not owners:
        raise ValueError(f"{field} has to be a list that is not empty")
    if len(owners) > limit:
        raise ValueError(f"{len(owners)} {field} are over the limit of {limit}")
    names: list[str] = []
    for owner in owners:
        if not isinstance(owner, Mapping) or not isinstance(owner.get(label), str):
            raise ValueError(f"one of the {field} has no {label}: {short(owner)}")
        name = owner[label]
        if name in names:
            raise ValueError(f"two {field} have the {label} {name!r}")
        names.append(name)
        try:
            if not verify_list(owner.get("when")):
                raise ValueError("the condition list is empty and would always hold")
        except ValueError as error:
            raise ValueError(f"{field}, {label} {name!r}: {error}") from error
        if owner.get("match", "all") not in ("all", "any"):
            raise ValueError(f"{field}, {label} {name!r}: match is all or any")
    return list(owners)


def verify_value(given: Json) -> object:
    """Read the value to decide on; leaving it out is refused."""
    if "value" not in given:
        raise ValueError("value is missing")
    return given["value"]


def branch(given: Json) -> dict[str, object]:
    """Take the first arm whose conditions hold; later arms are not evaluated.

    An arm that is undetermined ends the search without an answer, and ``otherwise`` is not
    taken either. ``otherwise`` answers when every arm failed.
    """
    arms = verify_owners(given, "arms", "name", MAX_ARMS)
    otherwise = given.get("otherwise")
    if otherwise is not None and (
        not isinstance(otherwise, Mapping) or not isinstance(otherwise.get("name"), str)
    ):
        raise ValueError("otherwise has to be an object with a name")
    value = verify_value(given)
    answer: dict[str, object] = {
        "matched": False,
        "name": None,
        "index": None,
        "fallback": False,
    }
    evaluated: list[dict[str, object]] = []
    if given.get("verbose"):
        answer["evaluated"] = evaluated
    for index, arm in enumerate(arms):
        decided = decide(arm, value)
        evaluated.append(
            {
                "name": arm["name"],
                "index": index,
                "ok": decided.verdict == "pass",
                "passed": decided.passed,
                "failed": decided.failed,
                "reason": decided.reason,
            }
        )
        if decided.verdict == "pass":
            answer |= {"matched": True, "name": arm["name"], "index": index}
            return answer | _result(arm)
        if decided.verdict == "undetermined":
            answer["undetermined"] = f"{arm['name']}: {decided.undetermined_reason}"
            return answer
    if isinstance(otherwise, Mapping):
        answer |= {"matched": True, "name": otherwise["name"], "fallback": True}
        return answer | _result(otherwise)
    return answer


def _result(arm: Json) -> dict[str, object]:
    """Give the result field of an arm, which is left out when the arm has none."""
    return {"result": arm["result"]} if "result" in arm else {}


def verify_rows(given: Json) -> list[Json]:
    """Read the rows of a table: each has outputs, and a priority is a finite number."""
    rows = verify_owners(given, "rows", "id", MAX_ROWS)
    for row in rows:
        if "outputs" not in row:
            raise ValueError(f"row {row['id']!r} has no outputs")
        if not is_finite_number(row.get("priority", 0)):
            raise ValueError(f"the priority of row {row['id']!r} is no finite number")
    return rows


def name_rows(rows: list[Json]) -> str:
    """List the ids of rows."""
    return ", ".join(str(row["id"]) for row in rows)


def decision_table(given: Json) -> dict[str, object]:
    """Ask the rows of a table, and settle between those that hold by the policy."""
    policy = given.get("policy")
    if policy not in POLICIES:
        raise ValueError(f"policy has to be one of {', '.join(POLICIES)}, not {short(policy)}")
    rows = verify_rows(given)
    value = verify_value(given)
    answer: dict[str, object] = {
        "ok": True,
        "matched": False,
        "policy": policy,
        "version": given.get("version"),
        "matchedIds": [],
        "outputs": None,
        "fallback": False,
        "conflict": None,
        "tableHash": digest({"policy": policy, "rows": given["rows"]}, HASH_LENGTH),
    }
    hits, undecided = _ask(rows, value, stop_early=policy == "first")
    answer["matchedIds"] = [row["id"] for row in hits]
    winners = hits
    if policy == "priority" and hits:
        top = max(exact(row.get("priority", 0)) for row in hits)
        winners = [row for row in hits if exact(row.get("priority", 0)) == top]
        undecided = {
            name: reason
            for name, reason in undecided.items()
            if exact(next(row for row in rows if row["id"] == name).get("priority", 0)) >= top
        }
    if undecided:
        named = "; ".join(f"{name}: {reason}" for name, reason in undecided.items())
        return answer | {"ok": False, "undetermined": named}
    if not hits:
        if given.get("otherwise") is not None:
            answer |= {"matched": True, "fallback": True, "outputs": given["otherwise"]}
        return answer
    if policy in ("unique", "priority") and len(winners) > 1:
        return answer | {
            "ok": False,
            "conflict": f"more than one row: {name_rows(winners)}",
        }
    answer["matched"] = True
    if policy == "collect":
        return answer | {"outputs": [row["outputs"] for row in hits]}
    return answer | {"outputs": winners[0]["outputs"]}


def _ask(rows: list[Json], value: object, stop_early: bool) -> tuple[list[Json], dict[object, str]]:
    """Give the rows that hold, and the undecided ones with their reasons.

    Under the policy that takes the first row, the first that does not simply fail is the last
    one to be asked.
    """
    hits: list[Json] = []
    undecided: dict[object, str] = {}
    for row in rows:
        decided = decide(row, value)
        if decided.verdict == "pass":
            hits.append(row)
        elif decided.verdict == "undetermined":
            undecided[row["id"]] = decided.undetermined_reason
        if stop_early and decided.verdict != "fail":
            break
    return hits, undecided
