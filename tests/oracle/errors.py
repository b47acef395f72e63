"""What kind of error, and what next: caller rules, packs, then tables in a fixed order."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import patterns
from .error_packs import Evidence, evidence, find_rule
from .error_waits import Wait, named_wait, reset_wait, shown
from .text_escapes import halves_shown
from .values import joined

TABLES = Path(__file__).parents[2] / "src" / "classify" / "tables.json"
CONDITIONS = ("contains", "matches", "status", "exitCode")
CLASSES = (
    *("ok", "transient", "timeout", "unavailable", "rate_limited", "quota", "auth", "permission"),
    *("not_found", "bad_request", "conflict", "too_large", "unsupported", "capacity"),
    *("integrity", "cancelled", "redirect", "bug", "unknown"),
)
ACTIONS = (
    *("continue", "retry", "retry_after", "backoff", "reauth", "reduce_input", "escalate"),
    *("skip", "fail"),
)
RETRIES = ("retry", "retry_after", "backoff")
PASSING = ("transient", "timeout", "unavailable", "rate_limited", "capacity")
HUNDREDS = {
    2: ("ok", "continue"),
    3: ("redirect", "fail"),
    4: ("bad_request", "fail"),
    5: ("transient", "retry"),
}
MAX_CHARACTERS, MAX_SHOWN = 64_000, 2_000

Json = Mapping[str, Any]


class Found(NamedTuple):
    """An entry that decided, before waits and attempts are looked at."""

    error_class: str
    action: str
    source: str
    matched: str
    wait_ms: int | None = None


def of_table(outcome: Sequence[str], source: str, matched: str) -> Found:
    """Give an entry of a table."""
    error_class, action = outcome
    return Found(error_class, action, source, matched)


def classify(
    signals: Json, rules: Sequence[Json] = (), packs: list[str] | None = None
) -> dict[str, object]:
    """Classify an error given as data; `packs` chooses among them, an empty list is none."""
    given_rules = [*rules, *(signals.get("rules") or ())]
    check_signals(signals)
    for rule in given_rules:
        check_rule(rule)
    known = evidence(signals)
    found = (
        by_rules(signals, given_rules)
        or by_packs(signals, packs)
        or by_tables(signals, known)
        or Found("unknown", "escalate", "default", "default")
    )
    return finish(found, signals, known)


def finish(found: Found, signals: Json, known: Evidence) -> dict[str, object]:
    """Look at waits and attempts."""
    server = named_wait(signals, known)
    if not server.known and found.error_class == "rate_limited":
        server = reset_wait(signals, known)
    wait, action = total_wait(found, server), found.action
    if action == "retry" and found.error_class in PASSING and server.known:
        action = "retry_after"
    if action == "retry_after" and not wait.known:
        action = "backoff"
    attempt, most, longest = (signals.get(x) for x in ("attempt", "maxAttempts", "maxWaitMs"))
    exhausted = attempt is not None and most is not None and attempt >= most
    too_long = longest is not None and wait.known and (wait.ms is None or wait.ms > longest)
    if action in RETRIES and (exhausted or too_long):
        action = "escalate"
    texts = known.body_texts
    said = {"message": halves_shown(texts[0])[:MAX_SHOWN]} if texts else {}
    return {
        "class": found.error_class,
        "action": action,
        "retryable": action in RETRIES,
        "waitMs": wait.ms,
        "retryAt": shown(wait),
        "matched": found.matched,
        "source": found.source,
        "exhausted": exhausted,
        **said,
    }


def total_wait(found: Found, server: Wait) -> Wait:
    """A caller's wait outranks the server's; a pack's stands in where there is none."""
    if found.wait_ms is None or (found.source == "pack" and server.known):
        return server
    return Wait(found.wait_ms)


def check_signals(signals: Json) -> None:
    """Refuse numbers that are none."""
    for name in ("status", "exitCode", "attempt", "maxAttempts", "maxWaitMs"):
        value = signals.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise ValueError(f"{name} is no whole number")
    for name, least in (("maxAttempts", 1), ("maxWaitMs", 0)):
        if signals.get(name) is not None and signals[name] < least:
            raise ValueError(f"{name} is under {least}")


def check_rule(rule: Json) -> None:
    """Refuse what would hold for everything, and what is no pattern, class, action or wait."""
    name = rule["id"]
    if all(rule.get(condition) is None for condition in CONDITIONS):
        raise ValueError(f"the rule {name} has no condition")
    for field, choices in (("class", CLASSES), ("action", ACTIONS)):
        if rule.get(field) not in choices:
            raise ValueError(f"the {field} of the rule {name} is none")
    if (rule.get("waitMs") or 0) < 0:
        raise ValueError(f"the waitMs of the rule {name} is negative")
    if rule.get("matches") is not None:
        try:
            patterns.check_syntax(rule["matches"], "i")
        except patterns.PatternInvalid as error:
            raise ValueError(f"the pattern of the rule {name} is none") from error


def by_rules(signals: Json, rules: Sequence[Json]) -> Found | None:
    """Ask the rules of the caller; one that cannot be decided ends the search."""
    for rule in rules:
        try:
            holds = rule_holds(rule, signals)
        except patterns.PatternUnsupported:
            return Found("unknown", "escalate", "undetermined", rule["id"])
        if holds:
            return Found(rule["class"], rule["action"], "custom", rule["id"], rule.get("waitMs"))
    return None


def rule_holds(rule: Json, signals: Json) -> bool:
    """Numbers before texts, texts before patterns; message and code are never joined."""
    texts = [
        joined(text) for text in (signals.get("message"), signals.get("code")) if text is not None
    ]
    part, pattern = rule.get("contains"), rule.get("matches")
    return (
        rule.get("status") in (None, signals.get("status"))
        and rule.get("exitCode") in (None, signals.get("exitCode"))
        and (part is None or any(joined(part).lower() in text.lower() for text in texts))
        and (pattern is None or any(patterns.test(pattern, "i", text) for text in texts))
    )


def by_packs(signals: Json, packs: list[str] | None) -> Found | None:
    """Ask the packs."""
    holding = find_rule(signals, packs)
    if holding is None:
        return None
    name, rule = holding
    return Found(rule["class"], rule["action"], "pack", name, rule.get("waitMs"))


@cache
def tables() -> dict[str, Any]:
    """The error tables."""
    read: dict[str, Any] = json.loads(TABLES.read_text("utf-8"))
    return read


def by_tables(signals: Json, known: Evidence) -> Found | None:
    """Ask the tables: status, signal, exit code, code, message."""
    return next(candidates(signals, known), None)


def candidates(signals: Json, known: Evidence) -> Iterator[Found]:
    """Everything that the tables have to say, the strongest first."""
    data, status, exit_code = tables(), known.status, signals.get("exitCode")
    if status is not None and str(status) in data["status"]:
        yield of_table(data["status"][str(status)], "status", f"status:{status}")
    elif status is not None and status >= 200:
        hundred = min(5, status // 100)
        yield of_table(HUNDREDS[hundred], "status", f"status:{hundred}xx")
    name = (signals.get("signal") or "").upper()
    if name in data["signal"]:
        yield of_table(data["signal"][name], "signal", f"signal:{name}")
    if exit_code == 0 and known.contradicted:
        exit_code = None
    if str(exit_code) in data["exit"]:
        yield of_table(data["exit"][str(exit_code)], "exit", f"exit:{exit_code}")
    elif str(exit_code) in data["exit_signals"]:
        name = data["exit_signals"][str(exit_code)]
        yield of_table(data["signal"][name], "signal", f"exit:{exit_code} ({name})")
    for code in known.codes:
        entry = data["code"].get(code) or data["code"].get(code.upper())
        if entry is not None:
            yield of_table(entry, "code", f"code:{code}")
    for text in (signals.get("message") or "", *known.body_texts):
        head = text[:MAX_CHARACTERS].lower()
        for phrase, *outcome in data["message"]:
            if phrase in head:
                yield of_table(outcome, "message", f"message:{phrase}")
