"""Logs that were changed: each is told by the first entry that does not come to what it says."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import anyio
import pytest

from interlock.errors import UsageError
from interlock.supervise import (
    Answer,
    LogEntry,
    ProposedCall,
    Report,
    Supervisor,
    recompute,
    report,
    simulate,
    stop,
    verify_run,
)
from interlock.testing import ManualClock

from .docs import DF, INPUTS, RM, disk

POLICY = disk()


async def _worked() -> tuple[LogEntry, ...]:
    sup = Supervisor(POLICY, clock=ManualClock())
    await sup.start(agent_identity="agent", inputs=INPUTS)
    await sup.observe((await sup.propose(DF)).call_id, "completed")
    await sup.verify({"used": 91}, by="agent")
    await sup.advance("clean")
    question = (await sup.propose(RM)).question
    assert question is not None
    await sup.answer(Answer(question.id, "ann", approve=True))
    await sup.observe((await sup.propose(RM)).call_id, "completed")
    await sup.decide({"seen": 1})
    await sup.fail("enough")
    await sup.propose(ProposedCall("http:x"))
    await sup.finish()
    return sup.log


LOG = anyio.run(_worked)
NONSENSE: list[Any] = [
    {"bogus": 1}, {}, {"now": "soon"}, {"to": 5}, {"tool": []}, {"tool": {}, "call_id": 3},
    {"call_id": "x", "outcome": "fine"}, {"evidence": 3, "by": ""}, {"facts": [1]},
    {"question_id": 1, "by": 2, "approve": "no"}, {"agent_identity": 3}, {"inputs": 3},
    {"escalation": 3}, {"deployment": 3}, {"escalation": {"responses": {"x": "y"}}},
]  # fmt: skip
PLACES = range(len(LOG))


def test_the_log_has_every_operation_that_a_run_of_this_kind_makes() -> None:
    assert len({entry.operation for entry in LOG}) == 9
    assert verify_run(POLICY, LOG).ok


def changed(at: int, **fields: Any) -> tuple[LogEntry, ...]:
    return (*LOG[:at], replace(LOG[at], **fields), *LOG[at + 1 :])


@pytest.mark.parametrize("given", NONSENSE, ids=str)
@pytest.mark.parametrize("at", PLACES)
def test_nonsense_in_an_entry_is_told_by_its_number(at: int, given: Any) -> None:
    log = changed(at, given=given if at else {**LOG[0].given, **given})
    if log[at] == LOG[at]:
        return
    told = verify_run(POLICY, log)
    assert (told.ok, told.first_bad) == (False, at)
    for make in (recompute, simulate):
        # What is given can have been changed to what would have been taken as well.
        with suppress(UsageError):
            make(POLICY, log)


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize(
    "fields",
    [
        {"operation": "sudo"}, {"operation": "start_run"}, {"seq": 99}, {"digest": "0" * 64},
        {"verdict": "maybe"}, {"events": ()},
    ],
    ids=str,
)  # fmt: skip
def test_a_changed_entry_is_told_by_its_number(at: int, fields: dict[str, Any]) -> None:
    log = changed(at, **fields)
    if log == LOG:
        return
    if at == 0 and "operation" in fields:
        with pytest.raises(UsageError):
            verify_run(POLICY, log)
        return
    assert not verify_run(POLICY, log).ok


@pytest.mark.parametrize("at", PLACES[1:])
def test_entries_that_are_gone_twice_or_swapped_are_told(at: int) -> None:
    for log in ((*LOG[:at], *LOG[at + 1 :]), (*LOG[: at + 1], *LOG[at:])):
        told = verify_run(POLICY, log)
        assert told.ok == (log == LOG[:at])
    if at + 1 < len(LOG):
        swapped = (*LOG[:at], LOG[at + 1], LOG[at], *LOG[at + 2 :])
        assert not verify_run(POLICY, swapped).ok


@pytest.mark.parametrize("at", PLACES)
def test_a_run_that_is_stopped_anywhere_is_told_in_every_form(at: int) -> None:
    state = recompute(POLICY, LOG[: at + 1])
    moved = stop(state, "operator/stopped", by="ops", now=10**6)
    log = [*LOG[: at + 1], LogEntry(seq=at + 1, operation="stop", events=moved.events)]
    for policy in (POLICY, None):
        told = report(moved.state, log, policy=policy)
        assert told.outcome == (state.outcome or "stopped")
        assert told.status == "ended"
        assert Report.from_json(told.to_json()) == told
        for written in (told.to_html(), told.to_markdown(), told.to_mermaid()):
            assert str(told.outcome) in written
    assert (
        sum(told.calls[name] for name in ("allowed", "asked", "blocked")) == told.calls["attempted"]
    )
    assert stop(moved.state, "again", by="ops").state is moved.state
