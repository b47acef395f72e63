"""The decision tools: a function, a compiled class and a model-facing form each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlock.tools._model_tools import call, definitions
    from interlock.tools.branch import Branch, BranchResult, branch
    from interlock.tools.decision_table import DecisionTable, TableResult, decision_table

__all__ = [
    "Branch",
    "BranchResult",
    "DecisionTable",
    "TableResult",
    "branch",
    "call",
    "decision_table",
    "definitions",
]

_HOME_OF = {
    "Branch": "branch",
    "BranchResult": "branch",
    "DecisionTable": "decision_table",
    "TableResult": "decision_table",
    "call": "_model_tools",
    "decision_table": "decision_table",
    "definitions": "_model_tools",
}
