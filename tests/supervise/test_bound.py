"""The proof of termination: no run makes more than `max_moves` moves, and the bound is near.

The longest walk is found by trying all of them, with nothing in common but the rules:
an edge is taken as often as its budget says, a step entered as often as its budget says, the entry
counts as entered, and a run may end anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.supervise import Policy, PolicyStep
from interlock.supervise._bound import most_moves
from interlock.supervise._graph import components, ordered, reachable, shortest_cycle

# Time never decides a test.
SOME = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


class Graph(NamedTuple):
    """A policy's graph; the step `s0` is the entry, `end` a terminal."""

    leads_to: Mapping[str, Sequence[str]]
    edges: Mapping[str, int]
    visits: Mapping[str, int] = {}
    costs: Mapping[str, int] = {}

    def bound(self) -> int | None:
        return most_moves(
            "s0", self.leads_to, edges=self.edges, visits=self.visits, costs=self.costs
        )


def longest(graph: Graph) -> int:
    """Try every walk."""
    edge_at = {key: at for at, key in enumerate(graph.edges)}
    visit_at = {key: at for at, key in enumerate(graph.visits)}

    def spent(left: tuple[int, ...], at: int | None) -> tuple[int, ...] | None:
        if at is None:
            return left
        return None if left[at] == 0 else (*left[:at], left[at] - 1, *left[at + 1 :])

    @cache
    def from_here(step: str, edges: tuple[int, ...], visits: tuple[int, ...]) -> int:
        best = 0
        for target in set(graph.leads_to.get(step, ())):
            more_edges = spent(edges, edge_at.get(f"{step}->{target}"))
            more_visits = spent(visits, visit_at.get(target))
            if more_edges is not None and more_visits is not None:
                rest = from_here(target, more_edges, more_visits)
                best = max(best, 1 + graph.costs.get(target, 0) + rest)
        return best

    visits = spent(tuple(graph.visits.values()), visit_at.get("s0"))
    assert visits is not None
    return graph.costs.get("s0", 0) + from_here("s0", tuple(graph.edges.values()), visits)


@st.composite
def graphs(draw: st.DrawFn, *, with_visits: bool = True) -> Graph:
    """Draw small graphs in which every edge that leads back has a budget, and some others have."""
    names = [f"s{at}" for at in range(draw(st.integers(1, 5)))]
    targets = st.lists(st.sampled_from([*names, "end"]), min_size=1, max_size=3)
    leads_to = {name: draw(targets) for name in names}
    small = st.integers(1, 3)
    edges = {
        f"{name}->{target}": draw(small)
        for name in names
        for target in dict.fromkeys(leads_to[name])
        if target != "end" and (target <= name or draw(st.integers(0, 5)) == 0)
    }
    some = st.dictionaries(st.sampled_from(names), small, max_size=2)
    return Graph(leads_to, edges, draw(some) if with_visits else {}, draw(some))


@settings(SOME, max_examples=400)
@given(graphs())
def test_no_walk_is_longer_than_the_bound(graph: Graph) -> None:
    bound = graph.bound()

    assert bound is not None
    assert longest(graph) <= bound


@settings(SOME, max_examples=200)
@given(graphs(with_visits=False))
def test_a_coarser_bound_holds_as_well(graph: Graph) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("interlock.supervise._bound._WORK_LIMIT", 0)
        coarse = graph.bound()

    fine = graph.bound()
    assert fine is not None
    assert coarse is not None
    assert longest(graph) <= fine <= coarse


@SOME
@given(graphs(), st.integers(0, 100))
def test_a_budget_more_is_never_a_shorter_bound(graph: Graph, pick: int) -> None:
    before = graph.bound()
    if not graph.edges:
        return
    key = sorted(graph.edges)[pick % len(graph.edges)]
    after = graph._replace(edges={**graph.edges, key: graph.edges[key] + 1}).bound()

    assert before is not None
    assert after is not None
    assert before <= after


CHAIN = {"s0": ["s1"], "s1": ["s2"], "s2": ["end"]}
EXACT: dict[str, tuple[Graph, int]] = {
    "a chain": (Graph(CHAIN, {}), 3),
    "a loop": (Graph({"s0": ["s1"], "s1": ["s0", "end"]}, {"s1->s0": 3}), 8),
    "a self edge": (Graph({"s0": ["s0", "end"]}, {"s0->s0": 4}), 5),
    "two self edges": (Graph({"s0": ["s0", "s1"], "s1": ["s1"]}, {"s0->s0": 1, "s1->s1": 1}), 3),
    "a loop with two budgets": (
        Graph({"s0": ["s1"], "s1": ["s0", "end"]}, {"s0->s1": 2, "s1->s0": 9}),
        4,
    ),
    "loops that share an edge": (
        Graph({"s0": ["s1"], "s1": ["s2"], "s2": ["s0", "s1", "end"]}, {"s2->s0": 2, "s2->s1": 3}),
        3 + 2 * 3 + 3 * 2,
    ),
    "a loop in a loop": (
        Graph({"s0": ["s1"], "s1": ["s1", "s2"], "s2": ["s0", "end"]}, {"s1->s1": 2, "s2->s0": 2}),
        3 + 2 * 3 + 2,
    ),
    "loops in two branches, of which one is taken": (
        Graph(
            {"s0": ["s1", "s2"], "s1": ["s1", "end"], "s2": ["s2", "end"]},
            {"s1->s1": 5, "s2->s2": 7},
        ),
        9,
    ),
    "a long way after a short loop": (
        Graph(
            {"s0": ["s1", "s2"], "s1": ["s0"], "s2": ["s3"], "s3": ["s4"], "s4": ["end"]},
            {"s1->s0": 3},
        ),
        3 * 2 + 4,
    ),
    "a budget on no cycle": (Graph(CHAIN, {"s0->s1": 50}), 3),
    "two edges to one target share a budget": (
        Graph({"s0": ["s1", "s1"], "s1": ["s0", "s0", "end"]}, {"s1->s0": 2}),
        6,
    ),
    "visits bound it more": (
        Graph({"s0": ["s1"], "s1": ["s0", "end"]}, {"s1->s0": 9}, {"s1": 2}),
        4,
    ),
    "the entry counts as entered": (Graph({"s0": ["s0"]}, {"s0->s0": 9}, {"s0": 1}), 0),
    "visits alone bound a loop": (Graph({"s0": ["s1"], "s1": ["s0"]}, {}, {"s0": 3}), 5),
    "a called runbook": (Graph(CHAIN, {}, {}, {"s1": 10}), 13),
    "a called runbook in a loop": (
        Graph({"s0": ["s0", "end"]}, {"s0->s0": 2}, {}, {"s0": 10}),
        33,
    ),
    "a part that is not reached": (
        Graph({"s0": ["end"], "s1": ["s1"]}, {"s1->s1": 100}),
        1,
    ),
    "a dead end": (Graph({"s0": ["s1"], "s1": []}, {}), 1),
}


@pytest.mark.parametrize("name", EXACT)
def test_it_is_exact_where_it_can_be(name: str) -> None:
    graph, moves = EXACT[name]

    assert (moves, moves) == (longest(graph), graph.bound())


@pytest.mark.parametrize(
    "leads_to", [{"s0": ["s0"]}, {"s0": ["s1"], "s1": ["s0"]}, {"s0": ["s1"], "s1": ["s1"]}]
)
def test_a_cycle_without_a_budget_has_no_bound(leads_to: dict[str, list[str]]) -> None:
    assert Graph(leads_to, {}).bound() is None


def test_it_is_tight_almost_everywhere() -> None:
    """Without budgets of visits, of all graphs of two steps with up to two ways out."""
    total = exact = 0
    ways = ("s0", "s1", "end")
    for a, b, c, d in ((a, b, c, d) for a in ways for b in ways for c in ways for d in ways):
        leads_to = {"s0": [a, b], "s1": [c, d]}
        back = {f"{s}->{t}" for s in leads_to for t in leads_to[s] if t != "end" and t <= s}
        for first in (1, 2, 3):
            edges = {key: first + at for at, key in enumerate(sorted(back))}
            graph = Graph(leads_to, edges)
            total += 1
            exact += graph.bound() == longest(graph)
    assert (3 * 81, total) == (total, exact)


@pytest.mark.parametrize("back", [0, 1], ids=["to the first", "to the one before"])
def test_a_large_knot_has_a_bound(back: int) -> None:
    steps: dict[str, PolicyStep] = {}
    budgets: dict[str, int] = {}
    for at in range(500):
        target = f"s{at - 1 if back else 0}" if at else "s0"
        onward = f"s{at + 1}" if at < 499 else "end"
        steps[f"s{at}"] = PolicyStep(id=f"s{at}", transitions=(onward, target))
        budgets[f"s{at}->{target}"] = 1
    policy = Policy(id="large", steps=steps, terminals={"end": "done"}, budgets=budgets)

    moves = policy.max_moves
    assert moves is not None
    assert 500 + (sum(range(1, 501)) if not back else 499 * 2 + 1) <= moves


class TestGraphs:
    LEADS: Mapping[str, Sequence[str]] = {
        "a": ["b"],
        "b": ["c", "a"],
        "c": ["d"],
        "d": ["d"],
        "e": ["a"],
    }

    def test_components(self) -> None:
        found = [sorted(one) for one in components(self.LEADS)]

        assert [["d"], ["c"], ["a", "b"], ["e"]] == found

    def test_what_is_reached(self) -> None:
        assert {"c", "d"} == reachable(["c"], self.LEADS)

    @pytest.mark.parametrize(
        ("start", "cycle"),
        [("a", ["a", "b", "a"]), ("d", ["d", "d"]), ("c", None), ("e", None)],
    )
    def test_a_shortest_cycle(self, start: str, cycle: list[str] | None) -> None:
        assert cycle == shortest_cycle(start, self.LEADS)

    def test_a_long_cycle(self) -> None:
        ring = {at: [(at + 1) % 5] for at in range(5)}

        assert [2, 3, 4, 0, 1, 2] == shortest_cycle(2, ring)
        assert [[0, 1, 2, 3, 4]] == [sorted(one) for one in components(ring)]

    def test_an_order(self) -> None:
        assert ["e", "a", "b"] == ordered(["a", "b", "e"], {"a": ["b"], "e": ["a"]})
        assert ordered(["a", "b"], {"a": ["b"], "b": ["a"]}) is None

    def test_ten_thousand_in_a_row(self) -> None:
        assert 10_000 == len(components({at: [min(at + 1, 9_999)] for at in range(10_000)}))
