#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Several targets in one run: one carving for all, a column each, and those that are not there or go away."""
import json
import os
import re
import xml.etree.ElementTree

import rig

OTHERS = "[target.blocked]\nbackend = reference:f32-blocked\n[target.other]\nbackend = opencl\n"
NOWHERE = {"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent", "OCL_ICD_VENDORS": "/nonexistent"}
LAYERS = os.path.join(rig.BUILD, "tests", "end-to-end")


def table(stdout):
    """The table of the targets side by side: its rows by their first words, its columns by their names."""
    lines = stdout.split("\noperator ")[-1].split("\n\n")[0].splitlines()
    names = lines[0].split()
    rows = {}
    for line in lines[1:]:
        cells = [line[:24].strip()] + [line[25 + 21 * i:25 + 21 * (i + 1)].strip() for i in range(len(names))]
        rows[cells[0]] = dict(zip(names, cells[1:]))
    return names, rows


def write(folder, target="vulkan"):
    return rig.write_small_run(folder, target=target, extra=OTHERS)


def one_carving_serves_all(folder):
    ini, dir_ = write(folder)
    done = rig.check(rig.host("--config", ini), 0)
    carved, = rig.rows(dir_, "SELECT count(*) FROM \"case\"")[0]
    names, rows = table(done.stdout)
    assert names == ["gpu", "blocked", "other"], names
    for name in names:
        rig.contains(done.stdout, f"40 of 40 instances on {name}, 0 blamed")
        judged, = rig.rows(dir_, f"SELECT count(DISTINCT case_id) FROM judged WHERE target = '{name}'")[0]
        assert judged == carved, f"{judged} of {carved} cases were judged on {name}"
    assert set(rows["verdict"].values()) == {"right"} and set(rows["moved"].values()) == {"40 of 40"}, rows
    assert all(rows["tapml.linear"][name].startswith("right ") for name in names), rows


def one_target_has_no_table(folder):
    ini, _ = rig.write_small_run(folder)
    done = rig.check(rig.host("--config", ini), 0)
    assert done.stdout.count("\noperator ") == 1, done.stdout


def run_without_gpu(folder, ini, dir_, env, reason):
    """Runs with a target that is given up for a reason, which is told wherever the run is told of."""
    paths = [os.path.join(folder, name) for name in ("report.json", "report.xml")]
    done = rig.check(rig.host("--config", ini, "--json", paths[0], "--junit", paths[1], env=env), 3)
    told = [line for line in done.stderr.splitlines() if "given up" in line]
    assert len(told) == 1 and "target 'gpu' is given up: " in told[0] and reason in told[0], told
    rig.contains(done.stdout, "\ngpu = vulkan is given up: ", reason)
    names, rows = table(done.stdout)
    assert names == ["blocked", "other", "gpu"], names
    assert rows["verdict"] == {"blocked": "right", "other": "right", "gpu": "given up"}, rows
    with open(paths[0], encoding="utf-8") as file:
        report = json.load(file)
    assert report["verdict"] == "incomplete" and [one["name"] for one in report["given_up"]] == ["gpu"], report["given_up"]
    suites = xml.etree.ElementTree.parse(paths[1]).getroot()
    assert suites.get("errors") == "1" and suites.find("testsuite[@name='gpu']/testcase/error") is not None
    with open(os.path.join(dir_, "report.html"), encoding="utf-8") as file:
        rig.contains(file.read(), "The target <bdi>gpu</bdi> was given up.", reason, "2 of 2 targets are right")
    status = rig.check(rig.host("status", dir_), 0).stdout
    rig.contains(status, "incomplete", "a target was given up; the same command completes it when it is available")
    assert re.search(rf"^  gpu .*; given up: .*{re.escape(reason)}", status, re.M), status
    failed, = rig.rows(dir_, "SELECT count(*) FROM judged WHERE verdict <> 'pass'")[0]
    assert failed == 0, f"{failed} cases were held against somebody"


def run_with_gpu(ini, dir_):
    """The next start of the same run, when the target is there again."""
    done = rig.check(rig.host("--config", ini), 0)
    assert table(done.stdout)[1]["verdict"] == {"gpu": "right", "blocked": "right", "other": "right"}
    assert "given up" not in done.stdout + done.stderr + rig.host("status", dir_).stdout


def lose_and_go_on(folder, at):
    """Loses the device of one target, in the host's own process, at a submission."""
    ini, dir_ = write(folder, "vulkan\nisolation = never")
    env = {"VK_LAYER_PATH": LAYERS, "VK_INSTANCE_LAYERS": "VK_LAYER_TAPML_lost", "TAPML_LOSE_AT": at}
    run_without_gpu(folder, ini, dir_, env, "device is lost: it was reset")
    run_with_gpu(ini, dir_)


def a_target_lost_in_a_case_blames_no_op(folder):
    lose_and_go_on(folder, "40")


@rig.slow
def a_target_lost_later_goes_on_when_it_is_back(folder):
    lose_and_go_on(folder, "700")


@rig.slow
def a_target_that_is_not_there_is_done_when_it_is(folder):
    ini, dir_ = write(folder)
    env = {name: value for name, value in NOWHERE.items() if name.startswith("VK")}
    run_without_gpu(folder, ini, dir_, env, "Vulkan")
    run_with_gpu(ini, dir_)


def without_any_target_nothing_is_carved(folder):
    ini, dir_ = rig.write_small_run(folder, target="vulkan", extra="[target.other]\nbackend = opencl\n")
    done = rig.check(rig.host("--config", ini, env=NOWHERE), 3)
    rig.contains(done.stderr, "target 'gpu' is given up: ", "target 'other' is given up: ", "none of the 2 targets can be opened")
    ini, dir_ = rig.write_small_run(folder, target="vulkan")
    done = rig.check(rig.host("--config", ini, env=NOWHERE), 3)
    assert "given up" not in done.stderr, done.stderr
    assert not os.path.exists(os.path.join(dir_, "run.tapmlrun"))


def a_mistake_is_no_missing_target(folder):
    for extra in ("[target.other]\nbackend = opencll\n", OTHERS + "[component.opencl]\nplatform = x\n"):
        ini, dir_ = rig.write_small_run(folder, extra=extra)
        rig.check(rig.host("--config", ini), 2)
        assert not os.path.exists(os.path.join(dir_, "run.tapmlrun"))


def a_source_that_is_lost_ends_the_run(folder):
    ini, _ = rig.write_small_run(folder, source="vulkan", target="reference")
    env = {"VK_LAYER_PATH": LAYERS, "VK_INSTANCE_LAYERS": "VK_LAYER_TAPML_lost", "TAPML_LOSE_AT": "5"}
    done = rig.check(rig.host("--config", ini, env=env), 3)
    rig.contains(done.stderr, "the device is lost")


if __name__ == "__main__":
    rig.main([one_carving_serves_all, one_target_has_no_table, a_target_lost_in_a_case_blames_no_op,
              a_target_lost_later_goes_on_when_it_is_back, a_target_that_is_not_there_is_done_when_it_is,
              without_any_target_nothing_is_carved, a_mistake_is_no_missing_target, a_source_that_is_lost_ends_the_run],
             needs=["opencl", "reference", "vulkan"])
