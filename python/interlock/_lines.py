"""JSON Lines from a text or a file, in pieces of whole lines."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, TypeAlias, cast

from interlock import _core
from interlock.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock._columns import ArrowRecords

__all__ = ["LINE_LIMIT", "Piece", "Records", "is_text", "pieces", "pieces_of"]

Records: TypeAlias = (
    "Iterable[object] | bytes | bytearray | memoryview | PathLike[str] | ArrowRecords"
)
"""Records from any iterable; or JSON Lines, as bytes or as the path of a file; or Arrow data."""

LINE_LIMIT = 256 << 20
"""Bytes of a line of a file, its end included; a longer one is a bad line."""
_BLOCK = 4 << 20
_BOM = b"\xef\xbb\xbf"


class Piece(NamedTuple):
    """Whole lines; or, without any, a line over the limit."""

    text: bytes
    overlong: bool = False


def is_text(records: object) -> bool:
    """Whether records come as JSON Lines: bytes, or the path of a file.

    Raises:
        ConfigError: For a `str`: it might be a text or a path.
    """
    if isinstance(records, str):
        message = "a str may be a text or a path: write text.encode() or pathlib.Path(path)"
        raise ConfigError((Problem("spec/wrong-type", "records", _core.preview(records), message),))
    return isinstance(records, (bytes, bytearray, memoryview, PathLike))


def pieces(records: object) -> Iterator[Piece]:
    """Cut a text or file behind line ends; a byte-order mark at its very start is left out.

    Raises:
        OSError: When the file cannot be read.
    """
    if not isinstance(records, PathLike):
        yield Piece(bytes(cast("bytes", records)).removeprefix(_BOM))
        return
    with Path(cast("PathLike[str]", records)).open("rb") as lines:
        yield from pieces_of(lines)


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
