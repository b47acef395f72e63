"""The contract: may this deployment start this procedure.

Two axes are kept apart: how well structured a document is (P0 to P2, `document_profile`), and what
a client enforces (R0 to R2, here).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from interlock import _core
from interlock.errors import ConfigError, Problem
from interlock.record._data import Record
from interlock.supervise.risk import Risk, is_dangerous, rank_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "AdapterCoverage",
    "Deployment",
    "Procedure",
    "Refusal",
    "at_least",
    "implied_minimum",
    "may_run_under",
    "may_start",
    "profile_of",
    "refusals_to_start",
]

Execution: TypeAlias = Literal["human-only", "human-with-agent", "agent-autonomous"]
RuntimeProfile: TypeAlias = Literal["R0", "R1", "R2"]

PROFILES: tuple[RuntimeProfile, ...] = ("R0", "R1", "R2")
"""From the one that enforces least."""

FEATURES: dict[RuntimeProfile, frozenset[str]] = {
    "R0": frozenset({"record"}),
    "R1": frozenset({"tools", "order", "gates", "budgets"}),
    "R2": frozenset(
        {"hash-chain", "anchors", "bound-approvals", "arguments", "order-rules", "verify"}
    ),
}
"""What a client must do to be of a profile, beside what the lower ones do."""


@dataclass(frozen=True, slots=True)
class Refusal(Record):
    """Why a run does not start.

    Attributes:
        code: `runtime/...`, `input/...` or `runbook/...`.
        message: The facts, and the remedy.
        field: The input it is about; None where it is about none.
    """

    code: str
    message: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class AdapterCoverage(Record):
    """Which calls of a client an adapter observes.

    Attributes:
        mcp_calls: Calls of MCP tools.
        shell: Commands.
        file_edits: Changes of files.
        network: Requests; None when that is not known. It is told, and decides nothing.
        source: Whether this is `declared` by the adapter or was `probed`.
    """

    mcp_calls: bool = False
    shell: bool = False
    file_edits: bool = False
    _: KW_ONLY
    network: bool | None = None
    source: Literal["declared", "probed"] = "declared"

    @property
    def is_full(self) -> bool:
        """Whether MCP calls, shell and file edits are all observed."""
        return self.mcp_calls and self.shell and self.file_edits

    @property
    def unseen(self) -> tuple[str, ...]:
        """What is not observed, in words."""
        seen = {"MCP calls": self.mcp_calls, "shell": self.shell, "file edits": self.file_edits}
        return tuple(name for name, is_seen in seen.items() if not is_seen)


@dataclass(frozen=True, slots=True)
class Deployment(Record):
    """A client, as it is run: what it enforces and what it sees.

    Attributes:
        profile: R0, R1 or R2; what `profile_of` says, not what is claimed.
        coverage: Which calls it observes.
        risk_ceiling: The highest risk the operator allows; None: any.
    """

    profile: RuntimeProfile
    coverage: AdapterCoverage
    _: KW_ONLY
    risk_ceiling: Risk | None = None


@dataclass(frozen=True, slots=True)
class Procedure(Record):
    """What the contract has to know of a document; a `Policy` will do as well.

    Attributes:
        max_risk: The highest risk of a step.
        execution: human-only, human-with-agent or agent-autonomous.
        min_runtime_profile: What the document asks for; None: what is implied.
    """

    max_risk: Risk
    execution: Execution
    _: KW_ONLY
    min_runtime_profile: RuntimeProfile | None = None


class Startable(Protocol):
    """What can be asked whether it may start: a `Procedure` or a `Policy`."""

    @property
    def max_risk(self) -> Risk:
        """The highest risk of a step."""
        ...

    @property
    def execution(self) -> Execution:
        """Who carries it out."""
        ...

    @property
    def min_runtime_profile(self) -> RuntimeProfile | None:
        """What it asks for."""
        ...


def at_least(actual: RuntimeProfile, required: RuntimeProfile) -> bool:
    """Say whether a profile is another one or above it.

    Raises:
        ConfigError: When one is no profile.
    """
    return _rank(actual, "actual") >= _rank(required, "required")


def may_run_under(risk: Risk, coverage: AdapterCoverage) -> bool:
    """Say whether steps of a risk may run where an adapter observes this much.

    Dangerous ones only where MCP calls, shell and file edits are all observed. This is the one
    place where that is stated.

    Raises:
        ConfigError: When it is no risk.
    """
    return coverage.is_full or not is_dangerous(risk)


def implied_minimum(procedure: Startable) -> RuntimeProfile:
    """Return what risk and execution ask of a client.

    R2 where a step is dangerous; else R1 where an agent is alone; else R0. Of a policy that calls
    runbooks, no less than what one of them asks for.
    """
    own: RuntimeProfile = "R1" if procedure.execution == "agent-autonomous" else "R0"
    if is_dangerous(procedure.max_risk):
        own = "R2"
    called: tuple[Startable, ...] = getattr(procedure, "called", ())
    asked = {own, *(one.min_runtime_profile or implied_minimum(one) for one in called)}
    return next(profile for profile in reversed(PROFILES) if profile in asked)


def profile_of(features: Iterable[str], coverage: AdapterCoverage) -> RuntimeProfile:
    """Return what a deployment is, whatever it claims.

    Args:
        features: What the client does: record; tools, order, gates, budgets (R1); hash-chain,
            anchors, bound-approvals, arguments, order-rules, verify (R2).
        coverage: Which calls it observes. Nothing is enforced on calls that nobody sees: without
            any it is R0, and without a full one that was probed it is no R2.

    Raises:
        ConfigError: For a feature that is none, with the nearest name.
    """
    given = frozenset(features)
    known = sorted(name for names in FEATURES.values() for name in names)
    raise_unknown(given - set(known), known)
    if not {*FEATURES["R0"], *FEATURES["R1"]} <= given or len(coverage.unseen) == len(_CHANNELS):
        return "R0"
    is_proven = coverage.is_full and coverage.source == "probed"
    return "R2" if FEATURES["R2"] <= given and is_proven else "R1"


def profile_of_run(deployment: Deployment, *, observed_only: bool) -> RuntimeProfile:
    """Return what a deployment is by what is done for a run that is decided here.

    All but a chain of hashes and anchors of its log; the record alone where nothing is enforced.
    """
    if observed_only or deployment.profile == "R0":
        return "R0"
    done = frozenset(name for names in FEATURES.values() for name in names)
    return profile_of(done - {"hash-chain", "anchors"}, deployment.coverage)


_CHANNELS = ("MCP calls", "shell", "file edits")


def raise_unknown(names: frozenset[str] | set[str], known: list[str]) -> None:
    """Refuse names that are no features."""
    problems: list[Problem] = []
    for name in sorted(names):
        near = _core.nearest(name, known)
        hint = f'; did you mean "{near}"?' if near else ""
        message = f"no such feature{hint} (known: {', '.join(known)})"
        problems.append(Problem("spec/unknown-choice", "features", _core.preview(name), message))
    if problems:
        raise ConfigError(tuple(problems))


def may_start(procedure: Startable, deployment: Deployment) -> bool:
    """Say whether nothing stands against starting a procedure."""
    return not refusals_to_start(procedure, deployment)


def refusals_to_start(procedure: Startable, deployment: Deployment) -> tuple[Refusal, ...]:
    """List everything that stands against starting a procedure, before its first step.

    Args:
        procedure: A `Procedure` or a `Policy`.
        deployment: The client as it is run.

    Returns:
        Refusals with the codes `runtime/profile-too-low`, `runtime/coverage-insufficient`,
        `runtime/risk-above-ceiling`, `runtime/autonomous-unsupervised`; and `runbook/faulty` for a
        policy that was derived from a document with faults.

    Raises:
        ConfigError: When a risk or profile is none.
    """
    return tuple(_refusals(procedure, deployment))


def _refusals(procedure: Startable, deployment: Deployment) -> Iterator[Refusal]:
    actual, risk, coverage = deployment.profile, procedure.max_risk, deployment.coverage
    required = procedure.min_runtime_profile or implied_minimum(procedure)
    if required == "R0" and is_dangerous(risk):
        # A document cannot ask for less than that somebody watches its dangerous steps.
        required = "R1"
    if not at_least(actual, required):
        yield Refusal(
            "runtime/profile-too-low",
            f"the document needs {required} (its highest risk is {risk}) and this client is "
            f"{actual}: run it on a client that enforces what {required} does",
        )
    if not may_run_under(risk, coverage):
        yield Refusal(
            "runtime/coverage-insufficient",
            f"the highest risk of the document is {risk}, and this adapter does not observe "
            f"{', '.join(coverage.unseen)}: put a tool-call hook, which sees every call, in place "
            "of the proxy",
        )
    ceiling = deployment.risk_ceiling
    if ceiling is not None and rank_of(risk) > rank_of(ceiling, "risk_ceiling"):
        yield Refusal(
            "runtime/risk-above-ceiling",
            f"the highest risk of the document is {risk} and the ceiling is {ceiling}: raise the "
            "ceiling, or take the steps above it out of the document",
        )
    if procedure.execution == "agent-autonomous" and actual == "R0":
        yield Refusal(
            "runtime/autonomous-unsupervised",
            "the agent would be alone and R0 enforces nothing: run it at R1 or above, or have a "
            "person beside it (execution: human-with-agent)",
        )
    faults: tuple[Problem, ...] = getattr(procedure, "faults", ())
    if faults and actual != "R0":
        yield Refusal(
            "runbook/faulty",
            f"the document has {len(faults)} faults, the first: {faults[0]}; mend them (lint lists "
            "all), or try it at R0, where nothing is enforced",
        )


def _rank(profile: object, field: str) -> int:
    if profile not in PROFILES:
        message = f"must be one of {', '.join(PROFILES)}"
        raise ConfigError((Problem("spec/unknown-choice", field, _core.preview(profile), message),))
    return PROFILES.index(profile)
