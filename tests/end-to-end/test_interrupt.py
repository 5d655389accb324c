#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A run that is interrupted, or whose checkpoint is cut, ends after the step in hand, says why, and goes on."""
import os
import shutil
import signal
import subprocess
import time

import rig

CASES = "SELECT count(*) FROM \"case\""


def start(ini):
    """A run, and what is told when its first steps are written."""
    return subprocess.Popen([rig.HOST, "--config", ini], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wait_for_cases(child, dir_):
    """Until something is committed."""
    for _ in range(6000):
        assert child.poll() is None, child.communicate()
        try:
            if rig.rows(dir_, CASES)[0][0] > 0:
                return
        except rig.sqlite3.Error:
            pass  # The store or its tables are not there yet.
        time.sleep(0.01)
    raise AssertionError("nothing was committed within a minute")


def end_by(folder, number):
    ini, dir_ = rig.write_run(folder, target="reference:f64", count=40, decode=30)
    child = start(ini)
    wait_for_cases(child, dir_)
    child.send_signal(number)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 130, (child.returncode, errors)
    rig.contains(errors, "interrupted; the same command resumes after the last finished step")
    assert rig.rows(dir_, "PRAGMA integrity_check") == [("ok",)]
    return ini, dir_


def by_sigint(folder):
    end_by(folder, signal.SIGINT)


def by_sigterm(folder):
    end_by(folder, signal.SIGTERM)


def what_was_done_is_kept(folder):
    ini, dir_ = end_by(folder, signal.SIGINT)
    before, = rig.rows(dir_, CASES)[0]
    child = start(ini)
    for _ in range(6000):
        if rig.rows(dir_, CASES)[0][0] > before:
            break
        time.sleep(0.01)
    child.kill()
    child.communicate()
    after, = rig.rows(dir_, CASES)[0]
    assert after > before > 0, f"{before} cases became {after}"


def at_once_by_a_second_signal(folder):
    """Both at a moment: the second one comes long before the step in hand has ended."""
    ini, dir_ = rig.write_run(folder, target="reference:f64", count=40, decode=30)
    child = start(ini)
    wait_for_cases(child, dir_)
    child.send_signal(signal.SIGSTOP)
    child.send_signal(signal.SIGINT)
    child.send_signal(signal.SIGTERM)
    child.send_signal(signal.SIGCONT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 130, (child.returncode, errors)
    assert "interrupted" not in errors, errors
    assert rig.rows(dir_, "PRAGMA integrity_check") == [("ok",)]


def cut_while_read(folder, isolation):
    """The checkpoint loses its second half during the run, and gets it back before the next start."""
    model = os.path.join(folder, "model")
    shutil.copytree(rig.TINY, model)
    weights = os.path.join(model, "model.safetensors")
    with open(weights, "rb") as file:
        data = file.read()
    ini, dir_ = rig.write_run(folder, target=f"reference:f64\nisolation = {isolation}", count=20, decode=10, model=model)
    child = start(ini)
    wait_for_cases(child, dir_)
    os.truncate(weights, len(data) // 2)
    _, errors = child.communicate(timeout=120)
    assert child.returncode == 2, (child.returncode, errors)
    rig.contains(errors, f"{weights}: the file has changed while it was read: it was {len(data)} bytes when it was "
                         f"opened and is {len(data) // 2} now")
    assert rig.rows(dir_, "SELECT count(*) FROM judged WHERE verdict <> 'pass'") == [(0,)]
    with open(weights, "wb") as file:
        file.write(data)
    rig.check(rig.host("--config", ini), 0)


def by_a_checkpoint_that_is_cut(folder):
    cut_while_read(folder, "never")


def by_a_checkpoint_that_is_cut_under_a_worker(folder):
    cut_while_read(folder, "always")


if __name__ == "__main__":
    rig.main([by_sigint, by_sigterm, what_was_done_is_kept, at_once_by_a_second_signal, by_a_checkpoint_that_is_cut,
              by_a_checkpoint_that_is_cut_under_a_worker], needs=["reference"])
