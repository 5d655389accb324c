# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What rows of refusals are made of: a wrong input each, with the exit code and what the sentence holds.

A refusal is one line on stderr that begins with "tapml-host: ", nothing on stdout, and no crash, in
the plain build and under the sanitizers. Rows cost milliseconds: nothing is run.
"""
import os
import shutil

import rig

LLAMA = os.path.join(rig.DATA, "models", "llama")
SHARDED = os.path.join(rig.DATA, "models", "llama_sharded")

ROWS = []


def row(name, code, pieces, make):
    """`make(folder)` gives the arguments of tapml-host."""
    def test(folder):
        arguments = make(folder)
        done = rig.host(*arguments, timeout=60)
        refusal(done, code, pieces)
        assert not os.path.isdir(os.path.join(folder, "run")), "a refused run leaves a folder behind"
    test.__name__ = name
    ROWS.append(test)


def refusal(done, code, pieces):
    assert done.returncode == code, f"exit {done.returncode}, expected {code}\n{done.stdout}\n{done.stderr}"
    assert done.stdout == "", f"something was printed: {done.stdout}"
    assert done.stderr.startswith("tapml-host: ") and done.stderr.count("\n") == 1 and done.stderr.endswith("\n"), \
        f"not one sentence:\n{done.stderr}"
    rig.contains(done.stderr, *pieces)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


def ini_bytes(folder, changes=None, extra=b"", model=LLAMA, prompts=None):
    """A whole run.ini of this folder; `changes` are values by "section/key", None takes a key out."""
    lines = {
        "run/dir": os.path.join(folder, "run"), "run/prompts": prompts or os.path.join(folder, "prompts.txt"),
        "run/decode": "3", "run/capacity": "16", "run/chunk": "8", "model/path": model,
        "source/backend": "reference:f32", "target.gpu/backend": "reference:f64", **(changes or {}),
    }
    out, last = [], None
    for name, value in lines.items():
        section, key = name.split("/")
        if value is not None:
            out += [f"[{section}]"] * (section != last) + [f"{key} = {value}"]
            last = section
    return "\n".join(out).encode() + b"\n" + (extra if isinstance(extra, bytes) else extra.encode())


def run_of(folder, prompts=b"ids: 1 2 3\n", **options):
    if prompts is not None:
        write(os.path.join(folder, "prompts.txt"), prompts)
    return ["--config", write(os.path.join(folder, "run.ini"), ini_bytes(folder, **options))]


def copy_model(folder, source=LLAMA):
    model = os.path.join(folder, "model")
    shutil.copytree(source, model, copy_function=shutil.copyfile)
    return model


def model_run(folder, source=LLAMA, **options):
    """A run on a model of its own; gives the model's folder and the arguments."""
    model = copy_model(folder, source)
    return model, run_of(folder, model=model, **options)
