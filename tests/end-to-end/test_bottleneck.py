#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What a run waits for most: named in text, page and JSON, from the store alone, and tried with the keys that it names."""
import json
import os

import rig

SLOW = os.path.join(rig.BUILD, "tests", "end-to-end", "libslow_calls.so")
DELAY = "\n[fault.1]\ntarget = gpu\nkind = delay 5\n"


def bottleneck_of(folder, dir_):
    path = os.path.join(folder, "report.json")
    rig.host("report", dir_, "--json", path)
    with open(path, encoding="utf-8") as file:
        return json.load(file)["bottleneck"]


def replay_ns(bottleneck):
    """How long kept cases took, all that the key changes; the rest of a run varies by more beside others."""
    return sum(item["wall_ns"] for item in bottleneck["stages"] if item["phase"] == "replay")


def a_slow_device_is_the_bound(folder):
    ini, dir_ = rig.write_small_run(folder, extra=DELAY)
    done = rig.check(rig.host("--config", ini, "--explain-bottleneck"), 0)
    rig.contains(done.stdout, "bottleneck: device of gpu", "its bound: device", "nothing is to be set")
    found = bottleneck_of(folder, dir_)
    assert found["stage"] == "device" and found["target"] == "gpu" and "remedy" not in found, found
    times = [item for item in found["stages"] if item["phase"] != "pipeline"]
    assert sum(item["wall_ns"] for item in times) == found["elapsed_ns"], found
    assert all(item["waiting_ns"] <= item["wall_ns"] for item in times), times
    assert {"replay", "derive", "offload", "carve"} <= {item["phase"] for item in times}, times
    assert {"read", "decode", "prepare", "upload", "compare", "calibrate", "record", "source"} <= {item["stage"] for item in times}, times
    with open(os.path.join(dir_, "report.html"), encoding="utf-8") as file:
        rig.contains(file.read(), "What the run waits for most", "nothing is to be set")
    # A second start of a finished run does no work, and says what the first one was like.
    rig.check(rig.host("--config", ini), 0)
    assert bottleneck_of(folder, dir_) == found
    again = rig.host("report", dir_, "--explain-bottleneck")
    rig.contains(again.stdout, f"bottleneck: {found['sentence']}\n{found['advice']}\n")


def what_is_advised_is_tried(folder):
    ini, dir_ = rig.write_small_run(folder, extra="\n[check]\nahead = 1 ; each is waited for\n")
    into = os.path.join(folder, "applied.ini")
    done = rig.check(rig.host("--config", ini, "--apply", into, env={"LD_PRELOAD": SLOW, "TAPML_SLOW_ANSWER": "8000"}), 0)
    rig.contains(done.stdout, "bottleneck: launch of gpu", "set [check] ahead = 16", "applied: set [check] ahead = 16\nbefore ")
    with open(into, encoding="utf-8") as file:
        text = file.read()
    rig.contains(text, f"dir = {dir_}.applied\n", "[check]\nahead = 16\n")
    assert text.count("ahead") == 1, text
    assert rig.rows(dir_, "SELECT verdict, count(*) FROM judged GROUP BY 1") == \
        rig.rows(dir_ + ".applied", "SELECT verdict, count(*) FROM judged GROUP BY 1")
    before, after = (replay_ns(bottleneck_of(folder, each)) for each in (dir_, dir_ + ".applied"))
    assert after < before, (before, after)


def nothing_is_written_over(folder):
    ini, dir_ = rig.write_small_run(folder)
    into = os.path.join(folder, "applied.ini")
    with open(into, "w", encoding="utf-8") as file:
        file.write("mine")
    done = rig.check(rig.host("--config", ini, "--apply", into), 2)
    rig.contains(done.stderr, "applied.ini' is there already; it is not written over")
    assert not os.path.exists(dir_)
    os.remove(into)
    os.mkdir(dir_ + ".applied")
    done = rig.check(rig.host("--config", ini, "--apply", into), 2)
    rig.contains(done.stderr, "run.applied' is there already")
    assert not os.path.exists(into)


if __name__ == "__main__":
    rig.main([a_slow_device_is_the_bound, what_is_advised_is_tried, nothing_is_written_over])
