#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_kill_worker.py MOMENTS [DELAYS]

SIGKILL of the host, of workers or of both at random moments of a short run that has something to accuse, whose source
is in a worker too in half of the runs: no process is left behind, a worker's end is survived, and a run that goes on to
its end has found what one has that nobody kills. And of the target's worker alone behind the last judgement, while the
final plan is measured: once, which is survived, or as often as it is started, which costs the target. DELAYS of the
twelve are enough where one of them hits; else the others are tried.
"""
import concurrent.futures
import os
import random
import signal
import subprocess
import sys
import time

import killing
import rig
import test_kill

MOMENTS = int(sys.argv[1])
MEASURED = 12  # Delays behind the last judgement, each longer by half: how long it measures differs by machine.
DELAYS = int(sys.argv[2]) if len(sys.argv) > 2 else MEASURED
SEED = int(os.environ.get("TAPML_SEED", "1"))


def start(ini, words):
    return subprocess.Popen([rig.HOST, "--config", ini, "--threads", "1"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=words)


def kill_once(ini, whom, chance, delay):
    """Starts the run, kills the host, workers or both after a while. Whether the run came to its end by itself."""
    with open(ini + ".err", "w+", encoding="utf-8") as words, start(ini, words) as process:
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            if whom in ("worker", "both"):
                workers = sorted(killing.workers_of(process.pid))
                killing.kill_all(chance.sample(workers, chance.randint(min(1, len(workers)), len(workers))))
            if whom in ("host", "both"):
                process.kill()
        code = process.wait(300)
        killing.wait_until_gone(process.pid)
        words.seek(0)
        said = f"{whom} after {delay:.3f} s: exit {code}: {words.read()}"
    assert code == 1 if whom == "worker" else code in (1, -signal.SIGKILL), said
    return code >= 0


def kill_often(folder, seed, moments, length, expected):
    """Kills one run after the other; each that comes to its end has found what is expected, and everything once."""
    chance = random.Random(seed)
    source = "reference\nisolation = always" if seed % 2 else "reference"
    ini, dir_ = test_kill.short_run(folder, "run", source=source)
    for moment in range(moments):
        is_over = kill_once(ini, chance.choice(("host", "worker", "worker", "both")), chance, chance.uniform(0, length))
        if is_over:
            killing.check_whole(dir_)
            test_kill.same(dir_, expected, f"{seed}.{moment + 1}")
            subprocess.run(["rm", "-rf", dir_], check=True)
        print(f"# {seed}.{moment + 1}: {'whole' if is_over else 'killed'}", flush=True)
    rig.check(rig.host("--config", ini, "--threads", "1"), 1)
    killing.check_whole(dir_)
    test_kill.same(dir_, expected, f"{seed} at the end")


def length_of(ini):
    """Seconds of the whole run."""
    begin = time.monotonic()
    rig.check(rig.host("--config", ini, "--threads", "1"), 0)
    return time.monotonic() - begin


def named_memory():
    """Shared memory of a host or worker. Fuzz targets, which may run beside this, have their folders there."""
    return {name for name in os.listdir("/dev/shm") if "tapml" in name and not name.startswith("tapml-fuzz-")}


def killed_at_random_moments(folder):
    begin = time.monotonic()
    expected = test_kill.undisturbed(folder)
    length = time.monotonic() - begin
    print(f"# {MOMENTS} moments of {length:.2f} s, seed {SEED}", flush=True)
    shared = named_memory()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda half: kill_often(os.path.join(folder, str(half)), 2 * SEED + half, MOMENTS // 2, length,
                                             expected), (0, 1)))
    left = named_memory() - shared
    assert not left, left


def wait_for_plan(process, dir_):
    """Until all is judged. The workers by then."""
    workers = []
    while process.poll() is None and not os.path.exists(os.path.join(dir_, "plan-gpu.txt")):
        workers = killing.workers_of(process.pid)
    return workers


def killed_whenever_it_is_there(folder):
    """A worker that cannot be kept alive costs the target; the same command ends what is left."""
    ini, dir_ = rig.write_small_run(folder)
    with open(ini + ".err", "w+", encoding="utf-8") as words, start(ini, words) as process:
        while process.poll() is None and not os.path.exists(os.path.join(dir_, "run.tapmlrun")):
            time.sleep(0.001)  # The target is open by then.
        while process.poll() is None:
            killing.kill_all(killing.workers_of(process.pid))
        words.seek(0)
        said = words.read()
    assert process.returncode == 3 and "target 'gpu' is given up: " in said, f"exit {process.returncode}: {said}"
    rig.check(rig.host("--config", ini, "--threads", "1"), 0)
    killing.check_whole(dir_)


def killed_while_it_measures(folder):
    length = length_of(rig.write_small_run(os.path.join(folder, "whole"), decode=40)[0])
    retried = 0
    spread = sorted(range(MEASURED), key=lambda delay: delay % (MEASURED // DELAYS))  # So that the first few span all.
    for moment in range(5 * MEASURED):
        if moment >= DELAYS and retried > 0:
            return
        ini, dir_ = rig.write_small_run(os.path.join(folder, str(moment)), decode=40)
        with open(ini + ".err", "w+", encoding="utf-8") as words, start(ini, words) as process:
            workers = wait_for_plan(process, dir_)
            time.sleep(length / 4000 * 1.5**spread[moment % MEASURED])
            killing.kill_all(workers)
            code = process.wait(300)
            words.seek(0)
            said = words.read()
        assert code == 0, f"exit {code}: {said}"
        retried += "measuring on 'gpu' failed and is repeated once: " in said
        killing.check_whole(dir_)
    raise AssertionError("no worker was killed while it measured")


if __name__ == "__main__":
    rig.main([killed_while_it_measures, killed_whenever_it_is_there, killed_at_random_moments], needs=["reference"])
