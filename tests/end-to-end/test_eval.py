#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Every fixture against what Hugging Face computes, on a backend. test_eval.py BACKEND"""
import os
import shutil
import struct
import sys

import rig


def one(model, backend):
    """A test of one model folder."""
    def test(folder):
        done = rig.check(rig.host("eval", "--model", model, "--backend", backend), 0)
        is_encoder = done.stdout.count("\ntoken_type_ids ") == 1
        for way in ("at once", "attention_mask") if is_encoder else ("at once", "chunks of 5", "token by token"):
            rig.contains(done.stdout, way)
        assert done.stdout.count("agrees") == 3, done.stdout
    test.__name__ = f"{os.path.basename(model)} on {backend}"
    return test


def a_changed_weight_departs(folder):
    """The judge can fail: one weight changed is seen, and the layer named."""
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model, copy_function=shutil.copy)
    path = os.path.join(model, "model.safetensors")
    os.chmod(path, 0o644)
    with open(path, "r+b") as file:
        length, = struct.unpack("<Q", file.read(8))
        header = file.read(length).decode()
        at = header.index('"model.layers.1.mlp.down_proj.weight"')
        begin = int(header[header.index('"data_offsets":[', at) + 16:].split(",")[0])
        file.seek(8 + length + begin)
        file.write(struct.pack("<f", 1.0))
    done = rig.check(rig.host("eval", "--model", model, "--backend", sys.argv[1]), 1)
    rig.contains(done.stdout, "DIVERGES", "the first hidden layer that diverges: 2")


def a_name_the_model_lacks_is_refused(folder):
    """Everything in the file must be compared."""
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model, copy_function=shutil.copy)
    path = os.path.join(model, "expected.safetensors")
    os.chmod(path, 0o644)
    data = open(path, "rb").read()
    assert data.count(b'"hidden.1"') == 1
    open(path, "wb").write(data.replace(b'"hidden.1"', b'"hiddem.1"'))
    done = rig.check(rig.host("eval", "--model", model, "--backend", sys.argv[1]), 2)
    rig.contains(done.stderr, "hiddem.1")


if __name__ == "__main__":
    backend = sys.argv[1]
    models = [rig.TINY] + sorted(entry.path for entry in os.scandir(os.path.join(rig.DATA, "models")))
    rig.main([one(model, backend) for model in models] +
             [a_changed_weight_departs, a_name_the_model_lacks_is_refused],
             needs=[backend.split(":")[0]])
