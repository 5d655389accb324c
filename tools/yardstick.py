#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the seconds of processor time that this machine takes now for a fixed piece of work.

    yardstick.py

A processor whose caches and memory others use counts more processor time for the same work, up to half as much again.
tools/test measures this before the tests of each build folder; tools/results.py compares the median with the line
`yardstick` of tests/budget and scales the budget by it. The work is done on all processors at once, as the tests are:
a compiler's (of Python), a walk through more memory than caches hold, a compression, and, since virtual machines differ
in nothing as much, the first touch of pages and the start of processes. The mean is printed.
"""
import mmap
import multiprocessing
import os
import random
import subprocess
import time
import zlib

FUNCTIONS = 1800
RECORDS = 800_000
PROCESSES = 100
PAGES = 30_000


def spent():
    """Seconds of processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def work(seed):
    """Seconds of processor time for one share of the work, the same for each seed."""
    begin = spent()
    lines = []
    for number in range(FUNCTIONS):
        lines.append(f"def f{number}(a, b):\n    c = [x * {number} + a for x in range(b) if x % 3]\n"
                     f"    return {{'sum': sum(c), 'first': c[:1] or b}} if a > {number} else (a, b, c)\n")
    compile("".join(lines), "yardstick", "exec")
    numbers = random.Random(seed)
    records = {key * 7919: str(key) for key in range(RECORDS)}
    keys = [numbers.randrange(RECORDS) * 7919 for _ in range(RECORDS)]
    found = "".join(records[key] for key in keys)
    zlib.compress(found.encode(), 6)
    touched = mmap.mmap(-1, PAGES * mmap.PAGESIZE)
    for page in range(PAGES):
        touched[page * mmap.PAGESIZE] = 1
    for _ in range(PROCESSES):
        subprocess.run(["sh", "-c", ":"], check=True)
    return spent() - begin


def main():
    count = os.cpu_count() or 1
    with multiprocessing.Pool(count) as pool:
        spent = pool.map(work, range(count), chunksize=1)
    print(f"{sum(spent) / count:.3f}")


if __name__ == "__main__":
    main()
