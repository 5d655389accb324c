#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_results.py RESULTS.PY: tools/results.py counts what logs of `meson test` say, and refuses what is wrong. TAP."""
import json
import os
import subprocess
import sys
import tempfile

TWO = "1..2\nok 1 - a\nok 2 - b # SKIP no device\n"


def entry(name, stdout="", result="OK", seconds=None):
    """A line of a log."""
    clock = f"# processor time\n0m0.010s 0m0.000s\n{seconds // 60}m{seconds % 60}.5s 0m0.5s\n" if seconds else ""
    return {"name": name, "stdout": stdout, "stderr": clock, "result": result}


# What it is, the entries of build/'s log (None: there is no log), further arguments, exit status, words that are printed.
CASES = [
    ("points are counted", [entry("p:unit / unit / a", TWO)], [], 0, "1 passed, 0 failed, 1 skipped"),
    ("a test without points counts", [entry("p:lint / b"), entry("p:lint / c", result="SKIP")],
     [], 0, "1 passed, 0 failed, 1 skipped"),
    ("a point fails", [entry("p:unit / a", "1..1\nnot ok 1 - a\n", "FAIL")], [], 1, "0 passed, 1 failed"),
    ("a point that failed is named", [entry("p:unit / a", "1..2\nnot ok - x::y (1 s)\n  - a.c:5: wrong\nok - z\n", "ERROR")],
     [], 1, "failed\n  not ok - x::y (1 s)\n    - a.c:5: wrong\n1 passed"),
    ("a crash fails beyond its points", [entry("p:unit / a", TWO, "ERROR")], [], 1, "1 passed, 1 failed, 1 skipped"),
    ("a log that is not there fails", None, [], 1, "1 failed"),
    ("nothing at all fails", [], [], 1, "0 passed"),
    ("a step fails", [entry("p:lint / b")], ["--step", "build=failed"], 1, "failed: build"),
    ("time within the budget", [entry("p:unit+exec / unit / exec", TWO, seconds=59)],
     ["--budget"], 0, "build unit                           1.0     1.0"),
    ("sums are compared, not suites", [entry("p:unit / a", TWO, seconds=100), entry("p:lint / b", seconds=5)],
     ["--budget"], 0, "1.8     2.0"),
    ("time beyond the budget", [entry("p:unit / a", TWO, seconds=61)], ["--budget"], 1, "more processor time than"),
    ("a slower machine is allowed more", [entry("p:unit / a", TWO, seconds=89)],
     ["--yardstick", "9", "--yardstick", "3", "--yardstick", "1", "--budget"], 0, "1.50 times is allowed"),
    ("and not what is more than that", [entry("p:unit / a", TWO, seconds=91)],
     ["--yardstick", "3", "--budget"], 1, "more processor time than"),
    ("a faster machine is allowed no less", [entry("p:unit / a", TWO, seconds=59)],
     ["--yardstick", "1", "--budget"], 0, "1.00 times is allowed"),
    ("a suite without a line", [entry("p:new / a", TWO, seconds=3)], ["--budget"], 1, "build new"),
    ("time of a build", [entry("p:lint / b")],
     ["--spent", "build/compile=61", "--budget"], 1, "build compile                        1.0     0.0"),
]


def run(tool, folder, entries, more):
    logs = os.path.join(folder, "build", "meson-logs")
    os.makedirs(logs)
    budget = os.path.join(folder, "budget")
    with open(budget, "w", encoding="utf-8") as file:
        file.write("# A comment.\nyardstick 2\nbuild unit 1\nbuild lint 1\n")
    log = os.path.join(logs, "testlog.json")
    if entries is not None:
        with open(log, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in entries)
    arguments = [word for given in more for word in ([given, budget] if given == "--budget" else [given])]
    return subprocess.run([sys.executable, tool, *arguments, log], capture_output=True, text=True, check=False)


def main():
    print(f"1..{len(CASES)}")
    failed = 0
    for number, (what, entries, more, status, words) in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory(prefix="tapml-results-") as folder:
            done = run(sys.argv[1], folder, entries, more)
        good = done.returncode == status and words in done.stdout
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {what}")
        if not good:
            print("\n".join("# " + line for line in (done.stdout + done.stderr).splitlines()))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
