#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Generates the prompts of a model's expected.json and compares the token ids.

    check_expected.py TAPML-HOST MODEL [option of `generate`]...

Prints a line a prompt. Exit status: 0 if all ids are identical, 1 otherwise.
"""
import json
import os
import subprocess
import sys


def generate(host, model, options, case):
    """What `generate` prints for a case: a dict with `ids`, those of the prompt in front."""
    count = len(case["ids"]) - case["prompt_tokens"]
    command = [host, "generate", "--model", model, *options, "--prompt", case["prompt"],
               "--count", str(count), "--json"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}")
    return json.loads(done.stdout)


def diverges(expected, computed):
    """The index of the first id that differs, or None."""
    for index, pair in enumerate(zip(expected, computed)):
        if pair[0] != pair[1]:
            return index
    return None if len(expected) == len(computed) else min(len(expected), len(computed))


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    host, model, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(os.path.join(model, "expected.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    failures = 0
    for case in cases:
        computed = generate(host, model, options, case)
        index = diverges(case["ids"], computed["ids"])
        failures += index is not None
        verdict = "identical ids" if index is None else f"diverges at id {index}"
        print(f"{verdict}: {computed['text']!r}")
    print(f"{len(cases) - failures} of {len(cases)} prompts with identical ids")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    raise SystemExit(main())
