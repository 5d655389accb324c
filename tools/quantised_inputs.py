# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a model with quantised inputs: each F.linear gets its input as a scheme of a checkpoint rounds it.

The formulas are those of docs/quantised.md, in torch's operations and with torch's own 8-bit floats. What a model
computes jumps where a value lies on a tie, so a tie near a value is an error here: another prompt has none.
"""
import contextlib

import torch

# Far more than sums of another order differ by, as a part of the largest value of a block.
NOISE = 3e-7
EDGES = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])
F4 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


class Tie(Exception):
    """A value is so near to a tie that rounding errors decide."""


def e4m3(values):
    return values.clamp(-448, 448).to(torch.float8_e4m3fn).float()


def e2m1(values):
    """Ties to the even code: an edge belongs to the side whose code is even."""
    size = values.abs()[..., None]
    above = torch.where(torch.arange(7) % 2 == 0, size > EDGES, size >= EDGES)
    return F4[above.sum(-1)].copysign(values)


def int8(values):
    return torch.round(values).clamp(-128, 127)


def quotient(most, low=0.0, high=torch.finfo(torch.float32).max):
    return lambda largest, factor: largest.clamp(low, high) / most


def power_above(most, low=0.0):
    """The power of two that is not below the quotient."""
    def scale(largest, factor):
        digits, exponent = torch.frexp(largest.clamp(min=low) / most)
        return torch.exp2((exponent - (digits == 0.5).int()).float())
    return scale


def power_of(digits, exponent_most):
    """The power of two of the magnitude, whose digits are rounded first."""
    def scale(largest, factor):
        bits = largest.view(torch.int32) + (1 << (22 - digits))
        return (bits & 0x7f800000).view(torch.float32) / 2.0 ** exponent_most
    return scale


def scaled(largest, factor):
    return e4m3(factor * (largest / 6)) / factor


def divided(largest, factor):
    return e4m3(largest / (6 * factor)) * factor


def given(largest, factor):
    return factor.expand_as(largest)


class Scheme:
    """How inputs are rounded: `suffix` is that of the tensor with the factor, `of` makes it of the largest input."""

    def __init__(self, quants, scale, block=0, suffix=None, of=None):
        self.quants, self.scale, self.block, self.suffix, self.of = quants, scale, block, suffix, of

    def rounded(self, x, factor):
        block = self.block or x.shape[-1]
        return torch.cat([self.block_rounded(part, factor) for part in x.split(block, -1)], -1)

    def block_rounded(self, x, factor):
        largest = x.abs().amax(-1, keepdim=True)
        scale = self.scale(largest, factor)
        noise = NOISE * largest
        for changed in (largest + noise, largest - noise):
            if not torch.allclose(self.scale(changed, factor), scale, rtol=4 * NOISE, atol=0):
                raise Tie
        quants = self.quants(x / scale)
        if not (torch.equal(self.quants((x + noise) / scale), quants) and
                torch.equal(self.quants((x - noise) / scale), quants)):
            raise Tie
        return torch.where(scale == 0, torch.zeros(()), quants * scale)


@contextlib.contextmanager
def hooked(change):
    """Every F.linear gets what `change` makes of its weight and input."""
    plain = torch.nn.functional.linear

    def linear(x, weight, bias=None):
        return plain(change(weight if weight._base is None else weight._base, x), weight, bias)

    torch.nn.functional.linear = linear
    try:
        yield
    finally:
        torch.nn.functional.linear = plain


@contextlib.contextmanager
def quantised(model, schemes, factors):
    """Parameters by their names: `schemes` and `factors`, which are tensors or None."""
    known = {parameter.data_ptr(): name for name, parameter in model.named_parameters() if name in schemes}

    def change(weight, x):
        name = known.get(weight.data_ptr())
        return x if name is None else schemes[name].rounded(x, factors.get(name))

    with hooked(change):
        yield


def largest_inputs(model, run):
    """The largest magnitude of the inputs of each parameter."""
    names = {parameter.data_ptr(): name for name, parameter in model.named_parameters()}
    largest = {}

    def change(weight, x):
        name = names.get(weight.data_ptr())
        largest[name] = max(largest.get(name, 0.0), float(x.abs().max()))
        return x

    with hooked(change):
        run()
    return largest
