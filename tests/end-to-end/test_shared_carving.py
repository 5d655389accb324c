#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""[source] shared: runs of equal key, on one file system, share one carving."""
import functools
import glob
import os
import re
import signal
import subprocess

import rig
from test_side_by_side import wait_for

FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 2\n"
CASES = 'SELECT hex(key), instance, prompt, step, part FROM "case" ORDER BY id'
JUDGED = 'SELECT instance, phase, verdict, count(*) FROM judged JOIN "case" ON id = case_id GROUP BY 1, 2, 3 ORDER BY 1, 2, 3'
PROMPTS = tuple(f"{i} {i + 1} {i + 5}" for i in range(1, 40))


def write(folder, shared, target="reference:f32-blocked", **more):
    ini, dir_ = rig.write_small_run(folder, **{"target": target, "ids": PROMPTS, "decode": 6, "extra": FAULT, **more})
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("[source]\n", f"[source]\nshared = {shared}\n"))
    return ini, dir_


def start(ini, *options):
    return subprocess.Popen([rig.HOST, "--config", ini, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


@functools.cache
def usual():
    """What a run finds that shares nothing."""
    ini, dir_ = rig.write_small_run(os.path.join(rig.script_folder(), "usual"), ids=PROMPTS, decode=6, extra=FAULT)
    rig.check(rig.host("--config", ini), 1)
    return rig.rows(dir_, CASES), rig.rows(dir_, JUDGED)


def two_at_once_have_one_carving(folder):
    shared = os.path.join(folder, "shared")
    runs = [write(os.path.join(folder, name), shared) for name in ("a", "b")]
    processes = [start(ini) for ini, _ in runs]
    said = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [1, 1], said
    assert sorted(len(re.findall(r"\ncarve: \d+ prompts, ", text)) for text in said) == [0, 1], said
    assert sum(f"carved by others: {len(PROMPTS)} prompts, " in text for text in said) == 1, said
    for _, dir_ in runs:
        assert (rig.rows(dir_, CASES), rig.rows(dir_, JUDGED)) == usual()
    carvers = {row for _, dir_ in runs for row in rig.rows(dir_, "SELECT DISTINCT run FROM prompt")}
    assert len(carvers) == 1, carvers


def one_whose_carver_is_killed_goes_on(folder):
    """It has stopped in the middle, and ends while the other one waits."""
    shared = os.path.join(folder, "shared")
    (one, _), (other, dir_) = (write(os.path.join(folder, name), shared) for name in ("a", "b"))
    with start(one, "--carve") as first:
        while not any(os.path.getsize(path) for path in glob.glob(f"{shared}/*/run.lock")):
            assert first.poll() is None, first.stdout.read()
        first.send_signal(signal.SIGSTOP)
        with start(other) as second:
            said = wait_for(second, f"process {first.pid} on ")
            first.kill()
            said += second.stdout.read()
            assert second.wait(120) == 1, said
    rig.contains(said, "\ncarve: ")
    assert (rig.rows(dir_, CASES), rig.rows(dir_, JUDGED)) == usual()


def a_later_one_carves_nothing(folder):
    shared = os.path.join(folder, "shared")
    ini, _ = write(os.path.join(folder, "a"), shared)
    rig.check(rig.host("--config", ini, "--carve"), 0)
    ini, dir_ = write(os.path.join(folder, "b"), shared, target="opencl")
    done = rig.check(rig.host("--config", ini, "--side-by-side"), 1)
    assert "\ncarve: " not in done.stderr, done.stderr
    rig.contains(done.stderr, "carved by others: ")
    assert rig.rows(dir_, CASES) == usual()[0]
    again = rig.check(rig.host("--config", ini), 1)
    assert "carved by others" not in again.stderr and " derived ones, 0 and 0 of them now" in again.stderr, again.stderr


def what_cannot_be_shared_is_refused(folder):
    for name, more in (("workers", "workers = 2"), ("store", "store = x.tapmlrun")):
        ini, _ = write(os.path.join(folder, name), f"here\n{more}")
        rig.contains(rig.check(rig.host("--config", ini), 2).stderr, f"[source] shared: expected no '{name}' beside it")
    file = os.path.join(folder, "file")
    with open(file, "w", encoding="utf-8") as out:
        out.write("no folder")
    ini, _ = write(os.path.join(folder, "file-run"), file)
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, f"{file}: expected a folder")


if __name__ == "__main__":
    rig.main([two_at_once_have_one_carving, one_whose_carver_is_killed_goes_on, a_later_one_carves_nothing,
              what_cannot_be_shared_is_refused], needs=["opencl", "reference"])
