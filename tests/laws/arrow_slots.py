"""Arrow data as a producer hands it over that has a buffer for which nulls of no type are null."""

from __future__ import annotations

import ctypes
from typing import Any


class Node(ctypes.Structure):
    """What the interface calls ArrowSchema and ArrowArray, as far as they are read here."""


_Nodes = ctypes.POINTER(ctypes.POINTER(Node))


class Schema(Node):
    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", _Nodes),
        ("dictionary", ctypes.POINTER(Node)),
    )


class Array(Node):
    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
        ("children", _Nodes),
        ("dictionary", ctypes.POINTER(Node)),
    )


_NO_BUFFER = (ctypes.c_void_p * 1)(None)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


class Slotted:
    """Hands over a record batch with such a buffer; counts them."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch
        self.slots = 0

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        schema, array = self.batch.__arrow_c_array__()
        self._add(_pointer(schema, b"arrow_schema"), _pointer(array, b"arrow_array"))
        return schema, array

    def _add(self, schema_at: int, array_at: int) -> None:
        schema, array = Schema.from_address(schema_at), Array.from_address(array_at)
        if schema.format == b"n":
            array.n_buffers, array.buffers = 1, ctypes.addressof(_NO_BUFFER)
            self.slots += 1
        for at in range(schema.n_children):
            self._add(*(ctypes.addressof(one.children[at].contents) for one in (schema, array)))
        if schema.dictionary:
            self._add(*(ctypes.addressof(one.dictionary.contents) for one in (schema, array)))
