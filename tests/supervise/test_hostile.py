"""What an agent, a tool or a store could try: nothing of it gets round the supervisor."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest

from interlock import ToolCall, tool, toolbus
from interlock.errors import ConfigError, InterlockError, PolicyMismatch
from interlock.supervise import (
    Answer,
    MemoryStore,
    ProposedCall,
    RunState,
    Supervisor,
    advance,
    answer,
    decide,
    observe,
    propose,
    start_run,
    verify,
    verify_run,
)
from interlock.testing import ManualClock

from .docs import DF, INPUTS, RM, at_clean, at_look, disk

POLICY = disk()
SECRET = INPUTS["token"]
BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])
CAPABILITIES = {"df": "cli:df", "rm": "cli:rm", "send": "http:example"}


async def started(**options: Any) -> Supervisor:
    sup = Supervisor(POLICY, clock=ManualClock(), capabilities=CAPABILITIES, **options)
    await sup.start(agent_identity="agent", inputs=INPUTS)
    return sup


async def cleaning(**options: Any) -> Supervisor:
    sup = await started(**options)
    await sup.verify({"used": 91}, by="agent")
    await sup.advance("clean")
    return sup


# Secrets


PLACES: list[Any] = [
    {"path": f"/var/log/{SECRET}"},
    {"path": "/var/log/a", "argv": ["--token", SECRET]},
    {"path": "/var/log/a", "deep": [{"x": {"y": f"token={SECRET};"}}]},
    {"path": "/var/log/a", SECRET: 1},
    {"path": SECRET},
]


@BACKENDS
@pytest.mark.parametrize("args", PLACES, ids=range(len(PLACES)))
def test_a_secret_is_in_nothing_that_is_kept_or_shown(backend: str, args: Any) -> None:
    async def work() -> Supervisor:
        sup = await cleaning()
        await sup.propose(ProposedCall("cli:rm", args=args))
        await sup.propose(ProposedCall(f"cli:{SECRET}x"))
        await sup.load(sup.state.run_id)
        return sup

    sup = anyio.run(work, backend=backend)
    told = sup.report()
    kept = [sup.state.to_json(), told.to_json(), told.to_html(), told.to_markdown()]
    kept += [told.to_mermaid(), *(entry.to_json() for entry in sup.log)]
    assert not [one for one in kept if SECRET in one]
    assert verify_run(POLICY, sup.log).ok


@BACKENDS
def test_a_secret_in_evidence_notes_and_codes_is_left_out(backend: str) -> None:
    async def work() -> Supervisor:
        sup = await started()
        await sup.verify({"used": 91, "said": f"my {SECRET}"}, by="agent")
        await sup.advance("clean")
        question = (await sup.propose(RM)).question
        assert question is not None
        await sup.answer(Answer(question.id, "ann", approve=False, note=f"not {SECRET}"))
        await sup.fail(f"code {SECRET}")
        return sup

    sup = anyio.run(work, backend=backend)
    assert SECRET not in sup.state.to_json() + "".join(entry.to_json() for entry in sup.log)
    assert verify_run(POLICY, sup.log).ok


def test_what_looks_like_a_mask_is_not_the_secret() -> None:
    async def work() -> None:
        sup = await cleaning()
        real = await sup.propose(ProposedCall("cli:rm", args={"path": "/var/log/a", "t": SECRET}))
        assert real.question is not None
        await sup.answer(Answer(real.question.id, "ann", approve=True))
        mask = real.question.args["t"]
        fake = await sup.propose(ProposedCall("cli:rm", args={"path": "/var/log/a", "t": mask}))
        assert fake.verdict == "ask"
        assert fake.question is not None
        assert fake.question.action_digest != real.question.action_digest

    anyio.run(work)


@BACKENDS
@pytest.mark.parametrize("at", range(len(PLACES)))
def test_a_secret_is_left_out_by_whoever_takes_a_run_up(backend: str, at: int) -> None:
    async def work() -> Supervisor:
        store = MemoryStore()
        run_id = (await cleaning(store=store)).state.run_id
        sup = Supervisor(POLICY, store=store, clock=ManualClock())
        await sup.load(run_id, secrets={"token": SECRET})
        await sup.propose(ProposedCall("cli:rm", args=PLACES[at]))
        return sup

    sup = anyio.run(work, backend=backend)
    assert SECRET not in sup.state.to_json() + "".join(entry.to_json() for entry in sup.log)
    assert verify_run(POLICY, sup.log).ok


NOT_THE_SECRETS: list[tuple[Any, list[str]]] = [
    (None, ["secrets.token"]),
    ({}, ["secrets.token"]),
    ({"token": "hunter3"}, ["secrets.token"]),
    ({"token": None}, ["secrets.token"]),
    ({"tokn": SECRET}, ["secrets.tokn", "secrets.token"]),
    ({"mount": "/", "token": SECRET}, ["secrets.mount"]),
    ({"mount": "/"}, ["secrets.mount", "secrets.token"]),
]


@pytest.mark.parametrize(("secrets", "fields"), NOT_THE_SECRETS, ids=range(len(NOT_THE_SECRETS)))
def test_a_run_is_not_taken_up_without_its_secrets(secrets: Any, fields: list[str]) -> None:
    async def work() -> None:
        store = MemoryStore()
        run_id = (await started(store=store)).state.run_id
        sup = Supervisor(POLICY, store=store)
        with pytest.raises(ConfigError) as caught:
            await sup.load(run_id, secrets=secrets)
        assert [one.field for one in caught.value.problems] == fields
        assert "hunter" not in str(caught.value)
        with pytest.raises(InterlockError, match="not started"):
            sup.card()

    anyio.run(work)


# Arguments, names and ids


@BACKENDS
def test_what_was_proposed_is_what_runs_whoever_changes_it_meanwhile(backend: str) -> None:
    removed: list[str] = []

    @tool(effect="destructive")
    def rm(path: str) -> None:
        """Remove a file."""
        removed.append(path)

    args: dict[str, object] = {"path": "/var/log/old"}

    def agree(question: Any) -> Answer:
        args["path"] = "/etc/passwd"
        return Answer(question.id, "ann", approve=True)

    async def work() -> None:
        sup = await cleaning(on_question=agree)
        await sup.bus(toolbus([rm])).invoke(ToolCall("1", "rm", args))

    anyio.run(work, backend=backend)
    assert removed == ["/var/log/old"]


@BACKENDS
@pytest.mark.parametrize("name", ["finish", "runbook_done", "runbook_card"])
def test_a_tool_with_the_name_of_one_of_ours_is_decided_like_any_other(
    backend: str, name: str
) -> None:
    from interlock import Reply, loop
    from interlock.testing import scripted

    ran: list[str] = []

    @tool(effect="destructive", name=name)
    def smuggled() -> None:
        """Do something else."""
        ran.append(name)

    async def work() -> Supervisor:
        sup = await started()
        for bus, hooks in ((sup.bus, ()), (None, (sup.hooks(),))):
            if bus is not None and name.startswith("runbook_"):
                with pytest.raises(ConfigError):
                    bus(toolbus([smuggled]))
                continue
            turn = scripted(Reply(calls=(ToolCall("1", name),)), Reply(output="done"))
            tools: Any = toolbus([smuggled]) if bus is None else bus(toolbus([smuggled]))
            await loop("x", turn=turn, tools=tools, hooks=hooks, max_turns=3)
        return sup

    sup = anyio.run(work, backend=backend)
    assert ran == []
    assert sup.state.deviations[0].deviation_class == "undeclared-tool"


def test_an_approval_is_used_once_whatever_the_call_is_named() -> None:
    asked = propose(POLICY, at_clean(POLICY), replace(RM, call_id="1"), now=3)
    assert asked.question is not None
    agreed = Answer(asked.question.id, "ann", approve=True)
    state = answer(POLICY, asked.state, agreed, now=4).state
    first = propose(POLICY, state, replace(RM, call_id="1"), now=5)
    again = propose(POLICY, first.state, replace(RM, call_id="1"), now=6)
    other = propose(POLICY, first.state, replace(RM, call_id="2"), now=6)
    assert (first.verdict, again.code, other.verdict) == ("allow", "call/open", "ask")
    done = observe(POLICY, first.state, "1", "completed", now=7).state
    assert propose(POLICY, done, replace(RM, call_id="1"), now=8).verdict == "ask"
    assert answer(POLICY, done, agreed, now=9).events[0].code == "answer/second"


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


STRANGE: list[Any] = [
    float("nan"),
    float("inf"),
    10**400,
    object(),
    b"bytes",
    "\ud800",
    {1: 2},
    nested(10_000),
    {"a": {"b": object()}},
]


@pytest.mark.parametrize("value", STRANGE, ids=range(len(STRANGE)))
def test_what_is_no_json_is_blocked_and_the_log_still_holds(value: Any) -> None:
    async def work() -> Supervisor:
        sup = await started()
        decision = await sup.propose(ProposedCall("cli:rm", args={"path": value}))
        assert decision.verdict == "block"
        decision = await sup.propose(ProposedCall("cli:df", args=value))
        assert decision.verdict == "block" or value == 10**400
        brought: Any = value
        with pytest.raises(InterlockError):
            await sup.verify(brought, by="agent")
        return sup

    sup = anyio.run(work)
    for entry in sup.log:
        json.loads(entry.to_json())
    assert verify_run(POLICY, sup.log).ok


@pytest.mark.parametrize("brought", [{"inputs": {"mount": "/x"}}, {"inputs": None}])
def test_the_inputs_cannot_be_brought_as_evidence(brought: Any) -> None:
    with pytest.raises(ConfigError, match="inputs"):
        verify(POLICY, at_look(POLICY), brought, by="agent")


def test_a_flood_of_facts_is_refused() -> None:
    many = {f"f{at}": at for at in range(100_000)}
    with pytest.raises(ConfigError, match="10,000"):
        verify(POLICY, at_look(POLICY), many, by="agent")


def test_people_are_not_flooded_with_questions() -> None:
    state = at_clean(POLICY)
    codes: list[str] = []
    for at in range(30):
        decision = propose(POLICY, state, replace(RM, args={"path": f"/var/log/{at}"}), now=3)
        state = decision.state
        codes.append(decision.code)
    assert codes == ["gate/asked"] * 20 + ["gate/nobody"] * 10
    assert len(state.pending) == 20


# Clocks


@pytest.mark.parametrize("now", [True, "1", float("nan"), 10**400, -(10**400), 10**12, [1]])
def test_what_is_no_instant_is_refused(now: Any) -> None:
    with pytest.raises(ConfigError):
        advance(POLICY, at_look(POLICY), "fine", now=now)
    with pytest.raises(ConfigError):
        start_run(POLICY, agent_identity="a", inputs=INPUTS, wall_clock_seconds=now and -1)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), 10**400, True])
def test_a_time_that_is_none_is_refused(seconds: Any) -> None:
    with pytest.raises(ConfigError):
        start_run(POLICY, agent_identity="a", inputs=INPUTS, wall_clock_seconds=seconds)


def test_without_an_instant_nothing_lapses_and_nothing_is_waited_for() -> None:
    asked = propose(POLICY, at_clean(POLICY), RM, now=3)
    assert asked.question is not None
    agreed = Answer(asked.question.id, "ann", approve=True)
    late = answer(POLICY, asked.state, agreed)
    assert late.events[0].code == "answer/late"
    state = answer(POLICY, asked.state, agreed, now=4).state
    assert propose(POLICY, state, RM).verdict == "ask"


def test_a_clock_that_is_put_back_buys_no_time() -> None:
    asked = propose(POLICY, at_clean(POLICY), RM, now=3)
    assert asked.question is not None
    passed = propose(POLICY, asked.state, DF, now=3 + 601).state
    agreed = Answer(asked.question.id, "ann", approve=True)
    assert answer(POLICY, passed, agreed, now=4).events[-1].code in (
        "answer/late",
        "answer/second",
        "answer/unknown",
    )


@pytest.mark.parametrize("tokens", [-1, 1.5, True, "1", float("nan")])
def test_tokens_that_are_none_are_refused(tokens: Any) -> None:
    allowed = propose(POLICY, at_look(POLICY), DF, now=1)
    with pytest.raises(ConfigError, match="tokens"):
        observe(POLICY, allowed.state, allowed.call_id, "completed", tokens=tokens)


# Stores and states


class Broken(MemoryStore):
    """A store that is down from some operation on."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    async def append(self, state: Any, entry: Any) -> None:
        if entry.seq >= self.after:
            raise OSError("disk full")
        await super().append(state, entry)


@BACKENDS
@pytest.mark.parametrize("after", [1, 2])
def test_a_call_that_cannot_be_logged_does_not_run_or_is_in_doubt(backend: str, after: int) -> None:
    ran: list[str] = []

    @tool(effect="readonly")
    def df() -> str:
        """Look."""
        ran.append("df")
        return "seen"

    async def work() -> tuple[Any, Any, Supervisor]:
        sup = await started(store=Broken(after))
        bus = sup.bus(toolbus([df]))
        return await bus.invoke(ToolCall("1", "df")), await bus.invoke(ToolCall("2", "df")), sup

    first, second, sup = anyio.run(work, backend=backend)
    assert len(ran) == after - 1
    assert (first.status, second.status) == ("blocked" if after == 1 else "in_doubt", "blocked")
    assert "disk full" not in str(first.output)
    assert verify_run(POLICY, sup.log).ok


TAMPERED: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"current": "nowhere"}, PolicyMismatch),
    ({"current": None}, PolicyMismatch),
    ({"policy_digest": "0" * 64}, PolicyMismatch),
    ({"stack": [{"step": "nowhere", "visit": 1}]}, PolicyMismatch),
    ({"stack": [{"step": "look", "visit": 1}]}, PolicyMismatch),
    ({"status": "paused"}, InterlockError),
    ({"schema": "interlock.run-state/99"}, InterlockError),
    ({"visit": "1"}, InterlockError),
    ({"unknown": 1}, InterlockError),
]


@pytest.mark.parametrize(("changes", "error"), TAMPERED, ids=range(len(TAMPERED)))
def test_a_state_that_was_changed_is_refused(changes: Any, error: type[Exception]) -> None:
    data = {**at_look(POLICY).to_dict(), **changes}
    with pytest.raises(error):
        advance(POLICY, RunState.from_dict(data), "fine", now=5)


@BACKENDS
def test_the_tools_of_the_runbook_neither_skip_nor_force(backend: str) -> None:
    async def work() -> Supervisor:
        sup = await started()
        bus = sup.bus(toolbus([]))
        for to in ("fine", "call", "look", "", "clean->fine", "\x00"):
            if not sup.state.is_over:
                await bus.invoke(ToolCall("1", "runbook_done", {"to": to}))
        return sup

    sup = anyio.run(work, backend=backend)
    assert sup.state.path in (("look",), ("look", "fine"))
    assert "clean" not in sup.state.path


@pytest.mark.parametrize("value", [*STRANGE, [1], "x", None])
def test_facts_that_are_none_are_refused_by_name(value: Any) -> None:
    state = at_look(POLICY)
    with pytest.raises(ConfigError, match="facts"):
        decide(POLICY, state, value)
    with pytest.raises(ConfigError, match="evidence"):
        verify(POLICY, state, value, by="agent")
