"""The folder of a run: seeded by the caller, read by routers, and what they leave there."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from interlock import _core
from interlock.errors import ConfigError, RouteError, RouteFileError, UsageError
from interlock.harness._clock import SystemClock
from interlock.harness._config import keywords, raise_problems, seconds_problems
from interlock.routing._files import DiskFiles
from interlock.routing._journal import Journal, damaged
from interlock.routing._lock import Lock
from interlock.routing._names import SELECTION, hint, id_fault
from interlock.routing._outside import absolute, home_of
from interlock.routing._selections import checked_selections
from interlock.routing._stall import unchanged_steps
from interlock.routing._typed import must_be
from interlock.routing.check import A_PLAN, refuse_plan
from interlock.routing.choice import written
from interlock.routing.evidence import EXECUTION, Evidence, Ledger, visited
from interlock.routing.resolve import A_ROUTER, placed, resolve
from interlock.routing.shapes import Plan, Router
from interlock.routing.sources import silent_producers, sources_for

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from os import PathLike

    from interlock.harness._clock import Clock
    from interlock.routing._files import Files
    from interlock.routing.shapes import Selection

__all__ = ["RunFolder"]

ARCHIVE = "archive"
_RUNS = "runs"
_SELECTIONS = "selections.json"
_NOTES = "run.json"
_KEPT = (EXECUTION, ARCHIVE, _SELECTIONS, "visits.json", "journal.jsonl", _NOTES)
_CLEANING = b'{"cleaning":true}\n'


class RunFolder:
    """The files of one run, at `<root>/runs/<run_id>`.

    `execution/<step_id>/` belongs to a step: what it writes, others read there. A router writes
    its evidence into its own.

    Args:
        root: The workspace, from which a `route_source_file` is read too.
        run_id: The id of the run, which names its folder.
        lock: Whether to hold a lock while a router reads and writes; without one the caller sees to
            it that nobody else does.
        lock_timeout: How many seconds to wait for somebody else.
        clock: Where the instant of a record comes from, where the caller gives none.
        files: How files are read and written, which tests replace.

    Raises:
        RouteError: `route/unsafe-path` for an id that is no name of a folder.
        ConfigError: For a root that is no path, or a timeout that is none.
    """

    @keywords
    def __init__(
        self,
        root: str | PathLike[str],
        run_id: str,
        *,
        lock: bool = True,
        lock_timeout: float = 10.0,
        clock: Clock | None = None,
        files: Files | None = None,
    ) -> None:
        """Name the folder; nothing is made before it is needed."""
        fault = id_fault(run_id)
        if fault is not None:
            raise RouteError("route/unsafe-path", f"run_id: {fault}", value=_core.preview(run_id))
        must_be(lock_timeout, float | int, "lock_timeout", "seconds, more than 0")
        raise_problems(seconds_problems(lock_timeout, "lock_timeout"))
        self.root = home_of(root, "root")
        self.run_id = run_id
        self.path = absolute(absolute(self.root, _RUNS), run_id)
        self.files: Files = files or DiskFiles()
        self.lock_timeout = lock_timeout
        self.journal = Journal(self.files, self.path)
        self.ledger = Ledger(self.files, self.path)
        self._has_lock = lock
        self.clock: Clock = clock or SystemClock()
        self._selections: dict[str, str] | None = None

    def step_path(self, step_id: str) -> str:
        """Return the path of the folder of a step."""
        fault = id_fault(step_id)
        if fault is not None:
            raise RouteError("route/unsafe-path", fault, value=_core.preview(step_id))
        return absolute(absolute(self.path, EXECUTION), step_id)

    def seed(
        self, plan: Plan, route_selections: Mapping[str, str] | None = None
    ) -> tuple[Selection, ...]:
        """Take the caller's choices: check all, keep them with the run, write each router's file.

        They hold for the whole run, also when a folder of a step is cleaned. What is given later
        adds to them, and cannot change them.

        Args:
            plan: The plan.
            route_selections: Routers, each with the id of a route or a destination of one alone.

        Raises:
            RouteError: `route/selection-unknown-router` and `route/selection-invalid`, with every
                fault, before anything is written; `route/plan` for a plan with errors.
            ConfigError: For what is no mapping.
            StoreError: When they cannot be written.
        """
        refuse_plan(plan)
        found = checked_selections(plan, route_selections)
        if found:
            with self.locked():
                self._keep({one.router_id: one.route_id for one in found})
        return found

    def route(
        self, plan: Plan, router_id: str, *, visit: int | None = None, at: int | str | None = None
    ) -> Selection:
        """Take the route that the sources of a router name, and write down why.

        Args:
            plan: The plan.
            router_id: The router.
            visit: Which visit it is, from 1; one that was written down already is answered from
                there. The next one when None.
            at: The instant, in milliseconds from 1970 or as text; that of the clock when None.

        Raises:
            RouteError: When no route can be taken, with the reason; `route/loop` for one that was
                taken `max_visits` times. Then nothing is written.
            RunBusy: When somebody else has the run for longer than the timeout.
            StoreError: When the evidence cannot be written; then no route is taken.
        """
        must_be(plan, Plan, "plan", A_PLAN)
        step = plan.step(router_id)
        if step is None or step.router is None:
            known = [one.id for one in plan.routers]
            near = hint(router_id, known)
            message = f"is no router of the plan{near}; there are {', '.join(known) or 'none'}"
            raise RouteError("route/plan", message, value=_core.preview(router_id))
        refuse_plan(plan, router_id)
        return self.take(plan, step.router, visit=visit, at=at)

    def take(
        self,
        plan: Plan | None,
        router: Router,
        *,
        visit: int | None = None,
        at: int | str | None = None,
        key: str = "",
    ) -> Selection:
        """Do as `route` for a router that is checked, also without a plan around it.

        A visit that was written down under the key is answered from there.
        """
        if visit is not None and (type(visit) is not int or visit < 1):
            raise UsageError(f"visit is {_core.preview(visit)}; it must be a whole number, 1 up")
        must_be(router, Router, "router", A_ROUTER)
        self.step_path(router.id)
        with self.locked():
            try:
                counts, entries = self.ledger.caught_up(router.id)
            except RouteFileError as error:
                raise placed(error, router, None) from error.__cause__
            done = visited(counts, entries)
            if visit is not None and visit <= done:
                return _recorded(router, entries, visit)
            if visit is not None and visit > done + 1:
                raise UsageError(f"{router.id} was visited {done} times; visit {visit} cannot be")
            asked = [entry for entry in entries if key and entry.key == key]
            if asked:
                return _recorded(router, asked, asked[0].visit)
            sources = sources_for(plan, router, self)
            selection = resolve(router, sources, visit=done + 1)
            self.guard(plan, router, selection, counts)
            silent = silent_producers(router.id, selection.absent, self.completed)
            entry = Evidence.of(selection, self._instant(at), silent=silent, key=key)
            self.ledger.record(entry)
        return selection

    def selections(self) -> dict[str, str]:
        """Return the caller's choices that are kept with the run, by router.

        Raises:
            RouteError: When they are fewer than were given.
            StoreError: When what is kept is damaged.
        """
        given = self.notes().get("selections", 0)
        if type(given) is not int:
            raise damaged(_NOTES, "selections must be how many were given")
        kept = self._selections
        if kept is None or len(kept) < given:  # Somebody else may have seeded more since.
            kept = self._kept()
        # More than were noted is no fault: a seed was killed right after it wrote them.
        if len(kept) < given:
            message = (
                f"{given} selections were given for this run, and {len(kept)} are kept: restore "
                "the file, or clean the run"
            )
            raise RouteError("route/selection-invalid", message, source_path=_SELECTIONS)
        return kept

    def completed(self) -> frozenset[str]:
        """Return the steps that were done at least once."""
        return frozenset(self.journal.standing().done)

    def evidence(self) -> tuple[Evidence, ...]:
        """Return what all routers have written down, by router and in order."""
        names = self.files.names(self.path, (EXECUTION,))
        found = [self.ledger.log((EXECUTION, name)) for name in names if id_fault(name) is None]
        return tuple(entry for entries in found for entry in entries)

    def archive(self, step_id: str, visit: int) -> None:
        """Put the folder of a step away, so that a further visit finds nothing old in it."""
        self.step_path(step_id)
        self.files.move(self.path, (EXECUTION, step_id), (ARCHIVE, f"{step_id}.{visit}"))

    def clean(self) -> None:
        """Remove all that a run has left; the locks stay."""
        with self.locked():
            self._selections = None
            # Noted, so that one that is killed in the middle is finished before the next run.
            self.files.write(self.path, (_NOTES,), _CLEANING)
            for name in _KEPT:
                self.files.remove(self.path, (name,))

    @property
    def is_half_cleaned(self) -> bool:
        """Whether a `clean` was cut short."""
        return "cleaning" in self.notes()

    def notes(self) -> dict[str, Any]:
        """Return what is noted of the run as a whole."""
        return self._data(_NOTES)

    def note(self, **changes: object) -> None:
        """Note something of the run as a whole."""
        content = _core.to_json({**self.notes(), **changes}).encode() + b"\n"
        self.files.write(self.path, (_NOTES,), content)

    @contextmanager
    def locked(self) -> Generator[None]:
        """Hold the lock of the run, where it has one."""
        lock = Lock(absolute(self.path, ".lock"), self.lock_timeout)
        with lock.held() if self._has_lock else nullcontext():
            yield

    def _keep(self, chosen: dict[str, str]) -> None:
        """Write choices down: first where they hold, then where readers look for them."""
        kept = self.selections()
        changed = [name for name, route in chosen.items() if kept.get(name, route) != route]
        if changed:
            message = (
                f"{', '.join(changed)}: this run was given another choice, which holds to its end; "
                "clean the run, or take a new one"
            )
            raise RouteError("route/selection-invalid", message)
        merged = {**kept, **chosen}
        wire = {"schema": "interlock.route-selections/1", "selections": merged}
        self.files.write(self.path, (_SELECTIONS,), _core.to_json(wire).encode() + b"\n")
        self._selections = merged
        self.note(selections=len(merged))
        for router_id, route_id in chosen.items():
            self.files.write(self.path, (EXECUTION, router_id, SELECTION), written(route_id))

    def _kept(self) -> dict[str, str]:
        kept = self._data(_SELECTIONS).get("selections", {})
        if not isinstance(kept, dict) or not all(
            isinstance(route, str) for route in cast("dict[str, object]", kept).values()
        ):
            raise damaged(_SELECTIONS, "selections must name a route by router")
        return cast("dict[str, str]", kept)

    def _data(self, name: str) -> dict[str, Any]:
        content = self.files.read(self.path, (name,))
        if content is None:
            return {}
        try:
            data = _core.Json(content, unique_keys=True).to_python()
        except ConfigError as error:
            raise damaged(name, str(error)) from None
        if not isinstance(data, dict):
            raise damaged(name, "it must hold a JSON object")
        return cast("dict[str, Any]", data)

    def guard(
        self, plan: Plan | None, router: Router, selection: Selection, counts: Mapping[str, int]
    ) -> None:
        """Refuse a route that was taken as often as it may be; `counts` are those of the ledger."""
        taken = counts.get(selection.route_id, 0)
        if taken < router.max_visits:
            return
        still = unchanged_steps(self, plan) if plan is not None else ()
        why = f"; nothing changed in {', '.join(still)} from one visit to the next" if still else ""
        raise RouteError(
            "route/loop",
            f"{selection.route_id} was taken {taken} times, and may be {router.max_visits} times: "
            f"that is a loop{why}",
            router_id=router.id,
            source_kind=selection.source_kind,
            source_path=selection.source_path or None,
            value=_core.preview(selection.raw_value),
            available=router.available,
        )

    def _instant(self, at: int | str | None) -> str:
        if at is None:
            at = self.clock.now()
        return at if isinstance(at, str) else _core.format_instant(at)


def _recorded(router: Router, entries: list[Evidence], visit: int) -> Selection:
    found = next((entry for entry in entries if entry.visit == visit), None)
    if found is None:
        message = f"visit {visit} was counted, and its evidence is gone: restore the folder"
        raise RouteFileError("route/unreadable", message, router_id=router.id)
    taken = found.selection
    if not any(
        (route.route_id, route.next_step_id) == (taken.route_id, taken.next_step_id)
        for route in router.routes
    ):
        message = (
            f"visit {visit} took {taken.route_id} -> {taken.next_step_id}, which is no route of "
            f"this router any more ({', '.join(router.available)}): restore the plan, or take a "
            "new run"
        )
        raise RouteError("route/unknown", message, router_id=router.id, available=router.available)
    return taken
