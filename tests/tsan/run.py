#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A program under ThreadSanitizer, its race reports as failures; speaks TAP.

    run.py PROGRAM ARGUMENT...
    run.py --whole HOST SOURCE      short runs: carve, replay, offload, reference to reference:f32-blocked,
                                    one as it is and one with an injected fault, which must be found

OpenCL is left out: PoCL, the driver of the tests, is built without ThreadSanitizer, and its own
synchronisation is not seen, so that every buffer it touches would be reported.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

RUN = """[run]
dir = {folder}/run
prompts = {folder}/prompts.txt
decode = 3
capacity = 32
chunk = 4

[model]
path = {source}/tests/data/models/llama

[source]
backend = reference

[target.other]
backend = reference:f32-blocked

[offload]
prompts = 1
"""


def sanitized(command):
    """The exit status of a command and what it said. Reports of races are status 66."""
    options = f"halt_on_error=0:exitcode=66:second_deadlock_stack=1:suppressions={HERE}/tsan.supp"
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "TSAN_OPTIONS": options}, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


FAULT = """
[fault.1]
target = other
op = silu
kind = scale 1.5
"""


def write_run(folder, source, more=""):
    """Writes the run.ini of a run in `folder`, and gives its path."""
    path = os.path.join(folder, "run.ini")
    os.makedirs(folder)
    with open(os.path.join(folder, "prompts.txt"), "w", encoding="utf-8") as file:
        file.write("ids: 5 17 3 2 9 11\nids: 1 40\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(RUN.format(folder=folder, source=source) + more)
    return path


def whole(host, source):
    """The steps of the short runs: each its name, the exit status that it must have, and its result."""
    with tempfile.TemporaryDirectory(prefix="tapml-tsan-") as folder:
        good = write_run(os.path.join(folder, "good"), source)
        bad = write_run(os.path.join(folder, "bad"), source, FAULT)
        store = os.path.join(folder, "good", "run", "run.tapmlrun")
        yield "run", 0, sanitized([host, "--config", good, "--threads", "3"])
        yield "the same run, which is done", 0, sanitized([host, "--config", good, "--threads", "2"])
        yield "replay", 0, sanitized([host, "replay", store, "--backend", "reference:f32-reversed", "--threads", "4"])
        yield "a fault is found", 1, sanitized([host, "--config", bad, "--threads", "3"])


def main():
    arguments = sys.argv[1:]
    steps = list(whole(*arguments[1:])) if arguments[0] == "--whole" else [("run", 0, sanitized(arguments))]
    print(f"1..{len(steps)}")
    for number, (name, expected, (status, said)) in enumerate(steps, 1):
        print(f"{'ok' if status == expected else 'not ok'} {number} - {name}")
        if status != expected:
            print(f"# exit status {status}, expected {expected}")
            for line in said.splitlines()[:200]:
                print("#", line)


if __name__ == "__main__":
    main()
