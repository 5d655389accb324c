# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""`tapml.judge`: any callable of this process is judged as `tapml-host judge` judges a function of a shared library.

The host calls it from its workers through a socket. Each worker gets a child of this process, forked when it connects,
so that what a callable keeps between calls is there as long as the worker lives, and gone in the next one.
"""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback

from tapml import children, libraries
from tapml.store import Error

_ENTRY = struct.Struct("=32sIIIIQ6q6qQQ")  # Name, kind, dtype, rank, 0, number, shape, strides, bytes, address.
_HEAD = struct.Struct("=64sII")
_TENSOR_OUT, _TENSOR_INOUT, _TENSORS, _I64, _F64 = 2, 3, 4, 5, 6
# By the codes of tapml/tensor.h, a class and bits: bytes of an element, and its name in NumPy and PyTorch.
_TYPES = {0x20: (4, "int32"), 0x40: (8, "int64"), 0x10008: (1, "uint8"), 0x20010: (2, "float16"),
          0x20020: (4, "float32"), 0x20040: (8, "float64"), 0x40010: (2, "bfloat16")}
_LIBRARY = os.path.join("tapml", "1", "tapml-callable.so")
_PATIENCE_S = 5  # With a host that was asked to end.


def _library():
    """The file that the host calls."""
    path = libraries.find("TAPML_CALLABLE_LIBRARY", _LIBRARY)
    if path is None or not os.path.exists(path):
        raise Error(f"{path or os.path.basename(_LIBRARY)} is not there; TAPML_CALLABLE_LIBRARY names the file")
    return path


def _numpy_array(memory, dtype, shape, strides):
    import numpy
    size, name = _TYPES[dtype]
    if name == "bfloat16":
        raise TypeError("NumPy has no bfloat16; arrays='torch' has")
    return numpy.ndarray(shape, name, memory, strides=[stride * size for stride in strides])


def _torch_array(memory, dtype, shape, strides):
    import torch
    kind = getattr(torch, _TYPES[dtype][1])
    if len(memory) == 0:
        return torch.empty(shape, dtype=kind)
    return torch.frombuffer(memory, dtype=kind).as_strided(shape, strides)


_ARRAYS = {"numpy": _numpy_array, "torch": _torch_array}


class _Callee:
    """The end of one connection: a callable with memory of its own for each address that the host has."""

    def __init__(self, connection, function, arrays, failure):
        self._file = connection.makefile("rwb")
        self._function, self._array, self._failure = function, _ARRAYS[arrays], failure
        self._memory = {}

    def _read(self, count):
        data = self._file.read(count)
        if len(data) != count:
            raise EOFError
        return data

    def _receive(self, address, count):
        """Bytes in the memory that stands for an address of the host: the same for the same address and size."""
        memory = self._memory.setdefault((address, count), bytearray(count))
        memory[:] = self._read(count)
        return memory

    def serve(self):
        """Answers calls until the host is gone."""
        while True:
            try:
                _, count, _ = _HEAD.unpack(self._read(_HEAD.size))
            except EOFError:
                return
            entries = [_ENTRY.unpack(self._read(_ENTRY.size)) for _ in range(count)]
            memories = [self._receive(*entry[-1:-3:-1]) if entry[2] else None for entry in entries]
            try:
                self._call(entries, memories)
            except BaseException:  # Of sys.exit, too: it is the callable that ends, not its process.
                _write(self._failure, traceback.format_exc())
                self._file.write(struct.pack("=I", 1))
            else:
                self._file.write(struct.pack("=I", 0))
                for memory in memories:
                    self._file.write(memory or b"")
            self._file.flush()

    def _value(self, entry, memory):
        kind, dtype, rank, _, number = entry[1:6]
        if dtype:
            return self._array(memory, dtype, entry[6:6 + rank], entry[12:12 + rank])
        if kind == _F64:
            return struct.unpack("=d", struct.pack("=Q", number))[0]
        return struct.unpack("=q", struct.pack("=Q", number))[0] if kind == _I64 else None

    def _call(self, entries, memories):
        """Calls with what goes in by name, and puts what comes back into the memory of the outputs."""
        given, outputs = {}, {}
        for entry, memory in zip(entries, memories):
            name, kind, value = entry[0].rstrip(b"\0").decode(), entry[1], self._value(entry, memory)
            if kind == _TENSORS:
                given.setdefault(name, []).append(value)
            elif kind == _TENSOR_OUT:
                outputs[name] = value
            else:
                given[name] = value
                if kind == _TENSOR_INOUT:
                    outputs[name] = value
        for name, value in _by_name(self._function(**given), list(outputs)).items():
            if value is not None and value is not outputs[name]:
                _check_output(name, value, outputs[name])
                outputs[name][...] = value


def _by_name(result, names):
    """What a callable has returned, by the names of the outputs."""
    if isinstance(result, dict):
        for name in result:
            if name not in names:
                raise ValueError(f"'{name}' is no output, expected {', '.join(names)}")
        return result
    if result is None:
        return {}
    results = result if isinstance(result, (tuple, list)) else [result]
    if len(results) != len(names):
        raise ValueError(f"{len(results)} outputs are returned, expected {len(names)}: {', '.join(names)}"
                         " (None for what is written in place)")
    return dict(zip(names, results))


def _check_output(name, value, output):
    """What is assigned is converted without a word, so that it would be right with another type or shape."""
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        raise TypeError(f"'{name}' is of type {type(value).__name__}, expected an array")
    found, expected = (str(array.dtype).replace("torch.", "") for array in (value, output))
    if found != expected:
        raise TypeError(f"'{name}' has the type {found}, expected {expected}")
    if tuple(value.shape) != tuple(output.shape):
        raise ValueError(f"'{name}' has the shape {tuple(value.shape)}, expected {tuple(output.shape)}")


def _read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _serve_child(connection, function, arrays, failure):
    """In a child: its threads are none but this one."""
    try:
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        _Callee(connection, function, arrays, failure).serve()
    except (OSError, EOFError):
        pass  # The host has hung up.
    finally:
        sys.stdout.flush()


def _accept_until_end(host, listener, serve, failure):
    """Forks a child for each connection of the host's workers until the host has ended."""
    with children.Children() as workers:
        while host.poll() is None:
            problem = workers.tend()
            if problem is not None:
                _write(failure, problem)
            try:
                connection, _ = listener.accept()
            except socket.timeout:
                continue
            connection.setblocking(True)
            workers.fork(connection, serve)


def _end(host):
    """Ends a host that is not waited for: first as Ctrl-C does, so that it ends its workers."""
    if host.poll() is None:
        host.send_signal(signal.SIGINT)
        try:
            host.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            host.kill()
            host.wait()


def _run_host(words, folder, function, arrays):
    """Runs a host whose workers call the function. Returns what it has printed, and what the callable has raised."""
    path, printed, failure = (os.path.join(folder, name) for name in ("socket", "printed", "failure"))
    serve = lambda connection: _serve_child(connection, function, arrays, failure)
    with socket.socket(socket.AF_UNIX) as listener, open(printed, "wb") as output:
        listener.bind(path)
        listener.listen()
        listener.settimeout(0.05)
        try:
            host = subprocess.Popen(words, env={**os.environ, "TAPML_CALLABLE": path}, stdin=subprocess.DEVNULL,
                                    stdout=output, stderr=output,
                                    preexec_fn=lambda: children.die_with_parent(signal.SIGTERM))
        except OSError as problem:
            raise Error(f"{words[0]}: {problem.strerror}; TAPML_HOST names the program") from problem
        try:
            _accept_until_end(host, listener, serve, failure)
        finally:
            _end(host)
    return _read(printed), _read(failure) if os.path.exists(failure) else None


def judge(function, op, cases, arrays="numpy", **options):
    """Judges a callable as the kernel of an operator, by the cases of a store.

    `function` takes what goes in by the names of the operator's parameters (docs/ops): arrays, numbers, None where one
    is absent, a list for a list. It returns the outputs: an array, a tuple of them in the operator's order, or a
    dictionary by name; what it returns None for was written in place. `arrays` is "numpy" or "torch".

    `options` are those of `tapml-host judge`: rounds=50, seed=1, deadline=10, hide_cases=True, weights="f32", model=...

    Returns the document of `tapml-host judge --json` as a dictionary: `verdict` is "right" or what is wrong;
    `exception` is there with the last traceback where the callable has raised, or with how its process has ended.
    `Error` where nothing could be judged."""
    if not callable(function):
        raise TypeError(f"function is of type {type(function).__name__}, expected a callable")
    if arrays not in _ARRAYS:
        raise ValueError(f"arrays is '{arrays}', expected 'numpy' or 'torch'")
    with tempfile.TemporaryDirectory(prefix="tapml-") as folder:
        document = os.path.join(folder, "verdict.json")
        words = [os.environ.get("TAPML_HOST", "tapml-host"), "judge", _library(), "--op", op, "--entry", "tapml_callable",
                 "--arguments", "*op *", "--returns", "int", "--cases", os.fspath(cases), "--json", document]
        for name, value in options.items():
            if value is not False:
                words += ["--" + name.replace("_", "-")] + ([] if value is True else [str(value)])
        printed, raised = _run_host(words, folder, function, arrays)
        if not os.path.exists(document):
            raise Error(printed.strip())
        verdict = json.loads(_read(document))
        if raised is not None:
            verdict["exception"] = raised
        return verdict
