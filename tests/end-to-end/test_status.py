#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""`tapml-host status` of a run that goes on, that was killed, interrupted, and that has ended."""
import json
import os
import signal
import subprocess
import time

import rig

FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"


def status(dir_):
    return json.loads(rig.check(rig.host("status", dir_, "--json"), 0).stdout)


def start(ini):
    return subprocess.Popen([rig.HOST, "--config", ini], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def files(dir_):
    return {name: open(os.path.join(dir_, name), "rb").read() for name in os.listdir(dir_)}


def of_a_finished_run(folder):
    ini, dir_ = rig.write_small_run(folder, extra=FAULT)
    rig.check(rig.host("--config", ini), 1)
    before = files(dir_)
    now = status(dir_)
    assert now["state"] == "finished" and now["exit"] == 1 and "left_s" not in now, now
    assert now["prompts"] == now["prompts_carved"] == 1 and now["cases"] == 80 and now["instances"] == 40, now
    target, = now["targets"]
    assert target["replayed"] == 80 and target["failed"] == 4 and target["passed"] == 76, target
    assert target["blamed"] == 2 and target["moved"] == 38, target
    assert target["step"] == "final" and target["verdict"] == "kept", target
    text = rig.check(rig.host("status", dir_), 0).stdout
    rig.contains(text, f"{dir_}: finished", "a target is wrong", "1 of 1 prompts", "80 cases kept",
                 "2 blamed, 38 of 40 instances moved so far; last step 'final': kept")
    assert files(dir_) == before, "looking has changed something"


def of_stale_results(folder):
    """Told without a device; the next start replays as many cases."""
    ini, dir_ = rig.write_small_run(folder)
    rig.check(rig.host("--config", ini), 0)
    now, = status(dir_)["targets"]
    assert now["stale"] == now["stale_limits"] == 0, now
    assert "stale" not in rig.check(rig.host("status", dir_), 0).stdout
    linear = "case_id IN (SELECT id FROM \"case\" WHERE op = 'tapml.linear' LIMIT 3)"
    norm = "case_id IN (SELECT id FROM \"case\" WHERE op = 'tapml.rms_norm' LIMIT 2)"
    rig.change_store(dir_, f"UPDATE result SET implementation = 'org.example.late 0a1b' WHERE {linear};"
                           f"UPDATE result SET oracle = '0a1b' WHERE {norm}")
    before = files(dir_)
    now, = status(dir_)["targets"]
    assert (now["stale"], now["stale_limits"]) == (3, 2), now
    nowhere = {"TAPML_PLUGIN_PATH": "/nowhere", "HOME": "/nowhere"}
    text = rig.check(rig.host("status", dir_, env=nowhere), 0).stdout
    rig.contains(text, "3 results are stale: the next start replays", "limits of 2 results are stale")
    assert files(dir_) == before, "looking has changed something"
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stderr, "derived ones, 3 and 0 of them now")
    now, = status(dir_)["targets"]
    assert now["stale"] == now["stale_limits"] == 0 and now["passed"] == 80, now


def of_a_run_that_goes_on(folder):
    """What is told grows; the writer is not disturbed; then it is killed, and goes on."""
    ini, dir_ = rig.write_run(folder, target="reference:f64", count=6, decode=12, extra=FAULT)
    child = start(ini)
    seen, ranks = [], {"carve": 0, "calibrate": 1, "replay on gpu": 2, "derive on gpu": 3}
    while child.poll() is None:
        if os.path.exists(os.path.join(dir_, "run.lock")):
            now = status(dir_)
            if now["state"] == "running":
                assert now["process"] == child.pid, now
                assert now["done"] <= now["all"], now
                seen.append(now)
            if len(seen) > 5 and now["phase"].startswith("replay"):
                break
        time.sleep(0.02)
    assert seen, "it was never seen running"
    phases = [ranks[now["phase"]] for now in seen if now["phase"] in ranks]
    assert phases == sorted(phases), f"phases went back: {[now['phase'] for now in seen]}"
    for key in ("prompts_carved", "calls", "cases"):
        values = [now[key] for now in seen if not now["error"]]
        assert values == sorted(values), f"{key} shrank: {values}"
    child.send_signal(signal.SIGKILL)
    child.wait()
    killed = status(dir_)
    assert killed["state"] == "killed" and killed["process"] == child.pid and "exit" not in killed, killed
    rig.contains(rig.host("status", dir_).stdout, "killed", "resumes after the last finished step")
    rig.check(rig.host("--config", ini), 1)
    assert status(dir_)["state"] == "finished"


def of_an_interrupted_and_a_failed_run(folder):
    ini, dir_ = rig.write_run(folder, target="reference:f64", count=40, decode=30)
    child = start(ini)
    while not os.path.exists(os.path.join(dir_, "run.lock")) or status(dir_)["calls"] == 0:
        assert child.poll() is None
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    child.wait()
    now = status(dir_)
    assert now["state"] == "interrupted" and now["exit"] == 130, now
    ini, dir_ = rig.write_run(folder, target="reference:f64", count=40, decode=29)
    rig.check(rig.host("--config", ini), 2)
    now = status(dir_)
    assert now["state"] == "failed" and now["exit"] == 2, now
    rig.contains(now["error"], "[run] decode = 30, now it is 29")


def of_a_damaged_store(folder):
    """What the lock says is printed, and the exit code is that of every command that cannot read the store."""
    ini, dir_ = rig.write_small_run(folder)
    rig.check(rig.host("--config", ini, "--carve"), 0)
    with open(os.path.join(dir_, "run.tapmlrun"), "r+b") as file:
        file.truncate(100)
    for words in ([], ["--json"]):
        done = rig.check(rig.host("status", dir_, *words), 2)
        rig.contains(done.stdout, "finished", "run.tapmlrun")


def of_nothing(folder):
    done = rig.check(rig.host("status", folder), 2)
    rig.contains(done.stderr, f"there is no run in '{folder}'")
    rig.contains(rig.check(rig.host("status"), 2).stderr, "status takes the folder of a run")


if __name__ == "__main__":
    rig.main([of_a_finished_run, of_stale_results, of_a_run_that_goes_on, of_an_interrupted_and_a_failed_run, of_a_damaged_store,
              of_nothing],
             needs=["reference"])
