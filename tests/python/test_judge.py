# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Callables of Python are judged: what is right passes, each cheat has its name. TAPML_TEST_STORE has cases of a small run."""
import os

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
    with pytest.raises(ValueError, match="arrays is 'lists'"):
        tapml.judge(zeros, op="silu", cases=STORE, arrays="lists")


def test_values_are_hidden():
    found = tapml.judge(zeros, op="silu", cases=STORE, hide_cases=True)
    assert found["verdict"] == "wrong" and "elements" not in found["failure"]
