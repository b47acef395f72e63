"""The list of the runbooks that a runbook calls: what is done, what runs, what waits for what."""

from __future__ import annotations

import random  # noqa: TID251 (seeded)
from typing import Any

import pytest

from interlock.supervise import (
    CalledRunbook,
    CallList,
    Exit,
    Policy,
    PolicyStep,
    RunState,
    advance,
    card,
    report,
    start_run,
    stop,
)
from interlock.supervise._frozen import FrozenMap
from interlock.supervise.called import call_list

INNER = Policy(
    id="inner",
    steps=[PolicyStep(id="in", transitions=("well", "ill"))],  # type: ignore[arg-type]
    terminals={"well": "well", "ill": "ill"},
)


def calling(name: str, well: str, ill: str = "lost") -> PolicyStep:
    called = CalledRunbook(
        id="inner",
        digest=INNER.digest,
        outcomes=FrozenMap({"well": well, "ill": ill}),
        policy=INNER,
    )
    exits = tuple(dict.fromkeys((Exit(well, "case"), Exit(ill, "case"))))
    return PolicyStep(id=name, kind="call", exits=exits, calls=called)


def made(*steps: PolicyStep, **fields: Any) -> Policy:
    return Policy(
        id="outer",
        steps=list(steps),  # type: ignore[arg-type]
        terminals={"done": "done", "lost": "lost"},
        **fields,
    )


def gone(policy: Policy, *moves: str) -> RunState:
    state = start_run(policy, agent_identity="agent").unwrap()
    for to in moves:
        state = advance(policy, state, to).state
    return state


def told(policy: Policy, state: RunState) -> CallList:
    found = call_list(policy, state)
    assert found is not None
    return found


CHAIN = made(calling("a", "b"), calling("b", "c"), calling("c", "done"))
LOOP = made(calling("a", "b"), calling("b", "done", "a"), budgets={"b->a": 1})
FORK = made(
    PolicyStep(id="s", transitions=("a", "b")),
    calling("a", "c"),
    calling("b", "c"),
    calling("c", "done"),
)
SKIPPED = made(
    calling("c", "done"), PolicyStep(id="x", transitions=("d", "done")), calling("d", "done")
)
NEEDS_A, NEEDS_B = (f'needs "{one}", which is not done' for one in "ab")
WAITS = 'needs "b", which waits itself'

LISTS: list[tuple[str, Policy, tuple[str, ...], tuple[Any, ...]]] = [
    ("begun", CHAIN, (), (3, (), "a", (), (), {"b": NEEDS_A, "c": WAITS})),
    ("one done", CHAIN, ("well",), (3, ("a",), "b", (), (), {"c": NEEDS_B})),
    ("two done", CHAIN, ("well", "well"), (3, ("a", "b"), "c", (), (), {})),
    ("all done", CHAIN, ("well",) * 3, (3, ("a", "b", "c"), None, (), (), {})),
    ("left as lost", CHAIN, ("ill",), (3, ("a",), None, (), ("b",), {"c": NEEDS_B})),
    ("back again", LOOP, ("well", "ill"), (2, ("b",), "a", (), (), {})),
    ("before a fork", FORK, (), (3, (), None, (), ("a", "b", "c"), {})),
    ("in a fork", FORK, ("b",), (3, (), "b", (), ("a", "c"), {})),
    ("past a fork", FORK, ("b", "well"), (3, ("b",), "c", (), ("a",), {})),
    ("what nothing leads to is not listed", SKIPPED, (), (1, (), "c", (), (), {})),
]  # fmt: skip


def parts(found: CallList) -> tuple[Any, ...]:
    waiting = {one.step: one.reason for one in found.waiting}
    return found.total, found.done, found.running, found.failed, found.open, waiting


@pytest.mark.parametrize(("name", "policy", "moves", "expected"), LISTS, ids=[n for n, *_ in LISTS])
def test_how_far_the_calls_have_come(
    name: str, policy: Policy, moves: tuple[str, ...], expected: tuple[Any, ...]
) -> None:
    del name
    state = gone(policy, *moves)
    found = told(policy, state)
    assert parts(found) == expected
    assert CallList.from_dict(found.to_dict()) == found
    assert report(state, policy=policy).called == found
    assert card(policy, state).calls == str(found) == f"{len(expected[1])} of {expected[0]} done"


def test_a_call_in_which_the_run_has_ended_has_failed() -> None:
    state = stop(gone(CHAIN, "well"), "x", by="ann").state
    found = told(CHAIN, state)
    assert (found.done, found.running, found.failed) == (("a",), None, ("b",))
    assert [(one.step, one.reason) for one in found.waiting] == [("c", 'needs "b", which failed')]
    assert card(CHAIN, state).calls == "1 of 3 done"


def test_the_report_says_so_in_every_form() -> None:
    said = report(gone(CHAIN, "well"), policy=CHAIN)
    line = "1 of 3 done; b runs; c needs"
    assert line in said.to_markdown()
    assert line in said.to_html()
    assert "calls list" not in report(gone(INNER), policy=INNER).to_markdown()
    assert report(gone(CHAIN)).called is None


def test_the_card_shows_no_later_call() -> None:
    shown = card(CHAIN, gone(CHAIN)).to_dict()
    assert shown["calls"] == "0 of 3 done"
    assert '"c"' not in str(shown)
    assert "calls" not in card(INNER, gone(INNER)).to_dict()


def test_calls_within_calls_count_as_the_one_they_are_in() -> None:
    whole = CalledRunbook(
        id="outer",
        digest=CHAIN.digest,
        outcomes=FrozenMap({"done": "done", "lost": "lost"}),
        policy=CHAIN,
    )
    exits = (Exit("done", "case"), Exit("lost", "case"))
    policy = made(PolicyStep(id="w", kind="call", exits=exits, calls=whole))
    state = gone(policy, "well")
    assert len(state.stack) == 2
    assert parts(told(policy, state)) == (1, (), "w", (), (), {})


def test_more_calls_than_a_sequence_holds_by_itself() -> None:
    steps = [calling(f"s{at}", f"s{at + 1}" if at < 299 else "done") for at in range(300)]
    policy = made(*steps)
    found = told(policy, gone(policy, *["well"] * 3))
    assert (found.total, len(found.done), found.running) == (300, 3, "s3")
    assert len(report(gone(policy), policy=policy).to_markdown()) < 20_000


@pytest.mark.parametrize("seed", range(60))
def test_on_every_walk_a_call_runs_only_after_those_it_needs(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    names = [f"s{at}" for at in range(chance.randint(1, 6))]
    steps = []
    for at, name in enumerate(names):
        after = [*names[at + 1 :], "done"]
        steps.append(
            calling(name, chance.choice(after), chance.choice(after))
            if chance.random() < 0.7
            else PolicyStep(id=name, transitions=tuple(dict.fromkeys(chance.choices(after, k=2))))
        )
    policy = made(*steps)
    state, before = start_run(policy, agent_identity="agent").unwrap(), 0
    while True:
        found = call_list(policy, state)
        if found is not None:
            waiting = {one.step for one in found.waiting}
            assert found.running not in waiting
            everyone = [*found.done, *found.failed, *found.open, *waiting]
            everyone += [found.running] if found.running else []
            assert len(everyone) == len(set(everyone)) == found.total
            assert len(found.done) >= before
            before = len(found.done)
        if state.is_over:
            break
        here = card(policy, state)
        state = advance(policy, state, chance.choice(here.exits).to).state
