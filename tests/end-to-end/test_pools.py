#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""[pool.NAME]: devices of one kind share the cases of a target, or take over from each other."""
import functools
import os
import signal
import subprocess

import far
import killing
import rig
from test_side_by_side import FOUND, processes_of, wait_for
from test_remote import machines

FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 2\n"
LIMITS = 'SELECT op, version, shape_class, param, calibration, ulp, nmse, row_error, oracle FROM "limit" ORDER BY 1, 2, 3, 4'
NEIGHBOURS = 'SELECT instance, phase, source, label, verdict FROM derived JOIN "case" ON id = case_id ORDER BY position'
TARGET = "reference:f32-blocked"


def write(folder, target=TARGET, pool="", **more):
    return rig.write_small_run(folder, **{"target": target, "ids": rig.THREE_PROMPTS, "decode": 5, "extra": FAULT + pool, **more})


def split(folder, processes, target=TARGET):
    return write(folder, f"{target}\npool = here\nshare = split", f"[pool.here]\nprocesses = {processes}\n")


def found(dir_):
    """What a run has found; each case has one result."""
    cases, results = rig.rows(dir_, 'SELECT (SELECT count(*) FROM "case"), (SELECT count(*) FROM result)')[0]
    assert results == cases > 0, (cases, results)
    more = {"limits": LIMITS, "neighbours": NEIGHBOURS}
    return {name: rig.rows(dir_, sql) for name, sql in {**FOUND, **more}.items()}


@functools.cache
def usual(target=TARGET):
    """What one process finds."""
    ini, dir_ = write(os.path.join(rig.script_folder(), target.replace(":", "-")), target)
    rig.check(rig.host("--config", ini), 1)
    return found(dir_)


def members_find_what_one_process_finds(folder):
    for processes in (2, 4):
        ini, dir_ = split(os.path.join(folder, str(processes)), processes)
        done = rig.check(rig.host("--config", ini), 1)
        assert found(dir_) == usual(), processes
        rig.contains(done.stdout, "silu is wrong on gpu")
        assert done.stderr.count("[fault.1] has corrupted ") >= processes, done.stderr
        rig.contains(done.stderr, " derived ones, 0 and 0 of them now")  # All was done by members.
        again = rig.check(rig.host("--config", ini), 1)
        rig.contains(again.stderr, " derived ones, 0 and 0 of them now")
        assert found(dir_) == usual(), "a second start"


@rig.slow
def on_a_driver(folder):
    ini, dir_ = split(folder, 2, "opencl")
    rig.check(rig.host("--config", ini), 1)
    assert found(dir_) == usual("opencl")


@rig.slow
def beside_a_target_of_its_own(folder):
    """And with several processes of the source, whose cases come at once."""
    more = "[target.other]\nbackend = reference:f64\n"
    for workers, option in ((1, ()), (3, ("--side-by-side",))):
        name = f"{workers}{len(option)}"
        ini, dir_ = write(os.path.join(folder, name), f"{TARGET}\npool = here\nshare = split", "[pool.here]\nprocesses = 2\n" + more)
        with open(ini, encoding="utf-8") as file:
            text = file.read()
        with open(ini, "w", encoding="utf-8") as file:
            file.write(text.replace("[source]\n", f"[source]\nworkers = {workers}\n"))
        done = rig.check(rig.host("--config", ini, *option), 1)
        rig.contains(done.stdout, "silu is wrong on gpu", "other: all ")
        results = rig.rows(dir_, 'SELECT target, count(*) FROM result GROUP BY 1')
        cases, = rig.rows(dir_, 'SELECT count(*) FROM "case"')[0]
        assert results == [("gpu", cases), ("other", cases)], (name, results)


def one_that_is_killed_costs_nothing(folder):
    ini, dir_ = split(folder, 3)
    with subprocess.Popen([rig.HOST, "--config", ini], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        said = wait_for(process, "driver of gpu: ")
        hosts = processes_of(process.pid)
        os.kill(hosts[1], signal.SIGKILL)
        said += process.stdout.read()
        assert process.wait(120) == 1, said
    assert len(hosts) == 3, hosts
    rig.contains(said, "member 2 of 'gpu' was ended by signal 9")
    assert found(dir_) == usual()


def far_machines_share(folder):
    host, worker = machines(folder)
    with far.listening(worker) as (_, one), far.listening(worker) as (_, other):
        pool = f"[pool.far]\nlabels = device=f32* plugin_version>=0.1\nurls = tapml://127.0.0.1:{one} tapml://127.0.0.1:{other}\n"
        ini, dir_ = write(os.path.join(folder, "run"), f"{TARGET}\npool = far\nshare = split", pool)
        rig.check(rig.host("--config", ini, env=host.env), 1)
    assert found(dir_) == usual()


def the_next_one_takes_over(folder):
    """At the opening, and in the middle."""
    host, worker = machines(folder)
    nobody = far.free_port()
    with far.listening(worker) as (_, other):
        with far.listening(worker) as (first, one):
            urls = " ".join(f"tapml://127.0.0.1:{port}" for port in (nobody, one, other))
            ini, dir_ = write(os.path.join(folder, "run"), f"{TARGET}\npool = far\npatience = 1", f"[pool.far]\nurls = {urls}\n")
            with subprocess.Popen([rig.HOST, "--config", ini], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, env={**os.environ, **host.env}) as process:
                said = wait_for(process, "driver of gpu: ")
                first.kill()
                killing.wait_until_gone(first.pid)
                said += process.stdout.read()
                assert process.wait(120) == 1, said
    rig.contains(said, f"target 'gpu' goes on at tapml://127.0.0.1:{one}: ", f"target 'gpu' goes on at tapml://127.0.0.1:{other}: ")
    assert found(dir_) == usual()
    done = rig.check(rig.host("--config", ini, env=host.env), 3)  # Nobody is there any more.
    assert done.stderr.count("target 'gpu' is not at ") == 2, done.stderr
    rig.contains(done.stderr, "target 'gpu' cannot be opened")


if __name__ == "__main__":
    rig.main([members_find_what_one_process_finds, on_a_driver, beside_a_target_of_its_own, one_that_is_killed_costs_nothing,
              far_machines_share, the_next_one_takes_over], needs=["opencl", "reference"])
