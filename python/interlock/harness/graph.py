"""Graph: nodes that need each other, each run once what it needs is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlock.harness._compiled_graph import CompiledGraph, Declared, Fail, GraphResult
from interlock.harness._config import keywords

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlock.errors import Problem
    from interlock.harness.flow import Flow
    from interlock.harness.run import Run
    from interlock.harness.work import Work
    from interlock.record.rollout import Rollout

__all__ = ["CompiledGraph", "Graph", "GraphResult"]


class Graph:
    """Nodes that are declared one by one, and run as a graph without circles.

    Args:
        name: The name of the workflow.
        fail: What a failed node does: `continue`: what does not need it goes on; `stop`: no other
            node starts, and those that run are let end.
        max_steps: The most nodes it may have.
        concurrency: How many nodes run at once; as the run says when None.
        max_tokens: No node starts once so many tokens are used.

    Raises:
        ConfigError: For an unknown keyword; all else is checked when it is compiled.
    """

    @keywords
    def __init__(
        self,
        name: str = "graph",
        *,
        fail: Fail = "continue",
        max_steps: int = 200,
        concurrency: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        """Start without nodes."""
        self.name = name
        self._options: dict[str, Any] = {
            "fail": fail,
            "max_steps": max_steps,
            "concurrency": concurrency,
            "max_tokens": max_tokens,
        }
        self._entries: list[Declared] = []
        self._compiled: CompiledGraph | None = None

    @keywords
    def node(
        self,
        name: str,
        run: Callable[..., Any] | Work,
        *,
        needs: Sequence[str] = (),
        when: object = None,
    ) -> None:
        """Declare a node.

        Args:
            name: Its name, which is that of its step.
            run: A callable of `Inputs`: sync or async, `(inputs)` or `(inputs, ctx)`; or
                `Work(...)`, which says what its step may use.
            needs: The names of the nodes that must be completed before it, declared earlier or
                later.
            when: Its own condition, which is asked once they are: Checks, `Gate(tool, ...)`, a
                DecisionTable, or a callable of the `Inputs` that returns True, False, a `Verdict`
                or `(ok, reason)`. Tools read `{"values": ..., "results": {...}}`.

        Raises:
            ConfigError: For an unknown keyword; all else is checked when the graph is compiled.
        """
        self._entries.append(Declared(name, run, needs, when))
        self._compiled = None

    def compile(self) -> CompiledGraph:
        """Check everything, and return the graph as a frozen workflow.

        Raises:
            ConfigError: With every problem found: circles by the names of their nodes, needs that
                name no node, names that stand twice, no nodes, too many.
        """
        if self._compiled is None:
            self._compiled = CompiledGraph(self._entries, name=self.name, **self._options)
        return self._compiled

    async def run(self, values: object = None, *, run: Run | None = None) -> GraphResult:
        """Compile and run with values; see `compile` and `Cascade.run` for what is raised."""
        return await self.compile().run(values, run=run)

    async def replayed(
        self, rollout: Rollout, values: object, *, strict: bool = True, run: Run | None = None
    ) -> GraphResult:
        """Run as it was recorded; `interlock.record.replay` is what to call."""
        return await self.compile().replayed(rollout, values, strict=strict, run=run)

    async def __call__(self, values: object = None) -> GraphResult:
        """Run with values, as a callable of somebody else's workflow."""
        return await self.compile().run(values)

    def sync(
        self, values: object = None, *, run: Run | None = None, backend: str = "asyncio"
    ) -> GraphResult:
        """Run in an event loop of its own, and wait for the result; for scripts."""
        return self.compile().sync(values, run=run, backend=backend)

    def flow(self) -> Flow:
        """Return the shape of the graph."""
        return self.compile().flow()

    def to_mermaid(self) -> str:
        """Return the graph as a Mermaid diagram."""
        return self.compile().to_mermaid()

    def lint(self) -> tuple[Problem, ...]:
        """Return what is probably not meant so."""
        return self.compile().lint()

    @property
    def digest(self) -> str:
        """SHA-256 of how it is set up; callables count by their names."""
        return self.compile().digest
