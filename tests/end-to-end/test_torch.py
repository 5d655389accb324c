#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch model that the host has no architecture for is carved, replayed, and judged from its store alone."""
import os
import subprocess

import rig

# Odd norms and a gated convolution: what a user writes, and the three lines that carve it.
MODEL = """
import sys, torch, tapml
from torch import nn

class OddNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(n) + 0.5)
    def forward(self, x):
        return x / (x.abs().mean(-1, keepdim=True) + 1e-3) * self.scale

class Gated(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm, self.up, self.down = OddNorm(n), nn.Linear(n, 2 * n), nn.Linear(n, n, bias=False)
        self.conv = nn.Conv1d(n, n, 4, padding=3, groups=n)
    def forward(self, x):
        a, b = self.up(self.norm(x)).chunk(2, -1)
        c = self.conv(a.transpose(1, 2))[..., :a.shape[1]].transpose(1, 2)
        return x + self.down(nn.functional.silu(c) * b)

torch.manual_seed(1)
model = nn.Sequential(nn.Embedding(50, 32), Gated(32), Gated(32), nn.LayerNorm(32, eps=1e-2), nn.Linear(32, 50))
prompts = {"a": torch.tensor([[1, 5, 9, 3, 7]]), "b": torch.tensor([[2, 4, 8]])}
"""
CARVE = """
print(tapml.carve(model, prompts, out=sys.argv[1]))
"""
WRONG = """
from tapml import torch_table
def layer_norm(x, shape, weight=None, bias=None, eps=1e-5, *, y):
    return torch_table.Operator("tapml.layer_norm", {"y": y}, x=x, weight=weight, bias=bias, eps=1e-5, offset=0.0)
table = {**torch_table.FUNCTIONS, nn.functional.layer_norm: layer_norm}
print(tapml.carve(model, prompts, out=sys.argv[1], table=table))
"""
ATTENTION = """
import sys, torch, tapml
from torch import nn
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(32, 96)
    def forward(self, x):
        q, k, v = (part.reshape(1, -1, 4, 8).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return nn.functional.gelu(y.transpose(1, 2).reshape(x.shape), approximate="tanh")
torch.manual_seed(2)
print(tapml.carve(nn.Sequential(nn.Embedding(9, 32), Attention()), {"a": torch.tensor([[1, 5, 3]])}, out=sys.argv[1]))
"""


BATCH = """
import sys, torch, tapml
from torch import nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.conv = nn.Linear(32, 96), nn.Conv1d(32, 32, 3, padding=2, groups=32)
    def forward(self, x, mask=None):
        q, k, v = (part.reshape(x.shape[0], -1, 4, 8).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        y = self.conv(y.transpose(1, 2).reshape(x.shape).transpose(1, 2))[..., :x.shape[1]].transpose(1, 2)
        return nn.functional.silu(y)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.block = nn.Embedding(9, 32), Block()
    def forward(self, ids, mask=None):
        return self.block(self.embed(ids), mask)
torch.manual_seed(2)
ids = torch.tensor([[1, 5, 3], [2, 2, 8]])
mask = torch.ones(3, 3, dtype=torch.bool).tril().repeat(2, 1, 1, 1)
mask[1, :, :, 1] = False  # A key that no query of the second sequence sees.
print(tapml.carve(Model(), {"two": ids, "masked": (ids, mask)}, out=sys.argv[1]))
"""
CHECKPOINT = """
import json, os
def save(folder, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        bytes_ = tensor.detach().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)
folder = os.path.dirname(sys.argv[1])
save(folder, dict(model.named_parameters()))
with torch.no_grad():
    model[4].bias += 1  # What is not that of the folder is kept in the store.
print(tapml.carve(model, prompts, out=sys.argv[1], weights=folder))
"""


def carve(text, store):
    done = subprocess.run([rig.python_with("torch"), "-c", text, store], env=rig.PYTHON_ENVIRONMENT, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run(folder, store, extra="", code=0, target="opencl"):
    ini, dir_ = os.path.join(folder, "run.ini"), os.path.join(folder, "run")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(f"[run]\ndir = {dir_}\n[source]\nstore = {store}\n[target.gpu]\nbackend = {target}\n{extra}")
    return rig.check(rig.host("--config", ini), code), dir_


def lines_of(text):
    return sum(1 for line in text.splitlines() if line.strip())


def a_model_without_an_architecture_is_carved_and_replayed(folder):
    store = os.path.join(folder, "x.tapmlrun")
    assert lines_of(MODEL + CARVE) < 30
    rig.contains(carve(MODEL + CARVE, store), "'operators': 38", "'opaque': 12")
    done, dir_ = run(folder, store)
    rig.contains(done.stderr, "0 are not what their op computes")
    rig.contains(done.stdout, "19 of 25 instances on gpu, 0 blamed, 6 unsupported", "unsupported: 1.norm/abs (opaque.abs)")
    assert rig.rows(dir_, "SELECT origin FROM argument JOIN \"case\" ON id = case_id"
                          " WHERE instance = '1.up/linear' AND param IN ('x', 'w') ORDER BY case_id, position LIMIT 2") \
        == [("1.norm/mul",), ("1.up.weight",)]
    rig.contains(rig.check(rig.host("show", store, "--case", "8"), 0).stdout, "1.conv/conv1d, tapml.conv1d_causal", "called in ")


def the_same_store_is_replayed_on_another_vendors_library(folder):
    rig.need("onednn", rig.usable("onednn"))
    store = os.path.join(folder, "x.tapmlrun")
    carve(MODEL + CARVE, store)
    done, _ = run(folder, store, target="onednn")
    rig.contains(done.stdout, "16 of 25 instances on gpu, 0 blamed, 9 unsupported", "has no op 'tapml.embed'")


def an_op_spoilt_on_the_target_is_named_from_the_store_alone(folder):
    store = os.path.join(folder, "x.tapmlrun")
    carve(MODEL + CARVE, store)
    done, _ = run(folder, store, "[fault.1]\ntarget = gpu\nop = conv1d_causal\ninstance = 2.*\nkind = shift-rows\n", 1)
    rig.contains(done.stdout, "conv1d_causal is wrong on gpu: first at 2.conv/conv1d", "1 blamed")


def a_wrong_row_of_the_table_is_named(folder):
    store = os.path.join(folder, "x.tapmlrun")
    carve(MODEL + WRONG, store)
    done, _ = run(folder, store)
    rig.contains(done.stderr, "2 of 50 cases are not what their op computes", "3/layer_norm")
    rig.contains(done.stdout, "0 blamed", "unsupported: 3/layer_norm (tapml.layer_norm): the source recorded something else")


def attention_with_a_causal_mask_is_an_operator(folder):
    rig.need("scaled_dot_product_attention", subprocess.run(
        [rig.python_with("torch"), "-c", "import torch; torch.nn.functional.scaled_dot_product_attention"],
        capture_output=True, check=False).returncode == 0)
    store = os.path.join(folder, "x.tapmlrun")
    rig.contains(carve(ATTENTION, store), "'operators': 4, 'opaque': 0")
    done, _ = run(folder, store)
    rig.contains(done.stdout, "gpu: all 4 instances right")


def each_sequence_of_a_batch_is_a_case(folder):
    rig.need("scaled_dot_product_attention", subprocess.run(
        [rig.python_with("torch"), "-c", "import torch; torch.nn.functional.scaled_dot_product_attention"],
        capture_output=True, check=False).returncode == 0)
    store = os.path.join(folder, "x.tapmlrun")
    rig.contains(carve(BATCH, store), "'operators': 14, 'opaque': 0")
    done, _ = run(folder, store)
    rig.contains(done.stdout, "gpu: all 5 instances right")


def weights_stay_in_their_checkpoint(folder):
    store = os.path.join(folder, "x.tapmlrun")
    rig.contains(carve(MODEL + CHECKPOINT, store), "'operators': 38", "'opaque': 12")
    done, dir_ = run(folder, store)
    rig.contains(done.stdout, "19 of 25 instances on gpu, 0 blamed")
    kept = {name for name, in rig.rows(dir_, "SELECT DISTINCT origin FROM argument WHERE effects LIKE '%weight%'")}
    assert "4.weight" in kept and "4.bias" not in kept, kept


def ordinary_models_are_carved(_):
    test = os.path.join(rig.SOURCE, "tests", "python", "test_carve.py")
    done = subprocess.run([rig.python_with("torch", "pytest"), "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
                          env=rig.PYTHON_ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


JUDGE = """
import sys, torch, tapml
def norm(x, weight, eps, offset):
    wide = x.double()
    return (wide / (wide.square().mean(-1, keepdim=True) + eps).sqrt() * (offset + weight.double())).float()
def half(**arguments):
    return norm(**arguments).half().float()
torch.ones(200, 200) @ torch.ones(200, 200)  # There are threads before children are forked.
for function in (norm, half):
    print(tapml.judge(function, op="rms_norm", cases=sys.argv[1], arrays="torch")["verdict"])
"""


def kernels_of_torch_are_judged(folder):
    ini, dir_ = rig.write_small_run(folder)
    rig.check(rig.host("--config", ini), 0)
    assert carve(JUDGE, os.path.join(dir_, "run.tapmlrun")).split("\n")[:2] == ["right", "lower precision"]


TESTS = [kernels_of_torch_are_judged, a_model_without_an_architecture_is_carved_and_replayed,
         the_same_store_is_replayed_on_another_vendors_library, an_op_spoilt_on_the_target_is_named_from_the_store_alone,
         a_wrong_row_of_the_table_is_named, attention_with_a_causal_mask_is_an_operator,
         each_sequence_of_a_batch_is_a_case, weights_stay_in_their_checkpoint, ordinary_models_are_carved]

if __name__ == "__main__":
    rig.main(TESTS, ["opencl"])
