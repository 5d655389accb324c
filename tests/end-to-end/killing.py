# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What tests that kill processes share: the workers of a process, and whether a run is whole."""
import os
import signal
import time

import rig


def workers_of(pid):
    """Workers that a host has started."""
    found = []
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{other}/cmdline", "rb") as file:
                if file.read().split(b"\0")[1:3] == [b"--under", str(pid).encode()]:
                    found.append(int(other))
        except OSError:
            pass
    return found


def wait_until_gone(pid):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if not workers_of(pid):
            return
        time.sleep(0.01)
    raise AssertionError(f"workers {workers_of(pid)} outlive their host")


def kill_all(workers):
    for worker in workers:
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            pass


def check_whole(dir_):
    """Every case has one result, and none is lost."""
    cases, results, twice = rig.rows(dir_, "SELECT (SELECT count(*) FROM \"case\"), (SELECT count(*) FROM result),"
                                           " (SELECT count(*) FROM (SELECT 1 FROM result GROUP BY target, case_id"
                                           " HAVING count(*) > 1))")[0]
    assert cases > 0 and cases == results and twice == 0, (cases, results, twice)
    steps = rig.rows(dir_, "SELECT step, count(*) FROM step WHERE step NOT LIKE 'search%' AND step != 'repeat'"
                           " GROUP BY target, step, CASE WHEN step LIKE 'driver check%' THEN reason END"
                           " HAVING count(*) > 1")  # What a check has found, a later start may find otherwise.
    assert not steps, steps
