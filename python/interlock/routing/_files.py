"""Files of a run: the one place of routing that touches the disk.

Nothing here follows a link out of the folder it was given. A name is opened once, and what was
opened is what is read: what happens to the name afterwards changes nothing.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from interlock.errors import RouteFileError, StoreError
from interlock.routing.choice import RECORD_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from io import FileIO

__all__ = [  # noqa: RUF022 (by code point, as every other list of names)
    "DiskFiles",
    "Files",
    "READ",
    "content_of",
    "unreadable",
]

Parts = tuple[str, ...]

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_COMMON = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# A pipe in place of a file must not be waited for.
_WAIT_NOT = getattr(os, "O_NONBLOCK", 0)
READ = os.O_RDONLY | _WAIT_NOT | _COMMON
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _COMMON
_HAS_FOLDERS = bool(_NO_FOLLOW) and os.open in os.supports_dir_fd


class Files(Protocol):
    """What a run asks of its files; tests replace it. `parts` are names below the root."""

    def read(self, root: str, parts: Parts, limit: int = RECORD_LIMIT) -> bytes | None:
        """Return what stands in a file; None for no file.

        Raises:
            RouteFileError: `route/unreadable` for all that is there and no file, or has more bytes
                than the limit; `route/unsafe-path` for a link that leaves the root.
        """
        ...

    def write(self, root: str, parts: Parts, content: bytes) -> None:
        """Put a whole file in a place, at once; folders are made.

        Raises:
            StoreError: When it cannot be written; then the old one stands.
        """
        ...

    def append(self, root: str, parts: Parts, line: bytes) -> None:
        """Add a line to a file; a line before it that was cut off is taken away.

        Raises:
            StoreError: When it cannot be written.
        """
        ...

    def move(self, root: str, parts: Parts, to: Parts) -> None:
        """Move a folder, if it is there; one that is in the way goes."""
        ...

    def remove(self, root: str, parts: Parts) -> None:
        """Remove a file or folder with all that is in it, if it is there."""
        ...

    def names(self, root: str, parts: Parts) -> list[str]:
        """List what is in a folder, sorted; nothing where there is none."""
        ...


class _Folder(NamedTuple):
    """An open folder; where the system has no such thing, its path."""

    fd: int | None
    path: str

    def at(self, name: str) -> str:
        return name if self.fd is not None else os.path.join(self.path, name)  # noqa: PTH118

    def is_link(self, name: str) -> bool:
        found = os.stat(self.at(name), dir_fd=self.fd, follow_symlinks=False)
        return stat.S_ISLNK(found.st_mode)


class DiskFiles:
    """The files of the system."""

    def read(self, root: str, parts: Parts, limit: int = RECORD_LIMIT) -> bytes | None:
        """Return what stands in a file."""
        _refuse_odd(parts)
        try:
            return _read_below(root, parts, limit)
        except _Link:
            return _unlinked(root, parts, lambda real: _read_below(root, real, limit))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(error, "/".join(parts)) from error

    def write(self, root: str, parts: Parts, content: bytes) -> None:
        """Put a whole file in a place, at once."""
        with _told(parts), _opened(root, parts[:-1], make=True) as folder:
            name = parts[-1]
            # By chance: in a container the next process has the number of the one that was killed.
            beside = f".{name}.{os.urandom(8).hex()}.part"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _COMMON
            try:
                fd = os.open(folder.at(beside), flags, 0o666, dir_fd=folder.fd)
                _filled(fd, content)
                os.replace(
                    folder.at(beside), folder.at(name), src_dir_fd=folder.fd, dst_dir_fd=folder.fd
                )
            except BaseException:
                _forget(folder, beside)
                raise
            _settle(folder)

    def append(self, root: str, parts: Parts, line: bytes) -> None:
        """Add a line to a file."""
        with _told(parts), _opened(root, parts[:-1], make=True) as folder:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | _WAIT_NOT | _NO_FOLLOW | _COMMON
            fd = os.open(folder.at(parts[-1]), flags, 0o666, dir_fd=folder.fd)
            with os.fdopen(fd, "rb+", buffering=0) as file:
                _regular(fd)
                _cut_torn(file)
                # What a crash leaves of a line is cut off before the next one.
                if file.write(line + b"\n") != len(line) + 1:
                    raise OSError(errno.EIO, "only a part was written")
                os.fsync(fd)
            _settle(folder)

    def move(self, root: str, parts: Parts, to: Parts) -> None:
        """Move a folder, if it is there."""
        _refuse_odd(to)
        with _told(parts):
            try:
                with _opened(root, parts[:-1]) as old, _opened(root, to[:-1], make=True) as new:
                    # What is in the way goes only where there is something to take its place.
                    os.stat(old.at(parts[-1]), dir_fd=old.fd, follow_symlinks=False)
                    self.remove(root, to)
                    os.rename(
                        old.at(parts[-1]), new.at(to[-1]), src_dir_fd=old.fd, dst_dir_fd=new.fd
                    )
                    _settle(new)
            except FileNotFoundError:
                return

    def remove(self, root: str, parts: Parts) -> None:
        """Remove a file or folder, if it is there."""
        with _told(parts):
            try:
                with _opened(root, parts[:-1]) as folder:
                    place = folder.at(parts[-1])
                    found = os.stat(place, dir_fd=folder.fd, follow_symlinks=False)
                    if stat.S_ISDIR(found.st_mode):
                        shutil.rmtree(place, dir_fd=folder.fd)
                    else:
                        os.unlink(place, dir_fd=folder.fd)
            except FileNotFoundError:
                return

    def names(self, root: str, parts: Parts) -> list[str]:
        """List what is in a folder."""
        _refuse_odd(parts)
        try:
            with _opened(root, parts) as folder:
                return sorted(os.listdir(folder.path if folder.fd is None else folder.fd))  # noqa: PTH208
        except FileNotFoundError:
            return []
        except (OSError, _Link) as error:
            raise StoreError(f"{'/'.join(parts)}: cannot be listed: {error}") from error


def _refuse_odd(parts: Parts) -> None:
    """Refuse names that lead elsewhere, whoever made them."""
    # INVARIANT: each part is one name, so that nothing below the root leads out but a link.
    if any(part in ("", ".", "..") or set(part) & {"/", os.sep, "\0"} for part in parts):
        message = "is no place in the folder of the run"
        raise RouteFileError("route/unsafe-path", message, source_path="/".join(parts))


class _Link(Exception):
    """A name on the way is a link."""


@contextmanager
def _opened(root: str, parts: Parts, *, make: bool = False) -> Generator[_Folder]:
    """Open a folder below a root, one name after the other, through no link."""
    if make:
        os.makedirs(root, exist_ok=True)  # noqa: PTH103
    path = root
    fd = os.open(root, _FOLDER) if _HAS_FOLDERS else None
    try:
        for part in parts:
            folder = _Folder(fd, path)
            if make:
                _made(folder, part)
            path = os.path.join(path, part)  # noqa: PTH118
            if folder.is_link(part):
                raise _Link(path)
            if fd is not None:
                inner = os.open(part, _FOLDER | _NO_FOLLOW, dir_fd=fd)
                os.close(fd)
                fd = inner
        yield _Folder(fd, path)
    finally:
        if fd is not None:
            os.close(fd)


def _made(folder: _Folder, name: str) -> None:
    try:
        os.mkdir(folder.at(name), dir_fd=folder.fd)
    except FileExistsError:
        return
    _settle(folder)


def _read_below(root: str, parts: Parts, limit: int) -> bytes:
    with _opened(root, parts[:-1]) as folder:
        if folder.is_link(parts[-1]):
            raise _Link(parts[-1])
        fd = os.open(folder.at(parts[-1]), READ | _NO_FOLLOW, dir_fd=folder.fd)
        return content_of(fd, limit)


def content_of(fd: int, limit: int = RECORD_LIMIT) -> bytes:
    """Read what was opened; only a file is read, and none that is too large."""
    with os.fdopen(fd, "rb") as file:
        _regular(fd)
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"has more than {limit} bytes, which is the limit")
    return content


def _regular(fd: int) -> None:
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "a folder" if stat.S_ISDIR(mode) else "no file but a device")


def _cut_torn(file: FileIO) -> None:
    """Take away a last line that does not end."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return
    file.seek(-1, os.SEEK_END)
    if file.read(1) != b"\n":
        file.seek(0)
        file.truncate(file.read(size).rfind(b"\n") + 1)


def _unlinked(root: str, parts: Parts, read: Callable[[Parts], bytes]) -> bytes | None:
    """Read what links on the way lead to, if that is in the root too."""
    home = Path(root).resolve()
    try:
        place = _inside(home, home.joinpath(*parts[:-1])) / parts[-1]
        if not os.path.lexists(place):
            return None
        return read(_inside(home, place).relative_to(home).parts)
    except RouteFileError as error:
        error.source_path = "/".join(parts)
        raise
    except _Link as error:
        message = "is a link that is being changed"
        raise RouteFileError("route/unreadable", message, source_path="/".join(parts)) from error
    except OSError as error:
        raise unreadable(error, "/".join(parts)) from error


def _inside(home: Path, place: Path) -> Path:
    """Resolve the links of a place, none of which may lead out or nowhere."""
    real = Path(os.path.realpath(place))
    if not real.exists():
        raise RouteFileError("route/unreadable", "is a link that leads nowhere")
    if not real.is_relative_to(home):
        message = "is a link that leaves the folder of the run; put the file itself there"
        raise RouteFileError("route/unsafe-path", message)
    return real


def _filled(fd: int, content: bytes) -> None:
    with os.fdopen(fd, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(fd)


def _forget(folder: _Folder, name: str) -> None:
    try:
        os.unlink(folder.at(name), dir_fd=folder.fd)
    except OSError:
        return


def _settle(folder: _Folder) -> None:
    """Have the names in a folder outlast a loss of power."""
    if folder.fd is not None:
        os.fsync(folder.fd)


@contextmanager
def _told(parts: Parts) -> Generator[None]:
    """Say of a fault which file it is about."""
    _refuse_odd(parts)
    place = "/".join(parts)
    try:
        yield
    except _Link:
        message = f"{place}: a link stands where a folder of the run must; remove it"
        raise StoreError(message) from None
    except OSError as error:
        raise StoreError(f"{place}: cannot be written: {error.strerror or error}") from error


def unreadable(error: OSError, place: str) -> RouteFileError:
    """Say why something that is there cannot be read."""
    message = f"cannot be read: {error.strerror or error}"
    return RouteFileError("route/unreadable", message, source_path=place)
