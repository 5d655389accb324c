#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a fuzz target over its corpus and, where it is one of libFuzzer, goes on from there; speaks TAP.

    run.py PROGRAM CORPUS [--fuzz]
    run.py PROGRAM CORPUS --mutate TOTAL

TAPML_FUZZ_SECONDS is how long it goes on, 3 if unset. An input that breaks something is written to
the folder found beside the program; CONTRIBUTING.md says what to do with it. With --mutate so many inputs in all are
made of those of the corpus, by the target's own mutator, with 2 GiB of memory and without libFuzzer (feed.c).
"""
import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile

# A parser that takes its time or memory over a small input is wrong too.
LIMITS = ["-rss_limit_mb=2048", "-malloc_limit_mb=1024", "-max_len=65536"]
SLOW = {"graph": 60}  # A config may ask for four thousand layers, which take their time to build.

MEMORY_BYTES = 2048 << 20

COMPLAINT = re.compile("ERROR: |runtime error: |: broken: ")
SAID_LINES = 60


def limits(target):
    """What libFuzzer takes for a failure of a target."""
    return [*LIMITS, f"-timeout={SLOW.get(target, 10)}"]


def environment():
    """A block that is too large is refused, as it is where memory runs out; all of it has 2 GiB."""
    changed = dict(os.environ)
    for name, more in (("ASAN_OPTIONS", "allocator_may_return_null=1:max_allocation_size_mb=512:hard_rss_limit_mb=2048"),
                       ("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")):
        changed[name] = ":".join(filter(None, [changed.get(name), more]))
    return changed


def limit_memory():
    """Where no sanitizer maps the memory of all addresses."""
    if os.environ.get("TAPML_TEST_SANITIZER", "none") == "none":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def call(command, prepare=None):
    """The exit status of a command and what it said, from the first complaint on."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(), check=False,
                          preexec_fn=prepare)
    said = done.stderr.decode("utf-8", "replace").splitlines()
    begin = next((at for at, line in enumerate(said) if COMPLAINT.search(line)), max(len(said) - SAID_LINES, 0))
    return done.returncode, said[begin:begin + SAID_LINES]


def point(number, name, status, said):
    """Prints the result of a step; what a failed one said goes to standard error, which a test's runner shows."""
    print(f"{'ok' if status == 0 else 'not ok'} {number} - {name}")
    for line in [f"{name}: exit {status}", *said] if status != 0 else []:
        print(line, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("corpus")
    parser.add_argument("--fuzz", action="store_true")
    parser.add_argument("--mutate", type=int, metavar="TOTAL")
    arguments = parser.parse_args()
    inputs = sorted(os.path.join(arguments.corpus, name) for name in os.listdir(arguments.corpus))
    seconds = int(os.environ.get("TAPML_FUZZ_SECONDS", "3"))
    goes_on = arguments.fuzz and seconds > 0
    name = os.path.basename(arguments.program).removeprefix("fuzz_")
    if arguments.mutate:
        each = -(-arguments.mutate // len(inputs))
        print("1..1")
        point(1, f"{len(inputs)} inputs, {each * len(inputs)} made of them",
              *call([arguments.program, "--mutate", str(each), *inputs], limit_memory))
        return
    print(f"1..{2 if goes_on else 1}")
    words = limits(name) if arguments.fuzz else []
    point(1, f"{len(inputs)} inputs of the corpus",
          *(call([arguments.program, *words, *inputs]) if inputs else (1, ["there is none"])))
    if goes_on:
        with tempfile.TemporaryDirectory(prefix="tapml-fuzz-") as work:
            found = os.path.join(os.path.dirname(os.path.abspath(arguments.program)), "found", "")
            os.makedirs(found, exist_ok=True)
            point(2, f"{seconds} s of fuzzing",
                  *call([arguments.program, *words, f"-max_total_time={seconds}", f"-artifact_prefix={found}",
                         work, arguments.corpus]))


if __name__ == "__main__":
    main()
