"""Random nestings of workflows, the same for the same seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random  # noqa: TID251 (the same for the same seed)
from typing import Any

from anyio.lowlevel import checkpoint

from interlock import (
    Cascade,
    Chain,
    Graph,
    Limits,
    Loop,
    Orchestrate,
    Parallel,
    Refine,
    Reply,
    Route,
    Stage,
    Usage,
    Verdict,
    Vote,
    tool,
    toolbus,
)
from interlock.harness import Ctx
from interlock.record import ToolCall
from interlock.testing import ManualClock

SAYS = ("reply", "reply", "text", "data", "raise", "failed", "same", "steps", "slow")
JUDGES = ("yes", "no", "raise", "open", "length", "model")


class Asked(Exception):
    """What is asked in a replay, where nothing may be."""


class Nesting:
    """A workflow made of a seed; once it is closed, no work in it may be called."""

    def __init__(self, seed: int) -> None:
        self.random, self.clock = Random(seed), ManualClock()  # noqa: S311
        self.is_closed, self.used, self._leaves = False, 0, 0
        self.kinds: list[Callable[[int], Any]] = [
            self.chain,
            self.cascade,
            self.route,
            self.refine,
            self.parallel,
            self.vote,
            self.graph,
            self.orchestrate,
            self.loop,
        ]
        self.workflow = self.random.choice(self.kinds)(self.random.choice((1, 2, 3)))

    def limits(self) -> Limits:
        steps, tokens = self.random.choice(((0, 0), (30, 0), (30, 0), (0, 80), (30, 80)))
        return Limits(
            max_steps=self.random.randint(1, steps) if steps else None,
            max_tokens=self.random.randint(1, tokens) if tokens else None,
        )

    async def enter(self, pauses: int = 1) -> None:
        if self.is_closed:
            raise Asked
        for _ in range(pauses):
            await checkpoint()

    def told(self, output: str, usage: Usage, **more: Any) -> Reply:
        """Answer as a model, and keep what that used."""
        self.used += usage.total
        return Reply(output, usage=usage, **more)

    def leaf(self) -> Any:
        says, pauses = self.random.choice(SAYS), self.random.choice((0, 0, 1, 2, 5))
        self._leaves += 1
        me, usage, calls = self._leaves, Usage(self.random.choice((0, 3, 10)), requests=1), 0

        async def look(at: int) -> str:
            await self.enter()
            return f"saw {at}"

        async def work(value: object, ctx: Ctx) -> Any:
            nonlocal calls
            calls += 1
            self.clock.advance(pauses)
            await self.enter(300 if says == "slow" else pauses)
            if says == "raise":
                raise ValueError(f"bad {me}")
            for at in range(2 if says == "steps" else 0):
                await ctx.step("look", look, at)
            answers: dict[str, Any] = {
                "text": f"text {me}",
                "data": {"ok": me % 2 == 0},
                "same": value if isinstance(value, (str, dict, Reply)) else "text",
            }
            if says in answers:
                return answers[says]
            failed = says == "failed"
            return self.told(f"{me}.{calls % 3}", usage, status="failed" if failed else "completed")

        return work

    def judge(self) -> Any:
        says = self.random.choice(JUDGES)

        def judged(reply: Reply) -> Verdict:
            if says == "raise":
                raise ValueError("judge")
            length = len(reply.output)
            ok = says == "yes" or (says == "length" and length % 2 == 0)
            return Verdict(ok, "no", score=length / 10, undetermined=says == "open")

        async def model(reply: Reply) -> Verdict:
            await self.enter()
            self.used += 3
            return Verdict(len(reply.output) % 3 > 0, "third", usage=Usage(3, requests=1))

        return model if says == "model" else judged

    def part(self, depth: int) -> Any:
        if depth <= 0 or self.random.random() < 0.35:
            return self.leaf()
        made = self.random.choice(self.kinds)(depth - 1)

        async def result(value: object) -> Any:
            await self.enter(0)
            return await made.run(value)

        async def text(value: object) -> str:
            return str((await result(value)).output)

        async def twice(value: object) -> Any:
            await result(value)
            return await result(value)

        return self.random.choice((made, made, made, made.run, result, text, twice))

    def parts(self, depth: int, name: str, most: int = 3) -> dict[str, Any]:
        count = self.random.randint(1, most)
        return {f"{name}{at}": self.part(depth) for at in range(count)}

    def needs(self, names: list[str], at: int) -> list[str]:
        return [name for name in names[:at] if self.random.random() < 0.4]

    def chain(self, depth: int) -> Any:
        parts = self.parts(depth, "s").items()
        return Chain([Stage(n, one, self.random.choice((None, self.judge()))) for n, one in parts])

    def cascade(self, depth: int) -> Any:
        return Cascade([*self.parts(depth, "t").items()], accept=self.judge())

    def route(self, depth: int) -> Any:
        return Route(classify=lambda _value: "a0", arms=self.parts(depth, "a", 2))

    def refine(self, depth: int) -> Any:
        rounds = self.random.randint(1, 3)
        return Refine(draft=self.part(depth), judge=self.judge(), max_rounds=rounds)

    def parallel(self, depth: int) -> Any:
        rules: list[dict[str, Any]] = [{}, {"fail": "first"}, {"quorum": 1}]
        return Parallel(
            self.parts(depth, "b", 4),
            concurrency=self.random.choice((1, 2, 8)),
            join=self.part(depth - 1) if self.random.random() < 0.3 else None,
            **self.random.choice(rules),
        )

    def vote(self, depth: int) -> Any:
        count, stops = self.random.choice((2, 3, 5)), self.random.random() < 0.7
        most = self.random.choice((None, 1, 2))
        return Vote(self.part(depth), n=count, early_stop=stops, concurrency=most)

    def graph(self, depth: int) -> Any:
        made = Graph("graph", fail=self.random.choice(("continue", "stop")))
        parts = self.parts(depth, "n", 4)
        for at, (name, part) in enumerate(parts.items()):
            made.node(name, part, needs=self.needs([*parts], at))
        return made

    def orchestrate(self, depth: int) -> Any:
        workers, ids = self.parts(depth, "w"), [f"p{at}" for at in range(4)]
        steps: list[dict[str, Any]] = [
            {"id": name, "worker": self.random.choice([*workers]), "needs": self.needs(ids, at)}
            for at, name in enumerate(ids[: self.random.randint(1, 4)])
        ]
        for step in steps:
            if self.random.random() < 0.2:
                step["after"] = self.clock.now() + self.random.choice((0, 1_000, 3_000, 10**7))
        usage = Usage(self.random.choice((0, 4)), requests=1)

        async def plan(_values: object) -> Reply:
            await self.enter()
            return self.told(json.dumps({"steps": steps}), usage)

        return Orchestrate(
            plan=plan,
            workers=workers,
            merge=self.part(depth - 1),
            concurrency=self.random.choice((1, 2, 4)),
            replans=self.random.choice((0, 0, 1)),
        )

    def loop(self, _depth: int) -> Any:
        last = self.random.randint(1, 3)

        async def look(q: str) -> str:
            await self.enter()
            return q

        async def turn(state: Any) -> Reply:
            await self.enter()
            calls = tuple(ToolCall(str(at), "look", {"q": str(at)}) for at in range(2))
            return self.told("t", Usage(5), calls=calls if state.turn < last else ())

        tools, overlap = toolbus([tool(look, effect="readonly")]), self.random.random() < 0.5
        most = self.random.choice((2, 3, 4))
        return Loop(turn, tools=tools, max_turns=most, parallel_tools=overlap)
