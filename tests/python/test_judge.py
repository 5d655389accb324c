# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Callables of Python are judged: what is right passes, each cheat has its name. TAPML_TEST_STORE has cases of a small run."""
import os
import signal
import sys
import tempfile
import time

import numpy
import pytest

import tapml

STORE = os.environ["TAPML_TEST_STORE"]


def norm(x, weight, eps, offset):
    wide = x.astype(numpy.float64)
    factor = offset + (1 if weight is None else weight)
    return (wide / numpy.sqrt((wide * wide).mean(-1, keepdims=True) + eps) * factor).astype(numpy.float32)


def by_name(**arguments):
    return {"y": norm(**arguments)}


def half(**arguments):
    return norm(**arguments).astype(numpy.float16).astype(numpy.float32)


KNOWN = {}


def cached(x, weight, eps, offset):
    return KNOWN.setdefault(x.__array_interface__["data"][0], norm(x, weight, eps, offset))


CALLS = []


def drifts(**arguments):
    CALLS.append(1)
    return norm(**arguments) * numpy.float32(1 if len(CALLS) < 12 else 1.01)


def scales_input(x, weight, eps, offset):
    y = norm(x, weight, eps, offset)
    x *= 2
    return y


def shown_width(x, weight, eps, offset):
    return norm(x, weight, eps, offset) if x.shape[-1] == 64 else numpy.ones_like(x)


def zeros(x, **_):
    return numpy.zeros_like(x)


@pytest.mark.parametrize("function, verdict", [
    (norm, "right"), (by_name, "right"), (half, "lower precision"), (cached, "cached by address"),
    (drifts, "wrong after some calls"), (scales_input, "changes its inputs"),
    (shown_width, "right at the shown shapes only"), (zeros, "wrong")])
def test_each_has_its_name(function, verdict):
    found = tapml.judge(function, op="rms_norm", cases=STORE, rounds=30)
    assert found["verdict"] == verdict, found


def test_what_is_raised_is_told():
    found = tapml.judge(lambda **arguments: arguments["nothing"], op="silu", cases=STORE)
    assert found["verdict"] == "fails" and "KeyError: 'nothing'" in found["exception"]
    found = tapml.judge(lambda x: x[:1, :1], op="silu", cases=STORE)
    assert "has the shape (1, 1)" in found["exception"]


def exits(x):
    sys.exit(3)


def ends(x):
    os._exit(3)


@pytest.mark.parametrize("function, text", [
    (exits, "SystemExit: 3"),
    (ends, "the process of the callable has ended with status 3"),
    (lambda x: {"z": x}, "'z' is no output, expected y"),
    (lambda x: (x, x), "2 outputs are returned, expected 1: y"),
    (lambda x: x.astype(numpy.float64), "'y' has the type float64, expected float32"),
    (lambda x: x * 1j, "'y' has the type complex64, expected float32"),
    (lambda x: x.astype(object), "'y' has the type object, expected float32"),
    (lambda x: [x.tolist()], "'y' is of type list, expected an array")])
def test_what_is_no_output_is_told(function, text):
    found = tapml.judge(function, op="silu", cases=STORE, rounds=1, deadline=5)
    assert found["verdict"] == "fails" and text in found["exception"], found


def hangs(x):
    time.sleep(1000)


def test_a_callable_that_hangs_is_ended():
    found = tapml.judge(hangs, op="silu", cases=STORE, rounds=1, deadline=1)
    assert found["verdict"] == "no answer within the deadline" and "did not answer within 1 s" in found["why"], found
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_interrupt_ends_all_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1)
    try:
        with pytest.raises(KeyboardInterrupt):
            tapml.judge(hangs, op="silu", cases=STORE, rounds=1, deadline=60)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_states_are_written_in_place():
    def append(state, rows, position):
        state[position:position + len(rows)] = rows
    assert tapml.judge(append, op="state_append", cases=STORE, rounds=10)["verdict"] == "right"


def test_views_have_their_strides():
    """Derived cases of silu have operands with gaps between rows."""
    assert tapml.judge(lambda x: (x / (1 + numpy.exp(-x.astype(numpy.float64)))).astype(numpy.float32), op="silu", cases=STORE,
                       rounds=10)["verdict"] == "right"


def test_what_cannot_be_judged_is_a_sentence():
    with pytest.raises(tapml.Error, match="has no case of 'tanh'"):
        tapml.judge(zeros, op="tanh", cases=STORE)
    with pytest.raises(tapml.Error, match="nowhere.tapmlrun"):
        tapml.judge(zeros, op="silu", cases="/nowhere.tapmlrun")
    with pytest.raises(TypeError, match="function is of type int, expected a callable"):
        tapml.judge(3, op="silu", cases=STORE)
    with pytest.raises(ValueError, match="arrays is 'lists'"):
        tapml.judge(zeros, op="silu", cases=STORE, arrays="lists")


def test_values_are_hidden():
    found = tapml.judge(zeros, op="silu", cases=STORE, hide_cases=True)
    assert found["verdict"] == "wrong" and "elements" not in found["failure"]
    found = tapml.judge(zeros, op="silu", cases=STORE, hide_cases=False)
    assert found["verdict"] == "wrong" and "elements" in found["failure"]


@pytest.mark.parametrize("variable, function", [
    ("TAPML_CALLABLE_LIBRARY", lambda: tapml.judge(zeros, op="silu", cases=STORE)),
    ("TAPML_CARVE_LIBRARY", lambda: tapml.Store("x.tapmlrun", "model"))])
def test_a_library_that_is_not_there_is_a_sentence(variable, function, monkeypatch, tmp_path):
    monkeypatch.setattr("tapml.store._call._library", None)  # Another test may have loaded it.
    monkeypatch.setenv(variable, str(tmp_path / "nothing.so"))
    with pytest.raises(tapml.Error, match=f"nothing.so.*{variable} names the file"):
        function()
