# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Models of PyTorch of every kind are carved: what is no operator is opaque, and nothing fails inside of a model."""
import sqlite3

import pytest
import torch
from torch import nn
from torch.nn import functional

import tapml
from tapml import torch_table

X = torch.randn(1, 8, 8, generator=torch.Generator().manual_seed(1))


class Model(nn.Module):
    """A model that is a function of itself and its input, with these parts."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x):
        return self.function(self, x)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "x.tapmlrun")


def counts(path, function, **parts):
    found = tapml.carve(Model(function, **parts), {"p": X}, out=path)
    return found["operators"], found["opaque"]


def cases(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return connection.execute('SELECT instance, op FROM "case" ORDER BY id').fetchall()
    finally:
        connection.close()


def weight(*shape):
    return nn.Parameter(torch.ones(*shape))


@pytest.mark.parametrize("function, expected", [
    (lambda _, x: functional.linear(input=x, weight=torch.eye(8)), (1, 0)),
    (lambda _, x: torch.add(input=x, other=x), (1, 0)),
    (lambda _, x: torch.mul(input=x, other=2.0), (1, 0)),
    (lambda _, x: torch.sigmoid(input=x), (1, 0)),
    (lambda _, x: functional.layer_norm(input=x, normalized_shape=(8,)), (1, 0)),
    (lambda _, x: torch.addmm(input=torch.ones(8), mat1=x[0], mat2=torch.eye(8)), (1, 0))])
def test_arguments_by_name(path, function, expected):
    assert counts(path, function) == expected


@pytest.mark.parametrize("function, expected", [
    (lambda model, x: x * torch.sigmoid(model.gate), (1, 1)),
    (lambda model, x: x * model.gate.exp(), (1, 1)),
    (lambda model, x: x * -model.gate, (1, 1)),
    (lambda model, x: x * (model.gate * 2.0), (1, 1)),
    (lambda model, x: functional.linear(x, model.row), (0, 1)),
    (lambda model, x: torch.view_as_real(torch.view_as_complex(x.reshape(1, 8, 4, 2)) * 1j), (0, 3)),
    (lambda model, x: torch.fft.irfft(torch.fft.rfft(x)), (0, 2)),
    (lambda model, x: x.view(1, 2, 2, 2, 2, 2, 2).mean(-1), (0, 1)),
    (lambda model, x: torch.stack([x] * 70), (0, 1)),
    (lambda model, x: torch.mm(torch.eye(8).to_sparse(), x[0]), (0, 2)),
    (lambda model, x: model.lstm(x)[0], (0, 1))])
def test_what_no_case_can_be_is_counted(path, function, expected):
    parts = {"gate": nn.Parameter(torch.tensor(0.5)), "row": weight(8), "lstm": nn.LSTM(8, 8, 20, batch_first=True)}
    assert counts(path, function, **parts) == expected


def test_an_operator_of_too_many_axes_is_counted_with_a_warning(path):
    with pytest.warns(UserWarning, match="it has 7 axes"):
        assert counts(path, lambda _, x: x.view(1, 2, 2, 2, 2, 2, 2) + 1) == (0, 1)


def test_a_row_that_fails_is_opaque_with_a_warning(path):
    table = {**torch_table.FUNCTIONS, functional.silu: lambda nothing: None}
    with pytest.warns(UserWarning, match="TypeError"):
        found = tapml.carve(Model(lambda _, x: functional.silu(x)), {"p": X}, out=path, table=table)
    assert found == {"operators": 0, "opaque": 1}
    assert cases(path) == [("model/silu", "opaque.silu")]


def test_what_is_written_into_an_argument_is_opaque(path):
    def forward(_, x):
        y = x + 1.0
        return torch.sigmoid(y, out=y)
    assert counts(path, forward) == (1, 1)


class FailingRMSNorm(nn.Module):
    def forward(self, x):
        _ = x * 2.0
        raise ValueError("as it is meant")


def catches(model, x):
    try:
        x = model.norm(x)
    except ValueError:
        pass
    return model.after(torch.relu(x))


def test_calls_after_an_exception_are_kept_where_they_were_made(path):
    assert counts(path, catches, norm=FailingRMSNorm(), after=nn.Linear(8, 8)) == (3, 0)
    assert [instance for instance, _ in cases(path)] == ["norm/mul", "model/relu", "after/linear"]


def test_names_of_modules_may_have_blanks(path):
    parts = nn.ModuleDict({"a b*?[": nn.Linear(8, 8)})
    assert counts(path, lambda model, x: model.parts["a b*?["](x), parts=parts) == (1, 0)
    assert cases(path) == [("parts.a_b___/linear", "tapml.linear")]


def test_memory_that_was_a_weights_is_none(path):
    def forward(model, x):
        old = model.part.weight.data
        model.part.weight.data = torch.zeros(8, 8)
        return functional.linear(x, old)
    counts(path, forward, part=nn.Linear(8, 8))
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    origins = connection.execute("SELECT origin FROM argument WHERE param = 'w'").fetchall()
    connection.close()
    assert origins != [("part.weight",)]


def test_a_model_of_which_nothing_is_seen_is_refused(path):
    model = nn.Sequential(nn.Linear(8, 8))
    with pytest.raises(tapml.Error, match="nothing of the model was seen: no prompt was given"):
        tapml.carve(model, {}, out=path)
    with pytest.raises(tapml.Error, match="TorchScript has compiled the model"):
        tapml.carve(torch.jit.trace(model, X), {"p": X}, out=path)
    with pytest.raises(tapml.Error, match="only a part of the model was called"), tapml.Carving(model, path) as carving:
        carving.begin("p")
        model[0](X)


def test_what_is_no_model_is_a_sentence(path):
    model = nn.Sequential(nn.Linear(8, 8))
    with pytest.raises(TypeError, match="model is of type function, expected a torch.nn.Module"):
        tapml.carve(functional.silu, {"p": X}, out=path)
    with pytest.raises(TypeError, match="a prompt is of type int"):
        tapml.carve(model, {3: X}, out=path)
    with pytest.raises(TypeError, match="prompts is of type Tensor, expected a dictionary"):
        tapml.carve(model, X, out=path)
    with pytest.raises(ValueError, match="the path of a store is empty"):
        tapml.carve(model, {"p": X}, out="")
