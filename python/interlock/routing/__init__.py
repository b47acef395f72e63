"""Routing by file: a switch on data. What was decided is written down, and read here.

Nothing here calls a model. The resolver is pure; a `RunFolder` finds the bytes, writes down what
was taken, and counts.
"""

from __future__ import annotations

from interlock.errors import RouteError, RouteFileError, RunBusy
from interlock.routing._graph import to_mermaid
from interlock.routing._plan_run import PlanResult, StepInput
from interlock.routing.check import Problem, Report, check_plan, check_plans
from interlock.routing.choice import Choice, read_choice
from interlock.routing.decide import by_file, write_choice
from interlock.routing.evidence import Evidence
from interlock.routing.folder import RunFolder
from interlock.routing.resolve import match, resolve
from interlock.routing.run import run_full_workflow, run_step, run_workflow
from interlock.routing.shapes import Plan, PlanStep, Route, Router, Selection, Source
from interlock.routing.sources import sources_for

__all__ = [
    "Choice",
    "Evidence",
    "Plan",
    "PlanResult",
    "PlanStep",
    "Problem",
    "Report",
    "Route",
    "RouteError",
    "RouteFileError",
    "Router",
    "RunBusy",
    "RunFolder",
    "Selection",
    "Source",
    "StepInput",
    "by_file",
    "check_plan",
    "check_plans",
    "match",
    "read_choice",
    "resolve",
    "run_full_workflow",
    "run_step",
    "run_workflow",
    "sources_for",
    "to_mermaid",
    "write_choice",
]
