"""Supervised runs: a written procedure, and what an agent that follows it may do."""

from __future__ import annotations

from interlock.errors import PolicyMismatch, RunbookInvalid, StaleState, StateVersion
from interlock.supervise._draft import Transition
from interlock.supervise.advice import Advice
from interlock.supervise.aggregate import Aggregate, StepRate, aggregate
from interlock.supervise.asked import Approval, Question, Vote
from interlock.supervise.bus import SupervisedBus
from interlock.supervise.called import CallList
from interlock.supervise.calls import Decision, ProposedCall, propose
from interlock.supervise.capability import capability_class_of
from interlock.supervise.card import StepCard, card
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
from interlock.supervise.deviation import (
    DeviationInput,
    count_by_class,
    count_by_step,
    record_deviation,
)
from interlock.supervise.document import Skeleton, document_profile, from_markdown
from interlock.supervise.explore import Exploration, explore
from interlock.supervise.failed import ErrorRules
from interlock.supervise.gate import Gate
from interlock.supervise.inputs import InputCheck, check_inputs
from interlock.supervise.log import LogEntry, RunCheck, recompute, verify_run
from interlock.supervise.moves import advance, fail, finish, out_of_time
from interlock.supervise.observed import observe
from interlock.supervise.parts import (
    CalledRunbook,
    Ceilings,
    Edge,
    Escalation,
    Exit,
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
from interlock.supervise.questions import Answer, action_digest, answer
from interlock.supervise.report import Report, report
from interlock.supervise.risk import effect_risk, is_dangerous
from interlock.supervise.shown import decide, verify
from interlock.supervise.simulate import Difference, Simulation, simulate
from interlock.supervise.start import StartResult, handover, start_run, stop
from interlock.supervise.state import DeviationRecord, Event, RunState
from interlock.supervise.store import Kept, MemoryStore, RunStore
from interlock.supervise.supervisor import Supervisor

__all__ = [
    "AdapterCoverage",
    "Advice",
    "Aggregate",
    "Answer",
    "Approval",
    "CallList",
    "CalledRunbook",
    "Ceilings",
    "Decision",
    "Deployment",
    "DeviationInput",
    "DeviationRecord",
    "Difference",
    "Edge",
    "ErrorRules",
    "Escalation",
    "Event",
    "Exit",
    "Exploration",
    "Gate",
    "InputCheck",
    "Kept",
    "LogEntry",
    "MemoryStore",
    "OrderRule",
    "Policy",
    "PolicyInput",
    "PolicyMismatch",
    "PolicyStep",
    "PolicyTool",
    "Procedure",
    "Progress",
    "ProposedCall",
    "Question",
    "Refusal",
    "Report",
    "RunCheck",
    "RunState",
    "RunStore",
    "RunbookInvalid",
    "Scope",
    "Selector",
    "Simulation",
    "Skeleton",
    "StaleState",
    "StartResult",
    "StateVersion",
    "StepCard",
    "StepRate",
    "SupervisedBus",
    "Supervisor",
    "Transition",
    "Verify",
    "Vote",
    "Wait",
    "action_digest",
    "advance",
    "aggregate",
    "answer",
    "at_least",
    "capability_class_of",
    "card",
    "check_inputs",
    "count_by_class",
    "count_by_step",
    "decide",
    "derive_policy",
    "document_profile",
    "effect_risk",
    "explore",
    "fail",
    "finish",
    "from_markdown",
    "handover",
    "implied_minimum",
    "is_dangerous",
    "lint",
    "may_run_under",
    "may_start",
    "observe",
    "out_of_time",
    "profile_of",
    "propose",
    "recompute",
    "record_deviation",
    "refusals_to_start",
    "report",
    "runbook_schema",
    "simulate",
    "start_run",
    "stop",
    "verify",
    "verify_run",
]
