"""What is told of a run: promises V-90 to V-93, and that no text of strangers becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from interlock.supervise import (
    AdapterCoverage,
    Answer,
    Deployment,
    ProposedCall,
    Report,
    RunState,
    advance,
    answer,
    at_least,
    fail,
    observe,
    propose,
    report,
    start_run,
    verify,
)
from interlock.supervise.log import LogEntry

from .docs import DF, INPUTS, RM, at_clean, at_look, disk

POLICY = disk()


def worked() -> tuple[RunState, tuple[LogEntry, ...]]:
    """Give a run in which something of everything has happened, and the events of it."""
    began = start_run(POLICY, agent_identity="agent", inputs=INPUTS, now=0, wall_clock_seconds=900)
    events, state = list(began.events), began.unwrap()

    def took(moved: Any) -> Any:
        nonlocal state
        state = moved.state
        events.extend(moved.events)
        return moved

    call = took(propose(POLICY, state, DF, now=1)).call_id
    took(observe(POLICY, state, call, "completed", now=2))
    took(propose(POLICY, state, RM, now=3))
    took(verify(POLICY, state, {"used": 91}, by="agent", now=4))
    took(advance(POLICY, state, "clean", now=5))
    question = took(propose(POLICY, state, RM, now=6)).question
    took(answer(POLICY, state, Answer(question.id, "ann", approve=True, note="go"), now=106))
    call = took(propose(POLICY, state, RM, now=107)).call_id
    took(observe(POLICY, state, call, "completed", now=108))
    took(fail(POLICY, state, "no-room", now=109))
    took(fail(POLICY, state, "no-pager", now=110))
    took(verify(POLICY, state, {"used": 50}, by="agent", now=111))
    took(fail(POLICY, state, "fine-already", now=112))
    return state, (LogEntry(seq=0, operation="all", events=tuple(events)),)


STATE, LOG = worked()
FULL = report(STATE, LOG, policy=POLICY, now=200)


def test_V_90_a_report_is_made_of_the_state_alone() -> None:
    told = report(STATE)
    assert (told.run_id, told.outcome, told.path) == (STATE.run_id, "resolved", STATE.path)
    assert "log/none" in [one.code for one in told.caveats]
    assert report(at_look(POLICY)).outcome is None


def test_V_91_budgets_and_caveats_are_in_the_report() -> None:
    assert [(one.edge, one.used, one.max) for one in FULL.budgets.retries] == [
        ("clean->look", 0, 2),
        ("call->look", 1, 1),
    ]
    clock = FULL.budgets.wall_clock
    assert (clock.limit, clock.elapsed, clock.exhausted) == (900, 112, False)
    assert {"time/waited", "gate/one-person", "log/not-anchored"} <= {
        one.code for one in FULL.caveats
    }


def test_V_92_without_a_policy_limits_are_not_guessed() -> None:
    told = report(STATE)
    assert [(one.edge, one.used, one.max) for one in told.budgets.retries] == [
        ("call->look", 1, None)
    ]
    assert told.max_moves is None
    assert "policy/not-at-hand" in [one.code for one in told.caveats]
    assert "1/?" in told.to_markdown()


def test_V_93_outcome_path_and_deviations_are_in_the_report() -> None:
    assert (FULL.outcome, FULL.status) == ("resolved", "ended")
    assert FULL.path == ("look", "clean", "call", "look", "fine")
    assert dict(FULL.deviations.by_class) == {"out-of-scope-tool": 1}
    assert dict(FULL.deviations.by_step) == {"look": 1}
    assert next((one.step, one.visits) for one in FULL.steps) == ("look", 2)


FULL_VIEW, PROXY, BLIND = (
    AdapterCoverage(True, True, True, source="probed"),
    AdapterCoverage(mcp_calls=True),
    AdapterCoverage(),
)


@pytest.mark.parametrize("claimed", ["R0", "R1", "R2"])
@pytest.mark.parametrize(
    ("coverage", "observed_only", "computed"),
    [
        (FULL_VIEW, False, "R1"),
        (PROXY, False, "R1"),
        (BLIND, False, "R0"),
        (FULL_VIEW, True, "R0"),
    ],
)
def test_what_the_client_is_stands_beside_what_it_claims(
    claimed: Any, coverage: AdapterCoverage, computed: Any, *, observed_only: bool
) -> None:
    deployment = Deployment(claimed, coverage)
    computed = min(computed, claimed)  # who says that nothing is enforced is believed
    told = report(STATE, LOG, deployment=deployment, observed_only=observed_only)
    assert (told.profile.claimed, told.profile.computed) == (claimed, computed)
    is_above = "runtime/profile-above-computed" in [one.code for one in told.caveats]
    assert is_above == (not at_least(computed, claimed))
    assert Report.from_json(told.to_json()) == told
    assert ("said to be" in told.to_markdown()) == (computed != claimed)


def test_what_the_client_is_is_not_known_without_a_log_or_its_coverage() -> None:
    alone = report(STATE, deployment=Deployment("R2", FULL_VIEW))
    assert (alone.profile.claimed, alone.profile.computed) == ("R2", None)
    assert (FULL.profile.claimed, FULL.profile.computed) == (None, None)


def test_a_report_is_data_that_is_read_back() -> None:
    assert Report.from_json(FULL.to_json()) == FULL


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_says_the_outcome_first_and_loads_nothing() -> None:
    page = Page(FULL.to_html())
    text = " ".join(page.texts)
    order = ["resolved", "Path", "Budgets", "What was refused", "Answers", "Deviations", "To mind"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    assert {"script", "link", "img", "iframe", "object"}.isdisjoint(page.tags)
    assert not any(name in ("src", "href", "style") for name, _ in page.attributes)
    assert not any(name.startswith("on") for name, _ in page.attributes)
    for said in ("1/1", "112/900 s", "ann agrees: go", "look", "100 s"):
        assert said in text, said


def test_the_diagram_shows_path_visits_budgets_and_what_was_blocked() -> None:
    drawn = FULL.to_mermaid()
    assert drawn.startswith("stateDiagram-v2\n")
    assert 'state "look (2 visits)" as s0' in drawn
    assert "s2 --> s0 : 1/1" in drawn
    assert "note right of s0" in drawn
    assert re.search(r"--> \[\*\] : resolved", drawn)


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><svg onload=alert(1)>",
    'x"]; click s0 call alert()',
    "end note\n    s0 --> [*] : forged",
    "%%{init: {'securityLevel': 'loose'}}%%",
    "| a | b |\n# heading",
    "`` ` ```",
    "a\u202egnp.exe",
    "zero\u200bwidth\x00\x1b[31m\r\n",
    "x" * 100_000,
]


def full_of(text: str) -> Report:
    """Give a report in which every text is this one."""
    state = at_clean(POLICY, agent_identity=text, run_id=text)
    asked = propose(POLICY, state, replace(RM, call_id=text), now=6)
    assert asked.question is not None
    state = answer(
        POLICY, asked.state, Answer(asked.question.id, "ann", approve=False, note=text), now=7
    ).state
    again = propose(POLICY, state, ProposedCall("cli:rm", args={"path": f"/var/log/{text}"}), now=8)
    told = report(again.state, policy=POLICY)
    blocked = [replace(event, kind="blocked", at="clean", code=text, message=text)
               for event in asked.events]  # fmt: skip
    return replace(
        told,
        policy=replace(told.policy, id=text, version=text),
        outcome=text,
        path=("look", "clean", text),
        steps=tuple(replace(one, step=text) for one in told.steps),
        blocked=tuple(blocked),
        questions=tuple(replace(one, text=text, to=(text,)) for one in told.questions),
        caveats=tuple(replace(one, message=text) for one in told.caveats),
    )


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_text_of_strangers_is_never_markup(text: str) -> None:
    plain, told = full_of("plain"), full_of(text)
    assert Page(told.to_html()).tags == Page(plain.to_html()).tags
    # A name that is another makes another line; no text makes one more.
    for written, calm in (
        (told.to_markdown(), plain.to_markdown()),
        (told.to_mermaid(), plain.to_mermaid()),
    ):
        assert len(written.splitlines()) == len(calm.splitlines())
        assert not re.search("[\u202a-\u202e\u200b\x00\x1b\r]", written)
        assert len(written) < 50_000
    drawn = told.to_mermaid()
    notes = [line for line in drawn.splitlines() if line.startswith("        ")]
    assert not any("end note" in line for line in notes)
    assert "%%{" not in drawn
    assert not re.search("[\u202a-\u202e\u200b\x00\x1b\r]", told.to_html())


def test_a_long_run_makes_a_short_diagram() -> None:
    told = replace(FULL, path=tuple(f"s{at}" for at in range(1_000)))
    assert "850 steps are not shown" in told.to_mermaid()
    assert "more" in told.to_markdown()
    assert "more" in told.to_html()
