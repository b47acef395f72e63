"""Supervised runs: a written procedure, and what an agent that follows it may do."""

from __future__ import annotations

from interlock.errors import PolicyMismatch, RunbookInvalid, StaleState, StateVersion
from interlock.supervise.capability import capability_class_of
from interlock.supervise.contract import (
    AdapterCoverage,
    Deployment,
    Procedure,
    Refusal,
    at_least,
    implied_minimum,
    may_run_under,
    may_start,
    profile_of,
    refusals_to_start,
)
from interlock.supervise.derive import derive_policy, lint, runbook_schema
from interlock.supervise.document import Skeleton, document_profile, from_markdown
from interlock.supervise.inputs import InputCheck, check_inputs
from interlock.supervise.parts import (
    CalledRunbook,
    Ceilings,
    Edge,
    Escalation,
    Exit,
    Gate,
    OrderRule,
    PolicyInput,
    PolicyTool,
    Progress,
    Scope,
    Selector,
    Verify,
    Wait,
)
from interlock.supervise.policy import Policy, PolicyStep
from interlock.supervise.risk import effect_risk, is_dangerous

__all__ = [
    "AdapterCoverage",
    "CalledRunbook",
    "Ceilings",
    "Deployment",
    "Edge",
    "Escalation",
    "Exit",
    "Gate",
    "InputCheck",
    "OrderRule",
    "Policy",
    "PolicyInput",
    "PolicyMismatch",
    "PolicyStep",
    "PolicyTool",
    "Procedure",
    "Progress",
    "Refusal",
    "RunbookInvalid",
    "Scope",
    "Selector",
    "Skeleton",
    "StaleState",
    "StateVersion",
    "Verify",
    "Wait",
    "at_least",
    "capability_class_of",
    "check_inputs",
    "derive_policy",
    "document_profile",
    "effect_risk",
    "from_markdown",
    "implied_minimum",
    "is_dangerous",
    "lint",
    "may_run_under",
    "may_start",
    "profile_of",
    "refusals_to_start",
    "runbook_schema",
]
