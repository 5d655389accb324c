#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A driver that is wrong is blamed, no operator is, and a driver that is right has passed.

Where most of a target fails, one sentence says what the failures have in common.
"""
import json
import os
import re
import shlex
import shutil
import xml.etree.ElementTree

import rig

# Fault, the check that fails, and what stands in its sentence.
FAULTS = [
    ("fill-start", "fill", "after a fill of 8 bytes at "),
    ("fill-tail", "fill", "after a fill of 4 bytes at 0, byte 0 is "),
    ("write-tail", "write", "after a write of 4 bytes at 0, byte 0 is "),
    ("write-late", "order", "queued at once"),
    ("read-tail", "read", "after a read of 4 bytes at 0, byte 0 is "),
    ("stale-arguments", "arguments", "the second of two launches with other arguments: wrong each of 8 times"),
]


def change(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert old in text, old
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def start(ini, code):
    """A run that ends with `code`: what it printed, its report, and its JUnit file."""
    files = [os.path.join(os.path.dirname(ini), name) for name in ("report.json", "report.xml")]
    done = rig.check(rig.host("--config", ini, "--json", files[0], "--junit", files[1]), code)
    with open(files[0], encoding="utf-8") as file:
        return done, json.load(file), xml.etree.ElementTree.parse(files[1]).getroot()


def healthy():
    """The folder of a run of the embedded model whose target is in the host, carved and finished once."""
    folder = os.path.join(rig.script_folder(), "healthy")
    if not os.path.exists(folder):
        os.makedirs(folder)
        ini, _ = rig.write_run(folder, target="reference:f32-blocked", count=1, decode=2)
        change(ini, "[offload]", "isolation = never\n\n[offload]")
        rig.check(rig.host("--config", ini), 0)
    return folder


def copied(folder):
    """The same, where a test may change it."""
    copy = os.path.join(folder, "copy")
    shutil.copytree(healthy(), copy)
    ini = os.path.join(copy, "run.ini")
    change(ini, healthy(), copy)
    return ini


def a_right_driver_has_passed(folder):
    ini = copied(folder)
    done, report, junit = start(ini, 0)
    target = report["targets"][0]
    assert target["driver_check"]["verdict"] == "passed", target["driver_check"]
    steps = [(step["step"], step["verdict"]) for step in target["steps"] if "driver" in step["step"]]
    assert steps == [("driver check at the begin", "passed"), ("driver check at the end", "passed")], steps
    rig.contains(done.stdout, "driver: 12 checks of memory and queue passed in ", "end to end: agrees")
    case = junit.find(".//testcase[@name='memory and queue']")
    assert case is not None and case.find("failure") is None
    with open(os.path.join(folder, "copy", "run", "report.html"), encoding="utf-8") as file:
        rig.contains(file.read(), "The driver: 12 checks of memory and queue passed in ")


def a_check_that_a_killed_start_owes_is_made(folder):
    """A host that is killed behind the measuring has finished all but the check at the end."""
    ini = copied(folder)
    dir_ = os.path.join(folder, "copy", "run")
    rig.change_store(dir_, "DELETE FROM step WHERE step = 'driver check at the end'")
    _, report, _ = start(ini, 0)
    steps = [(step["step"], step["verdict"]) for step in report["targets"][0]["steps"] if "driver" in step["step"]]
    assert steps == [("driver check at the begin", "passed"), ("driver check at the end", "passed")], steps


def expect_blamed(report, check, sentence):
    """The driver is blamed, and no operator is judged."""
    target = report["targets"][0]
    found = target["driver_check"]
    assert (found["verdict"], found["check"]) == ("failed", check), found
    rig.contains(found["sentence"], sentence)
    assert target["verdict"] == "wrong" and target["blamed"] == [] and target["cases"] == [], target["counts"]
    assert {item["state"] for item in target["instances"]} == {"not judged"}
    assert {item["reason"] for item in target["instances"]} == {f"not judged: the driver's '{check}' is wrong"}
    assert target["counts"]["moved"] == 0 and target["plan"] == "* -> source\n", target["plan"]
    return found


def expect_printed(done, ini, check):
    rig.contains(done.stdout, f"blamed: the driver of gpu: its '{check}' is wrong: ",
                 "end to end: not judged: the driver is wrong: ")
    assert len(re.findall("^blamed", done.stdout, re.M)) == 1, done.stdout
    assert not re.search(r"replay on gpu|offload to gpu|^bundle:", done.stdout + done.stderr, re.M), done.stderr
    run = os.path.join(os.path.dirname(ini), "run")
    assert "FAULT-1.tapmlrun" in os.listdir(run) and "FAULT-2.tapmlrun" not in os.listdir(run), os.listdir(run)
    with open(os.path.join(run, "report.html"), encoding="utf-8") as file:
        rig.contains(file.read(), "The driver of <bdi>gpu</bdi> is wrong.", f"its check <code>{check}</code>")


def blames_the_driver(ini, kind, check, sentence, program=""):
    with open(ini, "a", encoding="utf-8") as file:
        file.write(f"\n[fault.1]\ntarget = gpu\nkind = {kind}\n")
    done, report, junit = start(ini, 1)
    found = expect_blamed(report, check, sentence)
    expect_printed(done, ini, check)
    failures = junit.findall(".//failure")
    assert len(failures) == 1 and int(junit.get("failures")) == 1, junit.attrib
    words = shlex.split(found["command"])
    assert words[:3] == ["tapml-host", "replay", found["bundle"]], words
    run = os.path.join(os.path.dirname(ini), "run")
    assert found["program"] == program and os.path.exists(os.path.join(run, "FAULT-1.c")) == bool(program), found
    again = rig.check(rig.host(*words[1:], cwd=run), 1)
    rig.contains(again.stdout, f"\n{check} ", "FAIL", found["sentence"], "bundle of driver")
    right = rig.check(rig.host("replay", os.path.join(run, found["bundle"]), "--backend", "reference:f32"), 0)
    rig.contains(right.stdout, f"\n{check} ", f"  check   {check}\n", found["sentence"])


def one(kind, check, sentence):
    def test(folder):
        blames_the_driver(copied(folder), kind, check, sentence)
    test.__name__ = f"{kind} is blamed on the driver"
    return test


def a_driver_in_a_worker_is_blamed_too(folder):
    rig.need("opencl", rig.usable("opencl"))
    ini = copied(folder)
    change(ini, "reference:f32-blocked", "opencl")
    change(ini, "isolation = never", "isolation = always")
    blames_the_driver(ini, "fill-start", "fill", "after a fill of 8 bytes at ", "FAULT-1.c")


def a_driver_that_passes_again_is_judged_anew(folder):
    """Without the fault the target is another one, which finds nothing of what was written."""
    ini = copied(folder)
    blames_the_driver(ini, "fill-tail", "fill", "after a fill")
    change(ini, "\n[fault.1]\ntarget = gpu\nkind = fill-tail\n", "")
    _, report, _ = start(ini, 0)
    target = report["targets"][0]
    assert target["driver_check"]["verdict"] == "passed" and target["counts"]["moved"] > 0, target["counts"]
    assert "not judged" not in {item["state"] for item in target["instances"]}


def a_fault_of_an_op_is_not_the_drivers(folder):
    """When a case fails the driver is checked once more."""
    ini = copied(folder)
    with open(ini, "a", encoding="utf-8") as file:
        file.write("\n[fault.1]\ntarget = gpu\nop = silu\ninstance = layers.1/*\nkind = drop-tail\n")
    done, report, _ = start(ini, 1)
    target = report["targets"][0]
    assert [item["instance"] for item in target["blamed"]] == ["layers.1/mlp/silu"], done.stdout
    assert target["driver_check"]["verdict"] == "passed"
    steps = [step["step"] for step in target["steps"] if "driver" in step["step"]]
    assert steps == ["driver check at the begin", "driver check after a failure", "driver check at the end"], steps


def most_of_a_target_is_a_sentence(folder):
    """If nearly all fails, the summary says what is common, before any list."""
    ini, _ = rig.write_small_run(folder, extra="\n[fault.1]\ntarget = gpu\nkind = nan\n")
    done, report, _ = start(ini, 1)
    common = report["targets"][0]["common"]
    rig.contains(common, "40 of the 40 instances that were judged on 'gpu' fail", "in prefill and in decode",
                 "failing cases gives NaN: look for one cause")
    places = [done.stdout.index(piece) for piece in (f"most of it fails: {common}", "\ntapml.embed ", "\nblamed: ")]
    assert places == sorted(places), places
    with open(os.path.join(folder, "run", "report.html"), encoding="utf-8") as file:
        rig.contains(file.read(), "<b>Most of it fails:</b> 40 of the 40 instances")


if __name__ == "__main__":
    rig.main([a_right_driver_has_passed, a_check_that_a_killed_start_owes_is_made] + [one(*fault) for fault in FAULTS] +
             [a_driver_in_a_worker_is_blamed_too, a_driver_that_passes_again_is_judged_anew,
              a_fault_of_an_op_is_not_the_drivers, most_of_a_target_is_a_sentence])
