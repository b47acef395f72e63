"""Gate: who must agree to a call or to entering a step, and which calls they are asked about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from interlock.errors import ConfigError
from interlock.supervise._gate_rules import gate_problems

if TYPE_CHECKING:
    from interlock.tools.decision_table import DecisionTable
    from interlock.tools.lead_assign import LeadAssign
    from interlock.tools.rule_score import RuleScore

__all__ = ["Gate"]

_SPARSE = {"sparse": True}
"""A field that is no part of a digest where it is None: older policies keep theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Who must agree, and when.

    Attributes:
        on: `call`: before each call. `enter`: before the step is entered.
        approvers: Who may agree; empty: anybody who is identified.
        roster: Who of them is asked, as LeadAssign says; None: all of them.
        quorum: How many must agree.
        expires_s: Seconds from asking after which it is refused; None: it stays open.
        question: What they are asked; empty: it is made from the call.
        separate_from: `requester`: nobody may agree to their own.
        is_implied: Whether the document wrote none, and the risk of the step asked for it.
        rules: Which calls are asked about; None: all. Its outputs are allow, ask and block.
        score: How risky a call is; its bands are allow, ask and block. The stricter holds.

    Raises:
        ConfigError: When rules or score say anything else, or it is a gate on entering.
    """

    on: Literal["call", "enter"] = "call"
    approvers: tuple[str, ...] = ()
    roster: LeadAssign | None = None
    quorum: int = 1
    expires_s: float | None = None
    question: str = ""
    separate_from: Literal["requester"] | None = None
    is_implied: bool = False
    rules: DecisionTable | None = field(default=None, metadata=_SPARSE)
    score: RuleScore | None = field(default=None, metadata=_SPARSE)

    def __post_init__(self) -> None:
        """Refuse rules that say what no gate can read."""
        problems = tuple(gate_problems(self.on, self.rules, self.score))
        if problems:
            raise ConfigError(problems)
