# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""LoRA adapters for the fixtures, and bases that lack what an adapter adds: with it they are the fixture again, so that
Hugging Face's results of the fixture judge the two together."""
import array
import json
import os
import random
import re
import shutil
import struct


def read_tensors(path):
    """Name to (dtype, shape, bytes)."""
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def write_tensors(path, tensors):
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


def floats(dtype, data):
    """Those of F32 or BF16."""
    if dtype == "F32":
        return array.array("f", data)
    words = array.array("H", data)
    return array.array("f", array.array("I", (word << 16 for word in words)).tobytes())


def product(up, down, rank, rows, columns):
    """B A, row by row."""
    found = []
    for row in range(rows):
        sums = [0.0] * columns
        for k in range(rank):
            factor = up[row * rank + k]
            part = down[k * columns:(k + 1) * columns]
            sums = [x + factor * y for x, y in zip(sums, part)]
        found.append(sums)
    return found


def random_adapter(shape, rank, is_turned, draw):
    """A [rank, in] and B [out, rank] for a weight."""
    rows, columns = (shape[1], shape[0]) if is_turned else shape
    return (array.array("f", (draw.gauss(0, 0.1) for _ in range(rank * columns))),
            array.array("f", (draw.gauss(0, 0.1) for _ in range(rows * rank))))


def without(tensor, down, up, rank, factor, is_turned):
    """A weight from which factor * B A is subtracted, in F32."""
    dtype, shape, data = tensor
    rows, columns = (shape[1], shape[0]) if is_turned else shape
    change = product(up, down, rank, rows, columns)
    weight = floats(dtype, data)
    for i in range(rows):
        for k in range(columns):
            weight[k * rows + i if is_turned else i * columns + k] -= factor * change[i][k]
    return "F32", shape, weight.tobytes()


def make(folder, fixture, modules, rename=lambda name: name, scale=lambda module: (4, 2.0), **config):
    """Folders of a base and of an adapter for the weights whose modules match; their names in the file are renamed.

    `scale` gives rank and factor of each module, `config` what adapter_config.json says of them."""
    draw = random.Random(26)
    base, adapter = os.path.join(folder, "base"), os.path.join(folder, "adapter")
    shutil.copytree(fixture, base)
    os.makedirs(adapter)
    is_turned = config.get("fan_in_fan_out", False)
    tensors = read_tensors(os.path.join(base, "model.safetensors"))
    saved = {}
    for name in sorted(tensors):
        module = name.removesuffix(".weight")
        if not re.fullmatch(modules, module):
            continue
        rank, factor = scale(module)
        down, up = random_adapter(tensors[name][1], rank, is_turned, draw)
        rows, columns = len(up) // rank, len(down) // rank
        tensors[name] = without(tensors[name], down, up, rank, factor, is_turned)
        saved[f"base_model.model.{rename(module)}.lora_A.weight"] = ("F32", [rank, columns], down.tobytes())
        saved[f"base_model.model.{rename(module)}.lora_B.weight"] = ("F32", [rows, rank], up.tobytes())
    assert saved, modules
    write_tensors(os.path.join(base, "model.safetensors"), tensors)
    write_tensors(os.path.join(adapter, "adapter_model.safetensors"), saved)
    write_config(adapter, **config)
    return base, adapter


def write_config(folder, **config):
    """What PEFT writes, with other values."""
    text = {"alpha_pattern": {}, "auto_mapping": None, "base_model_name_or_path": "base", "bias": "none", "corda_config": None,
            "eva_config": None, "exclude_modules": None, "fan_in_fan_out": False, "inference_mode": True,
            "init_lora_weights": True, "layer_replication": None, "layers_pattern": None, "layers_to_transform": None,
            "loftq_config": {}, "lora_alpha": 8, "lora_bias": False, "lora_dropout": 0.05, "megatron_config": None,
            "megatron_core": "megatron.core", "modules_to_save": None, "peft_type": "LORA", "qalora_group_size": 16, "r": 4,
            "rank_pattern": {}, "revision": None, "target_modules": "all-linear", "target_parameters": None,
            "task_type": "CAUSAL_LM", "trainable_token_indices": None, "use_dora": False, "use_qalora": False,
            "use_rslora": False, **config}
    with open(os.path.join(folder, "adapter_config.json"), "w", encoding="utf-8") as file:
        json.dump(text, file, indent=2)
