#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/models.md: which model type agrees with Hugging Face on which backend.

    model_table.py [--build build] BACKEND...

Every folder of tests/data/models goes through `tapml-host eval`, on each backend that is named.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "models.md")
HEAD = """# Models

Written by `tools/model_table.py` from the results of `tapml-host eval`; the tests `eval on ...` check it.

A case is a small checkpoint with the results of Hugging Face (`tests/data/README.md`). It agrees if all logits and
hidden states are within 1e-4 and the greedy ids are equal. The prompt is fed at once, in chunks of 5 and token by
token, and the greedy steps follow. For an encoder (bert) all outputs of a text are compared at once, also with token
types and with a mask.

Of llava a case has an image, whose features are compared too; `llava_text` has none, and instead of Hugging Face's
results those that a program in numpy computed, by the formulas of its class.

"""


def cases():
    """Folders by model type."""
    found = collections.defaultdict(list)
    folder = os.path.join(ROOT, "tests", "data", "models")
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        with open(os.path.join(entry.path, "config.json"), encoding="utf-8") as file:
            found[json.load(file)["model_type"]].append(entry.path)
    return dict(sorted(found.items()))


def agrees(build, folder, backend):
    host = os.path.join(build, "tapml-host")
    done = subprocess.run([host, "eval", "--model", folder, "--backend", backend], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{folder} on {backend}: {done.stdout}")
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("backends", nargs="+")
    chosen = parser.parse_args()
    lines = ["| model type | cases | " + " | ".join(chosen.backends) + " |", "|---|---|" + "---|" * len(chosen.backends)]
    for model_type, folders in cases().items():
        counts = [sum(agrees(chosen.build, folder, backend) for folder in folders) for backend in chosen.backends]
        names = ", ".join(os.path.basename(folder) for folder in folders)
        lines.append(f"| {model_type} | {names} | " + " | ".join(f"{count} of {len(folders)}" for count in counts) + " |")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(HEAD + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
