# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Which function or module of PyTorch is which operator of TapML (docs/ops): the table that `tapml.carve` reads.

A row of `FUNCTIONS` is a function with the parameters of PyTorch's own, by the same names, and what it returned, `y`. It
gives back an `Operator` with arguments by the names of TapML's parameters, a list of them where an operator takes one
sequence and the call several, or None where this call is none of its operators: then the call is opaque. A row of `MODULES` is asked with a module, what it was called with and what it
returned; where it gives back None the functions that the module has called are recorded instead. Rows of yours are
added to either.
"""
import fnmatch
import math

import torch
from torch.nn import functional


class Operator:
    """A call of an operator: `arguments` go in, `outputs` came out, `states` (before, after) are changed."""

    def __init__(self, name, outputs, states=None, **arguments):
        self.name, self.arguments, self.outputs, self.states = name, arguments, outputs, states or {}


def _is_float(*values):
    return all(isinstance(value, torch.Tensor) and value.dtype in (torch.float32, torch.float16) for value in values)


def _unary(name):
    """An operator of one tensor; rows are what each of them has, so that a single number is none."""
    return lambda input, y, **_: Operator(name, {"y": y}, x=input) if _is_float(input) and input.dim() > 0 else None


def _like(value, y):
    """An operand as it takes part: a number or a smaller tensor is repeated, without a copy."""
    if not isinstance(value, torch.Tensor):
        value = torch.tensor(value, dtype=y.dtype)
    return value.expand(y.shape) if value.dtype == y.dtype else None


def _binary(name):
    def row(input, other, y, alpha=1, **_):
        if alpha != 1 or not _is_float(y) or y.dim() == 0:
            return None
        left, right = _like(input, y), _like(other, y)
        return None if left is None or right is None else Operator(name, {"y": y}, a=left, b=right)
    return row


def _multiply(input, other, y, **_):
    for value, factor in ((input, other), (other, input)):
        if _is_float(value, y) and y.dim() > 0 and isinstance(factor, (int, float)):
            return Operator("tapml.scale", {"y": y}, x=value, factor=float(factor))
    return _binary("tapml.mul")(input, other, y)


def _linear(input, weight, bias=None, *, y, **_):
    if weight.dim() != 2 or not _is_float(input):
        return None
    return Operator("tapml.linear", {"y": y}, x=input, w=weight, b=bias, transposed=0)


def _embedding(input, weight, padding_idx=None, max_norm=None, *_, y, **__):
    if max_norm is not None or not _is_float(y):
        return None
    return Operator("tapml.embed", {"y": y.reshape(-1, y.shape[-1])}, table=weight,
                    ids=input.reshape(-1).to(torch.int32), offset=0)


def _layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, *, y):
    if len(normalized_shape) != 1 or not _is_float(input):
        return None
    return Operator("tapml.layer_norm", {"y": y}, x=input, weight=weight, bias=bias, eps=float(eps), offset=0.0)


def _rms_norm(input, normalized_shape, weight=None, eps=None, *, y):
    if len(normalized_shape) != 1 or not _is_float(input):
        return None
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    return Operator("tapml.rms_norm", {"y": y}, x=input, weight=weight, eps=float(eps), offset=0.0)


def _addmm(input, mat1, mat2, *, beta=1, alpha=1, y):
    if beta != 1 or alpha != 1 or input.dim() != 1 or not _is_float(mat1):
        return None
    return Operator("tapml.linear", {"y": y}, x=mat1, w=mat2, b=input, transposed=1)


def _gelu(input, approximate="none", *, y):
    return _unary("tapml.gelu" if approximate == "none" else "tapml.gelu_tanh")(input, y)


def _softplus(input, beta=1, threshold=20, *, y):
    return _unary("tapml.softplus")(input, y) if beta == 1 and threshold == 20 else None


def _negative(input, y):
    return Operator("tapml.scale", {"y": y}, x=input, factor=-1.0) if _is_float(input) and y.dim() > 0 else None


def _concat(tensors, dim=0, *, y, **_):
    tensors = [tensor for tensor in tensors if tensor.numel() > 0]
    if len(tensors) != 2 or not _is_float(*tensors) or dim % y.dim() != y.dim() - 1:
        return None
    return Operator("tapml.concat", {"y": y}, a=tensors[0], b=tensors[1])


def _conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, *, y):
    """The causal convolution of each channel with its own taps: rows of zeros in front, and what hangs over is cut."""
    taps, channels = weight.shape[-1], weight.shape[0]
    one = ((1,), 1)
    if not _is_float(input) or input.dim() != 3 or taps < 2 or groups != channels or weight.shape[1] != 1 \
            or stride not in one or dilation not in one or padding not in (taps - 1, (taps - 1,)):
        return None

    def sequence(x, y):
        rows = x.transpose(0, 1)
        before = torch.zeros(taps - 1, channels, dtype=input.dtype)
        after = torch.cat([before, rows])[-(taps - 1):]
        return Operator("tapml.conv1d_causal", {"y": y.transpose(0, 1)[:rows.shape[0]]}, {"tail": (before, after)},
                        x=rows, w=weight.reshape(channels, taps), b=bias)
    return [sequence(*both) for both in zip(input, y)]


def _keys_seen(mask, queries, keys):
    """Which keys are none of a padding, if query t sees just those of them up to keys - queries + t; else None. A query
    that sees none has another result in PyTorch."""
    hidden = ~mask if mask.dtype == torch.bool else torch.isneginf(mask) | (mask <= torch.finfo(mask.dtype).min / 2)
    if mask.dtype != torch.bool and not (hidden | (mask == 0)).all():
        return None
    earlier = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)
    seen = (~hidden).any(0)
    is_so = bool((~hidden == (earlier & seen)).all()) and bool((~hidden).any(1).all())
    return seen if is_so else None


def _sight(attn_mask, is_causal, sequence, queries, keys):
    """What a sequence of a batch sees, as arguments of the operator; None where it cannot say that."""
    if attn_mask is None:
        # PyTorch lets the first query see the first key alone.
        return {"causal": int(is_causal)} if not is_causal or queries == keys else None
    mask = attn_mask.reshape((1,) * (4 - attn_mask.dim()) + tuple(attn_mask.shape))
    mask = mask[sequence if mask.shape[0] > 1 else 0]
    if mask.shape[0] != 1 or mask.shape[-1] != keys or mask.shape[-2] not in (1, queries):
        return None
    seen = _keys_seen(mask[0].expand(queries, keys), queries, keys)
    if seen is None:
        return None
    return {"causal": 1} if bool(seen.all()) else {"causal": 1, "key_mask": seen.to(torch.int32)}


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, *, y):
    """Of each sequence: keys and values are the rows of states that are full."""
    if query.dim() != 4 or key.shape[0] != query.shape[0] or dropout_p != 0 or not _is_float(query, key, value):
        return None
    queries, keys = query.shape[2], key.shape[2]
    scale = float(scale if scale is not None else 1 / math.sqrt(query.shape[-1]))
    operators = []
    for sequence in range(query.shape[0]):
        sight = _sight(attn_mask, is_causal, sequence, queries, keys)
        if sight is None:
            return None
        rows = [heads[sequence].transpose(0, 1) for heads in (query, key, value, y)]
        operators.append(Operator("tapml.attention", {"y": rows[3]}, q=rows[0], k_state=rows[1], v_state=rows[2],
                                  position=keys - queries, scale=scale, window=0, chunk=0, softcap=0.0, alibi_bf16=0, **sight))
    return operators


def _names(owner, *names):
    return [getattr(owner, name) for name in names if hasattr(owner, name)]


def _rows():
    tensor = torch.Tensor
    binary_add, binary_sub = _binary("tapml.add"), _binary("tapml.sub")
    yield _names(functional, "linear"), _linear
    yield _names(torch, "addmm"), _addmm
    yield _names(functional, "embedding"), _embedding
    yield _names(functional, "layer_norm"), _layer_norm
    yield _names(functional, "rms_norm"), _rms_norm
    yield _names(functional, "silu"), _unary("tapml.silu")
    yield _names(functional, "gelu"), _gelu
    yield _names(functional, "relu") + _names(torch, "relu") + _names(tensor, "relu"), _unary("tapml.relu")
    yield _names(functional, "softplus"), _softplus
    yield _names(torch, "sigmoid") + _names(tensor, "sigmoid") + _names(functional, "sigmoid"), _unary("tapml.sigmoid")
    yield _names(torch, "tanh") + _names(tensor, "tanh") + _names(functional, "tanh"), _unary("tapml.tanh")
    yield _names(torch, "exp") + _names(tensor, "exp"), _unary("tapml.exp")
    yield _names(torch, "add") + _names(tensor, "add", "__add__", "__radd__"), binary_add
    yield _names(torch, "sub") + _names(tensor, "sub", "__sub__"), binary_sub
    yield _names(torch, "mul") + _names(tensor, "mul", "__mul__", "__rmul__"), _multiply
    yield _names(torch, "neg") + _names(tensor, "neg", "__neg__"), _negative
    yield _names(torch, "cat", "concat"), _concat
    yield _names(functional, "conv1d") + _names(torch, "conv1d"), _conv1d
    yield _names(functional, "scaled_dot_product_attention"), _attention


FUNCTIONS = {function: row for functions, row in _rows() for function in functions}


def _rms_norm_module(module, x, y):
    """A module of such a name has a weight and an epsilon; what it computes is compared, since names promise little."""
    eps = getattr(module, "variance_epsilon", getattr(module, "eps", None))
    weight = getattr(module, "weight", None)
    if not _is_float(x, y) or not isinstance(eps, float) or weight is None or weight.shape != x.shape[-1:]:
        return None
    wide = x.double()
    scaled = wide / (wide.square().mean(-1, keepdim=True) + eps).sqrt()
    for offset in (0.0, 1.0):
        expected = scaled * (offset + weight.double())
        if torch.allclose(y.double(), expected, rtol=1e-5 if y.dtype == torch.float32 else 1e-2, atol=1e-6):
            return Operator("tapml.rms_norm", {"y": y}, x=x, weight=weight, eps=eps, offset=offset)
    return None


# Class names, with the wildcards of a shell.
MODULES = {"*RMSNorm": _rms_norm_module}


def module_row(module):
    """The row of a module, or None."""
    return next((row for name, row in MODULES.items() if fnmatch.fnmatch(type(module).__name__, name)), None)


# What computes nothing: views, shapes, types, constants, masks of whole numbers. Such a call is left out.
SILENT = set("""
    reshape view view_as transpose permute unsqueeze squeeze expand expand_as contiguous chunk split flatten unflatten t
    movedim swapaxes narrow select unbind detach clone to type type_as float half bfloat16 double cpu requires_grad_
    size dim numel stride storage_offset data_ptr element_size is_contiguous is_floating_point item tolist __len__ __get__
    __set__ __getitem__ __setitem__ __iter__ __bool__ __index__ __repr__ __format__ __hash__ __contains__ index_select
    arange zeros ones empty full zeros_like ones_like empty_like full_like new_zeros new_ones new_empty new_full tensor
    as_tensor rand randn eye triu tril where masked_fill masked_fill_ fill_ copy_ eq ne lt le gt ge __eq__ __ne__ __lt__
    __le__ __gt__ __ge__ logical_not logical_and logical_or all any isnan isinf isneginf dropout repeat_interleave
    broadcast_to broadcast_tensors result_type can_cast is_tensor __deepcopy__ set_ register_hook retain_grad backward
    _is_all_true argmax __invert__ __and__ __or__ is_complex
""".split())
