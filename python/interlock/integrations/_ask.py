"""A compiled spec as every engine asks it: records as columns in, answers as columns out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from interlock import _core
from interlock._compiled import CompiledSpec
from interlock._lines import Records
from interlock.errors import ConfigError, Problem
from interlock.tools._batch import Batch
from interlock.tools._model_tools import TOOLS, unknown_tool
from interlock.tools.error_classify import ErrorVerdicts
from interlock.tools.lead_assign import LeadAssign

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["Ask", "Spec", "asked", "labelled"]

Spec: TypeAlias = "CompiledSpec | Mapping[str, object] | str | PathLike[str]"
"""A compiled spec; or a spec with its `tool`, as a mapping or a file, which is read strictly."""

Ask: TypeAlias = Callable[[Records], "Batch[Any]"]
"""Answers records that come as columns; picklable."""

_MANY = ("decide_many", "score_many", "assign_many", "classify_many")


def asked(spec: Spec, options: Mapping[str, object]) -> Ask:
    """Compile a spec, unless it is, to answer records by batches.

    Raises:
        ConfigError: For a faulty spec; for a tool whose answers would depend on how an engine
            cuts records into batches, or that has no answers to many.
    """
    compiled = spec if isinstance(spec, CompiledSpec) else _compiled(spec)
    if isinstance(compiled, LeadAssign) and compiled.to_spec().get("strategy") == "round_robin":
        message = "turns go from record to record, and an engine cuts and orders them as it likes"
        raise _refused("strategy", "round_robin", message)
    for name in _MANY:
        if hasattr(compiled, name):
            return partial(_batch, compiled, name, dict(options))
    raise _refused("spec", compiled.tool, "this tool does not answer many records in one call")


def _compiled(spec: Mapping[str, object] | str | PathLike[str]) -> CompiledSpec:
    from interlock.spec import load

    fields = spec if isinstance(spec, Mapping) else load(spec).fields
    tool = fields.get("tool")
    if not isinstance(tool, str) or tool not in TOOLS:
        raise ConfigError((unknown_tool(tool, "tool"),))
    return TOOLS[tool].from_spec(fields, strict=True)


def _batch(
    compiled: CompiledSpec, name: str, options: dict[str, object], records: Records
) -> Batch[Any]:
    answers: object = getattr(compiled, name)(records, **options)
    return labelled(answers) if isinstance(answers, ErrorVerdicts) else cast("Batch[Any]", answers)


def labelled(verdicts: ErrorVerdicts) -> Batch[Any]:
    """Give verdicts as a batch; its outcomes are `class / action`."""
    column = verdicts.indices.tobytes()
    return Batch(verdicts.outcomes, column, verdicts, verdicts.undetermined, verdicts.bad)


def _refused(field: str, value: object, message: str) -> ConfigError:
    return ConfigError((Problem("spec/wrong-type", field, _core.preview(value), message),))
