#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A device on another machine that becomes sick in the middle of a run: it is given up, nothing is blamed on operators, and the
next start goes on once it is well."""
import os

import far
import killing
import rig
import test_kill

CALLS = 24  # That a check of the canary makes: 3 tries of 8.


def write(folder, port, sick, checks=1):
    """The canary of a sick device is wrong behind so many checks; behind the first one is the replay."""
    fault = f"[fault.2]\ntarget = gpu\nop = silu\ninstance = canary\nfrom-call = {checks * CALLS + 1}\nkind = scale 1.5\n" if sick else ""
    target = f"reference:f32-blocked\nurl = tapml://127.0.0.1:{port}"
    return rig.write_small_run(os.path.join(folder, "run"), target=target, decode=1,
                               extra=test_kill.FAULT + fault)


def a_sick_device_is_given_up(folder):
    host, worker = far.Machine(os.path.join(folder, "near")), far.Machine(os.path.join(folder, "far"))
    far.pair(host, worker)
    with far.listening(worker) as (_, port):
        ini, dir_ = write(folder, port, sick=True)
        done = rig.check(rig.host("--config", ini, "--threads", "1", env=host.env), 3)
        rig.contains(done.stderr, "target 'gpu' is given up: the device is sick: its canary, 8 calls of tapml.silu with the "
                                  "same input, gives other bits than at first", "nothing is blamed on operators")
        assert rig.rows(dir_, "SELECT count(*) FROM \"case\"")[0][0] > 0
        for table in ("result", "derived", "blame", "offload"):
            assert rig.rows(dir_, f"SELECT count(*) FROM {table}") == [(0,)], table
        assert rig.rows(dir_, "SELECT substr(value, 1, 6) FROM metadata WHERE name = 'health.gpu'") == [("sick: ",)]
        listed = rig.check(rig.host("devices", "--config", ini, env=host.env), 0).stdout
        rig.contains(listed, "gpu  reference:f32-blocked  ", "; in its run: sick: its canary")
        ini, _ = write(folder, port, sick=False)
        rig.check(rig.host("--config", ini, "--threads", "1", env=host.env), 1)
        killing.check_whole(dir_)
        assert rig.rows(dir_, "SELECT DISTINCT instance FROM blame")
        listed = rig.check(rig.host("devices", "--config", ini, env=host.env), 0).stdout
        assert "sick" not in listed and "; in its run: " in listed, listed  # It may be slow, on a busy machine.
        listed = rig.check(rig.host("devices", "reference:f64", "--url", f"tapml://127.0.0.1:{port}", env=host.env), 0).stdout
        assert listed.startswith("reference:f64  ") and listed.count("\n") == 1, listed
        listed = rig.check(rig.host("devices", "--url", f"tapml://127.0.0.1:{port}", env=host.env), 0).stdout
        assert listed == rig.check(rig.host("devices"), 0).stdout, listed  # It is this machine.
        rig.falsify(os.path.join(dir_, "run.tapmlrun"),
                    ("UPDATE metadata SET value = substr(value, 1, 33) || '00000000000000000000000000000000'"
                     " WHERE name = 'canary.gpu'",))  # As if it had been sick at first.
        listed = rig.check(rig.host("devices", "--config", ini, env=host.env), 0).stdout
        rig.contains(listed, "; well: its canary is right, and gave other bits in its run")
        ini, _ = write(folder, port, sick=True, checks=0)
        done = rig.check(rig.host("devices", "--config", ini, env=host.env), 3)
        rig.contains(done.stdout, "; sick: its canary")
        rig.contains(done.stderr, "1 of 1 targets are away or sick")
    done = rig.check(rig.host("devices", "--config", ini, env=host.env), 3)
    rig.contains(done.stdout, "gpu  away: ", "Connection refused")


if __name__ == "__main__":
    rig.main([a_sick_device_is_given_up], needs=["reference"])
