"""JSON Lines from a text or a file, in pieces of whole lines."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, TypeAlias, TypeGuard, cast

from interlock import _core
from interlock.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock._columns import ArrowRecords

__all__ = ["LINE_LIMIT", "Piece", "Pieces", "Records", "is_text", "pieces", "pieces_of"]

Records: TypeAlias = (
    "Iterable[object] | bytes | bytearray | memoryview | PathLike[str] | IO[bytes] | ArrowRecords"
)
"""Records from any iterable; or JSON Lines, as bytes, or as a file: its path, what `open` gives in
binary mode, a memory map; or Arrow data."""

LINE_LIMIT = 256 << 20
"""Bytes of a line of a file, its end included; a longer one is a bad line."""
_BLOCK = 4 << 20
_BOM = b"\xef\xbb\xbf"


class Piece(NamedTuple):
    """Whole lines; or, without any, a line over the limit."""

    text: bytes
    overlong: bool = False


Pieces: TypeAlias = "Iterable[Piece | _core.ArrowRows]"
"""Records as lines, or as rows of columns, some at a time."""


def is_text(records: object) -> bool:
    """Whether records come as JSON Lines: bytes, the path of a file, or an open one.

    Raises:
        ConfigError: For a `str`: it might be a text or a path; for a file that gives `str`.
    """
    if isinstance(records, (bytes, bytearray, memoryview, PathLike)):
        return True
    if isinstance(records, str):
        message = "a str may be a text or a path: write text.encode() or pathlib.Path(path)"
    elif not _is_open(records):
        return False
    elif isinstance(cast("object", records.read(0)), bytes):
        return True
    else:
        message = "a file is read as bytes: open it in binary mode"
    raise ConfigError((Problem("spec/wrong-type", "records", _core.preview(records), message),))


def _is_open(records: object) -> TypeGuard[IO[bytes]]:
    """Whether it is an open file, or is read like one, as a memory map is."""
    return callable(getattr(records, "read", None))


class _Read(io.RawIOBase):
    """What can be read, and no more than that."""

    def __init__(self, records: IO[bytes]) -> None:
        super().__init__()
        self._records = records

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        room = memoryview(cast("bytearray", buffer))
        block = self._records.read(len(room))
        room[: len(block)] = block
        return len(block)


def pieces(records: object) -> Iterator[Piece]:
    """Cut a text or file behind line ends; a byte-order mark at its very start is left out.

    Raises:
        OSError: When the file cannot be read.
    """
    if isinstance(records, PathLike):
        with Path(cast("PathLike[str]", records)).open("rb") as lines:
            yield from pieces_of(lines)
    elif _is_open(records):
        is_file = isinstance(records, io.IOBase)
        yield from pieces_of(records if is_file else io.BufferedReader(_Read(records), _BLOCK))
    else:
        yield Piece(bytes(cast("bytes", records)).removeprefix(_BOM))


def pieces_of(lines: IO[bytes]) -> Iterator[Piece]:
    """Cut what is left of a file, as `pieces` does."""
    first = True
    for piece in _cut(lines):
        yield piece._replace(text=piece.text.removeprefix(_BOM)) if first else piece
        first = False


def _cut(lines: IO[bytes]) -> Iterator[Piece]:
    while block := lines.read(min(_BLOCK, LINE_LIMIT)):
        start = block.rfind(b"\n") + 1
        if start < len(block):
            block += lines.readline(max(1, LINE_LIMIT + 1 - (len(block) - start)))
        if len(block) - start <= LINE_LIMIT:
            yield Piece(block)
            continue
        yield Piece(block[:start])
        yield Piece(b"", overlong=True)
        if not block.endswith(b"\n"):
            _skip_line(lines)


def _skip_line(lines: IO[bytes]) -> None:
    while (rest := lines.readline(_BLOCK)) and not rest.endswith(b"\n"):
        pass
