"""The kinds of steps: which fields each reads, and by which it is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlock.supervise.parts import Via

__all__ = ["EXITS", "READS"]

_ALWAYS = ("id", "title", "kind", "risk", "do")
_CALLING = ("tools", "args", "gate", "reason", "verify", "rollback", "progress")

READS: dict[str, tuple[str, ...]] = {
    "action": (*_ALWAYS, *_CALLING, "next", "on_failure"),
    "check": (*_ALWAYS, *_CALLING, "next", "on_failure"),
    "wait": (*_ALWAYS, *_CALLING, "next", "on_timeout", "wait"),
    "manual": (*_ALWAYS, "gate", "reason", "verify", "rollback", "next", "on_failure"),
    "approval": (*_ALWAYS, "gate", "next", "on_failure"),
    "decision": (*_ALWAYS, "cases", "otherwise"),
    "call": (*_ALWAYS, "calls", "otherwise"),
    "end": (*_ALWAYS, "outcome"),
}
"""What a step of each kind may say."""

EXITS: dict[str, Via] = {
    "next": "next",
    "on_failure": "failure",
    "on_timeout": "timeout",
    "otherwise": "otherwise",
    "rollback": "rollback",
}
"""The fields that name one target, and how an edge of each is called."""
