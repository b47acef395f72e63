"""What the harness costs around a callable that does nothing: a step, a workflow, a tree.

Prints Markdown. The clock is the CPU time of the process; the middle one of several rounds counts.
Threads cost what the system takes for a hand-over, which is told apart.
"""

from __future__ import annotations

import gc
import platform
import statistics
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from interlock.harness import (
    Cascade,
    Chain,
    Compact,
    ErrorInfo,
    Graph,
    Hooks,
    Loop,
    LoopState,
    Parallel,
    Refine,
    Reply,
    Rollout,
    Route,
    Run,
    Stage,
    Stall,
    Step,
    Tier,
    ToolCall,
    Usage,
    Vote,
    finish,
    inline_sync,
    report,
    tool,
    toolbus,
)

ROUNDS, STEPS = 11, 1_000
BRANCHES = 1_000
VALUES = {"question": "what is it", "n": 5, "items": [1, 2, 3]}
ANSWER = Reply("text", usage=Usage(10, 5, requests=1))


async def model(_value: object) -> Reply:
    """Answer as a model would, at once."""
    return ANSWER


async def worker(_inputs: object) -> Reply:
    """Answer as a model would, each time anew: what is handed on is counted otherwise."""
    return Reply("text", usage=ANSWER.usage)


def function(_value: object) -> str:
    """Answer as a function would."""
    return "text"


def accepted(_reply: Reply) -> bool:
    return True


def refused(_reply: Reply) -> bool:
    return False


def named(_value: object) -> str:
    return "a"


def drafted() -> Callable[[object], Awaitable[Reply]]:
    """Make a model whose drafts differ."""
    count = 0

    async def draft(_value: object) -> Reply:
        nonlocal count
        count += 1
        return Reply(str(count), usage=ANSWER.usage)

    return draft


def line(count: int) -> Graph:
    """Make nodes that each need the one before."""
    made = Graph()
    for at in range(count):
        made.node(f"s{at}", worker, needs=[f"s{at - 1}"] if at else [])
    made.compile()
    return made


def fan(count: int) -> Graph:
    """Make nodes that all need the first, and are all needed by the last."""
    made = Graph()
    made.node("first", worker)
    between = [f"s{at}" for at in range(count - 2)]
    for name in between:
        made.node(name, worker, needs=["first"])
    made.node("last", worker, needs=between)
    made.compile()
    return made


async def looked(key: int) -> str:
    """Answer as a tool would."""
    return f"found {key}"


TOOLS = toolbus([tool(looked, effect="readonly"), finish()])


async def asked(state: LoopState) -> Reply:
    """Ask for a tool, as a model would; at the end for none."""
    calls = (ToolCall("1", "looked", {"key": state.turn}),) if state.remaining.turns > 1 else ()
    return Reply("text", calls=calls, usage=ANSWER.usage)


def nothing(*_given: object) -> None:
    """Let everything pass."""


def summed(_older: object) -> str:
    return "s"


def looped(**options: Any) -> Loop:
    """Make a loop of 50 turns, each but the last with a call of a tool: 99 steps."""
    return Loop(asked, tools=TOOLS, max_turns=50, **options)


GUARD = Hooks(nothing, nothing, nothing, nothing)
CASES: dict[str, tuple[Callable[[], Any], int]] = {
    "async callable, a chain of 100": (
        lambda: Chain([(f"s{at}", model) for at in range(100)]),
        100,
    ),
    "the same with a gate behind each": (
        lambda: Chain([Stage(f"s{at}", model, accepted) for at in range(100)]),
        200,
    ),
    "cascade of one tier, run and judged": (
        lambda: Cascade([Tier("a", model)], accept=accepted),
        2,
    ),
    "chain in a chain in a chain": (
        lambda: Chain([("a", Chain([("b", Chain([("c", model)]))]))]),
        3,
    ),
    "route: classified, and the arm": (
        lambda: Route(classify=named, arms={"a": model, "b": model}),
        2,
    ),
    "refine: three drafts, each judged": (
        lambda: Refine(draft=drafted(), judge=refused, max_rounds=3),
        6,
    ),
    "vote of nine, counted each time": (lambda: Vote(model, n=9), 9),
    f"{BRANCHES:,} parallel branches": (
        lambda: Parallel(over=range(BRANCHES), each=model),
        BRANCHES,
    ),
    "graph of 200 in a line": (lambda: line(200), 200),
    "graph of 200 side by side": (lambda: fan(200), 200),
    "loop of 50 turns, each with a call": (looped, 99),
    "such a loop with four hooks": (lambda: looped(hooks=[GUARD]), 99),
    "such a loop with a stop rule": (lambda: looped(stop=[Stall()]), 99),
    "such a loop, compacted every 6 results": (
        lambda: looped(compact=Compact(summed, after=10)),
        106,
    ),
    "sync callable, inline": (lambda: Chain([(f"s{at}", function) for at in range(100)]), 100),
}
THREADED = "sync callable, in a worker thread"


async def once(workflow: Any, steps: int) -> float:
    """Return the microseconds of a step."""
    times = max(1, STEPS // steps)
    gc.collect()
    start = time.process_time()
    for _ in range(times):
        await workflow.run(VALUES, run=Run("r"))
    return (time.process_time() - start) / (times * steps) * 1e6


async def measured(workflow: Any, steps: int) -> float:
    """Return the median over the rounds."""
    await once(workflow, steps)
    return statistics.median([await once(workflow, steps) for _ in range(ROUNDS)])


def figures(backend: str) -> dict[str, float]:
    """Measure every case on a backend."""

    async def work() -> dict[str, float]:
        found = {THREADED: await measured(CASES["sync callable, inline"][0](), 100)}
        with inline_sync():
            for name, (make, steps) in CASES.items():
                found[name] = await measured(make(), steps)
        return found

    run: Callable[..., Any] = anyio.run
    task: Callable[[], Awaitable[dict[str, float]]] = work
    found: dict[str, float] = run(task, backend=backend)
    return found


def peak(backend: str) -> tuple[int, int]:
    """Return the bytes of memory that many branches take at their peak, and those of the result."""
    many = Parallel(over=range(BRANCHES), each=model)

    async def work() -> tuple[int, int]:
        await many.run(VALUES)
        gc.collect()
        tracemalloc.start()
        result = await many.run(VALUES)
        kept, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(result.outcomes) == BRANCHES
        return most, kept

    run: Callable[..., Any] = anyio.run
    found: tuple[int, int] = run(work, backend=backend)
    return found


def reported(count: int) -> tuple[float, float]:
    """Return the milliseconds of CPU of a page about so many steps, and its MB."""
    steps = tuple(
        Step(
            path=f"turn_{at}",
            name=f"turn_{at}",
            kind="turn",
            status="completed" if at % 7 else "failed",
            started_at="2026-01-01T00:00:00.000Z",
            duration_ms=12.5,
            input_digest="0" * 64,
            output="some text <b> of a model & more " * 30,
            usage=Usage(100, 20, requests=1, cost=5),
            error=None if at % 7 else ErrorInfo("ValueError", "a <fault>"),
            decision=None if at % 3 else {"ok": True, "results": [{"a": [1, 2, 3]}] * 3},
        )
        for at in range(count)
    )
    rollout = Rollout(run_id="r", workflow="w", status="done", stopped_by="done", steps=steps)
    page, times = "", list[float]()
    for _ in range(5):
        start = time.process_time()
        page = report(rollout).to_html()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1e3, len(page) / 1e6


def main() -> None:
    """Print the table."""
    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}")
    print()
    print("| µs of CPU a step, median | asyncio | trio |")
    print("|---|---|---|")
    asyncio_figures, trio_figures = figures("asyncio"), figures("trio")
    for name in (*CASES, THREADED):
        print(f"| {name} | {asyncio_figures[name]:.0f} | {trio_figures[name]:.0f} |")
    print()
    print(f"| {BRANCHES:,} parallel branches, KiB | asyncio | trio |")
    print("|---|---|---|")
    memory = [peak("asyncio"), peak("trio")]
    for at, name in enumerate(("peak while they run", "of which the result and its record")):
        print(f"| {name} | {memory[0][at] / 1024:.0f} | {memory[1][at] / 1024:.0f} |")
    print()
    print("| report of so many steps as HTML | ms of CPU, median of 5 | MB |")
    print("|---|---|---|")
    for count in (1_000, 10_000, 100_000):
        ms, size = reported(count)
        print(f"| {count:,} | {ms:.0f} | {size:.1f} |")


if __name__ == "__main__":
    main()
