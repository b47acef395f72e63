"""What kind of error, and what next: caller rules, packs, then tables in a fixed order."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import patterns
from .error_packs import Evidence, evidence, find_rule
from .error_waits import Wait, named_wait, reset_wait, shown

TABLES = Path(__file__).parents[2] / "src" / "classify" / "tables.json"
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


def classify(
    signals: Json, rules: Sequence[Json] = (), packs: list[str] | None = None
) -> dict[str, object]:
    """Classify an error given as data; `packs` chooses among them, an empty list is none."""
    known = evidence(signals)
    given_rules = [*rules, *(signals.get("rules") or ())]
    for rule in given_rules:
        check_rule(rule)
    found = (
        by_rules(signals, given_rules, known)
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
    wait_ms, action = total_wait(found, server), found.action
    if action == "retry" and found.error_class in PASSING and server.known:
        action = "retry_after"
    if action == "retry_after" and wait_ms is None and not server.known:
        action = "backoff"
    attempt, most, longest = (signals.get(x) for x in ("attempt", "maxAttempts", "maxWaitMs"))
    exhausted = attempt is not None and most is not None and attempt >= most
    too_long = longest is not None and wait_ms is not None and wait_ms > longest
    if action in RETRIES and (exhausted or too_long):
        action = "escalate"
    said = {"message": known.body_texts[0][:MAX_SHOWN]} if known.body_texts else {}
    return {
        "class": found.error_class,
        "action": action,
        "retryable": action in RETRIES,
        "waitMs": wait_ms,
        "retryAt": shown(server),
        "matched": found.matched,
        "source": found.source,
        "exhausted": exhausted,
        **said,
    }


def total_wait(found: Found, server: Wait) -> int | None:
    """A caller's wait outranks the server's; a pack's stands in where there is none."""
    if found.wait_ms is None or (found.source == "pack" and server.known):
        return server.ms
    return found.wait_ms


def check_rule(rule: Json) -> None:
    """Refuse what would hold for everything, and what is no pattern."""
    if all(rule.get(name) is None for name in ("contains", "matches", "status", "exitCode")):
        raise ValueError(f"the rule {rule['id']} has no condition")
    if rule.get("matches") is not None:
        patterns.check_syntax(rule["matches"], "i")


def by_rules(signals: Json, rules: Sequence[Json], known: Evidence) -> Found | None:
    """Ask the rules of the caller; one that cannot be decided ends the search."""
    for rule in rules:
        try:
            holds = rule_holds(rule, signals, known)
        except patterns.PatternUnsupported:
            return Found("unknown", "escalate", "undetermined", rule["id"])
        if holds:
            return Found(rule["class"], rule["action"], "custom", rule["id"], rule.get("waitMs"))
    return None


def rule_holds(rule: Json, signals: Json, known: Evidence) -> bool:
    """Numbers before texts, texts before patterns; message and code are never joined."""
    status = known.status if known.status is not None else signals.get("status")
    texts = [text for text in (signals.get("message"), signals.get("code")) if text is not None]
    part, pattern = rule.get("contains"), rule.get("matches")
    return (
        rule.get("status") in (None, status)
        and rule.get("exitCode") in (None, signals.get("exitCode"))
        and (part is None or any(part.lower() in text.lower() for text in texts))
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
        yield Found(*data["status"][str(status)], "status", f"status:{status}")
    elif status is not None and status >= 200:
        hundred = min(5, status // 100)
        yield Found(*HUNDREDS[hundred], "status", f"status:{hundred}xx")
    name = (signals.get("signal") or "").upper()
    if name in data["signal"]:
        yield Found(*data["signal"][name], "signal", f"signal:{name}")
    if str(exit_code) in data["exit"]:
        yield Found(*data["exit"][str(exit_code)], "exit", f"exit:{exit_code}")
    elif str(exit_code) in data["exit_signals"]:
        name = data["exit_signals"][str(exit_code)]
        yield Found(*data["signal"][name], "signal", f"exit:{exit_code} ({name})")
    for code in known.codes:
        entry = data["code"].get(code) or data["code"].get(code.upper())
        if entry is not None:
            yield Found(*entry, "code", f"code:{code}")
    for text in (signals.get("message") or "", *known.body_texts):
        head = text[:MAX_CHARACTERS].lower()
        for phrase, *outcome in data["message"]:
            if phrase in head:
                yield Found(*outcome, "message", f"message:{phrase}")
