#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Stores that earlier releases wrote are looked at, gone on with and replayed."""
import functools
import json
import os
import shutil
import sqlite3

import rig

STORES = os.path.join(rig.DATA, "stores")
WITHOUT_ERRORS = ("version-2", "version-3")
FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"


def content(path):
    with open(path, "rb") as file:
        return file.read()


def old_rows(version, sql):
    connection = sqlite3.connect(f"file:{os.path.join(STORES, version, 'run.tapmlrun')}?mode=ro&immutable=1", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def reported(version):
    """The report of an old store has the verdicts, margins and sentences of its rows, or calls those without errors stale; the
    file stays as it is."""
    def test(folder):
        dir_ = os.path.join(folder, "run")
        os.makedirs(dir_)
        path = shutil.copy(os.path.join(STORES, version, "run.tapmlrun"), dir_)
        before = content(path)
        made = os.path.join(folder, "report.json")
        rig.check(rig.host("report", dir_, "--json", made), 1)
        with open(made, encoding="utf-8") as file:
            target, = json.load(file)["targets"]
        kept = version in WITHOUT_ERRORS  # Else verdicts and sentences are made of the errors.
        cases = [(case["id"], case["verdict"], case["margin"], case["output"], case["reason"] if kept else "")
                 for case in target["cases"]]
        rows = old_rows(version, "SELECT case_id, verdict, margin, output, reason"
                                 f" FROM {'result' if kept else 'judged'} ORDER BY case_id")
        rows = [(id_, verdict, float(f"{margin:.9g}"), *texts) for id_, verdict, margin, *texts in rows]
        if kept:
            rows = [(id_, "stale", margin, output, f"{verdict} by a host that kept no errors: the next start replays it"
                     + (f"; {reason}" if reason else "")) for id_, verdict, margin, output, reason in rows]
        assert cases == rows, cases[:3]
        assert target["counts"]["stale"] == (80 if kept else 0), target["counts"]
        assert content(path) == before, "reporting has changed something"
    test.__name__ = f"{version}: a run is reported"
    return test


@functools.cache
def made_anew():
    """What a new run of the same configuration has, by query."""
    ini, dir_ = rig.write_small_run(os.path.join(rig.script_folder(), "new"), target="reference:f64", extra=FAULT)
    rig.check(rig.host("--config", ini), 1)
    return {query: rig.rows(dir_, query) for query in (
        "SELECT key FROM \"case\" ORDER BY id", "SELECT case_id, verdict, margin, reason FROM judged ORDER BY 1",
        "SELECT instance, kind, reason FROM blame ORDER BY 1", "PRAGMA user_version")}


def carried_on(version):
    """The run of the old store goes on: nothing is carved again, the verdicts are those of a new run."""
    def test(folder):
        ini, dir_ = rig.write_small_run(folder, target="reference:f64", extra=FAULT)
        os.makedirs(dir_)
        path = shutil.copy(os.path.join(STORES, version, "run.tapmlrun"), dir_)
        before = content(path)
        found = json.loads(rig.check(rig.host("status", dir_, "--json"), 0).stdout)
        stale = 80 if version in WITHOUT_ERRORS else 0
        assert found["cases"] == 80 and found["targets"][0]["failed"] == (0 if stale else 4), found
        assert found["targets"][0]["stale"] == stale, "results without errors are replayed"
        assert content(path) == before, "looking has changed something"
        done = rig.check(rig.host("--config", ini), 1)
        rig.contains(done.stdout, "40 instances on gpu, 2 blamed", "80 cases, 0 not compared")
        assert "carved again" not in done.stderr and " 80 cases kept" not in done.stderr, done.stderr
        for query, rows in made_anew().items():
            assert rig.rows(dir_, query) == rows, query
    test.__name__ = f"{version}: a run goes on"
    return test


def replayed(version):
    """An old bundle fails with its fault and passes without, and is not carved anew."""
    def test(folder):
        ini, _ = rig.write_small_run(folder, target="reference:f64", extra=FAULT)
        path = shutil.copy(os.path.join(STORES, version, "FAULT-1.tapmlrun"), folder)
        rig.check(rig.host("replay", path, "--config", ini, "--target", "gpu"), 1)
        done = rig.check(rig.host("replay", path, "component=reference", "device=f32"), 0)
        rig.contains(done.stdout, "bundle of layers.0/mlp/silu\n")
    test.__name__ = f"{version}: a bundle is replayed"
    return test if version == "version-2" else rig.slow(test)  # Of the oldest store.


if __name__ == "__main__":
    rig.main([make(version) for version in sorted(os.listdir(STORES)) for make in (reported, carried_on, replayed)])
