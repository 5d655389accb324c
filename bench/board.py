# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What each rule says of a fault: the host's report, and the lines of bench/outputs.

What is wrong is decided by bits alone: an op is wrong where some output, of a kept or a derived case, has other bits
than the unchanged plugin gives on the same device, or memory beside it is written. A driver with which a run does not
come to its end is wrong, too. No limit of the tool takes part in that.
"""
import dataclasses
import math
import re

import bench

# What a wrong value is beside rounding, for the first wrong instance: NMSE beyond the unchanged plugin's.
ROUNDING_TIMES, ROUNDING = 100, 1e-13

RULES = ["ours", "first call, last argument", "relative 1e-5", "NMSE 5e-4, uniform", "NMSE 1e-7, uniform"]


@dataclasses.dataclass
class Row:
    """A case that bench/outputs ran."""
    source: str
    case: int
    instance: str
    op: str
    phase: str
    shape: str
    label: str
    verdict: str
    margin: float
    seconds: float
    call_s: float  # Of the call alone.
    outputs: list  # (name, kind, bits, all, relative, nmse)

    @property
    def key(self):
        return self.source, self.case, self.label

    @property
    def bits(self):
        return self.verdict if self.verdict not in ("pass", "fail") else [output[2] for output in self.outputs]

    @property
    def nmse(self):
        return max((output[5] for output in self.outputs), default=0.0) if self.ran else math.inf

    @property
    def ran(self):
        return self.verdict in ("pass", "fail")


def read_rows(text):
    """The rows of bench/outputs; what it did not end is left out."""
    rows = []
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) < 11 or fields[0] == "executions":
            continue
        outputs = [output.rsplit(":", 5) for output in fields[11:]]
        rows.append(Row(fields[0], int(fields[1]), fields[2], fields[3], fields[4], fields[5], fields[6], fields[7],
                        float(fields[8]), float(fields[9]), float(fields[10]),
                        [(name, kind, bits, every == "1", relative == "1", float(nmse))
                         for name, kind, bits, every, relative, nmse in outputs]))
    return rows


@dataclasses.dataclass
class Truth:
    """What is wrong."""
    is_driver: bool         # Or all of a target, which cannot be opened.
    ops: set
    wrong: dict             # Op: its instances with a wrong kept case, in the order of the graph.
    cases: int = 0          # With other bits, and how many there are.
    of: int = 0

    @property
    def is_harmless(self):
        return not self.ops and not self.is_driver

    def first(self):
        return next((instances[0] for instances in self.wrong.values() if instances), "")

    def is_first(self, instance):
        return any(instances and instances[0] == instance for instances in self.wrong.values())


def find_truth(fault, rows, honest):
    """Compares what the changed plugin computes with what the unchanged one does."""
    known = {row.key: row for row in honest}
    other = [row for row in rows if row.key in known and row.bits != known[row.key].bits]
    seen = {row.key for row in rows}
    missing = [row for row in honest if row.key not in seen]  # Behind what ended it.
    order = {}
    for row in honest:
        order.setdefault(row.instance, len(order))
    wrong = {}
    for row in sorted(other, key=lambda row: order[row.instance]):
        if row.source == "carved" and row.nmse > ROUNDING_TIMES * known[row.key].nmse + ROUNDING:
            instances = wrong.setdefault(row.op, [])
            instances += [row.instance] if row.instance not in instances else []
    ops = {row.op for row in other} | ({missing[0].op} if missing else set()) | set(fault.ops)
    is_driver = is_of_driver(fault) and bool(ops or fault.sections) or not rows
    return Truth(is_driver, ops, wrong, len(other) + len(missing), len(honest))


def is_of_driver(fault):
    """Whether what is changed is below all operators."""
    if any(value in DRIVER_KINDS for section in fault.sections for _, value in section):
        return True
    return bool(re.match(r"plugins/(opencl|vulkan)/|sdk/gpu/(queue|backend|objects|notices)\.c$", fault.path))


DRIVER_KINDS = ("fill-start", "fill-tail", "write-tail", "write-late", "read-tail", "stale-arguments")


@dataclasses.dataclass
class Said:
    """What a rule says."""
    detected: bool
    right: bool = False
    first: str = ""             # "yes", "no"; "" where no kept case is wrong.
    innocents: int = 0
    executions: float = 0
    seconds: float = 0
    note: str = ""


def compare(truth, blamed, executions, seconds):
    """Blamed are pairs of op and instance, in the order in which they are."""
    innocents = [instance for op, instance in blamed if truth.is_driver or op not in truth.ops]
    first = ""
    if truth.first() and blamed and not truth.is_driver:
        first = "yes" if truth.is_first(blamed[0][1]) else "no"
    right = bool(blamed) and not innocents
    return Said(bool(blamed), right, first, len(innocents), executions, seconds)


def first_call(rows):
    """The public tool's rule: of each name the first call, of it the last argument, and the first failure ends all.

    A name is an op with its shapes. It sees no state, so that calls which write one alone are left out.
    """
    seen, count, spent = set(), 0, 0.0
    for row in rows:
        outputs = [output for output in row.outputs if output[1] == "tensor"]
        name = row.op, row.shape
        if row.source != "carved" or name in seen or (row.ran and not outputs):
            continue
        seen.add(name)
        count, spent = count + 1, spent + row.seconds
        if not row.ran or not outputs[-1][3]:
            return [(row.op, row.instance)], count, spent
    return [], count, spent


def all_calls(rows, source, fails):
    chosen = [row for row in rows if row.source == source]
    blamed = list(dict.fromkeys((row.op, row.instance) for row in chosen if not row.ran or fails(row)))
    return blamed, len(chosen), sum(row.seconds for row in chosen)


def judge_others(truth, rows):
    """What the other rules say of the same outputs."""
    rows = [row for row in rows if row.verdict not in ("skipped", "unsupported")]
    found = [first_call(rows),
             all_calls(rows, "carved", lambda row: not all(output[4] for output in row.outputs)),
             all_calls(rows, "uniform", lambda row: row.nmse > 5e-4),
             all_calls(rows, "uniform", lambda row: row.nmse > 1e-7)]
    return {name: compare(truth, *result) for name, result in zip(RULES[1:], found)}


def blames_driver(done):
    return re.search(r"^blamed: the driver of ", done.stdout, re.M) is not None


def blames_what_is_below(done):
    """Whether all operators are said to be wrong for one cause below them."""
    return re.search(r"^nothing that runs on \S+ is right: ", done.stdout, re.M) is not None


def judge_eval(truth, done, seconds):
    """What `tapml-host eval` says of a model's description: the op that diverges first, or a range that it is in.

    One of several is no accusation, and does not name anyone.
    """
    sentence = re.search(r"(the first op that diverges|ops diverges first): (.*)", done.stdout)
    is_alone = sentence is not None and sentence[1].startswith("the first")
    blamed = re.findall(r"(\S+) \((tapml\.\w+)\)", sentence[2]) if is_alone else []
    said = compare(truth, [(op, instance) for instance, op in blamed], 0, seconds)
    said.detected = done.returncode != 0
    said.note = sentence[0][:200] if sentence else done.stderr.strip()[-200:]
    return said


def judge_ours(truth, done, seconds):
    """What the host says, from its report."""
    blamed = [(op, instance) for instance, op, _ in bench.blamed(done.stdout)]
    cost = re.search(r"^localis\w+:? .*?([\d.]+) times the carving run", done.stdout, re.M)
    said = compare(truth, blamed, float(cost[1]) if cost else 0, seconds)
    if blames_driver(done):
        said.detected, said.right, said.note = True, truth.is_driver, "driver"
        said.innocents += 0 if truth.is_driver else 1
    elif blames_what_is_below(done) and truth.is_driver:
        said.detected, said.right, said.innocents, said.note = True, True, 0, "below all operators"
    elif done.returncode in (2, 3):  # It is not used, with a sentence that says why.
        sentence = (done.stderr.strip().splitlines() or [""])[-1]
        said.detected, said.right, said.note = True, truth.is_driver, "refused: " + sentence[:160]
    elif done.returncode not in (0, 1):
        said.note = f"exit {done.returncode}"
    unsupported = re.search(r"blamed, (\d+) unsupported", done.stdout)
    if not said.detected and unsupported and int(unsupported[1]) > 0:
        said.detected, said.right, said.note = True, True, "left on the source as unsupported"
    return said
