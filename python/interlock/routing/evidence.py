"""What a router leaves in the folder of its run: which route it took, why, and how often."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Self, cast

from interlock import _core
from interlock.errors import ConfigError, RouteFileError, SpecInvalid
from interlock.record._data import Record
from interlock.routing._names import EVIDENCE, SELECTION
from interlock.routing.choice import SIZE_LIMIT, is_evidence
from interlock.routing.shapes import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlock.routing._files import Files, Parts

__all__ = ["Evidence", "Ledger", "visited"]

SCHEMA = "interlock.route-evidence/1"
EXECUTION = "execution"
_LOG = f"{EVIDENCE}l"
_VISITS = "visits.json"


@dataclass(frozen=True, slots=True)
class Evidence(Record):
    """One visit of a router, as it is written down.

    Attributes:
        schema: `interlock.route-evidence/1`.
        router_id, route_id, next_step_id, source_kind, source_path, field, raw_value, visit,
            absent, digest: As in `Selection`.
        at: When, `YYYY-MM-DDTHH:MM:SS.mmmZ`.
        silent: Steps that were to write a choice, ran to their end and wrote none.
        key: The idempotency key of the step of a workflow that asked; empty where none did.
    """

    schema: str
    router_id: str
    route_id: str
    next_step_id: str
    source_kind: str
    source_path: str
    field: str
    raw_value: str
    visit: int
    absent: tuple[str, ...]
    at: str
    digest: str
    silent: tuple[str, ...] = ()
    key: str = ""

    @classmethod
    def of(
        cls, selection: Selection, at: str, *, silent: tuple[str, ...] = (), key: str = ""
    ) -> Self:
        """Write down a selection."""
        return cls(schema=SCHEMA, at=at, silent=silent, key=key, **asdict(selection))

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as data; every field is there, but for a key that is none."""
        wire = {**asdict(self), "absent": list(self.absent), "silent": list(self.silent)}
        if not self.key:
            del wire["key"]
        return wire

    @property
    def selection(self) -> Selection:
        """The selection that was written down."""
        return Selection(**{one.name: getattr(self, one.name) for one in fields(Selection)})


class Ledger:
    """The visits of all routers of a run.

    A visit counts from when its line in the log of the router stands; the numbers beside it and
    the other files are brought in line with that when the router is visited next.
    """

    def __init__(self, files: Files, root: str) -> None:
        """Take the folder of the run."""
        self._files, self._root = files, root

    def visits(self) -> dict[str, dict[str, int]]:
        """Return how often each route of each router was taken.

        Raises:
            RouteFileError: When that cannot be read; it never counts as none.
        """
        content = self._files.read(self._root, (_VISITS,))
        if content is None:
            return {}
        try:
            data = _core.Json(content, unique_keys=True).to_python()
            counts = {
                router: {route: _count(n) for route, n in of.items()}
                for router, of in cast("Any", data).items()
            }
        except (ConfigError, AttributeError, ValueError):
            message = 'it holds {"router": {"route": times}}, and no visit is forgotten'
            raise _damaged((_VISITS,), message) from None
        return counts

    def entries(self, router_id: str) -> list[Evidence]:
        """Return what a router has written down, in order; a last line that was cut off is none.

        Raises:
            RouteFileError: When it cannot be read.
        """
        return self.log(_folder(router_id))

    def log(self, folder: Parts) -> list[Evidence]:
        """Return what is written down in a folder; see `entries`."""
        place = (*folder, _LOG)
        content = self._files.read(self._root, place) or b""
        whole = content[: content.rfind(b"\n") + 1]
        try:
            entries = [Evidence.from_json(line) for line in whole.splitlines() if line.strip()]
        except (ConfigError, SpecInvalid) as error:
            raise _damaged(place, str(error)) from None
        last = 0
        for entry in entries:
            # What somebody else put there must not lead to another folder, nor count for one.
            if entry.schema != SCHEMA or entry.router_id != folder[-1] or entry.visit <= last:
                shown = f"{entry.schema}, {entry.router_id}, visit {entry.visit} after {last}"
                wanted = f"{SCHEMA} of {folder[-1]}, its visits in order"
                raise _damaged(place, f"{_core.preview(shown)} must be {wanted}")
            last = entry.visit
        return entries

    def caught_up(self, router_id: str) -> tuple[dict[str, int], list[Evidence]]:
        """Finish the visit that a crash cut short, if there is one; return counts and entries."""
        visits = self.visits()
        counts, entries = self._standing(router_id, visits)
        if entries:
            self._settle(entries[-1], {**visits, router_id: counts})
        return counts, entries

    def standing(self, router_id: str) -> tuple[dict[str, int], list[Evidence]]:
        """Return counts and entries as `caught_up` does, and write nothing."""
        return self._standing(router_id, self.visits())

    def _standing(
        self, router_id: str, visits: dict[str, dict[str, int]]
    ) -> tuple[dict[str, int], list[Evidence]]:
        counts = dict(visits.get(router_id, {}))
        entries = self.entries(router_id)
        done = sum(counts.values())
        for entry in entries:
            if entry.visit > done:
                counts[entry.route_id] = counts.get(entry.route_id, 0) + 1
                done += 1
        return counts, entries

    def record(self, entry: Evidence) -> None:
        """Write a visit down; from then on it has been.

        Raises:
            StoreError: When it cannot be written; then no route is taken.
        """
        line = _core.to_json(entry.to_dict()).encode()
        self._files.append(self._root, (*_folder(entry.router_id), _LOG), line)
        self.caught_up(entry.router_id)

    def _settle(self, last: Evidence, visits: dict[str, dict[str, int]]) -> None:
        """Bring everything beside the log in line with it."""
        folder = _folder(last.router_id)
        self._write((_VISITS,), visits)
        self._write((*folder, EVIDENCE), last.to_dict())
        if self._is_ours((*folder, SELECTION)):
            # The marked file, for readers that know its name alone; never read as a source here.
            told = {"select_route": last.route_id, "evidence": True, **last.to_dict()}
            del told["route_id"]
            self._write((*folder, SELECTION), told)

    def _write(self, parts: Parts, data: object) -> None:
        content = _core.to_json(data).encode() + b"\n"
        if self._files.read(self._root, parts) != content:
            self._files.write(self._root, parts, content)

    def _is_ours(self, parts: Parts) -> bool:
        """Say whether nothing stands in a place but what we wrote there."""
        try:
            content = self._files.read(self._root, parts, SIZE_LIMIT)
        except RouteFileError:
            return False
        return content is None or is_evidence(content)


def _damaged(place: Parts, message: str) -> RouteFileError:
    path = "/".join(place)
    message = f"is damaged: {message}; restore it, or take a new run"
    return RouteFileError("route/unreadable", message, source_path=path)


def visited(counts: Mapping[str, int], entries: Sequence[Evidence]) -> int:
    """Return how often a router was visited; what of its log is lost stays counted."""
    return max(sum(counts.values()), entries[-1].visit if entries else 0)


def _folder(step_id: str) -> Parts:
    return (EXECUTION, step_id)


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value
