# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Carves the cases that come with tapml-plugin-check: carve.py HOST MODEL OUT.tapmlrun [KEY=JSON]...

One short prompt on the reference, in chunks and token by token, or in one call: about a megabyte a model. A KEY of the
model's config.json may have another value: the model as it would be with the same weights.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

RUN = """\
[run]
dir = {folder}/run
prompts = {folder}/prompts.txt
decode = {decode}
capacity = 16
chunk = {chunk}
[model]
path = {model}
[source]
backend = reference
"""


def carve(host, model, folder, decode, chunk):
    with open(os.path.join(folder, "prompts.txt"), "w", encoding="utf-8") as file:
        file.write("ids: 1 2 3 4 5 6 7\n")
    with open(os.path.join(folder, "run.ini"), "w", encoding="utf-8") as file:
        file.write(RUN.format(folder=folder, model=os.path.abspath(model), decode=decode, chunk=chunk))
    return subprocess.run([host, "--config", os.path.join(folder, "run.ini")], capture_output=True, text=True, check=False)


def change(model, folder, changes):
    """The model with other values in its config.json, as a folder of its own."""
    path = os.path.join(folder, "model")
    shutil.copytree(model, path)
    with open(os.path.join(path, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    for word in changes:
        key, _, value = word.partition("=")
        if key not in config:
            raise SystemExit(f"carve.py: {model}/config.json has no key '{key}'")
        config[key] = json.loads(value)
    with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    return path


def main():
    host, model, out, *changes = sys.argv[1:]
    for decode, chunk in ((1, 4), (0, 16)):  # An encoder reads a text in one call, and chooses no token.
        with tempfile.TemporaryDirectory(prefix="tapml-cases-") as folder:
            changed = change(model, folder, changes) if changes else model
            done = carve(host, changed, folder, decode, chunk)
            if done.returncode == 0:  # Its weights come with it.
                done = subprocess.run([host, "store", "inline", os.path.join(folder, "run")], capture_output=True, text=True,
                                      check=False)
            if done.returncode == 0:
                shutil.copyfile(os.path.join(folder, "run", "run.tapmlrun"), out)
                return 0
    sys.stderr.write(done.stdout + done.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
