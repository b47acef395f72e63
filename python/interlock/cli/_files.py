"""Where records come from and where answers go."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from interlock.cli._commands import standard_input

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["destination", "source"]

_LINKS = 40


@contextmanager
def source(path: str) -> Generator[IO[bytes]]:
    """Open the records."""
    if path == "-":
        yield standard_input()
        return
    with Path(path).open("rb") as lines:
        yield lines


@contextmanager
def destination(path: str | None, is_whole: Callable[[], bool]) -> Generator[IO[bytes]]:
    """Open where decisions go: a file is written beside its place and renamed when it is whole."""
    if path is None or _is_standard_output(path):
        yield sys.stdout.buffer
        return
    place = Path(path).resolve()
    if _is_open_elsewhere(path):
        # What somebody holds open must stay the file that it is; what is in it is theirs.
        with Path(path).open("ab") as out:
            yield out
        return
    if place.exists() and not place.is_file():
        # A device or a pipe is written to, never replaced.
        with place.open("wb") as out:
            yield out
        return
    beside = place.with_name(f"{place.name}.{os.getpid()}.part")
    beside.unlink(missing_ok=True)
    try:
        with open(beside, "xb", opener=_as_private_as(place)) as out:
            yield out
        if is_whole():
            beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def _is_standard_output(path: str) -> bool:
    """Say whether a path names the file that standard output goes to, as `/dev/stdout` does."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))  # noqa: PTH116
    except (OSError, ValueError):
        return False


def _is_open_elsewhere(path: str) -> bool:
    """Say whether a path leads to where names stand for files that are open."""
    step = Path(path)
    for _ in range(_LINKS):
        # The name itself may be a link to the file: only its folder is resolved.
        step = step.parent.resolve() / step.name
        if step.is_relative_to("/proc") or step.is_relative_to("/dev/fd"):
            return True
        if not step.is_symlink():
            return False
        step = step.parent / step.readlink()
    return False


def _as_private_as(place: Path) -> Callable[[str, int], int]:
    """Give an opener of new files with the permissions of the file that is there, if there is."""

    def opened(name: str, flags: int) -> int:
        try:
            mode = place.stat().st_mode & 0o777
        except FileNotFoundError:
            return os.open(name, flags, 0o666)
        # Never wider than it will be, not for a moment; the umask may have narrowed it.
        descriptor = os.open(name, flags, mode)
        Path(name).chmod(mode)
        return descriptor

    return opened
