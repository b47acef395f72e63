"""The record of a workflow in progress: where it stands, what it is counted in, its steps."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from anyio import CancelScope

from interlock import _core
from interlock.harness._frame import Frame, input_digest, unique
from interlock.harness.limits import Account, Limits
from interlock.record.reply import plain_data
from interlock.record.rollout import Rollout, Step
from interlock.record.usage import total_usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlock.harness._reel import Reel
    from interlock.harness.hooks import Hooks
    from interlock.harness.run import Run
    from interlock.record.event import EventName

__all__ = ["Recorder"]


class Recorder:
    """A workflow in progress, but for the taking of steps."""

    def __init__(
        self,
        run: Run,
        *,
        name: str,
        kind: str,
        config_digest: str,
        max_tokens: int | None,
        outer: Frame | None,
    ) -> None:
        """Join the step around it, if there is one."""
        self.run, self.name, self.kind, self.config_digest = run, name, kind, config_digest
        self.outer = outer
        runs = outer.walk.runs if outer is not None else ()
        self.is_root = run not in runs
        self.runs: tuple[Run, ...] = (*runs, run) if self.is_root else runs
        # Those of the runs and loops around it come first.
        self.hooks: tuple[Hooks, ...] = outer.walk.hooks if outer is not None else ()
        if self.is_root:
            self.add_hooks(run.hooks)
        self.accounts = self._accounts(max_tokens)
        self.step_timeout = min(run.limits.step_timeout or math.inf for run in self.runs)
        self.is_timed = any(one.limits.timeout is not None for one in self.accounts)
        self.reel: Reel | None = None if run.tape is None else run.tape.reel(self)
        self.prefix = self._prefix() if self.reel is None else self.reel.prefix(self._prefix)
        self.names: dict[str, int] = {}
        self.steps: list[Step | None] = []
        self.started = run.clock.now()
        self.ended: Rollout | None = None
        self.scope = CancelScope()
        self.input: object = None
        self.input_digest: str | None = None
        self.digest: str | None = None
        self.finished: int = 0
        self.overrun = False
        for account in self.accounts:
            account.start(run.clock)
        if outer is not None:
            outer.nested.append(self)
        if self.is_root:
            run.walks.append(self)

    def _accounts(self, max_tokens: int | None) -> tuple[Account, ...]:
        """Give the accounts that every step is counted in: of all around it, and its own."""
        around = self.outer.walk.accounts if self.outer is not None else ()
        if self.is_root:
            around = (*around, self.run.account)
        if max_tokens is None:
            return around
        shared = self.run.limits
        own = Limits(
            max_tokens=max_tokens, weigh=shared.weigh, allow_unmetered=shared.allow_unmetered
        )
        return (*around, Account(own))

    def _prefix(self) -> str:
        if self.outer is not None:
            return f"{unique(self.outer.names, f'{self.outer.plan.path}/{self.name}')}/"
        # The first workflow of a run is its root; later ones stand beside it.
        return f"{unique(self.run.names, self.name)}/" if self.run.walks else ""

    def start(self, values: object) -> None:
        """Digest what the run was started with, and keep it; a nested one's stands around it."""
        self.digest = input_digest(values)
        if self.outer is None:
            self.input_digest = self.digest
            is_kept = self.run.content == "full" and self.input_digest is not None
            self.input = plain_data(values) if is_kept else None

    @property
    def path(self) -> str:
        """The path of the workflow itself; empty for the root."""
        return self.prefix.removesuffix("/")

    def record(
        self, status: str = "running", stopped_by: str = "", ended: int | None = None
    ) -> Rollout:
        """Return the record so far; the final one once there is one."""
        if self.ended is not None:
            return self.ended
        steps = tuple(step for step in self.steps if step is not None)
        return Rollout(
            run_id=self.run.run_id,
            workflow=self.name,
            kind=self.kind,
            config_digest=self.config_digest,
            status=status,
            stopped_by=stopped_by,
            steps=steps,
            usage=total_usage(step.usage for step in steps),
            started_at=_core.format_instant(self.started),
            ended_at="" if ended is None else _core.format_instant(ended),
            tags=self.run.tags,
            faults=tuple(self.run.faults) if self.is_root else (),
            input=self.input,
            input_digest=self.input_digest,
        )

    def close(self, status: str, stopped_by: str) -> Rollout:
        """End the record."""
        if self.ended is None:
            ended = self.record(status, stopped_by, self.run.clock.now())
            self.ended = ended if self.reel is None else self.reel.closed(ended)
        return self.ended

    def is_heard(self) -> bool:
        """Say whether anybody listens."""
        # PERF: one run is the common case.
        return bool(self.run.listeners) or (
            len(self.runs) > 1 and any(run.listeners for run in self.runs)
        )

    async def tell(
        self,
        event: EventName,
        path: str,
        data: Mapping[str, object] | None = None,
        step: Step | None = None,
    ) -> None:
        """Tell whoever listens to this run, or to one around it."""
        for run in self.runs:
            if run.listeners:
                await run.tell(event, path, data or {}, step)

    def place(self, name: str, under: Frame | str | None = None) -> str:
        """Give the path of the next step of a name, below a step or at the top."""
        if isinstance(under, Frame):
            under.made.append(unique(under.names, f"{under.plan.path}/{name}"))
            return under.made[-1]
        return unique(self.names, f"{under}/{name}" if under else f"{self.prefix}{name}")

    def add_hooks(self, hooks: Iterable[Hooks]) -> None:
        """Have hooks asked from now on, here and in every workflow inside; each of them once."""
        self.hooks += tuple(one for one in hooks if all(one is not known for known in self.hooks))

    def instant(self, path: str) -> int:
        """Give the instant for a step that is noted; in a replay the recorded one."""
        return self.run.clock.now() if self.reel is None else self.reel.instant(path)

    async def note(self, step: Step) -> None:
        """Record a step that is not run, such as one that is blocked or skipped."""
        if not step.started_at:
            now = _core.format_instant(self.run.clock.now())
            step = replace(step, started_at=now, ended_at=now)
        step = step if self.reel is None else self.reel.noted(step)
        self.steps.append(step)
        self.finished += 1
        await self.tell("step_ended", step.path, step=step)
