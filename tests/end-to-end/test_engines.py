#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The three commands of docs/bridges.md for each engine, run as they stand where the engine is installed."""
import functools
import os
import re
import shutil
import subprocess

import rig

ENVIRONMENT = {**rig.PYTHON_ENVIRONMENT, "PATH": f"{rig.BUILD}:{os.environ['PATH']}", "PYTEST_ADDOPTS": "-p no:cacheprovider"}

MINE = """
import torch
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 8), torch.nn.SiLU())
ids = torch.tensor([[1, 5, 3]])
"""
KERNEL = """
import numpy
def kernel(x, weight, eps, offset):
    norm = x / numpy.sqrt((x.astype("f8") ** 2).mean(-1, keepdims=True) + eps)
    return {"y": (norm * (weight + offset)).astype("f4")}
"""


@functools.cache
def blocks(engine):
    """The fenced blocks of the section that begins with the engine's name."""
    with open(os.path.join(rig.SOURCE, "docs", "bridges.md"), encoding="utf-8") as file:
        section = re.search(rf"^### {re.escape(engine)}.*?(?=^##)", file.read(), re.S | re.M)
    return re.findall(r"^```\w*\n(.*?)^```$", section.group(0), re.S | re.M)


def run(folder, engine, modules=(), code=0):
    """What the three commands have printed; `python3` is one that has the modules."""
    path = f"{os.path.dirname(rig.python_with(*modules))}:{ENVIRONMENT['PATH']}" if modules else ENVIRONMENT["PATH"]
    commands = blocks(engine)[0]
    assert len(commands.splitlines()) == 3, commands
    done = subprocess.run(["sh", "-e", "-c", commands], cwd=folder, env={**ENVIRONMENT, "PATH": path}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def link_run(folder):
    """A run whose case 2 is a norm."""
    ini, dir_ = rig.write_small_run(os.path.join(rig.script_folder(), "small"))
    if not os.path.exists(dir_):
        rig.check(rig.host("--config", ini), 0)
    assert rig.rows(dir_, "SELECT op FROM \"case\" WHERE id = 2") == [("tapml.rms_norm",)]
    os.symlink(dir_, os.path.join(folder, "run"))


def llama_cpp(folder):
    rig.need("llama-eval-callback", shutil.which("llama-eval-callback") is not None)
    shutil.copy(os.path.join(rig.DATA, "dumps", "model.gguf"), os.path.join(folder, "model.gguf"))
    rig.contains(run(folder, "llama.cpp"), "nothing diverges")


def pytorch(folder):
    rig.need("opencl", rig.usable("opencl"))
    write(folder, "mine.py", MINE)
    rig.contains(run(folder, "A model of PyTorch", ("torch",)), "'operators': 3", "gpu: all 3 instances right")


def onnx_runtime(folder):
    link_run(folder)
    write(folder, "run_onnx.py", blocks("ONNX Runtime")[1])
    rig.contains(run(folder, "ONNX Runtime", ("onnx", "onnxruntime")), "nothing diverges")


def numpy(folder):
    link_run(folder)
    write(folder, "kernel.py", KERNEL)
    rig.contains(run(folder, "NumPy", ("numpy", "pytest")), "1 passed")


def write_model(folder):
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), os.path.join(folder, "model"))
    write(folder, "prompts.txt", "ids: 1 5 3\nids: 2 4\n")


def onednn(folder):
    rig.need("onednn", rig.usable("onednn"))
    write_model(folder)
    rig.contains(run(folder, "oneDNN"), "instances on cpu", "0 blamed")


def ggml(folder):
    for package in ("ggml", "tapml-plugin-1"):
        rig.need_package(package)
    os.symlink(os.path.join(rig.SOURCE, "examples"), os.path.join(folder, "examples"))
    write_model(folder)
    rig.contains(run(folder, "ggml"), "cpu: all 40 instances right")


if __name__ == "__main__":
    rig.main([rig.plain(test) for test in (llama_cpp, pytorch, onnx_runtime, numpy, onednn, ggml)], ["reference"])
