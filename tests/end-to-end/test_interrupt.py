#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A run that is interrupted, or whose checkpoint is cut, ends within a second or after the step in hand, says why, goes on."""
import json
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


def workers_of(host):
    """The processes of a host that serve a plugin: those below the ones that watch over them."""
    of = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                of[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            pass  # It has ended meanwhile.
    watching = [process for process, parent in of.items() if parent == host]
    return [process for process, parent in of.items() if parent in watching]


def while_a_worker_does_not_answer(folder):
    """It is stopped, so that the host waits for it; the host waits no longer than a second."""
    ini, dir_ = rig.write_run(folder, target="reference:f64\nisolation = always", count=4, decode=4)
    child = start(ini)
    wait_for_cases(child, dir_)
    workers = workers_of(child.pid)
    assert workers, "there is no worker"
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    while rig.rows(dir_, "SELECT count(*) FROM prompt")[0][0] < 4:
        time.sleep(0.01)
    time.sleep(0.5)  # Until it waits.
    assert child.poll() is None
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    spent = time.monotonic() - begin
    assert child.returncode == 130 and spent < 3, (child.returncode, spent, errors)  # On a busy machine.
    assert errors.count("interrupted; the same command resumes after the last finished step") == 1, errors
    now = json.loads(rig.check(rig.host("status", dir_, "--json"), 0).stdout)
    assert now["state"] == "interrupted" and now["exit"] == 130, now
    rig.check(rig.host("--config", ini), 0)
    assert not [worker for worker in workers if os.path.exists(f"/proc/{worker}")], "a worker is left"


def cut_while_read(folder, isolation):
    """The checkpoint loses its second half during the run, and gets it back before the next start."""
    model = os.path.join(folder, "model")
    shutil.copytree(rig.TINY, model)
    weights = os.path.join(model, "model.safetensors")
    with open(weights, "rb") as file:
        data = file.read()
    ini, dir_ = rig.write_run(folder, target=f"reference:f64\nisolation = {isolation}", count=4, decode=4, model=model)
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
    rig.main([by_sigint, by_sigterm, what_was_done_is_kept, at_once_by_a_second_signal, while_a_worker_does_not_answer,
              by_a_checkpoint_that_is_cut,
              by_a_checkpoint_that_is_cut_under_a_worker], needs=["reference"])
