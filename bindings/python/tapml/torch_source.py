# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch model as a source: what it computes under hooks becomes cases of a store.

Every function of PyTorch that the model calls is seen. One that `torch_table` knows becomes a call of an operator, with
the path of its module as the instance, and the line of the source; any other that computes floating point numbers is an
opaque call, which is counted and never replayed. A module that is an operator as a whole is one call. Weights are known by the names that the model has for them.
"""
import os
import sys
import time

import torch
from torch.overrides import TorchFunctionMode

from tapml import torch_table
from tapml.store import Store

_OWN = os.path.dirname(os.path.abspath(__file__))
_TORCH = os.path.dirname(os.path.abspath(torch.__file__))


def _line_of_caller():
    """The innermost line of the program that is neither ours nor PyTorch's."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_OWN, _TORCH)) and not file.startswith("<"):
            return f"{os.path.relpath(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _tensors(values):
    """The tensors in nested arguments."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, dict):
            yield from _tensors(value.values())


class _Where:
    """The path of the module that runs, and how often each function was called in it."""

    def __init__(self):
        self.paths = [("model", {})]  # Path, and calls by function.

    def enter(self, path):
        self.paths.append((path or "model", {}))

    def leave(self):
        self.paths.pop()

    def instance(self, function):
        path, counts = self.paths[-1]
        counts[function] = counts.get(function, 0) + 1
        return f"{path}/{function}" + (f".{counts[function]}" if counts[function] > 1 else "")


class Carving(TorchFunctionMode):
    """Records what a model computes while this is entered. `begin` names what it is fed; each run of the model after
    that is a step: the first one feeds a prompt, later ones decode."""

    def __init__(self, model, out, name=None, table=None):
        """`out` is the store; `name` tells this model from others; `table` replaces `torch_table.FUNCTIONS`."""
        super().__init__()
        self._model, self._table = model, torch_table.FUNCTIONS if table is None else table
        self._store = Store(out, name or type(model).__name__)
        self._weights = {}
        for label, tensor in list(model.named_parameters()) + list(model.named_buffers()):
            self._weights.setdefault(tensor.data_ptr(), []).append((label, tensor))
        self._where, self._hooks = _Where(), []
        self._held = []  # Calls of modules that may turn out to be an operator as a whole: a list for each.
        self._prompt, self._step, self._parts = "", -1, {}
        self.counts = {"operators": 0, "opaque": 0}

    def begin(self, prompt):
        """The next run of the model is the first step over this prompt, a text."""
        self._prompt, self._step = prompt, -1

    def __enter__(self):
        for path, module in self._model.named_modules():
            row = torch_table.module_row(module)
            enter = lambda _module, _inputs, path=path, row=row: self._enter(path, row)
            leave = lambda module, inputs, outputs, path=path, row=row: self._leave(path, row, module, inputs, outputs)
            self._hooks += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
        self._store.describe(component="torch", version=torch.__version__)
        return super().__enter__()

    def __exit__(self, kind, value, trace):
        for hook in self._hooks:
            hook.remove()
        self._store.close()
        return super().__exit__(kind, value, trace)

    def _enter(self, path, row):
        if path == "":
            self._step += 1
            self._where, self._parts, self._held = _Where(), {}, []
        self._where.enter(path)
        if row is not None:
            self._held.append([])

    def _leave(self, path, row, module, inputs, outputs):
        if row is not None and self._step >= 0:
            with torch._C.DisableTorchFunction(), torch.no_grad():
                self._settle(row(module, *inputs, outputs) if len(inputs) == 1 else None)
        self._where.leave()
        if path == "":
            self._store.commit()

    def _settle(self, operator):
        """A module is an operator as a whole, and what it has called is dropped; or else it is what it has called."""
        calls = self._held.pop()
        if operator is None:
            for call in calls:
                self._finish(call)
            return
        for call in calls:
            call.drop()
        self._finish(self._record(operator.name.split(".")[-1], operator, 0))

    def _finish(self, call):
        """Ends a call, unless its module may be an operator as a whole."""
        if self._held:
            self._held[-1].append(call)
        else:
            self.counts["opaque" if call.version == 0 else "operators"] += 1
            call.end()

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = named or {}
        name = getattr(function, "__name__", "")
        if self._step < 0 or len(self._where.paths) == 1 or name in torch_table.SILENT:
            return function(*arguments, **named)
        begin_ns = time.perf_counter_ns()
        result = function(*arguments, **named)
        elapsed_ns = time.perf_counter_ns() - begin_ns
        if any(tensor.is_floating_point() for tensor in _tensors([result])):
            with torch._C.DisableTorchFunction(), torch.no_grad():
                operator = self._operator_of(function, arguments, named, result)
                self._finish(self._record(name.strip("_"), operator, elapsed_ns, [arguments, named], result))
        return result

    def _operator_of(self, function, arguments, named, result):
        row = self._table.get(function)
        if row is None or not isinstance(result, torch.Tensor) or named.get("inplace"):
            return None
        return row(*arguments, **{key: value for key, value in named.items() if key != "inplace"}, y=result)

    def _record(self, name, operator, elapsed_ns, given=(), result=None):
        """The call of an operator, or of the opaque function of that name, with its arguments."""
        instance = self._where.instance(name)
        part = self._parts.get(instance, 0)
        self._parts[instance] = part + 1
        place = {"instance": instance, "prompt": self._prompt, "step": max(self._step, 0), "part": part}
        call = self._store.call(name, version=0, **place) if operator is None else self._store.call(operator.name, **place)
        try:
            call.time_ns = elapsed_ns
            call.line(_line_of_caller())
            if operator is None:
                self._give_opaque(call, given, result)
            else:
                self._give(call, operator)
        except Exception:
            call.drop()
            raise
        return call

    def _name_of(self, tensor):
        """The name of the weight that a tensor is, whole or in another shape; or None."""
        for label, weight in self._weights.get(tensor.data_ptr(), ()):
            if weight.numel() == tensor.numel() and weight.dtype == tensor.dtype and tensor.is_contiguous() \
                    and weight.is_contiguous():
                return label
        return None

    def _give(self, call, operator):
        for parameter, value in operator.arguments.items():
            weight = self._name_of(value) if isinstance(value, torch.Tensor) else None
            if weight is not None:
                call.weight(parameter, weight, value)
            else:
                call.give(**{parameter: value})
        for parameter, (before, after) in operator.states.items():
            call.give(**{parameter: before})
            call.take(**{parameter: after})
        call.take(**operator.outputs)

    def _give_opaque(self, call, given, result):
        for index, tensor in enumerate(_tensors(given)):
            if tensor.dtype != torch.bool:
                call.give(**{f"x{index}": tensor})
        for index, tensor in enumerate(_tensors([result])):
            call.take(**{f"y{index}": tensor})


def carve(model, prompts, out, name=None, table=None):
    """Runs `model` over each of `prompts`, a dictionary from texts to what the model is fed (a tensor, a tuple of
    arguments, or a dictionary of them), and writes what it computes to the store `out`.

    Returns how many calls were operators of TapML, and how many are opaque."""
    with torch.no_grad(), Carving(model, out, name, table) as carving:
        for prompt, fed in prompts.items():
            carving.begin(prompt)
            if isinstance(fed, dict):
                model(**fed)
            else:
                model(*(fed if isinstance(fed, tuple) else (fed,)))
    return carving.counts
