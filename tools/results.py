#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Counts what meson's test logs say, and closes with one plain line.

    results.py [--step NAME=passed|skipped|failed]... [--spent FOLDER/PART=SECONDS]... [--budget FILE]
               [--yardstick SECONDS]... LOG.json...

A test that speaks TAP counts as its points, any other as one. A test that failed as a whole (crash,
timeout, a plan not kept) counts as one failure more than its points tell. Each step is a result too.

Below a test that failed stand the points that did, with what TAP says of each, for the first few.

--budget names a list of processor minutes, a line `FOLDER PART MINUTES` for each suite of a build folder and for
its build. What was used comes from the logs, in which tools/metered has left the processor time of each test, and
from --spent. Used and allowed are printed, and more than the sum of what is allowed is a failure. A machine that takes
longer for the work of tools/yardstick.py than the budget's line `yardstick SECONDS` says is allowed as much more: each
--yardstick is one measurement, of which the median counts.
Exit status: 0 if nothing failed and something passed, 1 otherwise.
"""
import argparse
import collections
import itertools
import json
import os
import re
import statistics

POINT = re.compile(r"^(not )?ok\b(.*)$", re.MULTILINE)
# How many failed points of a test are named, with how many lines below each.
NAMED_MOST = 5
WHY_MOST = 12
SKIP = re.compile(r"#\s*skip", re.IGNORECASE)
# What `times` of a shell says: its own line, then that of its children, user and system.
PROCESSOR = re.compile(r"^# processor time\n.*\n(\d+)m([\d.]+)s (\d+)m([\d.]+)s$", re.MULTILINE)
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


def name_failed(test):
    """Prints which points of a test failed, with the lines below each in which TAP says why; the first few."""
    lines = (test.get("stdout") or "").splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("not ok")]
    for start in starts[:NAMED_MOST]:
        why = itertools.takewhile(lambda line: line.startswith((" ", "#")), lines[start + 1:start + 1 + WHY_MOST])
        print("\n".join("  " + line for line in (lines[start], *why)))


def part_of(test):
    """The suite that a test is counted for, the first of its own: "tapml:unit+exec / unit / exec" is of unit."""
    suites = test["name"].split(" / ")[0].split(":")[-1].split("+")
    return "slow" if "slow" in suites else suites[0]


def seconds_of(test):
    """The processor time of a test and its children."""
    found = PROCESSOR.findall((test.get("stdout") or "") + "\n" + (test.get("stderr") or ""))
    return sum(60 * (int(a) + int(c)) + float(b) + float(d) for a, b, c, d in found[-1:])


def count_log(path, used):
    """The results of one run of `meson test`; a log that cannot be read is a failure. Adds its time to `used`."""
    total = collections.Counter()
    folder = os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            tests = [json.loads(line) for line in log if line.strip()]
    except (OSError, ValueError) as error:
        print(f"failed: {path}: {error}")
        return collections.Counter(failed=1)
    for test in tests:
        found = count_test(test)
        total += found
        used[folder, part_of(test)] += seconds_of(test)
        if found["failed"]:
            print(f"failed: {path}: {test['name']}: {test['result']}, {found['failed']} failed")
            name_failed(test)
    return total


def read_budget(path, yardsticks):
    """Seconds allowed by (folder, part) on a machine whose measurements of the yardstick, in seconds, are given."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    expected = next(float(row[1]) for row in rows if row[0] == "yardstick")
    measured = statistics.median(yardsticks) if yardsticks else expected
    scale = max(1.0, measured / expected)
    print(f"yardstick {measured:.2f} s, {expected:.2f} s where tests/budget was measured: {scale:.2f} times is allowed")
    return {(row[0], row[1]): 60 * float(row[2]) * scale for row in rows if row[0] != "yardstick"}


def judge_budget(allowed, used):
    """Prints used and allowed minutes of what has run; whether the sum is kept."""
    print(f"{'processor minutes':<32} {'used':>7} {'allowed':>7}")
    ran = sorted(used)
    for folder, part in ran:
        print(f"{folder + ' ' + part:<32} {used[folder, part] / 60:7.1f} {allowed.get((folder, part), 0) / 60:7.1f}")
    sums = sum(used.values()), sum(allowed.get(key, 0) for key in ran)
    print(f"{'sum':<32} {sums[0] / 60:7.1f} {sums[1] / 60:7.1f}")
    return sums[0] <= sums[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--step", action="append", default=[], metavar="NAME=RESULT",
                        help="passed, skipped or failed")
    parser.add_argument("--spent", action="append", default=[], metavar="FOLDER/PART=SECONDS",
                        help="processor time of what has no log")
    parser.add_argument("--budget", metavar="FILE", help="tests/budget")
    parser.add_argument("--yardstick", action="append", default=[], type=float, metavar="SECONDS",
                        help="what tools/yardstick.py printed")
    parser.add_argument("logs", nargs="*", metavar="LOG.json")
    arguments = parser.parse_args()
    total = collections.Counter()
    used = collections.Counter()
    for spent in arguments.spent:
        key, _, seconds = spent.rpartition("=")
        used[tuple(key.split("/"))] += float(seconds)
    for path in arguments.logs:
        total += count_log(path, used)
    for step in arguments.step:
        name, _, verdict = step.rpartition("=")
        total[verdict if verdict in ("passed", "skipped") else "failed"] += 1
        if verdict not in ("passed", "skipped"):
            print(f"failed: {name}")
    if arguments.budget:
        is_kept = judge_budget(read_budget(arguments.budget, arguments.yardstick), used)
        total["passed" if is_kept else "failed"] += 1
        if not is_kept:
            print("failed: more processor time than tests/budget allows")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 0 if total["passed"] and not total["failed"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
