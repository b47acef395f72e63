"""Files decided by Ray, part by part: nothing lost, nothing twice, taken up again where it ended.

Ray's own tasks over numbered parts; of a cluster nothing is known here.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from interlock.errors import InterlockError
from interlock.integrations._parts import decide_part, finished, open_job, plan, swept

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from os import PathLike

    from interlock._compiled import CompiledSpec
    from interlock.integrations._parts import Job, Part

__all__ = ["FilesDecided", "PartsFailed", "decide_files"]

PART_BYTES = 64 << 20
_ATTEMPTS = 2
_PENDING = 1000
"""Parts handed to Ray at a time: enough for a cluster to see that it must grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesDecided:
    """A job that is done.

    Attributes:
        paths: The files of answers, in the order of the parts; their names sort like this, too.
        rows: How many records there were, and answers are.
        resumed: How many parts were there before.
    """

    paths: tuple[Path, ...]
    rows: int
    resumed: int


class PartsFailed(InterlockError):
    """Some parts failed twice; the others are finished and kept, and the next run skips them.

    Attributes:
        failures: What is wrong, by the number of the part.
    """

    def __init__(self, message: str, failures: dict[int, str]) -> None:
        """Take the whole message, and that of each part."""
        super().__init__(message, failures)
        self.failures = failures

    def __str__(self) -> str:
        """Say which parts, and why."""
        return str(self.args[0])


def decide_files(
    spec: CompiledSpec,
    files: Iterable[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    json_columns: Iterable[str] = (),
    part_bytes: int = PART_BYTES,
) -> FilesDecided:
    """Decide every record of many files, on the Ray that is running or on one of this machine.

    A part is a row group of Parquet or some lines of JSON Lines. The same call again takes up a job
    that has ended before its end.

    Args:
        spec: A compiled `Branch`, `DecisionTable`, `RuleScore` or `ErrorClassify`.
        files: Paths that every worker can read, ending in `.parquet`, `.jsonl` or `.ndjson`.
        out: A folder that every worker can write to. Parquet is answered by columns as in a
            `Batch`, JSON Lines by lines as `interlock decide` writes.
        json_columns: Columns of Parquet that hold JSON as text, by name.
        part_bytes: How many bytes of JSON Lines make a part, up to the next line end.

    Raises:
        ConfigError: For files that are none or named twice, or a folder with another job in it.
        PartsFailed: When parts failed twice.
        OSError: When a file cannot be read.
    """
    job = plan(spec, files, json_columns=tuple(json_columns), part_bytes=part_bytes)
    place = Path(out).resolve()
    open_job(job, place)
    before = finished(job, place)
    left = [part for part in job.parts if part.number not in before]
    failures: dict[int, str] = {}
    rows = {number: count for number, (_, count) in before.items()}
    if left:
        with _running() as ray:
            for end in _ends(ray, spec, job, left, place):
                if end.why is None:
                    rows[end.part.number] = end.rows
                else:
                    failures[end.part.number] = f"{job.named(end.part)}: {end.why}"
    if failures:
        raise _failed(job, place, failures)
    swept(place)
    return _whole(job, place, rows, len(before))


def _whole(job: Job, out: Path, rows: dict[int, int], resumed: int) -> FilesDecided:
    """Look at what is there once more: every part once, with the rows that were counted."""
    found = finished(job, out)
    if {number: count for number, (_, count) in found.items()} != rows or len(found) != len(
        job.parts
    ):
        raise InterlockError(f"{out}: not every part is there as it was written: run it again")
    paths = tuple(found[part.number][0] for part in job.parts)
    return FilesDecided(paths=paths, rows=sum(rows.values()), resumed=resumed)


def _failed(job: Job, out: Path, failures: dict[int, str]) -> PartsFailed:
    kept = len(job.parts) - len(failures)
    first = f"{len(failures)} of {len(job.parts)} parts failed twice; {kept} are finished in {out}"
    return PartsFailed("\n  ".join((first, *(failures[key] for key in sorted(failures)))), failures)


@contextmanager
def _running() -> Generator[Any]:
    """Give Ray: the one that is connected, or else the one that it finds or starts."""
    # Untyped: whether it is there must not change what is checked here.
    ray: Any = import_module("ray")
    if ray.is_initialized():
        yield ray
        return
    ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        yield ray
    finally:
        ray.shutdown()


class _End(NamedTuple):
    """How a part ended."""

    part: Part
    rows: int = 0
    why: str | None = None


def _ends(ray: Any, spec: CompiledSpec, job: Job, left: list[Part], out: Path) -> Iterator[_End]:
    """Run the parts, and yield them as they end; what failed is run once more."""
    # A worker that is lost counts as a failure, too, so that Ray retries nothing itself.
    task = ray.remote(num_cpus=1, max_retries=0)(decide_part)
    shared = ray.put(spec), ray.put(job)
    waiting = iter(left)
    running: dict[Any, Part] = {}
    tried: dict[int, int] = {}

    def start(part: Part) -> None:
        tried[part.number] = tried.get(part.number, 0) + 1
        running[task.remote(*shared, part, out)] = part

    for part in islice(waiting, _PENDING):
        start(part)
    while running:
        done, _ = ray.wait(list(running), num_returns=1)
        part = running.pop(done[0])
        try:
            end = _End(part, ray.get(done[0]))
        except ray.exceptions.RayError as error:
            if tried[part.number] < _ATTEMPTS:
                start(part)
                continue
            end = _End(part, why=_told(error))
        yield end
        for following in islice(waiting, 1):
            start(following)


def _told(error: Exception) -> str:
    """Say what happened in the worker, without its stack."""
    cause = getattr(error, "cause", None) or error
    lines = str(cause).strip().splitlines() or [""]
    return f"{type(cause).__name__}: {lines[0]}"
