#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/store.md, as they are printed there, in the `sqlite3` shell."""
import csv
import io
import os
import re
import subprocess

import rig

FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"


def printed():
    """The queries by the sentence that stands before them."""
    with open(os.path.join(rig.SOURCE, "docs", "store.md"), encoding="utf-8") as file:
        text = file.read()
    return re.findall(r"\n\n([^\n]+)\n\n```sql\n(.*?)```", text, re.S)


def shell(store, sql):
    """What the shell says to each statement: its rows, by column."""
    done = subprocess.run(["sqlite3", "-readonly", "-bail", "-header", "-csv", store], input=sql, capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 0 and not done.stderr, f"{sql}\n{done.stderr}"
    return list(csv.DictReader(io.StringIO(done.stdout)))


def one(queries, word):
    """The first statement of the one query whose sentence has the word."""
    found = [sql for sentence, sql in queries if word in sentence]
    assert len(found) == 1, f"{len(found)} queries are about '{word}'"
    return found[0].split(";")[0] + ";"


def they_run_as_they_are_printed(folder):
    device = os.path.join(folder, "device.ini")
    with open(device, "w", encoding="utf-8") as file:
        file.write("[device]\nname = few buffers\nsource = a test\n[kernel]\nbindings = 2\n")
    ini, dir_ = rig.write_small_run(folder, extra=f"{FAULT}\n[forecast.few]\ndevice = {device}\n")
    rig.check(rig.host("--config", ini), 1)
    store = os.path.join(dir_, "run.tapmlrun")
    queries = printed()
    assert len(queries) >= 10, f"{len(queries)} queries are printed"
    for sentence, sql in queries:
        for statement in sql.split(";")[:-1]:
            rows = shell(store, statement + ";")
            assert rows or "f16" in sentence, f"nothing comes back: {statement}"

    worst = shell(store, one(queries, "worst margins"))
    margins = [float(row["margin"]) for row in worst]
    assert len(worst) == 10 and margins == sorted(margins, reverse=True), margins
    assert worst[0]["op"] == "tapml.silu" and margins[0] > 1 and worst[0]["output"] == "y", worst[0]

    slowest = shell(store, one(queries, "slowest ops"))
    times = [float(row["ms"]) for row in slowest]
    assert times == sorted(times, reverse=True) and all(time > 0 for time in times), times
    assert sum(int(row["cases"]) for row in slowest) == 80 and {row["target"] for row in slowest} == {"gpu"}, slowest

    coverage = shell(store, one(queries, "Coverage"))
    assert len(coverage) == 10, f"{len(coverage)} ops are covered"
    for row in coverage:
        assert int(row["calls"]) == int(row["cases"]) == int(row["compared"]) == 2 * int(row["instances"]), row
        assert row["reasons"] == "", row

    failed = shell(store, one(queries, "What failed"))
    assert {row["verdict"] for row in failed} == {"fail"} and len(failed) == 4, failed


if __name__ == "__main__":
    rig.main([they_run_as_they_are_printed], needs=["reference"])
