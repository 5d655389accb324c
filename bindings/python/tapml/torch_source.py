# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch model as a source: what it computes under hooks becomes cases of a store.

Every function of PyTorch that the model calls is seen. One that `torch_table` knows becomes a call of an operator, with
the path of its module as the instance, and the line of the source; any other that computes floating point numbers is an
opaque call, which is counted and never replayed. A module that is an operator as a whole is one call. Weights are known
by the names that the model has for them.

Nothing that is done here may fail in the middle of a model: what a row cannot describe is opaque, and what a store
cannot hold (complex numbers, sparse tensors, too many axes or tensors) is only counted.
"""
import os
import re
import sys
import threading
import time
import warnings

import torch
from torch.overrides import TorchFunctionMode

from tapml import torch_table
from tapml.checkpoint import Checkpoint
from tapml.store import Error, Store

_OWN = os.path.dirname(os.path.abspath(__file__))
_TORCH = os.path.dirname(os.path.abspath(torch.__file__))
_OPAQUE_TENSORS_MAX = 64  # As many parameters as a store has of an operator.
_NOTHING_SEEN = ("nothing of the model was seen: no prompt was given, only a part of the model was called, or its"
                 " functions are hidden from Python, as in a model that TorchScript has compiled")


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


def _address(tensor):
    """Where a tensor's elements are; None of a tensor without memory of its own, as a sparse one."""
    try:
        return tensor.data_ptr()
    except RuntimeError:
        return None


class _Place:
    """A module that runs: its path, how often it has called each function, and the calls that are held since it may
    turn out to be an operator as a whole (else None). `frame` is the frame of Python that runs it."""

    def __init__(self, path, frame, held=None):
        self.path, self.frame, self.held, self._counts = path, frame, held, {}

    def instance(self, function):
        self._counts[function] = self._counts.get(function, 0) + 1
        count = self._counts[function]
        return f"{self.path}/{function}" + (f".{count}" if count > 1 else "")

    def is_running(self):
        """False after an exception has left the module, of which no hook tells."""
        frame = sys._getframe(1)
        while frame is not None and frame is not self.frame:
            frame = frame.f_back
        return frame is not None


class Carving(TorchFunctionMode):
    """Records what a model computes while this is entered. `begin` names what it is fed; each run of the model after
    that is a step: the first one feeds a prompt, later ones decode."""

    def __init__(self, model, out, name=None, table=None, weights=None):
        """`out` is the store; `name` tells this model from others; `table` replaces `torch_table.FUNCTIONS`. `weights` is a
        folder of safetensors whose weights the store then refers to, where they are those of the model."""
        super().__init__()
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"model is of type {type(model).__name__}, expected a torch.nn.Module")
        if isinstance(model, torch.jit.ScriptModule):
            raise Error("TorchScript has compiled the model, so that its functions cannot be seen: carve the original")
        self._model, self._table = model, torch_table.FUNCTIONS if table is None else table
        self._store = Store(out, name or type(model).__name__)
        self._weights = {}
        for label, tensor in list(model.named_parameters()) + list(model.named_buffers()):
            self._weights.setdefault(_address(tensor), []).append((label, tensor))
        self._checkpoint = None if weights is None else Checkpoint(weights)
        if weights is not None:
            self._store.weights_in(os.path.abspath(weights))
        self._places, self._hooks, self._thread = [], [], threading.get_ident()
        self._prompt, self._step, self._parts = "", -1, {}
        self._problem = None  # Of the first call that the store took in no form.
        self.counts = {"operators": 0, "opaque": 0}

    def begin(self, prompt):
        """The next run of the model is the first step over this prompt, a text."""
        if not isinstance(prompt, str):
            raise TypeError(f"a prompt is of type {type(prompt).__name__}, expected the text that the model is fed")
        prompt.encode()  # Fails here, not in the middle of the model.
        self._prompt, self._step = prompt, -1

    def __enter__(self):
        for path, module in self._model.named_modules():
            if isinstance(module, torch.jit.ScriptModule):
                warnings.warn(f"TorchScript has compiled '{path}': nothing in it is seen")
            else:
                self._watch(path, module, torch_table.module_row(module))
        self._store.describe(component="torch", version=torch.__version__)
        return super().__enter__()

    def __exit__(self, kind, value, trace):
        for hook in self._hooks:
            hook.remove()
        self._unwind()
        self._store.close()
        super().__exit__(kind, value, trace)
        if kind is None and not any(self.counts.values()):
            raise Error(_NOTHING_SEEN)

    def _watch(self, path, module, row):
        enter = lambda _module, _inputs: self._enter(path, row, sys._getframe(1))
        leave = lambda module, inputs, outputs: self._leave(path, row, module, inputs, outputs)
        self._hooks += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]

    def _enter(self, path, row, frame):
        if threading.get_ident() != self._thread:
            return
        self._unwind()
        if path == "":
            self._step += 1
            self._parts = {}
        name = re.sub(r"[\s*?\[]", "_", path) or "model"  # A store has no such characters in names.
        self._places.append(_Place(name, frame, None if row is None else []))

    def _leave(self, path, row, module, inputs, outputs):
        if threading.get_ident() != self._thread:
            return
        self._unwind()
        if row is not None and self._step >= 0:
            with torch._C.DisableTorchFunction(), torch.no_grad():
                self._settle(self._asked(row, module, *inputs, outputs) if len(inputs) == 1 else None)
        self._places.pop()
        if path == "":
            self._commit()

    def _commit(self):
        try:
            self._store.commit()
        except Error as problem:
            if self._problem is None:
                raise
            raise Error(f"{problem}; the first call that it did not take: {self._problem}") from self._problem

    def _unwind(self):
        """Leaves the modules that an exception has left, which the model has caught: their calls were made."""
        while self._places and not self._places[-1].is_running():
            self._release(self._places.pop().held or [])

    def _settle(self, operator):
        """A module is an operator as a whole, and what it has called is dropped; or else it is what it has called."""
        calls, self._places[-1].held = self._places[-1].held, None
        if operator is not None:
            place = self._place(operator.name.split(".")[-1])
            if self._write(place, operator.name, 1, 0, lambda call: self._give(call, operator)) is None:
                for call in calls:
                    if call is not None:
                        call.drop()
                return
        self._release(calls)

    def _release(self, calls):
        """Ends calls that were held; what the store does not take, now that their tensors are gone, is counted."""
        for call in calls:
            try:
                self._finish(call)
            except Error as problem:
                warnings.warn(f"counted as opaque: {problem}")
                self._finish(None)

    def _finish(self, call):
        """Ends a call, or counts one that no store holds (None), unless its module may be an operator as a whole."""
        held = next((place.held for place in reversed(self._places) if place.held is not None), None)
        if held is not None:
            held.append(call)
            return
        if call is not None:
            call.end()
        self.counts["opaque" if call is None or call.version == 0 else "operators"] += 1

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = named or {}
        name = getattr(function, "__name__", "")
        if self._step < 0 or name in torch_table.SILENT:
            return function(*arguments, **named)
        self._unwind()
        if not self._places:
            return function(*arguments, **named)
        begin_ns = time.perf_counter_ns()
        result = function(*arguments, **named)
        elapsed_ns = time.perf_counter_ns() - begin_ns
        if any(tensor.is_floating_point() or tensor.is_complex() for tensor in _tensors([result])):
            with torch._C.DisableTorchFunction(), torch.no_grad():
                self._record(name.strip("_"), self._operators_of(function, arguments, named, result), elapsed_ns,
                             [arguments, named], result)
        return result

    def _operators_of(self, function, arguments, named, result):
        """What a row says, as a list. A call that has written into its arguments is no operator: they are not what went in
        any more."""
        row = self._table.get(function)
        if row is None or not isinstance(result, torch.Tensor) or named.get("inplace") or named.get("out") is not None:
            return []
        more = {key: value for key, value in named.items() if key not in ("inplace", "out")}
        found = self._asked(row, *arguments, **more, y=result)
        return found if isinstance(found, list) else [] if found is None else [found]

    def _asked(self, row, *arguments, **named):
        try:
            return row(*arguments, **named)
        except Exception as problem:
            warnings.warn(f"opaque, since its row of the table fails: {type(problem).__name__}: {problem}")
            return None

    def _record(self, name, operators, elapsed_ns, given, result):
        """A call as operators, one for each sequence, else as the opaque function of that name; what no store can hold is
        counted."""
        place, problem = self._place(name), None
        for index, operator in enumerate(operators):
            place = self._next_part(place) if index > 0 else place
            problem = self._write(place, operator.name, 1, elapsed_ns // len(operators),
                                  lambda call, operator=operator: self._give(call, operator))
            if problem is not None:
                warnings.warn(f"opaque: {problem}")
                break
        if not operators or problem is not None:
            problem_of_opaque = self._write(place, name, 0, elapsed_ns,
                                            lambda call: self._give_opaque(call, given, result))
            if problem_of_opaque is not None:
                self._problem = self._problem or problem or problem_of_opaque
                self._finish(None)

    def _write(self, place, op, version, elapsed_ns, give):
        """Writes a call, whose arguments `give` gives. Returns what the store has against it, or None."""
        call = None
        try:
            call = self._store.call(op, version=version, **place)
            call.time_ns = elapsed_ns
            call.line(_line_of_caller())
            give(call)
            self._finish(call)
        except Exception as problem:
            if call is not None:
                call.drop()
            return problem
        return None

    def _place(self, name):
        """Where in the model and in the step the next call of that name is."""
        instance = self._places[-1].instance(name)
        return self._next_part({"instance": instance, "prompt": self._prompt, "step": max(self._step, 0)})

    def _next_part(self, place):
        part = self._parts.get(place["instance"], 0)
        self._parts[place["instance"]] = part + 1
        return {**place, "part": part}

    def _name_of(self, tensor):
        """The name of the weight that a tensor is, whole or in another shape; or None. Where weights stay in a checkpoint it
        is one that has the very weight."""
        address = _address(tensor)
        for label, weight in self._weights.get(address, ()):
            if _address(weight) != address:
                continue  # It has got other memory, and this is another tensor in its old one.
            if weight.numel() == tensor.numel() and weight.dtype == tensor.dtype and tensor.is_contiguous() \
                    and weight.is_contiguous() and (self._checkpoint is None or self._is_in_checkpoint(label, weight, tensor)):
                return label
        return None

    def _is_in_checkpoint(self, label, weight, tensor):
        return weight.shape == tensor.shape and self._checkpoint.has(label, weight)

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
        inputs = [tensor for tensor in _tensors(given) if tensor.dtype != torch.bool]
        outputs = list(_tensors([result]))
        if len(inputs) + len(outputs) > _OPAQUE_TENSORS_MAX:
            raise Error(f"more than {_OPAQUE_TENSORS_MAX} tensors")
        for index, tensor in enumerate(inputs):
            call.give(**{f"x{index}": tensor})
        for index, tensor in enumerate(outputs):
            call.take(**{f"y{index}": tensor})


def carve(model, prompts, out, name=None, table=None, weights=None):
    """Runs `model` over each of `prompts`, a dictionary from texts to what the model is fed (a tensor, a tuple of
    arguments, or a dictionary of them), and writes what it computes to the store `out`. The other arguments are those of
    `Carving`.

    Returns how many calls were operators of TapML, and how many are opaque. `Error` where nothing was seen."""
    if not isinstance(prompts, dict):
        raise TypeError(f"prompts is of type {type(prompts).__name__}, expected a dictionary from texts to what a model is fed")
    with torch.no_grad(), Carving(model, out, name, table, weights) as carving:
        for prompt, fed in prompts.items():
            carving.begin(prompt)
            if isinstance(fed, dict):
                model(**fed)
            else:
                model(*(fed if isinstance(fed, tuple) else (fed,)))
    return carving.counts
