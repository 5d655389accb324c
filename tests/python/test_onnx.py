# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Models of ONNX that `export` writes give their own outputs: read and computed with NumPy alone. Each folder in
TAPML_TEST_CASES is a case."""
import os
import struct

import numpy
import pytest

CASES = os.environ["TAPML_TEST_CASES"]
TYPES = {1: "<f4", 2: "u1", 6: "<i4", 7: "<i8", 10: "<f2", 11: "<f8"}


def fields(data):
    """The fields of a message: number and value, a whole number or bytes."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 0x7f) << shift, shift + 7
            if byte < 0x80:
                return value - (1 << 64) if value >> 63 else value
    while at < len(data):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def lists(data):
    found = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def tensor(data):
    parts = lists(data)
    return parts[8][0].decode(), numpy.frombuffer(parts[9][0], TYPES[parts[2][0]]).reshape(parts.get(1, []))


def attributes(node):
    for data in node.get(5, []):
        parts = lists(data)
        yield parts[1][0].decode(), parts.get(3, [None])[0] if 3 in parts else parts.get(8, [b""]) if 8 in parts else parts[4][0].decode()


def erf(x):
    import math
    return numpy.vectorize(math.erf)(x)


def gelu(x, approximate):
    inner = numpy.tanh(numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x ** 3)) if approximate == "tanh" else erf(x / numpy.sqrt(2))
    return x * (1 + inner) / 2


def cut(x, begins, ends, axes):
    places = [slice(None)] * x.ndim
    for begin, end, axis in zip(begins, ends, axes):
        places[axis] = slice(begin, end)
    return x[tuple(places)]


def softmax(x, axis):
    raised = numpy.exp(x - x.max(axis, keepdims=True))
    return raised / raised.sum(axis, keepdims=True)


OPERATORS = {
    "Add": numpy.add, "Sub": numpy.subtract, "Mul": numpy.multiply, "Div": numpy.divide, "Exp": numpy.exp, "Tanh": numpy.tanh,
    "Sqrt": numpy.sqrt, "MatMul": numpy.matmul, "Identity": lambda x: x, "Sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "Relu": lambda x: numpy.maximum(x, 0), "Softplus": lambda x: numpy.log1p(numpy.exp(x)), "Gelu": gelu,
    "Clip": numpy.clip, "Cast": lambda x, to: x.astype(TYPES[to]), "Concat": lambda *x, axis: numpy.concatenate(x, axis),
    "Gather": lambda x, i, axis: numpy.take(x, i, axis), "Transpose": lambda x, perm: numpy.transpose(x, perm),
    "Reshape": lambda x, shape: x.reshape(shape), "Unsqueeze": lambda x, axes: numpy.expand_dims(x, tuple(axes)), "Slice": cut,
    "Softmax": softmax, "ReduceSum": lambda x, axes, keepdims: x.sum(tuple(axes), keepdims=bool(keepdims)),
    "ReduceMean": lambda x, axes, keepdims: x.mean(tuple(axes), keepdims=bool(keepdims)),
}


def data_set(case, word):
    names = sorted(name for name in os.listdir(os.path.join(case, "test_data_set_0")) if name.startswith(word))
    for name in names:
        with open(os.path.join(case, "test_data_set_0", name), "rb") as file:
            yield tensor(file.read())


@pytest.mark.parametrize("name", sorted(os.listdir(CASES)))
def test_a_model_gives_its_outputs(name):
    case = os.path.join(CASES, name)
    with open(os.path.join(case, "model.onnx"), "rb") as file:
        model = lists(file.read())
    graph = lists(model[7][0])
    values = dict(data_set(case, "input"))
    assert [lists(data)[1][0].decode() for data in graph[11]] == list(values)
    values.update(tensor(data) for data in graph.get(5, []))
    for data in graph[1]:
        node = lists(data)
        operator = OPERATORS[node[4][0].decode()]
        given = [values[value.decode()] for value in node[1]]
        given = [value.astype("f8") if value.dtype.kind == "f" else value for value in given]
        values[node[2][0].decode()] = operator(*given, **dict(attributes(node)))
    outputs = dict(data_set(case, "output"))
    assert [lists(data)[1][0].decode() for data in graph[12]] == list(outputs) and outputs
    for output, expected in outputs.items():
        computed = values[output]
        assert computed.shape == expected.shape
        assert ((computed - expected.astype("f8")) ** 2).sum() <= 1e-12 * (expected.astype("f8") ** 2).sum()


def test_a_tensor_is_read():
    assert tensor(b"\x08\x02\x10\x01\x42\x01x\x4a\x08" + struct.pack("<2f", 1, 2))[1].tolist() == [1, 2]
