"""A document turned into the parts of a policy, with every fault that is met on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock._wire import to_json
from interlock.errors import Problem
from interlock.supervise._conditions import Compiler
from interlock.supervise._frozen import FrozenMap
from interlock.supervise._gate_rules import unread
from interlock.supervise._kinds import EXITS, READS
from interlock.supervise._problems import unknown_target
from interlock.supervise.capability import capability_class_of, is_capability, meets, named_in
from interlock.supervise.gate import Gate
from interlock.supervise.inputs import default_problems
from interlock.supervise.parts import (
    CalledRunbook,
    Exit,
    PolicyInput,
    PolicyTool,
    Progress,
    Scope,
    Verify,
    Wait,
)
from interlock.supervise.policy import Policy, PolicyStep, tools_met
from interlock.supervise.risk import RISKS, Risk, effect_risk, highest, is_dangerous

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from interlock.spec.runbook import Gate as WrittenGate
    from interlock.spec.runbook import Runbook, Step
    from interlock.supervise.parts import Via
    from interlock.typing import JSON

__all__ = ["Builder"]

_CALLING = ("action", "check", "wait")


class Builder:
    """Makes the parts of a policy, and keeps the faults.

    Attributes:
        problems: What is wrong so far.
        fields: Where each edge is written, by source and target; the first where there are two.
        places: The position of each step in the document, by id.
        classes: The classes of the declared tools.
        named: The capabilities that the text of each step names.
    """

    def __init__(
        self, document: Runbook, data: dict[str, Any], called: Mapping[str, Policy]
    ) -> None:
        """Take a document and the policies of the runbooks that it may call."""
        self._document = document
        self._data = data
        self._called = called
        self._compiler = Compiler()
        self._met: dict[str, list[PolicyTool]] = {}
        self.problems = self._compiler.problems
        self.fields: dict[tuple[str, str], str] = {}
        self.places: dict[str, int] = {}
        self.named: dict[str, tuple[str, ...]] = {}
        self.terminals = self._terminals()
        self.tools = self._tools()
        self.inputs = FrozenMap(dict(self._inputs()))
        self.errors = self._compiler.errors(document.errors, "errors")
        classes = (capability_class_of(one) for one in self.tools)
        self.classes = frozenset(one for one in classes if one)
        for at, step in enumerate(document.steps):
            self.places.setdefault(step.id, at)
        self._targets = {*self.places, *self.terminals}
        self.steps = FrozenMap(dict(self._steps()))

    def _say(self, code: str, field: str, value: object, message: str) -> None:
        shown = None if value is None else _core.preview(value)
        self.problems.append(Problem(code, field, shown, message))

    def _terminals(self) -> FrozenMap[str, str]:
        found: dict[str, str] = {}
        for at, terminal in enumerate(self._document.terminals):
            if terminal.id in found:
                self._twice(f"terminals[{at}].id", terminal.id)
            found.setdefault(terminal.id, terminal.outcome or terminal.id)
        for step in self._document.steps:
            if step.kind == "end":
                found.setdefault(step.id, step.outcome or step.id)
        return FrozenMap(found)

    def _twice(self, field: str, id_: str) -> None:
        message = "the id of another step or terminal too; each must be its own"
        self._say("runbook/duplicate-id", field, id_, message)

    def _tools(self) -> FrozenMap[str, PolicyTool]:
        found: dict[str, PolicyTool] = {}
        for at, tool in enumerate(self._document.tools):
            field = f"tools[{at}]"
            self._capability(tool.id, f"{field}.id")
            if tool.id in found:
                self._say("runbook/duplicate-id", f"{field}.id", tool.id, "declared above already")
            made = PolicyTool(
                id=tool.id,
                effect=tool.effect,
                args=self._compiler.checks(tool.args, f"{field}.args"),
                idempotent=tool.idempotent,
                timeout_s=tool.timeout_s,
                labels=tuple(tool.labels),
            )
            found.setdefault(tool.id, made)
        return FrozenMap(found)

    def _capability(self, text: str, field: str) -> None:
        if not is_capability(text):
            message = "must begin with a class, such as cli:kubectl or mcp:server/tool"
            self._say("runbook/capability", field, text, message)

    def _inputs(self) -> Iterator[tuple[str, PolicyInput]]:
        for name, given in self._document.inputs.items():
            field = f"inputs.{name}"
            has_default = "default" in given.model_fields_set
            if given.secret and given.type != "string":
                message = "only a text is left out wherever it stands; make it a string"
                self._say("runbook/secret", f"{field}.type", given.type, message)
            made = PolicyInput(
                type=given.type,
                required=not has_default if given.required is None else given.required,
                default_json=to_json(given.default) if has_default else None,
                checks=self._compiler.checks(given.checks, f"{field}.checks"),
                secret=given.secret,
            )
            self.problems += default_problems(made, f"{field}.default")
            yield name, made

    def _steps(self) -> Iterator[tuple[str, PolicyStep]]:
        ends = {terminal.id for terminal in self._document.terminals}
        for at, step in enumerate(self._document.steps):
            if self.places[step.id] != at or step.id in ends:
                self._twice(f"steps[{at}].id", step.id)
            made = self._step(step, at)
            if self.places[step.id] == at:
                yield step.id, made

    def _step(self, step: Step, at: int) -> PolicyStep:
        field = f"steps[{at}]"
        written = cast("dict[str, JSON]", self._data["steps"][at])
        self._unread(step, written, field)
        undeclared = tuple(self._undeclared(step, field))
        risk = self._risk(step, field)
        return PolicyStep(
            id=step.id,
            title=step.title or step.id,
            kind=step.kind,
            risk=risk,
            do=step.do,
            tools=tuple(step.tools),
            undeclared=undeclared,
            exits=tuple(self._exits(step, written, field)),
            gate=self._gate(step, risk, field),
            verify=self._verify(step, field),
            args=tuple(self._scopes(step, field)),
            branch=self._compiler.branch(step.cases, step.otherwise, f"{field}.cases")
            if step.cases
            else None,
            wait=self._wait(step, field),
            calls=self._calls(step, field),
            progress=None
            if step.progress is None
            else Progress(signals=tuple(step.progress.signals), window=step.progress.window),
            rollback=step.rollback,
            outcome=self.terminals[step.id] if step.kind == "end" else None,
        )

    def _unread(self, step: Step, written: Mapping[str, JSON], field: str) -> None:
        reads = READS[step.kind]
        for name, value in written.items():
            if name in reads or value is None or value in ([], {}, ""):
                continue
            if name in type(step).model_fields:
                message = f"is not read by a step of kind {step.kind} (it reads {', '.join(reads)})"
                self._say("runbook/unread-field", f"{field}.{name}", value, message)

    def _undeclared(self, step: Step, field: str) -> Iterator[str]:
        """Yield what a step names in its list or its text and `tools` does not hold."""
        named = named_in(step.do, self.classes)
        self.named.setdefault(step.id, named)
        for capability in dict.fromkeys((*step.tools, *named)):
            if self._tools_of(capability):
                continue
            is_listed = capability in step.tools
            at = f"{field}.tools[{step.tools.index(capability)}]" if is_listed else f"{field}.do"
            self._capability(capability, at)
            near = _core.nearest(capability, list(self.tools))
            hint = f'; did you mean "{near}"?' if near else ""
            message = f"`tools` does not declare it{hint}"
            self._say("runbook/undeclared-tool", at, capability, message)
            yield capability

    def _tools_of(self, capability: str) -> list[PolicyTool]:
        if capability not in self._met:
            self._met[capability] = tools_met(self.tools, capability)
        return self._met[capability]

    def _risk(self, step: Step, field: str) -> Risk:
        """Give the higher of what a step declares and what its tools imply."""
        tools = [tool for one in step.tools for tool in self._tools_of(one)]
        implied = highest({effect_risk(tool.effect) for tool in tools})
        if step.risk is not None and RISKS.index(step.risk) < RISKS.index(implied):
            worst = next(tool for tool in tools if effect_risk(tool.effect) == implied)
            effect = worst.effect or "not declared, which counts as destructive"
            message = f"the effect of {worst.id} is {effect}; write {implied}, or another tool"
            self._say("runbook/risk-below-tools", f"{field}.risk", step.risk, message)
        return implied if step.risk is None else highest((step.risk, implied))

    def _exits(self, step: Step, written: Mapping[str, JSON], field: str) -> Iterator[Exit]:
        """Yield the ways out in the order of the document."""
        for target, via, at in self._targets_of(step, written):
            if target not in self._targets:
                self.problems.append(unknown_target(f"{field}.{at}", target, self._targets))
                continue
            self.fields.setdefault((step.id, target), f"{field}.{at}")
            yield Exit(target, via)

    @staticmethod
    def _targets_of(step: Step, written: Mapping[str, JSON]) -> Iterator[tuple[str, Via, str]]:
        """Yield what a step leads to: the target, by what, and the field within the step."""
        for name in written:
            if name in EXITS and name in READS[step.kind]:
                target: str | None = getattr(step, name)
                if target is not None:
                    yield target, EXITS[name], name
            elif name == "cases" and step.kind == "decision":
                for at, case in enumerate(step.cases):
                    yield case.to, "case", f"cases[{at}].to"
            elif name == "calls" and step.calls is not None and step.kind == "call":
                for outcome, to in step.calls.outcomes.items():
                    yield to, "case", f"calls.outcomes.{outcome}"

    def _gate(self, step: Step, risk: Risk, field: str) -> Gate | None:
        if step.gate == "none":
            if not step.reason:
                message = "is required beside `gate: none`: why nobody needs to agree"
                self._say("runbook/gate-reason", f"{field}.reason", None, message)
            if step.kind != "approval":
                return None
        if step.gate is not None and step.gate != "none":
            on = "enter" if step.kind == "approval" else step.gate.on
            return self._written_gate(step.gate, on, f"{field}.gate")
        if step.kind == "approval":
            message = "is required: an approval is a gate and nothing else"
            self._say("runbook/no-approvers", f"{field}.gate", None, message)
            return Gate(on="enter")
        if step.kind == "manual" and is_dangerous(risk):
            return Gate(on="enter", separate_from="requester", is_implied=True)
        if step.kind in _CALLING and is_dangerous(risk):
            return Gate(separate_from="requester", is_implied=True)
        return None

    def _written_gate(self, gate: WrittenGate, on: Any, field: str) -> Gate:
        roster = None
        approvers: Sequence[str] = ()
        if isinstance(gate.approvers, dict):
            roster = self._compiler.roster(gate.approvers, f"{field}.approvers")
            owners = cast("list[dict[str, str]]", roster.to_spec()["owners"]) if roster else []
            approvers = [owner["id"] for owner in owners]
        elif gate.approvers:
            approvers = gate.approvers
        else:
            message = "is required: who may agree"
            self._say("runbook/no-approvers", f"{field}.approvers", None, message)
        if approvers and gate.quorum > len(set(approvers)):
            message = f"there are {len(set(approvers))} approvers"
            self._say("runbook/no-approvers", f"{field}.quorum", gate.quorum, message)
        return Gate(
            on=on,
            approvers=tuple(dict.fromkeys(approvers)),
            roster=roster,
            quorum=gate.quorum,
            expires_s=gate.expires_s,
            question=gate.question,
            separate_from=gate.separate_from,
            **self._rules(gate, on, field),
        )

    def _rules(self, gate: WrittenGate, on: str, field: str) -> dict[str, Any]:
        given = {"rules": gate.rules, "score": gate.score}
        written = {name: spec for name, spec in given.items() if spec is not None}
        if on == "enter":
            self.problems += [unread(f"{field}.{name}") for name in written]
            return {}
        compilers = {"rules": self._compiler.table, "score": self._compiler.score}
        return {name: compilers[name](one, f"{field}.{name}") for name, one in written.items()}

    def _verify(self, step: Step, field: str) -> Verify | None:
        if step.verify is None:
            return None
        checks = self._compiler.checks(step.verify.checks, f"{field}.verify.checks")
        return None if checks is None else Verify(checks=checks, source=step.verify.source)

    def _scopes(self, step: Step, field: str) -> Iterator[Scope]:
        given = step.args
        named = given if isinstance(given, dict) else {} if given is None else {"*": given}
        for tool, conditions in named.items():
            place = f"{field}.args" + (f'["{tool}"]' if isinstance(given, dict) else "")
            if tool != "*" and not any(meets(tool, one) for one in step.tools):
                message = "the step has no such tool"
                self._say("runbook/undeclared-tool", place, tool, message)
            checks = self._compiler.checks(conditions, place)
            if checks is not None:
                yield Scope(tool=tool, checks=checks)

    def _wait(self, step: Step, field: str) -> Wait | None:
        if step.kind != "wait":
            return None
        if step.wait is None or step.wait.max_s is None:
            message = "is required: the seconds after which the step gives up"
            self._say("runbook/no-wait-bound", f"{field}.wait.max_s", None, message)
            return None
        return Wait(max_s=step.wait.max_s, poll_s=step.wait.poll_s)

    def _calls(self, step: Step, field: str) -> CalledRunbook | None:
        if step.kind != "call":
            return None
        if step.calls is None:
            self._say("spec/missing-field", f"{field}.calls", None, "is required: id and digest")
            return None
        policy = self._called.get(step.calls.id)
        if policy is None:
            near = _core.nearest(step.calls.id, list(self._called))
            hint = f'; did you mean "{near}"?' if near else ""
            message = f"no runbook of this id was given{hint}; give its policy in `runbooks`"
            self._say("runbook/unknown-call", f"{field}.calls.id", step.calls.id, message)
        elif policy.digest != step.calls.digest:
            message = f"the digest of {policy.id} is {policy.digest}"
            at = f"{field}.calls.digest"
            self._say("runbook/call-digest", at, step.calls.digest, message)
            policy = None
        return CalledRunbook(
            id=step.calls.id,
            digest=step.calls.digest,
            outcomes=FrozenMap(step.calls.outcomes),
            policy=policy,
        )
