"""Files outside of runs, which are only read, and paths."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from interlock.errors import RouteFileError
from interlock.harness._config import raise_problems, wrong
from interlock.routing._files import READ, content_of, unreadable
from interlock.routing._typed import must_be

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["absolute", "home_of", "plans_in", "read_file", "shared_file"]


def shared_file(path: str, limit: int) -> bytes | None:
    """Read a file outside of runs, through links; None only where there is none, not even a link.

    Raises:
        RouteFileError: `route/unreadable`.
    """
    try:
        return content_of(os.open(path, READ), limit)
    except FileNotFoundError as error:
        if os.path.islink(path):  # noqa: PTH114
            raise RouteFileError("route/unreadable", "is a link that leads nowhere") from error
        return None
    except OSError as error:
        raise unreadable(error, path) from error
    except ValueError as error:
        message = "is no path: it holds a NUL, or half of a character (a lone surrogate)"
        raise RouteFileError("route/unsafe-path", message) from error


def read_file(path: str | PathLike[str]) -> bytes:
    """Read a file of the caller's; a pipe or a device is none, and is not waited for."""
    return content_of(os.open(path, READ))


def absolute(home: str, path: str) -> str:
    """Give the place of a path from a folder."""
    return os.path.join(home, path)  # noqa: PTH118


def home_of(path: str | PathLike[str], field: str) -> str:
    """Give the place of a folder, whatever the working directory will be.

    Raises:
        ConfigError: For what is no path.
    """
    plain = os.fspath(path) if isinstance(path, os.PathLike) else path
    must_be(plain, str, field, "a path, as text or a Path")
    try:
        is_path = b"\0" not in os.fsencode(plain)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        message = "must be a path: it holds a NUL, or half of a character (a lone surrogate)"
        raise_problems([wrong(plain, field, message)])
    return os.path.abspath(plain)  # noqa: PTH100


def _walk_on(folders: list[str]) -> bool:
    folders[:] = [name for name in folders if name != "runs" and not name.startswith(".")]
    return True


def plans_in(path: str) -> list[str]:
    """List the plans below a folder, sorted; a file is itself.

    A plan is a file that ends in `.json`; what stands in `runs` is of runs, and what is hidden is
    left out. A folder that cannot be read stands in the list itself, so that it is not passed over.
    """
    if not os.path.isdir(path):  # noqa: PTH112
        return [path]
    unread: list[str] = []

    def keep(error: OSError) -> None:
        unread.append(error.filename)

    found = [
        os.path.join(home, name)  # noqa: PTH118
        for home, folders, names in os.walk(path, onerror=keep)
        if _walk_on(folders)
        for name in names
        if name.endswith(".json")
    ]
    return sorted(found + unread)
