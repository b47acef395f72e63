"""Arrow data written by hand, right or wrong, as the C data interface hands it over."""

from __future__ import annotations

import ctypes as c
import struct
from collections.abc import Sequence
from typing import Any


class Schema(c.Structure):
    """`ArrowSchema` of the C data interface."""


class Array(c.Structure):
    """`ArrowArray` of the C data interface."""


Schema._fields_ = [
    ("format", c.c_char_p),
    ("name", c.c_char_p),
    ("metadata", c.c_char_p),
    ("flags", c.c_int64),
    ("n_children", c.c_int64),
    ("children", c.POINTER(c.POINTER(Schema))),
    ("dictionary", c.POINTER(Schema)),
    ("release", c.c_void_p),
    ("private_data", c.c_void_p),
]
Array._fields_ = [
    ("length", c.c_int64),
    ("null_count", c.c_int64),
    ("offset", c.c_int64),
    ("n_buffers", c.c_int64),
    ("n_children", c.c_int64),
    ("buffers", c.POINTER(c.c_void_p)),
    ("children", c.POINTER(c.POINTER(Array))),
    ("dictionary", c.POINTER(Array)),
    ("release", c.c_void_p),
    ("private_data", c.c_void_p),
]
_KEPT: list[Any] = []
"""Memory that is pointed to stays for as long as the tests run."""


def _release(given: Any) -> None:
    given.contents.release = None


_release_schema = c.CFUNCTYPE(None, c.POINTER(Schema))(_release)
_release_array = c.CFUNCTYPE(None, c.POINTER(Array))(_release)


def _pointers(kind: Any, parts: Sequence[Any]) -> Any:
    pointers = (c.POINTER(kind) * len(parts))(*map(c.pointer, parts))
    _KEPT.append((pointers, list(parts)))
    return c.cast(pointers, c.POINTER(c.POINTER(kind)))


def _buffer(data: bytes | None) -> int | None:
    if data is None:
        return None
    memory = c.create_string_buffer(data, len(data) + 64)
    _KEPT.append(memory)
    return c.addressof(memory)


def schema(kind: bytes, children: Sequence[Schema] = (), **more: Any) -> Schema:
    """Write a schema; what is given by the name of a field stands there, whatever is right."""
    made = Schema(format=kind, name=b"n", flags=2, n_children=len(children))
    made.release = c.cast(_release_schema, c.c_void_p)
    made.children = _pointers(Schema, children)
    if dictionary := more.pop("dictionary", None):
        made.dictionary = c.pointer(dictionary)
    for name, value in more.items():
        setattr(made, name, value)
    _KEPT.append(made)
    return made


def array(
    length: int, buffers: Sequence[bytes | None], children: Sequence[Array] = (), **more: Any
) -> Array:
    """Write an array; what is given by the name of a field stands there, whatever is right."""
    made = Array(length=length, n_buffers=len(buffers), n_children=len(children))
    made.release = c.cast(_release_array, c.c_void_p)
    memory = (c.c_void_p * len(buffers))(*map(_buffer, buffers))
    made.buffers = c.cast(memory, c.POINTER(c.c_void_p))
    made.children = _pointers(Array, children)
    if dictionary := more.pop("dictionary", None):
        made.dictionary = c.pointer(dictionary)
    for name, value in more.items():
        setattr(made, name, value)
    _KEPT.append((made, memory))
    return made


def ints(*values: int, width: int = 64) -> bytes:
    """Write numbers of 32 or 64 bits as a buffer."""
    return struct.pack(f"={len(values)}{'q' if width == 64 else 'i'}", *values)


class Handing:
    """Hands over an array with a schema."""

    def __init__(self, kind: Schema, of: Array) -> None:
        """Take both."""
        self.parts = kind, of

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Give both in capsules."""
        new = c.pythonapi.PyCapsule_New
        new.restype = c.py_object
        new.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]
        kind, of = self.parts
        return new(c.addressof(kind), b"arrow_schema", None), new(
            c.addressof(of), b"arrow_array", None
        )
