#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A run that is killed goes on from the last finished step, and says the same in the end."""
import os
import random
import signal
import subprocess
import time

import rig

KILLS = 8


def verdicts(dir_):
    """What must not depend on interruptions: cases, verdicts, the plan."""
    cases = rig.rows(dir_, "SELECT instance, op, phase, step, hex(prompt) FROM \"case\" ORDER BY 1, 3, 4, 5")
    results = rig.rows(dir_, "SELECT count(*), sum(verdict = 'pass') FROM result")
    with open(os.path.join(dir_, "plan-gpu.txt"), encoding="utf-8") as file:
        return cases, results, file.read().splitlines()[1:]


def killed_at_random_moments(folder):
    seed = int(os.environ.get("TAPML_SEED", "7"))
    print(f"# seed {seed}")
    rand = random.Random(seed)
    whole = os.path.join(folder, "whole")
    os.mkdir(whole)
    ini, dir_ = rig.write_run(whole)
    begin = time.monotonic()
    rig.check(rig.host("--config", ini), 0)
    length = time.monotonic() - begin
    expected = verdicts(dir_)
    ini, dir_ = rig.write_run(folder)
    for _ in range(KILLS):
        child = subprocess.Popen([rig.HOST, "--config", ini], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            child.wait(rand.uniform(0.05, length))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
        child.wait()
    rig.check(rig.host("--config", ini), 0)
    assert verdicts(dir_) == expected


def interrupted_it_says_how_to_go_on(folder):
    ini, _ = rig.write_run(folder, count=40, decode=30)
    child = subprocess.Popen([rig.HOST, "--config", ini], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 130, (child.returncode, errors)
    rig.contains(errors, "goes on from the last finished step")


if __name__ == "__main__":
    rig.main([killed_at_random_moments, interrupted_it_says_how_to_go_on], needs=["opencl", "reference"])
