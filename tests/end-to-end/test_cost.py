#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What a run has cost is in its report, and how many places to take, and whether to keep them, follows from it."""
import functools
import glob
import json
import os
import re

import rig

RATE = "[target.gpu]\nrate = 2.50 USD/h\n"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def report_of(path):
    return json.loads(read(path))


@functools.cache
def priced():
    """A run whose target has a rate: its INI, its folder, what it printed and its report."""
    folder = os.path.join(rig.script_folder(), "priced")
    ini, dir_ = rig.write_small_run(folder, extra=RATE)
    made = os.path.join(folder, "report.json")
    done = rig.check(rig.host("--config", ini, "--json", made), 0)
    return ini, dir_, done, made


def cost(dir_, *options, code=0):
    return rig.check(rig.host("cost", dir_, *options), code)


def answer(dir_, *options):
    return json.loads(cost(dir_, "--json", *options).stdout)


def a_report_says_what_the_run_has_cost(folder):
    _, dir_, done, made = priced()
    found = report_of(made)["cost"]
    places = {place["place"]: place for place in found["places"]}
    assert sorted(places) == ["gpu", "source"], places
    gpu, source = places["gpu"], places["source"]
    assert gpu["starts"] == 1 and gpu["rate"] == 2.5 and gpu["currency"] == "USD" and gpu["replays"] == 80, gpu
    assert 0 < gpu["start_ns"] <= gpu["held_ns"] and 0 < gpu["busy_ns"] <= gpu["held_ns"] and gpu["bytes"] > 0, gpu
    assert abs(gpu["money"] / (2.5 * gpu["held_ns"] / 3600e9) - 1) < 1e-6, gpu
    assert source["money"] is None and source["rate"] is None and source["busy_ns"] > 0, source
    assert found["totals"] == [{"currency": "USD", "money": gpu["money"]}], found
    rig.contains(done.stdout, "cost: gpu held for ", " at 2.5 USD/h\n", "cost: source held for ", " USD in all, for ")
    with open(os.path.join(dir_, "report.html"), encoding="utf-8") as page:
        rig.contains(page.read(), "<h2>What it cost</h2>")
    asked = rig.check(rig.host("query", dir_, "SELECT place, cases, round(money, 9) FROM usage ORDER BY place", "--csv"), 0)
    rig.contains(asked.stdout, "gpu,80,", "source,0,")


def a_start_that_finds_all_done_costs_nothing(folder):
    ini, dir_, _, made = priced()
    before = read(made)
    rig.check(rig.host("--config", ini, "--json", made), 0)
    assert read(made) == before, "the second start has changed the report"
    again = os.path.join(folder, "again.json")
    rig.check(rig.host("report", dir_, "--json", again), 0)
    assert read(again) == before


def without_a_rate_time_alone_counts(folder):
    ini, dir_ = rig.write_small_run(folder)
    made = os.path.join(folder, "report.json")
    done = rig.check(rig.host("--config", ini, "--json", made), 0)
    found = report_of(made)["cost"]
    assert found["totals"] == [] and all(place["money"] is None for place in found["places"]), found
    rig.contains(done.stdout, "cost: gpu held for ")
    assert "in all" not in done.stdout, done.stdout
    rig.contains(cost(dir_, "--explain").stdout, " of places\n", "start: ")
    assert answer(dir_)["currency"] == ""


def members_are_priced_from_what_members_took(folder):
    """Shards are members on demand, whose stores say what a start and a case take."""
    ini, dir_, _, _ = priced()
    rig.contains(cost(dir_, "--explain").stdout, "which is assumed")
    into = os.path.join(folder, "shards")
    for index in (1, 2):
        rig.check(rig.host("--config", ini, "--shard", f"{index}/2", "--into", into), 0)
    merged = os.path.join(folder, "merged")
    rig.check(rig.host("store", "merge", dir_, *sorted(glob.glob(f"{into}/shard-*")), "--into", merged), 0)
    rows = rig.rows(merged, "SELECT cases, limits, start_ns > 0 FROM usage WHERE place = 'gpu' ORDER BY limits")
    assert len(rows) == 3 and sum(row[0] for row in rows) == 160 and [row[2] for row in rows] == [1, 1, 1], rows
    assert [row[1] == 0 for row in rows] == [True, True, False], rows
    firsts, firsts_ns, cases_ns = rig.rows(
        merged, "SELECT sum(firsts), sum(firsts_ns), sum(cases_ns) FROM usage WHERE limits = 0 AND place = 'gpu'")[0]
    ops = rig.rows(merged, "SELECT count(DISTINCT op) FROM \"case\"")[0][0]
    assert ops <= firsts <= 2 * ops and 0 < firsts_ns < cases_ns, (ops, firsts, firsts_ns, cases_ns)
    found = answer(merged)
    predicted = found["predicted"]
    assert 0 <= predicted["first_cases_s"] < predicted["start_s"], predicted
    assert predicted["cases"] == 80 and predicted["starts"] == 2 and not predicted["is_host_assumed"], predicted
    mean = predicted["call_s"] + predicted["transfer_s"] + predicted["host_s"]
    assert abs(predicted["work_s"] / (80 * mean) - 1) < 1e-3, predicted
    assert found["choice"] == {"kind": "on demand", "members": 1} and found["rate"] == 2.5, found
    assert abs(found["on_demand"]["held_s"] - predicted["start_s"] - predicted["work_s"]) < 1e-6, found


def a_deadline_takes_members_and_may_be_too_short(folder):
    _, dir_, _, _ = priced()
    whole = answer(dir_, "--start", "1s")
    work = whole["predicted"]["work_s"]
    half = answer(dir_, "--start", "1s", "--deadline", f"{1 + 0.6 * work:.6f}s")
    assert half["choice"]["members"] == 2 and half["on_demand"]["time_s"] <= half["deadline_s"], half
    busy = answer(dir_, "--start", "1s", "--runs", str(86400 / (3 * work)), "--resident-rate", "0.25 USD/h")
    assert busy["choice"]["kind"] == "resident" and busy["even_runs"] < 86400 / (3 * work), busy
    assert any(flip["what"] == "runs a day" and flip["kind"] == "on demand" for flip in busy["flips"]), busy
    done = cost(dir_, "--deadline", "1ms", code=1)
    assert re.fullmatch(r"no pool of up to 16 members meets 1 ms: with so many a run takes .* on resident ones, .* on "
                        r"demand\n", done.stdout), done.stdout


def a_rate_that_is_none_is_refused(folder):
    ini, _ = rig.write_small_run(folder, extra="[target.gpu]\nrate = 2.50\n")
    done = rig.check(rig.host("--check-config", ini), 2)
    rig.contains(done.stderr + done.stdout, "[target.gpu] rate: expected an amount and a currency for each hour")


if __name__ == "__main__":
    rig.main([a_report_says_what_the_run_has_cost, a_start_that_finds_all_done_costs_nothing,
              without_a_rate_time_alone_counts, members_are_priced_from_what_members_took,
              a_deadline_takes_members_and_may_be_too_short, a_rate_that_is_none_is_refused], needs=["reference"])
