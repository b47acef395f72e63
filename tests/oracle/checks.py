"""Checks: one condition on one place of a value, and the answer for a list of them."""

from collections.abc import Mapping
from typing import NamedTuple

from .operations import OPERATIONS, Broken, Undecided, short
from .paths import PathError, opaque_place, resolve
from .previews import preview
from .values import MAX_DEPTH, is_empty, is_too_deep, joined

MAX_CHECKS = 64
WITHOUT_OPERAND = ("exists", "notExists", "isEmpty", "isNotEmpty")
OPS = (*WITHOUT_OPERAND, *OPERATIONS)

Check = Mapping[str, object]


class Answer(NamedTuple):
    """What one check came to: ``ok``, ``failed`` or ``undetermined``, and why."""

    status: str
    reason: str = ""


OK = Answer("ok")


def verify(check: object) -> Check:
    """Refuse what is no check at all: no object, an unknown op, a path that is no text."""
    if not isinstance(check, Mapping):
        raise ValueError(f"a check is an object, not {short(check)}")
    if check.get("op") not in OPS:
        raise ValueError(f"unknown op {check.get('op')!r}")
    for field in ("path", "message"):
        if check.get(field) is not None and not isinstance(check[field], str):
            raise ValueError(f"the {field} of a check is text, not {short(check[field])}")
    return check


def verify_list(checks: object) -> list[Check]:
    """Refuse a list of checks that is no list, is too long, or holds what is no check."""
    if not isinstance(checks, list | tuple):
        raise ValueError(f"checks are a list, not {short(checks)}")
    if len(checks) > MAX_CHECKS:
        raise ValueError(f"{len(checks)} checks are over the limit of {MAX_CHECKS}")
    return [verify(check) for check in checks]


def path_of(check: Check) -> str:
    """Give the path of a check; without one it is the value itself."""
    return joined(str(check.get("path") or ""))


def judge(check: Check, value: object) -> Answer:
    """Evaluate one check, and say why it does not hold.

    A malformed path fails. A place that is not there fails every op but ``notExists``, and a
    place that holds no value at all fails every op. Then the operand has to be there, and an
    operand nested too deep leaves the check undetermined.
    """
    op, path = str(check["op"]), path_of(check)
    where = f"{path or '$'} {op}"
    try:
        found, actual, missing = resolve(value, path)
        place = opaque_place(value, path)
    except PathError as error:
        return Answer("failed", f"{where}: {error}")
    if place is not None:
        return Answer("failed", f"{where}: what stands at {place or '$'} is no value")
    if op == "notExists":
        return Answer("failed", f"{where}: it exists") if found else OK
    if not found:
        return Answer("failed", f"{where}: there is no {missing}")
    if op == "exists":
        return OK
    if op in ("isEmpty", "isNotEmpty"):
        holds = is_empty(actual) == (op == "isEmpty")
        return OK if holds else Answer("failed", f"{where}: it is {short(actual)}")
    if "expected" not in check:
        return Answer("failed", f"{where}: there is no operand")
    expected = check["expected"]
    if is_too_deep(expected):
        return Answer("undetermined", f"{where}: the operand is deeper than {MAX_DEPTH} levels")
    try:
        holds = OPERATIONS[op](actual, expected, check)
    except Broken as problem:
        return Answer("failed", f"{where}: {problem}")
    except Undecided as problem:
        return Answer("undetermined", f"{where}: {problem}")
    return OK if holds else Answer("failed", f"{where} {short(expected)}: it is {short(actual)}")


def evaluate(check: Check, value: object) -> str:
    """Answer ``ok``, ``failed`` or ``undetermined`` for one check."""
    return judge(verify(check), value).status


def combine(statuses: list[str], match: str) -> str:
    """Combine the answers of checks into ``pass``, ``fail`` or ``undetermined``.

    Under ``all`` one failed check decides, under ``any`` one that is ok. When none decides,
    an undetermined one leaves the whole undetermined.
    """
    if match not in ("all", "any"):
        raise ValueError(f"match is all or any, not {match!r}")
    if match == "all" and "failed" in statuses:
        return "fail"
    if match == "any" and "ok" in statuses:
        return "pass"
    if "undetermined" in statuses:
        return "undetermined"
    return "pass" if match == "all" else "fail"


def verdict(checks: object, value: object, match: str = "all") -> str:
    """Answer ``pass``, ``fail`` or ``undetermined`` for a list of checks."""
    return combine([judge(check, value).status for check in verify_list(checks)], match)


def result_of(index: int, check: Check, value: object) -> dict[str, object]:
    """Give the whole result of one check.

    ``actual`` and ``expected`` are previews, null where there is nothing to show. The message
    of a check stands for the reason when the check failed, not when it is undetermined.
    """
    answer = judge(check, value)
    actual: str | None = None
    try:
        found, reached, _ = resolve(value, path_of(check))
        actual = preview(reached) if found else None
    except PathError:
        pass
    reason = answer.reason
    if answer.status == "failed" and check.get("message") is not None:
        reason = str(check["message"])
    result: dict[str, object] = {
        "index": index,
        "path": path_of(check),
        "op": check["op"],
        "ok": answer.status == "ok",
        "actual": actual,
        "expected": preview(check["expected"]) if "expected" in check else None,
        "reason": reason,
    }
    if answer.status == "undetermined":
        result["undetermined"] = True
    return result


def report(checks: object, value: object) -> dict[str, object]:
    """Give every result of a list of checks; an undetermined one counts as failed, too."""
    results = [result_of(i, check, value) for i, check in enumerate(verify_list(checks))]
    failures = [result for result in results if not result["ok"]]
    return {
        "ok": not failures,
        "passed": len(results) - len(failures),
        "failed": len(failures),
        "undetermined": len([result for result in results if "undetermined" in result]),
        "results": results,
        "failures": failures,
    }
