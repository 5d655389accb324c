#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Counts what meson's test logs say, and closes with one plain line.

    results.py [--step NAME=passed|skipped|failed]... LOG.json...

A test that speaks TAP counts as its points, any other as one. A test that failed as a whole (crash,
timeout, a plan not kept) counts as one failure more than its points tell. Each step is a result too.
Exit status: 0 if nothing failed and something passed, 1 otherwise.
"""
import argparse
import collections
import json
import re

POINT = re.compile(r"^(not )?ok\b(.*)$", re.MULTILINE)
SKIP = re.compile(r"#\s*skip", re.IGNORECASE)
GOOD = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped", "IGNORED": "skipped"}


def count_test(test):
    """The results of one test program, by kind."""
    found = collections.Counter()
    text = test.get("stdout") or ""
    if text.startswith("TAP version") or re.search(r"^1\.\.\d+", text, re.MULTILINE):
        for wrong, rest in POINT.findall(text):
            found["skipped" if SKIP.search(rest) else "failed" if wrong else "passed"] += 1
    verdict = GOOD.get(test["result"], "failed")
    if not found or (verdict == "failed" and not found["failed"]):
        found[verdict] += 1
    return found


def count_log(path):
    """The results of one run of `meson test`; a log that cannot be read is a failure."""
    total = collections.Counter()
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            tests = [json.loads(line) for line in log if line.strip()]
    except (OSError, ValueError) as error:
        print(f"failed: {path}: {error}")
        return collections.Counter(failed=1)
    for test in tests:
        found = count_test(test)
        total += found
        if found["failed"]:
            print(f"failed: {path}: {test['name']}: {test['result']}, {found['failed']} failed")
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--step", action="append", default=[], metavar="NAME=RESULT",
                        help="passed, skipped or failed")
    parser.add_argument("logs", nargs="*", metavar="LOG.json")
    arguments = parser.parse_args()
    total = collections.Counter()
    for path in arguments.logs:
        total += count_log(path)
    for step in arguments.step:
        name, _, verdict = step.rpartition("=")
        total[verdict if verdict in ("passed", "skipped") else "failed"] += 1
        if verdict not in ("passed", "skipped"):
            print(f"failed: {name}")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 0 if total["passed"] and not total["failed"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
