# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What single modules of a model compute, under names that need no table for each model (for dump_expected.py).

A module is known by the tensor of the checkpoint that it applies, found by name and content:

    op.TENSOR            what the module that applies TENSOR gives
    in.TENSOR            what goes into it, unless another module here gave that
    after.TENSOR         what a module without weights, such as an activation, makes of `op.TENSOR`
    attention.N.query    queries of the N-th attention behind rotation; .key and .value the same

Recorded is a module that does what its tensor says (a product, a look-up, a norm), which is checked by computing it:
routers and gated norms that do more inside are left out. All rows are [tokens, values].
"""
import os
import sys


def checkpoint_files(folder):
    names = sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))
    return [os.path.join(folder, name) for name in names if not name.startswith("expected")]


class Checkpoint:
    """The tensors of a folder, opened as they are asked for."""

    def __init__(self, folder):
        from safetensors import safe_open

        self.files = {}
        self.shapes = {}
        for path in checkpoint_files(folder):
            opened = safe_open(path, framework="pt")
            for name in opened.keys():
                self.files[name] = opened
                self.shapes[name] = tuple(opened.get_slice(name).get_shape())

    def holds(self, name, values):
        import torch

        return self.shapes[name] == tuple(values.shape) and torch.equal(self.files[name].get_tensor(name).float(), values)

    def find(self, parameter, values):
        """The tensor that a parameter was loaded from: of its name, of one that ends alike, or of its content alone."""
        if parameter in self.files and self.holds(parameter, values):
            return parameter
        alike = [name for name in self.files if parameter.endswith("." + name) or name.endswith("." + parameter)]
        same = [name for name in self.files if self.shapes[name] == tuple(values.shape)]
        for names in (alike, same):
            found = [name for name in names if self.holds(name, values)]
            if len(found) == 1:
                return found[0]
        return None


def rows_of(tensor, count):
    """A tensor of one text as [tokens, values], or None where its axes are not those."""
    import torch

    if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point() or tensor.dim() < 2:
        return None
    shape = list(tensor.shape)
    if shape[0] == 1 and tensor.dim() > 2:
        shape = shape[1:]
    if shape[0] != count or (len(shape) > 2 and count in shape[1:-1]):
        return None
    return tensor.detach().reshape(count, -1).float()


def is_rank_one(ratio):
    """Whether every row is the same but for a factor."""
    import torch

    return torch.allclose(ratio * ratio[..., :1, :1], ratio[..., :, :1] * ratio[..., :1, :], rtol=1e-3, atol=1e-5)


def is_norm(module, given, made):
    """Whether each row is scaled by its own factor, and each column by another: a norm and nothing else."""
    bias = getattr(module, "bias", None)
    given = given.reshape(-1, given.shape[-1]).double()
    made = made.reshape(-1, made.shape[-1]).double() - (bias.double() if bias is not None else 0)
    return any(is_rank_one(made / (given - shift)) for shift in (0, given.mean(-1, keepdim=True)))


def does_what_it_says(module, given, made):
    """Whether the module applies its weight, and its bias, and does nothing beside that."""
    import torch

    weight, bias = module.weight, getattr(module, "bias", None)
    if weight.dim() == 1:
        return given.shape == made.shape and is_norm(module, given, made)
    if not given.is_floating_point():
        return torch.equal(weight[given], made)
    products = [weight.t()] if weight.shape[1] == given.shape[-1] else []
    products += [weight] if weight.shape[0] == given.shape[-1] else []
    shift = bias if bias is not None else 0
    return any(made.shape[-1] == by.shape[1] and torch.allclose(given @ by + shift, made, rtol=1e-4, atol=1e-4)
               for by in products)


def place_of(tensor):
    return (tensor.data_ptr(), tensor.numel())


class Recorder:
    """Hooks on the modules of a model for one pass."""

    def __init__(self, model, folder, count):
        self.count = count
        self.tensors = {}
        self.made = {}  # Where a tensor lies, to the name of what gave it.
        self.alive = []  # Whatever lies somewhere stays there.
        self.hooks = []
        self.attentions = 0
        checkpoint, taken = Checkpoint(folder), set()
        for name, module in model.named_modules():
            if next(module.children(), None) is not None:
                continue
            parameters = dict(module.named_parameters(recurse=False))
            if not parameters:
                self.hooks.append(module.register_forward_hook(self.without_weights))
            elif "weight" in parameters and set(parameters) <= {"weight", "bias"} and parameters["weight"].dim() <= 2:
                tensor = checkpoint.find(f"{name}.weight", parameters["weight"].detach())
                if tensor and tensor not in taken:
                    taken.add(tensor)
                    self.hooks.append(module.register_forward_hook(self.with_weight(tensor)))

    def keep(self, name, tensor):
        rows = rows_of(tensor, self.count)
        if rows is not None and name not in self.tensors:
            self.tensors[name] = rows.clone()
            return True
        return False

    def with_weight(self, name):
        import torch

        def hook(module, given, made):
            if not given or not isinstance(made, torch.Tensor) or not does_what_it_says(module, given[0], made):
                return
            self.alive += [given[0], made]
            if place_of(given[0]) not in self.made:
                self.keep("in." + name, given[0])
                self.made[place_of(given[0])] = ""
            if self.keep("op." + name, made):
                self.made[place_of(made)] = name
        return hook

    def without_weights(self, _module, given, made):
        import torch

        if len(given) != 1 or not isinstance(given[0], torch.Tensor) or not isinstance(made, torch.Tensor):
            return
        name = self.made.get(place_of(given[0]))
        if name and place_of(made) != place_of(given[0]) and made.shape == given[0].shape:
            self.alive.append(made)
            self.keep("after." + name, made)

    def attention(self, eager):
        """The attention of a file of models, with its queries and keys kept: [1, heads, tokens, values]."""
        def watched(module, query, key, value, *rest, **more):
            for name, rows in (("query", query), ("key", key), ("value", value)):
                if rows.dim() == 4 and rows.shape[2] == self.count:
                    self.keep(f"attention.{self.attentions}.{name}", rows.transpose(1, 2).reshape(1, self.count, -1))
            self.attentions += 1
            return eager(module, query, key, value, *rest, **more)
        return watched


def record(model, folder, ids):
    """The tensors of one pass over `ids`, by their names in the file."""
    import torch

    recorder = Recorder(model, folder, len(ids))
    files = {sys.modules[type(module).__module__] for module in model.modules()}
    eager = {file: file.eager_attention_forward for file in files if hasattr(file, "eager_attention_forward")}
    for file, function in eager.items():
        file.eager_attention_forward = recorder.attention(function)
    try:
        with torch.no_grad():
            model(input_ids=torch.tensor([ids]))
    finally:
        for file, function in eager.items():
            file.eager_attention_forward = function
        for hook in recorder.hooks:
            hook.remove()
    return recorder.tensors
