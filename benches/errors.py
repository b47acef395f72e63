"""Error records, and the classification of them in plain Python over the same tables."""

from __future__ import annotations

import json
import random  # noqa: TID251 (data by a seed)
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

Record: TypeAlias = "dict[str, Any]"
Answer: TypeAlias = "tuple[str, str, bool, int | None, str, str]"

TABLES = Path(__file__).parents[1] / "src" / "classify" / "tables.json"
# fmt: off
WORDS = (
    "while", "calling", "upstream", "the", "worker", "gave", "up", "on", "item", "after",
    "reading", "part", "of", "response", "body", "from", "cache", "node", "in", "zone", "with",
    "id", "and", "trace", "request", "handler", "task", "queue", "shard", "replica", "job",
)
# fmt: on
PASSING = {"transient", "timeout", "unavailable", "rate_limited", "capacity"}
RETRIES = {"retry", "retry_after", "backoff"}


def records(count: int, seed: int = 7) -> list[Record]:
    """Error records with a message of 40 to 400 characters; a third is decided by it."""
    chance = random.Random(seed)
    tables: dict[str, Any] = json.loads(TABLES.read_text("utf-8"))
    phrases = [phrase for phrase, *_ in tables["message"]]
    codes = list(tables["code"])

    def message(phrase: str | None) -> str:
        words: list[str] = []
        length = chance.randint(40, 400)
        while sum(map(len, words)) + len(words) < length:
            words.append(chance.choice(WORDS))
        if phrase is not None:
            words[chance.randrange(len(words))] = phrase.title()
        return " ".join(words)[:400]

    def one() -> Record:
        kind = chance.random()
        if kind < 0.3:
            status = chance.choice((200, 400, 401, 403, 404, 409, 429, 500, 502, 503, 504, 418))
            wait = {"retryAfter": "30"} if status in (429, 503) and chance.random() < 0.5 else {}
            return {"status": status, **wait, "message": message(None)}
        if kind < 0.45:
            return {"exitCode": chance.choice((0, 2, 124, 127, 137, 143)), "message": message(None)}
        if kind < 0.66:
            return {"exitCode": 1, "code": chance.choice(codes), "message": message(None)}
        return {"exitCode": 1, "message": message(chance.choice((*phrases, None)))}

    return [one() for _ in range(count)]


def by_hand() -> Callable[[Record], Answer]:  # noqa: C901 (as one writes it for speed)
    """Build the classifier that a good engineer writes: dicts, early exit, one pass of `in`."""
    tables: dict[str, Any] = json.loads(TABLES.read_text("utf-8"))
    statuses = {int(status): tuple(found) for status, found in tables["status"].items()}
    exits = {int(code): tuple(found) for code, found in tables["exit"].items()}
    signals = {name: tuple(found) for name, found in tables["signal"].items()}
    exit_signals = {int(code): name for code, name in tables["exit_signals"].items()}
    codes = {code: tuple(found) for code, found in tables["code"].items()}
    phrases = [(phrase, (kind, action)) for phrase, kind, action in tables["message"]]
    hundreds = {2: ("ok", "continue"), 3: ("redirect", "fail"), 4: ("bad_request", "fail")}

    def found(  # noqa: C901, PLR0911 (as one writes it for speed)
        record: Record,
    ) -> tuple[tuple[str, str], str, str]:
        get = record.get
        if (status := get("status")) is not None:
            if status in statuses:
                return statuses[status], f"status:{status}", "status"
            if status >= 200:
                hundred = min(status // 100, 5)
                outcome = hundreds.get(hundred, ("transient", "retry"))
                return outcome, f"status:{hundred}xx", "status"
        if (name := get("signal")) is not None and (name := name.upper()) in signals:
            return signals[name], f"signal:{name}", "signal"
        if (exit_code := get("exitCode")) is not None:
            if exit_code in exits:
                return exits[exit_code], f"exit:{exit_code}", "exit"
            if exit_code in exit_signals:
                name = exit_signals[exit_code]
                return signals[name], f"exit:{exit_code} ({name})", "signal"
        if (code := get("code")) is not None:
            coded = codes.get(code) or codes.get(code.upper())
            if coded is not None:
                return coded, f"code:{code}", "code"
        if (message := get("message")) is not None:
            head = message[:64_000].lower()
            for phrase, outcome in phrases:
                if phrase in head:
                    return outcome, f"message:{phrase}", "message"
        return ("unknown", "escalate"), "default", "default"

    def classify(record: Record) -> Answer:
        (kind, action), matched, source = found(record)
        raw = record.get("retryAfter")
        wait = int(raw) * 1_000 if raw is not None and raw.isdecimal() else None
        if action == "retry" and kind in PASSING and wait is not None:
            action = "retry_after"
        if action == "retry_after" and wait is None:
            action = "backoff"
        attempt, most = record.get("attempt"), record.get("maxAttempts")
        if attempt is not None and most is not None and attempt >= most and action in RETRIES:
            action = "escalate"
        return kind, action, action in RETRIES, wait, matched, source

    return classify


def answers(records: list[Record]) -> list[Answer]:
    """Classify records in plain Python."""
    classify = by_hand()
    return [classify(record) for record in records]
