# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy through libtapml-carve: what is given is what the store has."""
import sqlite3

import numpy
import pytest

import tapml


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "x.tapmlrun")


def query(path, sql):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def contents(path, instance, parameter, column, dtype):
    """The values of an argument of a case, which are not compressed where they are few."""
    (bytes_, encoding), = query(path, f"SELECT bytes, encoding FROM argument JOIN \"case\" AS c ON c.id = case_id JOIN tensor AS t"
                                      f" ON t.key = {column} WHERE instance = '{instance}' AND param = '{parameter}'")
    assert encoding == "raw"
    return numpy.frombuffer(bytes_, dtype)


def silu(x):
    return (x / (1 + numpy.exp(-x))).astype(numpy.float32)


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[1:2], lambda x: x[::-1]])
def test_views_are_kept_as_their_values(path, view):
    x = view(numpy.arange(24, dtype=numpy.float32).reshape(4, 6))
    with tapml.Store(path, "model") as store:
        with store.call("tapml.silu", "a", prompt="p") as call:
            call.give(x=x)
            call.take(y=silu(x))
        store.commit()
    assert (contents(path, "a", "x", "before", numpy.float32) == x.ravel()).all()
    assert (contents(path, "a", "y", "after", numpy.float32) == silu(x).ravel()).all()


def test_fields_of_a_record_are_kept_as_their_values(path):
    """Strides that are no multiple of an element."""
    record = numpy.zeros(6, numpy.dtype([("tag", "u1"), ("x", "f4")]))
    record["x"] = numpy.arange(6)
    with tapml.Store(path, "model") as store:
        with store.call("any", "a", prompt="p", version=0) as call:
            call.take(y=record["x"])
        store.commit()
    assert contents(path, "a", "0", "after", numpy.float32).tolist() == [0, 1, 2, 3, 4, 5]


def test_types_are_those_of_numpy(path):
    with tapml.Store(path, "model") as store:
        for dtype, name in (("f4", "f32"), ("f2", "f16"), ("f8", "f64"), ("i4", "i32"), ("i8", "i64"), ("u1", "u8")):
            with store.call("any", name, prompt="p", version=0) as call:
                call.take(y=numpy.zeros(3, dtype))
        store.commit()
    assert {row[0]: row[1] for row in query(path, "SELECT instance, dtype FROM \"case\" JOIN argument ON id = case_id")} \
        == {name: name for name in ("f32", "f16", "f64", "i32", "i64", "u8")}
    with tapml.Store(path, "model") as store, pytest.raises(TypeError, match="complex64"):
        with store.call("any", "c", prompt="p", version=0) as call:
            call.take(y=numpy.zeros(3, numpy.complex64))


def test_what_fails_is_a_sentence_and_leaves_nothing(path):
    x = numpy.zeros((2, 3), numpy.float32)
    with tapml.Store(path, "model") as store:
        with pytest.raises(tapml.Error, match="parameter 'y': what came out of it is missing"):
            with store.call("tapml.silu", "a", prompt="p") as call:
                call.give(x=x)
        with pytest.raises(tapml.Error, match="no parameter 'z'"):
            with store.call("tapml.silu", "a", prompt="p") as call:
                call.give(z=x)
        with pytest.raises(tapml.Error, match="there is no operator 'tapml.nothing'"):
            store.call("tapml.nothing", "a", prompt="p")
        store.commit()
    assert query(path, "SELECT count(*) FROM call") == [(0,)]
    with pytest.raises(tapml.Error, match="holds cases of model 'model'"):
        tapml.Store(path, "another")


def test_data_is_copied_before_a_function_returns(path):
    x = numpy.ones((2, 2), numpy.float32)
    with tapml.Store(path, "model") as store:
        with store.call("tapml.silu", "a", prompt="p") as call:
            call.give(x=x)
            call.take(y=silu(x))
            x[:] = 9
        store.commit()
    assert (contents(path, "a", "x", "before", numpy.float32) == 1).all()
