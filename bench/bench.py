# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: models, run files, running the host, reading what it says.

A run folder is made once for each model, and copied for whatever is tried on it: a start that goes on
in a copy keeps the cases and the calibration.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Model, its folder below the root, and prompts that fit its vocabulary.
MODELS = {
    "tiny": ("models/tiny", ["ids: 5 17 300 9 21 40 188 11 2 60 33", "ids: 7"]),
    "llama": ("tests/data/models/llama", ["ids: 5 17 3 9 21 40 8 11 2 60 33", "ids: 7"]),
    "llama_f16": ("tests/data/models/llama_f16", ["ids: 5 17 3 9 21 40 8 11 2 60 33", "ids: 7"]),
    "ernie4_5_moe": ("tests/data/models/ernie4_5_moe", ["ids: 5 17 3 9 21 40 8 11 2 60 33", "ids: 7"]),
    "phimoe": ("tests/data/models/phimoe", ["ids: 5 17 3 9 21 40 8 11 2 60 33", "ids: 7"]),
    "rwkv4": ("tests/data/models/rwkv4", ["ids: 5 17 3 9 21 40 8 11 2 60 33", "ids: 7"]),
}

RUN = """[run]
dir = {dir}
prompts = {prompts}
decode = {decode}
capacity = {capacity}
chunk = {chunk}

[model]
path = {model}

[source]
backend = reference

[offload]
prompts = {prompt_count}
"""


class Wrong(Exception):
    """The host did what it must not do."""


def model_folder(model):
    """The folder of a model of the table; any other name is a folder itself."""
    return os.path.join(ROOT, MODELS[model][0]) if model in MODELS else os.path.abspath(model)


def model_prompts(model):
    return MODELS.get(model, MODELS["llama"])[1]


def model_decode(model):
    """Tokens that a run produces: none where the class is a body without a head, as an encoder's is."""
    with open(os.path.join(model_folder(model), "config.json"), encoding="utf-8") as file:
        classes = json.load(file).get("architectures") or [""]
    return 0 if all(name.endswith("Model") for name in classes) else 3


def section(name, **keys):
    """An INI section; `from_call` stands for `from-call`."""
    return f"\n[{name}]\n" + "".join(f"{key.replace('_', '-')} = {value}\n" for key, value in keys.items())


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class Run:
    """A run in a folder of its own: the host is started in it with one INI after the other."""

    def __init__(self, bench, folder, model, prompts=None, decode=None, capacity=32, chunk=16):
        self.bench, self.folder, self.model = bench, folder, model
        self.prompts = model_prompts(model) if prompts is None else prompts
        self.shape = {"decode": model_decode(model) if decode is None else decode, "capacity": capacity, "chunk": chunk}
        os.makedirs(folder, exist_ok=True)

    def copy(self, folder):
        """The run as it is now, in another folder."""
        shutil.copytree(self.folder, folder)
        return Run(self.bench, folder, self.model, self.prompts, **self.shape)

    def write_ini(self, extra):
        """Writes run.ini with the sections of `extra` behind those of the run; gives its path."""
        prompts = write(os.path.join(self.folder, "prompts.txt"), "\n".join(self.prompts) + "\n")
        ini = RUN.format(dir=os.path.join(self.folder, "run"), prompts=prompts, prompt_count=len(self.prompts),
                         model=model_folder(self.model),
                         source=self.bench.source, **self.shape)
        return write(os.path.join(self.folder, "run.ini"), ini + extra)

    def start(self, extra):
        """Runs the host with the sections of `extra` behind those of the run."""
        return self.bench.host("--config", self.write_ini(extra), "--verbose")

    def unsupported(self, target="gpu"):
        """(instance, op) of what the target lacks."""
        path = os.path.join(self.folder, "report.json")
        self.bench.host("report", os.path.join(self.folder, "run"), "--json", path)
        with open(path, encoding="utf-8") as file:
            instances = [item for found in json.load(file)["targets"] if found["name"] == target for item in found["instances"]]
        return [(item["instance"], item["op"]) for item in instances if item["state"] == "unsupported"]

    def rows(self, sql, *values):
        """What a query of the store gives."""
        connection = sqlite3.connect(os.path.join(self.folder, "run", "run.tapmlrun"))
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()


class Bench:
    """The host of a build, and a scratch folder that goes when the program ends."""

    def __init__(self, build, source="reference"):
        self.source = source
        self.program = os.path.join(os.path.abspath(build), "tapml-host")
        self.scratch = tempfile.mkdtemp(prefix="tapml-bench-")
        self.env = dict(os.environ)
        self.env.setdefault("POCL_CACHE_DIR", os.path.join(self.scratch, "pocl"))
        os.makedirs(self.env["POCL_CACHE_DIR"], exist_ok=True)

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def host(self, *args, timeout=600):
        """Runs the host; the result has returncode, stdout and stderr."""
        return subprocess.run([self.program, *args], capture_output=True, text=True, timeout=timeout, check=False,
                              stdin=subprocess.DEVNULL, env=self.env)

    def is_usable(self, component):
        """It alone is asked: all of them take a worker each."""
        done = self.host("plugins", "--json", "--why", component)
        return done.returncode == 0 and any(entry["component"] == component and entry["state"] == "usable"
                                            for entry in json.loads(done.stdout))

    def usable(self, targets):
        """The targets that can be used on this machine; the others are told, or refused where they are required."""
        missing = [target for target in targets if not self.is_usable(re.split(r"[: ]", target)[0])]
        required = os.environ.get("TAPML_REQUIRE", "").replace(",", " ").split()
        for target in missing:
            if re.split(r"[: ]", target)[0] in required:
                raise Wrong(f"{target} is required and cannot be used")
            print(f"left out, since it cannot be used here: {target}")
        return [target for target in targets if target not in missing]

    def folder(self, *words):
        """A name below the scratch folder that nothing has yet."""
        return os.path.join(self.scratch, re.sub(r"[^\w.-]+", "_", " ".join(words)))


def check(done, code):
    """The host ended with `code`; else both its streams are told."""
    if done.returncode != code:
        raise Wrong(f"exit {done.returncode}, expected {code}\n{done.stdout}\n{done.stderr}")
    return done


# -- What the report of a target says ------------------------------------------------------------

def blamed(report):
    """(instance, op, whether it is the first of its op), in the order of the graph."""
    found = re.findall(r"^blamed(?: with others)?: (\S+) \((\S+)\)(, the first of its op)?", report, re.M)
    return [(instance, op, bool(first)) for instance, op, first in found]


def not_offloaded(report, lacking=0):
    """How many of the instances that were wanted are not on the target, but for those that it is known to lack."""
    found = re.search(r"^(\d+) of (\d+) instances on \S+, \d+ blamed", report, re.M)
    return int(found[2]) - int(found[1]) - lacking if found else None


def agrees(report):
    return re.search(r"^end to end: agrees", report, re.M) is not None


# -- Programs --------------------------------------------------------------------------------------

def options(description):
    """The options that every program has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build folder (default: build)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at once (default: one a core)")
    parser.add_argument("--short", action="store_true", help="a few lines of it, for a test")
    parser.add_argument("--json", metavar="FILE", help="writes all that was found to FILE")
    parser.add_argument("--model", action="append", help="tiny, llama, llama_f16 or a folder; more than once")
    parser.add_argument("--source", default="reference", help="the backend that is carved on (default: reference)")
    parser.add_argument("--target", action="append", help="a backend; more than once")
    return parser


def in_parallel(jobs, function, items):
    """The results in the order of the items; `function` runs in `jobs` threads."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(function, items)


def main(program, arguments):
    """Runs `program(bench, arguments)`, which gives the lines that are not true, and ends accordingly."""
    began = time.monotonic()
    bench = Bench(arguments.build, arguments.source)
    try:
        untrue = program(bench, arguments)
    except Wrong as wrong:
        untrue = [str(wrong)]
    finally:
        bench.close()
    print(f"\n{time.monotonic() - began:.0f} s")
    for line in untrue:
        print(f"NOT TRUE: {line}")
    sys.exit(1 if untrue else 0)
