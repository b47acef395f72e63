"""The schema of ErrorClassify: rules and packs of a spec, and the signals that a call takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock import _core
from interlock.tools import _schema_parts as parts
from interlock.tools._limits import HEADERS_LIMIT, PACKS_LIMIT, RULES_LIMIT

if TYPE_CHECKING:
    from interlock.typing import JSON

__all__ = ["ACTIONS", "error_rule", "rules_and_packs", "signals"]

ACTIONS = {
    "continue": "it is no error",
    "retry": "the same again, at once",
    "retry_after": "the same again after waitMs",
    "backoff": "the same again, after waits that grow",
    "reauth": "again with new credentials",
    "reduce_input": "again with less",
    "escalate": "to somebody who decides",
    "skip": "go on without it",
    "fail": "give up",
}
"""What is done next, by the names of the core."""


def error_rule() -> dict[str, JSON]:
    """Describe one rule."""
    rule: dict[str, JSON] = {
        "id": parts.string("Its id; no two rules share one.", 1),
        "contains": parts.string("Text that the message or the code contains, in any case.", 1),
        "matches": parts.string(
            "A pattern that the message or the code matches, in any case: ECMAScript without "
            "backreferences.",
            1,
        ),
        "status": parts.whole("The HTTP status it is."),
        "exitCode": parts.whole("The exit code it is."),
        "class": parts.known(_core.error_names()[0], "What kind of error the rule makes of it."),
        "action": parts.choice({name: ACTIONS[name] for name in _core.error_names()[1]}),
        "waitMs": parts.whole("Milliseconds to wait; outranks what the server says.", 0),
    }
    return parts.record(rule, ("id", "class", "action"))


def rules_and_packs() -> dict[str, JSON]:
    """Describe the fields of a spec."""
    return {
        "rules": parts.entries(
            error_rule(),
            RULES_LIMIT,
            "Rules that are asked first, in order. Each has at least one of contains, matches, "
            "status, exitCode; all that it has must hold.",
            least=0,
        ),
        "packs": {
            **parts.entries(
                parts.known([name for name, _, _ in _core.error_packs()], "A pack's name."),
                PACKS_LIMIT,
                "The packs that may be asked: rules for the errors of one provider or program "
                "each. All when left out, none when empty. They are asked only where at least one "
                "of provider, body, headers, command, errno, stdout is given.",
                least=0,
            ),
            "uniqueItems": True,
        },
    }


def signals() -> dict[str, JSON]:
    """Describe what a call takes beside the spec: what is known of the error."""
    header = parts.either(("string", "number", "strings"), "The header's value, or its values.")
    return {
        "status": parts.whole("The HTTP status, such as 429; below 200 it says nothing."),
        "exitCode": parts.whole("The process's exit code; 1 says nothing, 128 + n is a signal."),
        "signal": parts.string("The signal that ended the process, such as SIGKILL."),
        "code": parts.string("An error code, such as ECONNRESET or insufficient_quota."),
        "message": parts.string(
            "What was said, as it was said: not a summary. The first 64,000 characters are read."
        ),
        "retryAfter": parts.either(
            ("string", "number"), "The Retry-After header: seconds, or a date as it was written."
        ),
        "attempt": parts.whole("Which attempt this was; the last one allowed is not repeated."),
        "maxAttempts": parts.whole("How many attempts are allowed; no end when left out.", 1),
        "now": parts.instant(
            "The present instant, from which a date in retryAfter is counted. No clock is read: "
            "without it a date gives retryAt and no waitMs."
        ),
        "maxWaitMs": parts.whole("The longest wait to take; a longer one is escalated.", 0),
        "provider": parts.string("Who answered, such as openai or aws: chooses a pack."),
        "body": {
            "description": "The body of the answer: its JSON (object or array), or its text. An "
            "error in it outranks a status of 2xx."
        },
        "headers": {
            "type": "object",
            "additionalProperties": header,
            "maxProperties": HEADERS_LIMIT,
            "description": "The headers of the answer, by name in any case.",
        },
        "command": parts.either(
            ("string", "strings"), "The program that ran, or its command line: chooses a pack."
        ),
        "errno": parts.either(
            ("string", "integer"),
            "The name of an error number, such as ENOSPC, or the number as Linux has it.",
        ),
        "stdout": parts.string("What the program printed; what it said of the error is message."),
    }
