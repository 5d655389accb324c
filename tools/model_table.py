#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/models.md: which model type agrees with Hugging Face on which backend, and which published model runs.

    model_table.py [--build build] BACKEND...
    model_table.py [--build build] [--check]

Every folder of tests/data/models goes through `tapml-host eval`, on each backend that is named. Without a backend the
table of types stays, and that of published models is written anew from it and from `tapml-host models`; with --check
nothing is written, and exit status 1 says that the page is not up to date.
"""
import argparse
import collections
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "models.md")
# The suite slow opens and runs folders with weights of zeros: tests/end-to-end/test_published.py.
ZEROS_BACKEND, ZEROS_PARAMETERS_MAX = "cpu", 2.2e9
HEAD = """# Models

Written by `tools/model_table.py` from the results of `tapml-host eval` and from `tapml-host models`; the tests
`eval on ...` and `published models` check it.

A case is a small checkpoint with the results of Hugging Face (`tests/data/README.md`). It agrees if all logits and
hidden states are within 1e-4 and the greedy ids are equal. The prompt is fed at once, in chunks of 5 and token by
token, and the greedy steps follow. For an encoder (bert) all outputs of a text are compared at once, also with token
types and with a mask.

Of llava a case has an image, whose features are compared too; `llava_text` has none, and instead of Hugging Face's
results those that a program in numpy computed, by the formulas of its class.

"""
PUBLISHED = """
## Published models

What is known of each model of `conf/models/README.md` on each backend. No published weights are in this repository, and
no test downloads any: **none of these models was compared with Hugging Face's results as published**. What stands for
that:

| word | means |
|---|---|
| by shape | the host builds the graph of the model at full size, with all names and shapes of its weights, and the small checkpoints of its type agree on this backend |
| zeros | as by shape; also a folder with weights of these names and shapes, all of them zero, is opened and generates on this backend |
| graph | the host builds the graph at full size; no small checkpoint of its type agrees on this backend, or there is none |
| refused: KEY | the host refuses the configuration for this key, on every backend |
| no plugin | no architecture knows the type |

Parameters are those of the graph. Of a model that takes images it is the graph of its text.

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


def table_of_types(build, backends):
    """The first table of the page, anew."""
    lines = ["| model type | cases | " + " | ".join(backends) + " |", "|---|---|" + "---|" * len(backends)]
    for model_type, folders in cases().items():
        counts = [sum(agrees(build, folder, backend) for folder in folders) for backend in backends]
        names = ", ".join(os.path.basename(folder) for folder in folders)
        lines.append(f"| {model_type} | {names} | " + " | ".join(f"{count} of {len(folders)}" for count in counts) + " |")
    return lines


def read_table():
    """The first table as it stands on the page."""
    with open(PAGE, encoding="utf-8") as file:
        lines = file.read().split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("| model type |"))
    end = next(i for i in range(begin, len(lines)) if not lines[i])
    return lines[begin:end]


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def agreeing(table):
    """By model type: the backends on which all of its cases agree."""
    backends = cells(table[0])[2:]
    found = {}
    for line in table[2:]:
        model_type, _, *counts = cells(line)
        found[model_type] = {name for name, count in zip(backends, counts) if len(set(count.split(" of "))) == 1}
    return backends, found


def configurations():
    """The configurations of conf/models by name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "conf", "models", "*.json"))):
        with open(path, encoding="utf-8") as file:
            found.update({model["name"]: model["config"] for model in json.load(file)["models"]})
    return found


def word(entry, config, found, backend):
    """What is known of a published model on a backend."""
    if entry["state"] != "opens":
        return f"refused: {entry['refused']}" if entry["state"] == "refused" else entry["state"]
    text_type = config.get("text_config", {}).get("model_type", "mistral" if entry["type"] == "mistral3" else None)
    if backend not in found.get(entry["type"], found.get(text_type, ())):
        return "graph"
    return "zeros" if backend == ZEROS_BACKEND and entry["parameters"] <= ZEROS_PARAMETERS_MAX else "by shape"


def size(entry):
    count = entry.get("parameters", 0)
    return "" if not count else f"{count / 1e9:.2f} B" if count >= 1e9 else f"{count / 1e6:.1f} M"


def table_of_published(build, table):
    done = subprocess.run([os.path.join(build, "tapml-host"), "models", "--json"], stdout=subprocess.PIPE, text=True,
                          check=True)
    backends, found = agreeing(table)
    configs = configurations()
    lines = ["| model | type | parameters | " + " | ".join(backends) + " |", "|---|---|---|" + "---|" * len(backends)]
    for entry in json.loads(done.stdout):
        words = [word(entry, configs[entry["name"]], found, backend) for backend in backends]
        lines.append(f"| {entry['name']} | {entry['type']} | {size(entry)} | " + " | ".join(words) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("backends", nargs="*")
    chosen = parser.parse_args()
    table = table_of_types(chosen.build, chosen.backends) if chosen.backends else read_table()
    published = table_of_published(chosen.build, table)
    text = HEAD + "\n".join(table) + "\n" + PUBLISHED + "\n".join(published) + "\n"
    with open(PAGE, encoding="utf-8") as file:
        is_same = file.read() == text
    if chosen.check:
        print("" if is_same else "docs/models.md is not up to date: run tools/model_table.py", end="")
        return 0 if is_same else 1
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
