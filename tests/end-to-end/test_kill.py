#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A run that is killed by SIGKILL, wherever, and started again until it ends, is the same run.

`points` kills before, within and behind every point where the files of a run change state (see kill_point.c), `moments`
at random moments, so many as the second argument says.
"""
import concurrent.futures
import os
import random
import signal
import subprocess
import sys
import time

import rig

# Short, with something to accuse, so that findings have to survive too.
FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"

# What a run has found, without times, and without numbers that follow the order of starts. The order
# of moves follows from times, so that of the moves' rows the verdicts count alone.
KEY = "instance, prompt, step, part"
QUERIES = [
    "SELECT name, value FROM metadata WHERE name <> 'run.name' AND name NOT LIKE 'health.%' AND name NOT LIKE 'canary.%'"
    " AND name NOT LIKE 'url.%' AND name NOT LIKE 'listen.%'"
    " ORDER BY name",
    "SELECT * FROM target ORDER BY name",
    "SELECT * FROM instance ORDER BY position",
    "SELECT hash, position, text, ids, greedy FROM prompt ORDER BY hash",
    "SELECT key, dtype, shape, encoding, bytes FROM tensor ORDER BY key",
    "SELECT * FROM weight ORDER BY name",
    f"SELECT {KEY}, key, op, version, phase, shape_class, tokens FROM \"case\" ORDER BY {KEY}",
    f"SELECT {KEY}, position, param, kind, effects, i, d, dtype, shape, stride, offset_bytes, base_bytes,"
    f" origin, region_begin, region_end, kept_begin, kept_end, before, after"
    f" FROM argument JOIN \"case\" ON id = case_id ORDER BY {KEY}, position",
    f"SELECT {KEY}, position, moment, page, page.key FROM page JOIN \"case\" ON id = case_id"
    f" ORDER BY {KEY}, position, moment, page",
    f"SELECT {KEY}, phase, shape_class, kept FROM call ORDER BY {KEY}",
    f"SELECT {KEY}, param, least, largest, mean_square, count, non_finite, kinds FROM statistic"
    f" JOIN call ON id = call_id ORDER BY {KEY}, param",
    f"SELECT target, {KEY}, verdict, margin, output, reason, implementation, device, driver, options FROM judged"
    f" JOIN \"case\" ON id = case_id ORDER BY target, {KEY}",
    "SELECT * FROM \"limit\" ORDER BY 1, 2, 3, 4",
    f"SELECT target, {KEY}, position, param, place, expected, computed, allowed FROM element"
    f" JOIN \"case\" ON id = case_id ORDER BY target, {KEY}, position",
    "SELECT target, instance, kind, margin, reason, evidence, source, label, tried, failed FROM blame ORDER BY 1, 2",
    "SELECT target, finished_s > 0, agrees, margin, sentence, unexplained, plan FROM offload ORDER BY 1",
    "SELECT target, source, label, verdict, margin, output, reason, beyond, elements FROM derived ORDER BY target, position",
    "SELECT target, instance, file, shape_class FROM bundle ORDER BY 1, 2",
    "SELECT target, op, calls, launches FROM timing ORDER BY 1, 2",
    "SELECT target, step, verdict FROM step ORDER BY 1, 2, 3",
    "SELECT reason, plan, margin FROM step WHERE step = 'final'",
]


def found(dir_):
    """All that a finished run has found: rows, plan, names of files."""
    with open(os.path.join(dir_, "plan-gpu.txt"), encoding="utf-8") as file:
        plan = file.read()
    return [rig.rows(dir_, sql) for sql in QUERIES], plan, sorted(os.listdir(dir_))


def short_run(folder, name, **more):
    return rig.write_small_run(os.path.join(folder, name), extra=FAULT, **more)


def run(ini, env=None):
    """One thread: several runs go on at once."""
    return rig.host("--config", ini, "--threads", "1", env=env)


def undisturbed(folder, env=None):
    """What a run finds that nobody kills."""
    ini, dir_ = short_run(folder, "whole")
    rig.check(run(ini, env(dir_) if env else None), 1)
    assert any(row[5] == "fail" for row in found(dir_)[0][11]), "nothing is wrong with the target"
    return found(dir_)


def go_on(ini):
    """Starts the run again until it ends by itself."""
    return rig.check(run(ini), 1)


def same(dir_, expected, what):
    """The run in `dir_` found what is expected, and its file is sound."""
    check = rig.rows(dir_, "PRAGMA integrity_check")
    assert check == [("ok",)], (what, check)
    now = found(dir_)
    for sql, first, second in zip(QUERIES, expected[0], now[0]):
        assert first == second, f"{what}: {sql} differs:\n{first}\n{second}"
    assert now[1:] == expected[1:], (what, now[1:], expected[1:])


def killed_at_every_point(folder):
    count = os.path.join(folder, "count")

    def preload(dir_, **more):
        return {"LD_PRELOAD": os.path.join(rig.BUILD, "tests", "end-to-end", "libkill_point.so"),
                "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
                "TAPML_KILL_IN": dir_, **more}

    expected = undisturbed(folder, lambda dir_: preload(dir_, TAPML_KILL_COUNT=count))
    with open(count, encoding="utf-8") as file:
        points = int(file.read())
    print(f"# {points} points", flush=True)
    assert points > 20, "points are missed"

    def kill_and_go_on(point_and_side):
        point, where = point_and_side
        what = f"point {point} {where}"
        ini, dir_ = short_run(folder, f"{point}-{where}")
        done = run(ini, preload(dir_, TAPML_KILL_AT=str(point), TAPML_KILL_WHERE=where))
        assert done.returncode == -signal.SIGKILL, f"{what}: {done.returncode} {done.stderr}"
        go_on(ini)
        same(dir_, expected, what)

    kills = [(point, where) for point in range(1, points + 1) for where in ("before", "torn", "after")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(kill_and_go_on, kills))


def killed_at_random_moments(folder):
    kills = int(sys.argv[2])
    seed = int(os.environ.get("TAPML_SEED", "7"))
    print(f"# {kills} kills, seed {seed}", flush=True)
    rand = random.Random(seed)
    begin = time.monotonic()
    expected = undisturbed(folder)
    length = time.monotonic() - begin
    ini, dir_ = short_run(folder, "0")
    made = 0
    while made < kills:
        child = subprocess.Popen([rig.HOST, "--config", ini, "--threads", "1"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            child.wait(rand.uniform(0, length))
            assert child.returncode == 1, child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            made += 1
            continue
        same(dir_, expected, f"after {made} kills")
        ini, dir_ = short_run(folder, str(made + 1))
    go_on(ini)
    same(dir_, expected, f"after {made} kills")


def two_hosts_do_not_meet(folder):
    """The second is told who holds the folder; when the first is killed, it can go on."""
    ini, dir_ = rig.write_run(folder, target="reference:f32-blocked", count=40, decode=30)
    first = subprocess.Popen([rig.HOST, "--config", ini], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(os.path.join(dir_, "run.tapmlrun")):
        assert first.poll() is None, "it ended before it began"
        time.sleep(0.01)
    second = rig.check(rig.host("--config", ini), 3)
    rig.contains(second.stderr, f"another host works in '{dir_}': process {first.pid} on '", "since 20")
    first.send_signal(signal.SIGKILL)
    first.wait()
    short, _ = rig.write_run(folder, target="reference:f32-blocked", count=40, decode=30)
    third = subprocess.Popen([rig.HOST, "--config", short], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    assert third.poll() is None, "the dead host's hold is still there"
    third.kill()
    third.wait()


if __name__ == "__main__":
    MODES = {"points": [killed_at_every_point], "moments": [killed_at_random_moments, two_hosts_do_not_meet]}
    rig.main(MODES[sys.argv[1]], needs=["reference"])
