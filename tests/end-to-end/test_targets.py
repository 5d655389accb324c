#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Several targets in one run: one carving for all, a column each, and one that is lost in the middle."""
import json
import os
import xml.etree.ElementTree

import rig

OTHERS = "[target.blocked]\nbackend = reference:f32-blocked\n[target.other]\nbackend = opencl\n"
LAYERS = os.path.join(rig.BUILD, "tests", "end-to-end")


def table(stdout):
    """The table of the targets side by side: its rows by their first words, its columns by their names."""
    lines = stdout.split("\noperator ")[1].splitlines()
    names = lines[0].split()
    rows = {}
    for line in lines[1:]:
        cells = [line[:24].strip()] + [line[25 + 21 * i:25 + 21 * (i + 1)].strip() for i in range(len(names))]
        rows[cells[0]] = dict(zip(names, cells[1:]))
    return names, rows


def write(folder, target="vulkan"):
    return rig.write_run(folder, target=target, count=2, decode=3, extra=OTHERS)


def one_carving_serves_all(folder):
    ini, dir_ = write(folder)
    done = rig.check(rig.host("--config", ini), 0)
    carved, = rig.rows(dir_, "SELECT count(*) FROM \"case\"")[0]
    names, rows = table(done.stdout)
    assert names == ["gpu", "blocked", "other"], names
    for name in names:
        rig.contains(done.stdout, f"76 of 76 instances on {name}, 0 accused")
        judged, = rig.rows(dir_, f"SELECT count(DISTINCT case_id) FROM result WHERE target = '{name}'")[0]
        assert judged == carved, f"{judged} of {carved} cases were judged on {name}"
    assert set(rows["verdict"].values()) == {"right"} and set(rows["moved"].values()) == {"76 of 76"}, rows
    assert all(rows["tapml.linear"][name].startswith("right ") for name in names), rows


def one_target_has_no_table(folder):
    ini, _ = rig.write_small_run(folder)
    done = rig.check(rig.host("--config", ini), 0)
    assert "\noperator " not in done.stdout, done.stdout


def lose(folder, at):
    """Loses the device of one target, in the host's own process, at a submission; gives the INI of the run."""
    ini, dir_ = write(folder, "vulkan\nisolation = never")
    paths = [os.path.join(folder, name) for name in ("report.json", "report.xml")]
    env = {"VK_LAYER_PATH": LAYERS, "VK_INSTANCE_LAYERS": "VK_LAYER_TAPML_lost", "TAPML_LOSE_AT": at}
    done = rig.check(rig.host("--config", ini, "--json", paths[0], "--junit", paths[1], env=env), 3)
    told = [line for line in done.stderr.splitlines() if "given up" in line]
    assert len(told) == 1 and "target 'gpu' is given up: " in told[0] and "device is lost: it was reset" in told[0], told
    names, rows = table(done.stdout)
    assert names == ["blocked", "other", "gpu"], names
    assert rows["verdict"] == {"blocked": "right", "other": "right", "gpu": "given up"}, rows
    with open(paths[0], encoding="utf-8") as file:
        report = json.load(file)
    assert report["verdict"] == "incomplete" and [one["name"] for one in report["given_up"]] == ["gpu"], report["given_up"]
    suites = xml.etree.ElementTree.parse(paths[1]).getroot()
    assert suites.get("errors") == "1" and suites.find("testsuite[@name='gpu']/testcase/error") is not None
    with open(os.path.join(dir_, "report.html"), encoding="utf-8") as file:
        rig.contains(file.read(), "The target <bdi>gpu</bdi> was given up.", "2 of 2 targets are right")
    return ini


def a_target_lost_in_a_case_accuses_no_op(folder):
    done = rig.check(rig.host("--config", lose(folder, "40")), 0)
    assert table(done.stdout)[1]["verdict"] == {"gpu": "right", "blocked": "right", "other": "right"}


def a_target_lost_later_goes_on_when_it_is_back(folder):
    done = rig.check(rig.host("--config", lose(folder, "2200")), 0)
    assert table(done.stdout)[1]["verdict"] == {"gpu": "right", "blocked": "right", "other": "right"}


def a_source_that_is_lost_ends_the_run(folder):
    ini, _ = rig.write_run(folder, source="vulkan", target="reference", count=2, decode=3)
    env = {"VK_LAYER_PATH": LAYERS, "VK_INSTANCE_LAYERS": "VK_LAYER_TAPML_lost", "TAPML_LOSE_AT": "5"}
    done = rig.check(rig.host("--config", ini, env=env), 3)
    rig.contains(done.stderr, "the device is lost")


if __name__ == "__main__":
    rig.main([one_carving_serves_all, one_target_has_no_table, a_target_lost_in_a_case_accuses_no_op,
              a_target_lost_later_goes_on_when_it_is_back, a_source_that_is_lost_ends_the_run],
             needs=["opencl", "reference", "vulkan"])
