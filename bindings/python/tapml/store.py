# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Stores of cases, by libtapml-carve (tapml-carve.h is the manual of what the functions mean)."""
import ctypes
import os

from tapml import libraries
from tapml.arrays import describe

BEFORE, AFTER = 0, 1
_LIBRARY = "libtapml-carve.so.1"


class Error(Exception):
    """A function of libtapml-carve has failed; the text is its sentence."""


def _load():
    """The library: the one that is known, else the system's."""
    path = libraries.find("TAPML_CARVE_LIBRARY", _LIBRARY) or _LIBRARY
    try:
        library = ctypes.CDLL(path)
    except OSError as problem:
        raise Error(f"{problem}; TAPML_CARVE_LIBRARY names the file") from problem
    text, i32, u32, i64, u64 = (ctypes.c_char_p, ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64)
    handle, shape = ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64)
    tensor = [text, u32, shape, shape, ctypes.c_void_p]
    signatures = {
        "open": [text, text, ctypes.POINTER(handle)],
        "describe": [handle, text, text],
        "weights_in": [handle, text],
        "position": [handle, text, u32, text, ctypes.POINTER(u32)],
        "begin": [handle, text, u32, text, text, i64, i64, ctypes.POINTER(handle)],
        "argument": [handle, u32, u32, *tensor],
        "weight": [handle, u32, text, *tensor],
        "integer": [handle, u32, i64],
        "real": [handle, u32, ctypes.c_double],
        "line": [handle, text],
        "end": [handle, u64],
        "commit": [handle],
    }
    for name, arguments in signatures.items():
        function = getattr(library, "tapml_carve_" + name)
        function.argtypes, function.restype = arguments, i32
    for name in ("drop", "close"):
        function = getattr(library, "tapml_carve_" + name)
        function.argtypes, function.restype = [handle], None
    library.tapml_carve_error.argtypes, library.tapml_carve_error.restype = [handle], text
    return library


class _Library:
    """The functions by their names without the prefix; a failure is an `Error`."""

    def __init__(self):
        self._library = None

    def __call__(self, name, *arguments):
        if self._library is None:
            self._library = _load()
        if getattr(self._library, "tapml_carve_" + name)(*arguments):
            raise Error(self._library.tapml_carve_error(None).decode())


_call = _Library()


def _shape(values):
    return None if values is None else (ctypes.c_int64 * len(values))(*values)


class Call:
    """One call of an operator. Used with `with`, it is ended at the end, or dropped by an exception."""

    def __init__(self, store, op, version, handle):
        self._store, self._op, self._handle = store, op, handle
        self.version = version  # 0: opaque.
        self.time_ns = 0

    def _position(self, parameter):
        """The position of a parameter by its name; of an opaque operator names are numbered as they come."""
        return self._store._position(self._op, self.version, parameter)

    def _put(self, moment, arguments):
        for parameter, value in arguments.items():
            position = self._position(parameter)
            if value is None:
                continue
            if isinstance(value, (bool, int)):
                _call("integer", self._handle, position, value)
            elif isinstance(value, float):
                _call("real", self._handle, position, value)
            else:
                array = describe(value)
                _call("argument", self._handle, position, moment, array.dtype, len(array.shape), _shape(array.shape),
                      _shape(array.strides), array.address)

    def give(self, **arguments):
        """What goes in, by the names of the operator's parameters: arrays and numbers; None is left out."""
        self._put(BEFORE, arguments)

    def take(self, **arguments):
        """What came out."""
        self._put(AFTER, arguments)

    def weight(self, parameter, name, value):
        """A weight, which the whole store knows under `name`."""
        array = describe(value)
        _call("weight", self._handle, self._position(parameter), name.encode(), array.dtype, len(array.shape),
              _shape(array.shape), _shape(array.strides), array.address)

    def line(self, text):
        """Where in the source the call is made: "model.py:31"."""
        _call("line", self._handle, text.encode())

    def end(self):
        handle, self._handle = self._handle, None
        _call("end", handle, self.time_ns)

    def drop(self):
        if self._handle is not None:
            _call._library.tapml_carve_drop(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.end()
        else:
            self.drop()


class Store:
    """A store to write. Used with `with`, it is closed at the end."""

    def __init__(self, path, model):
        """Opens the store, and makes it if it is absent; `model` tells the model from others."""
        if not os.fspath(path):
            raise ValueError("the path of a store is empty")
        self._positions, self._opaque = {}, {}
        self._handle = ctypes.c_void_p()
        _call("open", os.fsencode(path), model.encode(), ctypes.byref(self._handle))

    def describe(self, **values):
        """Where the calls ran: component, version, device, driver."""
        for key, value in values.items():
            _call("describe", self._handle, key.encode(), value.encode())

    def weights_in(self, folder):
        """Leaves the bytes of weights in the checkpoint of a folder."""
        _call("weights_in", self._handle, os.fsencode(folder))

    def call(self, op, instance, prompt, step=0, part=0, version=1):
        """Begins a call; version 0 is one of an opaque operator of any name."""
        handle = ctypes.c_void_p()
        _call("begin", self._handle, op.encode(), version, instance.encode(), prompt.encode(), step, part,
              ctypes.byref(handle))
        return Call(self, op, version, handle)

    def _position(self, op, version, parameter):
        if version == 0:
            names = self._opaque.setdefault(op, {})
            return names.setdefault(parameter, len(names))
        key = (op, version, parameter)
        if key not in self._positions:
            position = ctypes.c_uint32()
            _call("position", self._handle, op.encode(), version, parameter.encode(), ctypes.byref(position))
            self._positions[key] = position.value
        return self._positions[key]

    def commit(self):
        """Writes all calls that were ended since the last commit: a step."""
        _call("commit", self._handle)

    def close(self):
        if self._handle:
            _call._library.tapml_carve_close(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()
