"""Large files as numbered parts: how they are cut, decided, written, and found again."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, Any, cast

from interlock import _core
from interlock._columns import row_blocks
from interlock._lines import Piece
from interlock.errors import ConfigError, InterlockError, Problem
from interlock.integrations._ask import asked, labelled
from interlock.tools._output import Written, joined
from interlock.tools._records import BLANKS
from interlock.tools.error_classify import ErrorClassify, ErrorVerdicts

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from interlock._compiled import CompiledSpec
    from interlock.tools._batch import Batch
    from interlock.tools._output import Block

__all__ = ["Job", "Part", "Source", "decide_part", "finished", "open_job", "plan", "swept"]

_MANIFEST = "manifest.json"
_FORMAT = 1
_LINES = (".jsonl", ".ndjson")
_COLUMNS = ".parquet"
_BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_DIGITS = 5
_TOOLS = ("Branch", "DecisionTable", "RuleScore", "ErrorClassify")


@dataclass(frozen=True, slots=True)
class Source:
    """A file of records as it was when the job began."""

    path: str
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> Source:
        """Look at a file."""
        seen = path.stat()
        return cls(str(path), seen.st_size, seen.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a file: bytes `start` to `end` of JSON Lines, or the row group `start`.

    Attributes:
        rows: How many records it has, where that is known before it is read.
    """

    number: int
    file: int
    start: int
    end: int
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """What is decided by what, cut into parts; the same again means the same answers."""

    spec: str
    interlock: str
    json_columns: tuple[str, ...]
    sources: tuple[Source, ...]
    parts: tuple[Part, ...]

    def named(self, part: Part) -> str:
        """Say in words which part it is."""
        path = self.sources[part.file].path
        rows = Path(path).suffix == _COLUMNS
        where = f"row group {part.start}" if rows else f"bytes {part.start} to {part.end}"
        return f"part {part.number} ({path}, {where})"

    def stem(self, part: Part) -> str:
        """Give the start of the names of its answers: texts in the order of the parts."""
        digits = max(_DIGITS, len(str(len(self.parts) - 1)))
        return f"part-{part.number:0{digits}}"

    def suffix(self, part: Part) -> str:
        """Give the end of the names of its answers."""
        is_columns = Path(self.sources[part.file].path).suffix == _COLUMNS
        return _COLUMNS if is_columns else _LINES[0]


def plan(
    spec: CompiledSpec, files: object, *, json_columns: tuple[str, ...], part_bytes: int
) -> Job:
    """Cut files into numbered parts.

    Raises:
        ConfigError: For files that are none, that are named twice, or of another kind.
        OSError: When a file cannot be looked at.
    """
    if spec.tool not in _TOOLS:
        message = f"must be one of {', '.join(_TOOLS)}: others are not asked for each record alone"
        raise _wrong("spec", spec.tool, message)
    if type(part_bytes) is not int or part_bytes < 1:
        raise _wrong("part_bytes", part_bytes, "must be a whole number of at least 1")
    paths = _paths(files)
    sources = tuple(map(Source.of, paths))
    parts: list[Part] = []
    for file, (path, source) in enumerate(zip(paths, sources, strict=True)):
        cut = _row_groups(path) if path.suffix == _COLUMNS else _ranges(path, source, part_bytes)
        parts += (Part(number, file, *where) for number, where in enumerate(cut, start=len(parts)))
    return Job(spec.fingerprint, _core.__version__, json_columns, sources, tuple(parts))


def _paths(files: object) -> list[Path]:
    one = isinstance(files, (str, bytes, os.PathLike))
    if any((one, not hasattr(files, "__iter__"))):
        raise _wrong("files", files, "must be a list of paths")
    paths: list[Path] = []
    known: dict[object, object] = {}
    for file in cast("Iterable[str]", files):
        if not isinstance(cast("object", file), (str, os.PathLike)):
            raise _wrong("files", file, "must be the path of a file")
        path = Path(file).resolve()
        if path.suffix not in {*_LINES, _COLUMNS}:
            names = ", ".join((*_LINES, _COLUMNS))
            raise _wrong("files", file, f"the name must end with one of {names}")
        about = path.stat()
        if not S_ISREG(about.st_mode):
            raise _wrong("files", file, "must be a file")
        # Two names may be one file; where files have no number, by the name.
        same = (about.st_dev, about.st_ino) if about.st_ino else path
        if same in known:
            raise _wrong("files", file, f"the same file as {known[same]}: name each once")
        known[same] = file
        paths.append(path)
    if not paths:
        raise _wrong("files", [], "must name at least one file")
    return paths


def _wrong(field: str, value: object, message: str) -> ConfigError:
    shown = _core.preview(os.fspath(value) if isinstance(value, Path) else value)
    return ConfigError((Problem("spec/wrong-type", field, shown, message),))


def _row_groups(path: Path) -> Iterator[tuple[int, int, int]]:
    try:
        about: Any = _parquet().read_metadata(path)
    except import_module("pyarrow").ArrowException as error:
        raise _wrong("files", path, str(error)) from None
    for group in range(about.num_row_groups):
        yield group, group + 1, about.row_group(group).num_rows


def _ranges(path: Path, source: Source, part_bytes: int) -> Iterator[tuple[int, int]]:
    """Cut behind line ends; together the ranges are the file."""
    start = 0
    with path.open("rb") as lines:
        while start < source.size:
            lines.seek(min(start + part_bytes, source.size) - 1)
            while (read := lines.readline(_BLOCK)) and not read.endswith(b"\n"):
                pass
            end = min(lines.tell(), source.size)
            yield start, end
            start = end


def open_job(job: Job, out: Path) -> None:
    """Make the folder of a job, or make sure that the one there is of this very job.

    Raises:
        ConfigError: When it is of another job, or of none.
    """
    out.mkdir(parents=True, exist_ok=True)
    place = out / _MANIFEST
    manifest = {"format": _FORMAT, **asdict(job)}
    # As it is read again: tuples are lists there.
    manifest = cast("dict[str, Any]", json.loads(json.dumps(manifest)))
    known: object = None
    try:
        known = json.loads(place.read_bytes())
    except FileNotFoundError:
        if any(not path.name.startswith(".") for path in out.iterdir()):
            message = "is not empty and holds no job: name another folder"
            raise _wrong("out", out, message) from None
        with _beside(out) as beside:
            beside.write_text(json.dumps(manifest) + "\n", encoding="utf-8")
            beside.replace(place)
        return
    except (ValueError, RecursionError):
        pass
    if not isinstance(known, dict):
        raise _wrong("out", out, f"{_MANIFEST} cannot be read: name another folder")
    known = cast("dict[str, Any]", known)
    if different := [key for key, value in manifest.items() if known.get(key) != value]:
        what = _difference(different[0], known.get(different[0]), manifest[different[0]])
        message = f"holds another job ({what}): name another folder, or remove this one"
        raise _wrong("out", out, message)


def _difference(key: str, known: object, new: object) -> str:
    if key != "sources" or not isinstance(known, list):
        shown = "" if key == "parts" else f": {_core.preview(known)}, now {_core.preview(new)}"
        return f"other {key.replace('_', ' ')}{shown}"
    before = {source["path"]: source for source in cast("list[dict[str, object]]", known)}
    for source in cast("list[dict[str, object]]", new):
        path = source["path"]
        if before.pop(path, source) != source:
            return f"{path} has changed since"
        if path not in {one["path"] for one in cast("list[dict[str, object]]", known)}:
            return f"{path} is none of its files"
    return f"{next(iter(before))} is one of its files" if before else "its files in another order"


def finished(job: Job, out: Path) -> dict[int, tuple[Path, int]]:
    """Give the answers that are there, by the number of their part: the file and its rows.

    Raises:
        InterlockError: When a part is there twice, or has other rows than its records are.
    """
    parts = {job.stem(part): part for part in job.parts}
    found: dict[int, tuple[Path, int]] = {}
    for path in sorted(out.glob("part-*")):
        stem, _, rows = path.stem.rpartition("-")
        part = parts.get(stem)
        digits = rows.isascii() and rows.isdecimal()
        if part is None or not digits or path.suffix != job.suffix(part) or not path.is_file():
            raise InterlockError(f"{path} is none of this job's parts: remove it")
        if part.number in found:
            raise InterlockError(f"{job.named(part)} is there twice: remove {path} or the other")
        if part.rows not in {None, int(rows)}:
            raise InterlockError(f"{path}: {part.rows} rows in, {rows} out: remove it")
        found[part.number] = path, int(rows)
    return found


def swept(out: Path) -> None:
    """Remove what workers that were ended have left; no part is being written any more."""
    for path in out.glob(".beside-*"):
        path.unlink(missing_ok=True)


def decide_part(spec: CompiledSpec, job: Job, part: Part, out: Path) -> int:
    """Decide a part, write its answers beside, count them, rename; give how many there are.

    Raises:
        InterlockError: When its file has changed, or rows in are not rows out.
    """
    source = job.sources[part.file]
    path = Path(source.path)
    columns = path.suffix == _COLUMNS
    with _beside(out) as beside:
        _unchanged(path, source)
        if columns:
            rows, written = _decide_rows(spec, job, path, part, beside)
        else:
            rows, written = _decide_lines(spec, path, part, beside)
        # Also behind it: what was read must be what was meant.
        _unchanged(path, source)
        if rows != written:
            raise InterlockError(f"{rows} rows in, {written} out")
        beside.replace(out / f"{job.stem(part)}-{rows}{job.suffix(part)}")
    return rows


def _unchanged(path: Path, source: Source) -> None:
    if Source.of(path) != source:
        raise InterlockError(f"{path} has changed since the job began")


@contextmanager
def _beside(out: Path) -> Generator[Path]:
    """Give a name that nobody else writes to, also not on another machine."""
    path = out / f".beside-{os.urandom(12).hex()}"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _decide_lines(spec: CompiledSpec, path: Path, part: Part, beside: Path) -> tuple[int, int]:
    with path.open("rb") as lines:
        lines.seek(part.start)
        text = lines.read(part.end - part.start)
    if text.startswith(_BOM):
        # Only at the start of a file is it no fault.
        text = b" " + text if part.start else text.removeprefix(_BOM)
    rows = sum(1 for line in text.split(b"\n") if line.strip(BLANKS))
    with beside.open("xb") as out:
        for piece in joined(_answer_lines(spec, text)):
            out.write(piece)
        _keep(out)
    with beside.open("rb") as out:
        return rows, sum(block.count(b"\n") for block in iter(lambda: out.read(_BLOCK), b""))


def _answer_lines(spec: CompiledSpec, text: bytes) -> list[bytes]:
    if (blocks := spec.answer_blocks([Piece(text)], 1)) is None:
        return [answer.to_json().encode() + b"\n" for answer in asked(spec, {})(text)]
    written = Written()
    return [line for block in blocks for line in written.lines(cast("Block", block))]


def _decide_rows(
    spec: CompiledSpec, job: Job, path: Path, part: Part, beside: Path
) -> tuple[int, int]:
    pa: Any = import_module("pyarrow")
    pq = _parquet()
    with pq.ParquetFile(path) as file:
        table = file.read_row_group(part.start)
    answers = pa.record_batch(_answer_rows(spec, table, [*job.json_columns]))
    with beside.open("xb") as out:
        pq.write_table(pa.Table.from_batches([answers]), out)
        _keep(out)
    return table.num_rows, pq.read_metadata(beside).num_rows


def _answer_rows(spec: CompiledSpec, table: Any, json_columns: list[str]) -> Batch[Any]:
    if isinstance(spec, ErrorClassify):
        # An error that is refused ends no part: it is answered in its place, as a bad line is.
        blocks = spec.answer_blocks(row_blocks(table, json_columns), 1)
        return labelled(ErrorVerdicts.joined(blocks))
    return asked(spec, {"json_columns": json_columns})(table)


def _parquet() -> Any:
    # Untyped: whether it is there must not change what is checked here.
    return import_module("pyarrow.parquet")


def _keep(out: IO[bytes]) -> None:
    """Have it on the disk before it is renamed: a name stands for a whole part."""
    out.flush()
    os.fsync(out.fileno())
