# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""TapML for Python: the operator calls that a program makes become cases, which tapml-host replays elsewhere.

    import tapml

    tapml.carve(model, {"a prompt": token_ids}, out="x.tapmlrun")      # a PyTorch model, by hooks

    tapml.judge(my_silu, op="silu", cases="run/run.tapmlrun")["verdict"]  # a kernel of yours, as `tapml-host judge`

    with tapml.Store("x.tapmlrun", "my model") as store:               # anything else, call by call
        with store.call("tapml.silu", "layers.0.act", prompt="a prompt") as call:
            call.give(x=x)
            call.take(y=y)
        store.commit()

Arrays are whatever has strides and memory: tensors of PyTorch on the CPU, arrays of NumPy, objects of the buffer
protocol. They are copied before a function returns.
"""
from tapml.judgement import judge
from tapml.store import Error, Store

__all__ = ["Carving", "Error", "Store", "carve", "judge"]


def __getattr__(name):
    """The names that need PyTorch, which is imported with the first of them."""
    if name in ("Carving", "carve"):
        from tapml import torch_source
        return getattr(torch_source, name)
    raise AttributeError(f"module 'tapml' has no attribute '{name}'")
