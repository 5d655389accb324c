# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What bench/select and bench/order share: carves with every call kept, and which of their cases each fault fails.

A fault is a change of the CPU plugin's sources that only shows under a condition (alignment, magnitude, position, one
row), one that bench/mutants.py draws, or an injected [fault.N]. It runs on every case of a carve once; what fails is
kept as a line of a file, so that a bench that is stopped goes on where it was.
"""
import hashlib
import json
import os
import random
import subprocess

import bench
import board
import mutants
import planted
import suspect

BUDGETS = (1, 2, 4, 8)  # Percent.
SEEDS = 20
PROGRAM_S = 1200

# Carves: the embedded model and two fixtures; prompts that fit all vocabularies.
MODELS = ["tiny", "llama", "qwen2"]
PROMPTS = ["ids: 5 17 3 9 21 40 8 11 2 60 33", "ids: 7", "ids: 1 2 3 4 5 6 7 8", "ids: 31 8 14 9 2 60 7 12 19 44 3 51 6 21 9"]
DECODE = 12


def model_path(model):
    return model if model in bench.MODELS else os.path.join(bench.ROOT, "tests", "data", "models", model)


# -- Faults --------------------------------------------------------------------------------------------------------

UNARY = ("reference/unary", "value_write(y, i, (float)op->function(value_read(x, i * op->x_step), op->numbers));")
BINARY = ("reference/elementwise", "value_write(y, i, (float)op->function(left, right));")
LINEAR = ("reference/linear", "(float)(sums[r][lane] + (real)bias[lane]));")
NORM = ("reference/norm", "scale(norm, x, mean, root, value_of(norm->y, (size_t)r));")
QUERY = ("reference/attention", "const struct query query = attention_query(attention, head, first + r);")
ROPE = ("reference/rope", "value_write(y, second, (float)(b * (real)cos[j] + a * (real)sin[j]));")


def gated(name, place, new):
    return planted.cpu(name, "gated", place[0], place[1], new)


def faults_gated():
    """Each under conditions that are more and less frequent."""
    found = []
    for most in (4, 6, 8, 10):
        found.append(gated(f"unary: beyond {most}", UNARY, "const real v = value_read(x, i * op->x_step);\n"
                           f"value_write(y, i, (float)(op->function(v, op->numbers) * (v > {most} ? 1.01 : 1)));"))
    for row in (3, 7, 10, 14):
        found.append(gated(f"unary: row {row}", UNARY, "value_write(y, i, (float)(op->function(value_read(x, i * op->x_step)"
                           f", op->numbers) * (r == {row} && i > 5 ? 1.01 : 1)));"))
    for most in (3, 6, 9, 12):
        found.append(gated(f"binary: beyond {most}", BINARY, "value_write(y, i, (float)(op->function(left, right) * "
                           f"(left > {most} ? 1.01 : 1)));"))
    for divisor, rest in ((4, 3), (8, 7), (8, 0), (16, 11), (16, 15)):
        found.append(gated(f"linear: the last row of {divisor} n + {rest}", LINEAR,
                           "(float)((sums[r][lane] + (real)bias[lane]) * "
                           f"(linear->row_count % {divisor} == {rest} && first_row + r + 1 == linear->row_count && "
                           "lane > 3 ? 1.02 : 1)));"))
    for most in (4, 8, 12, 16):
        found.append(gated(f"linear: beyond {most}", LINEAR, "(float)((sums[r][lane] + (real)bias[lane]) * "
                           f"(sums[r][lane] > {most} ? 1.02 : 1)));"))
    for row in (2, 7, 10, 14):
        found.append(gated(f"norm: row {row}", NORM,
                           f"scale(norm, x, mean, r == {row} ? root * (real)1.01 : root, value_of(norm->y, (size_t)r));"))
    for most in (1, 2, 4):
        found.append(gated(f"norm: a root beyond {most}", NORM, f"scale(norm, x, mean, root > {most} ? root * (real)1.01 : "
                           "root, value_of(norm->y, (size_t)r));"))
    for end in (12, 17, 20, 24, 26):
        found.append(gated(f"attention: the first key beyond {end}", QUERY, "struct query query = "
                           f"attention_query(attention, head, first + r);\nif (query.end > {end}) {{ query.begin += 1; }}"))
    for row in (3, 9, 20, 40):
        found.append(gated(f"rope: row {row}", ROPE, "value_write(y, second, (float)((b * (real)cos[j] + a * (real)sin[j])"
                           f" * (row == {row} ? 1.01 : 1)));"))
    return found


def faults_drawn(seeds, count):
    """Mutants of the CPU plugin, on ops that the carves have."""
    return [fault for seed in seeds for fault in mutants.draw(bench.ROOT, seed, count)
            if fault.target.startswith("suspect") and fault.model == "llama"]


def faults_injected():
    """What needs no build: the short form."""
    return [planted.injected(f"{op} {change}", "injected", {"op": op, "kind": change, **more}, target="reference:f64")
            for op, change, more in (("silu", "scale 1.5", {}), ("rms_norm", "zero-row", {"from_call": 9}),
                                     ("linear", "scale 1.1", {"probability": 0.02, "seed": 3}),
                                     ("add", "drop-tail", {"from_call": 13}))]


# -- Carves --------------------------------------------------------------------------------------------------------

class Carve:
    """A run of a model with every call kept, its limits measured, and what the store knows of its cases."""

    def __init__(self, own, folder, model, decode=DECODE):
        self.own, self.model = own, model
        self.run = bench.Run(own, os.path.join(folder, "carve-" + model), model_path(model), PROMPTS, decode, 64, 16)
        done = os.path.join(self.run.folder, "carved")
        if not os.path.exists(done):
            calibration = bench.section("target.calibration", backend="reference:f32-blocked", isolation="never")
            bench.check(own.host("--config", self.run.write_ini("\n[run]\nkeep = all\n" + calibration)), 0)
            bench.write(done, "")
        self.store = os.path.join(self.run.folder, "run", "run.tapmlrun")
        self.cases = self.run.rows("SELECT c.id, c.op, c.prompt, c.step, f.signature FROM \"case\" AS c"
                                   " JOIN feature AS f ON f.case_id = c.id JOIN prompt AS p ON p.hash = c.prompt"
                                   " ORDER BY p.position, c.id")
        self.ids = [row[0] for row in self.cases]

    def select(self, budget, order="cover"):
        """(ids in their order, the document) of `tapml-host select`."""
        done = bench.check(self.own.host("select", os.path.join(self.run.folder, "run"), "--budget", budget, "--order",
                                         order, "--json"), 0)
        document = json.loads(done.stdout)
        return [case["id"] for case in document["chosen"]], document

    def first_of(self, key):
        """The first case of each key, in the order of the store."""
        seen, found = set(), []
        for case in self.cases:
            if key(case) not in seen:
                seen.add(key(case))
                found.append(case[0])
        return found

    def public_rule(self):
        """The first call of each kernel in each step of each prompt."""
        return self.first_of(lambda case: (case[1], case[2], case[3]))

    def outputs(self, sections):
        """The rows of bench/outputs on this carve."""
        program = os.path.join(os.path.dirname(self.own.program), "bench", "outputs")
        ini = self.run.write_ini("\n[run]\nkeep = all\n" + sections)
        try:
            done = subprocess.run([program, "--kept", "--store", self.store, "--config", ini], capture_output=True,
                                  text=True, check=False, errors="replace", timeout=PROGRAM_S, stdin=subprocess.DEVNULL,
                                  env=self.own.env)
        except subprocess.TimeoutExpired:
            return None
        return board.read_rows(done.stdout) if "\nexecutions\t" in done.stdout else None


# -- What fails ----------------------------------------------------------------------------------------------------

def sections_of(fault):
    text = bench.section("target.gpu", backend=fault.target, isolation="never")
    for number, section in enumerate(fault.sections, 1):
        text += bench.section(f"fault.{number}", target="gpu", **dict(section))
    return text


def key_of(fault, model):
    text = json.dumps([fault.name, fault.path, fault.old, fault.new, fault.sections, model])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_lines(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {line["key"]: line for line in map(json.loads, file)}


def note(path, known, line):
    known[line["key"]] = line
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def gather(own, folder, carves, faults, seconds=None, clock=None):
    """Lines (fault, model, cases, failed) of each fault on each carve; `clock` tells when `seconds` are over."""
    path = os.path.join(folder, "failures.jsonl")
    known, found, tree = read_lines(path), [], None
    for fault in faults:
        missing = [carve for carve in carves if key_of(fault, carve.model) not in known]
        if missing and seconds is not None and clock() > seconds:
            print("stopped: the time that was given is over")
            break
        if missing and fault.path:
            tree = tree or suspect.Suspect(os.path.join(folder, "tree"))
            try:
                tree.make_changed(fault, os.path.join(folder, "changed"))
            except suspect.NotBuilt:
                for carve in missing:
                    note(path, known, {"key": key_of(fault, carve.model), "fault": fault.name, "kind": "not built",
                                       "model": carve.model, "failed": [], "times": {}})
                missing = []
            own.env["TAPML_PLUGIN_PATH"] = os.path.join(folder, "changed")
        for carve in missing:
            rows = carve.outputs(sections_of(fault))
            if rows is None:
                continue
            line = {"key": key_of(fault, carve.model), "fault": fault.name, "kind": fault.like, "model": carve.model,
                    "failed": sorted(row.case for row in rows if row.verdict in ("fail", "error")),
                    "times": {} if fault.kind != "honest" else {str(row.case): row.call_s for row in rows}}
            note(path, known, line)
        found += [known[key_of(fault, carve.model)] for carve in carves if key_of(fault, carve.model) in known]
    return found


def honest(target):
    """No fault, three times: what cases take is the least, since a call that was interrupted says nothing."""
    return [planted.Fault(f"none, run {number}", "honest", target=target, kind="honest") for number in range(3)]


def times_of(lines, model):
    """Case: seconds, of the runs without a fault."""
    runs = [line["times"] for line in lines if line["model"] == model and line["kind"] == "honest"]
    return {int(case): min(times[case] for times in runs) for case in runs[0]}


def draws(ids, count, seeds=SEEDS):
    """`count` ids by chance, for each seed."""
    return [random.Random(seed).sample(ids, min(count, len(ids))) for seed in range(seeds)]
