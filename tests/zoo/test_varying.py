#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_varying.py [all]

Runs with [check]: plugins that are right but for one thing that must not count, one for each axis of invariance. Each
is named with its operator, its axis and its smallest size, and no other operator is; honest devices are never wrong.
"""
import json
import os
import sys

import rig

ZOO = os.path.join(rig.BUILD, "tests", "zoo")
CHECK = "[check]\ninvariance = run, rows, chunk, verify, order\n"
IN_HOST = "isolation = never\n"
STRESS = "stress = 5%\n"
HONEST = [("cpu", ""), ("reference:f32-reversed", IN_HOST), ("opencl", ""), ("opencl", IN_HOST), ("vulkan", ""),
          ("onednn", IN_HOST)]
WORDS = {"run": "at repetition {}", "rows": "from {} rows on", "chunk": "in calls of {} tokens",
         "verify": "from {} drafted tokens on", "order": "with {} queues busy"}
PROMPT = "1 5 7 9 2 3 4 6 8"


def run(folder, target, extra=CHECK, plugin=None, place=IN_HOST, code=None):
    ini, dir_ = rig.write_small_run(folder, ids=(PROMPT,), target=target)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace(f"backend = {target}\n", f"backend = {target}\n{place}") + extra)
    path = os.path.join(folder, "run.json")
    done = rig.host("--config", ini, "--json", path, *(["--plugin", os.path.join(ZOO, plugin + ".so")] if plugin else []))
    if code is not None:
        rig.check(done, code)
    with open(path, encoding="utf-8") as file:
        return done, dir_, json.load(file)["targets"][0]


def found(target):
    """What changes: (op, axis) to (verdict, size)."""
    return {(item["op"], item["axis"]): (item["verdict"], item["size"]) for item in target["invariance"] if "size" in item}


def verdicts(target):
    return {(item["op"], item["axis"]): item["verdict"] for item in target["invariance"]}


def varying(axis, op, expected, **of_model):
    """`of_model`: what the same does to the whole model, axis by axis, and the first instance."""
    def test(folder):
        name = f"varies_{axis}"
        done, _, target = run(folder, name, plugin=name)
        model = {("model", key): value[:2] for key, value in of_model.items()}
        assert found(target) == {(op, axis): expected, **model}, (found(target), done.stdout, done.stderr)
        assert done.returncode == (1 if expected[0] == "wrong" else 0), done.returncode
        rig.contains(done.stdout, f"{axis}: {op} is {expected[0]} {WORDS[axis].format(expected[1])}, first at ")
        assert verdicts(target)[op, "rows" if op == "tapml.state_append" else "chunk"] == "not tried", verdicts(target)
        first = {item["axis"]: (item["instance"], item["shape"].split(",")[0]) for item in target["invariance"]
                 if item["op"] == "model" and "size" in item}
        assert first == {key: (value[2], op) for key, value in of_model.items()}, first
        assert verdicts(target)["model", "chunk"] != "not tried" and verdicts(target)["model", "verify"] != "not tried"
    test.__name__ = f"a_{axis}_that_counts_is_named"
    return test


def is_honest(target, name):
    all_ = verdicts(target)
    assert "wrong" not in all_.values(), all_
    tried = {key for key, verdict in all_.items() if verdict != "not tried"}
    assert {("tapml.linear", "run"), ("tapml.linear", "rows"), ("tapml.linear", "order"),
            ("tapml.attention", "chunk"), ("tapml.attention", "verify"), ("model", "chunk"),
            ("model", "verify")} <= tried, all_
    assert name == "onednn" or ("tapml.state_append", "chunk") in tried, all_  # It does not have that.
    assert any(axis == "stress" for _, axis in tried), all_
    assert all(all_[op, axis] == "equal bits" for op, axis in tried if op == "tapml.state_append"), all_


def honest_devices_are_never_wrong(folder):
    for name, place in HONEST:
        if rig.usable(name.split(":")[0]):
            sub = os.path.join(folder, name.replace(":", "-") + str(len(place)))
            is_honest(run(sub, name, extra=CHECK + STRESS, place=place, code=0)[2], name)


def a_second_start_measures_nothing_and_what_is_not_asked_goes(folder):
    _, dir_, first = run(folder, "cpu", extra=CHECK + STRESS, code=0)
    is_honest(first, "cpu")
    page = os.path.join(dir_, "report.html")
    with open(page, "rb") as file:
        before = file.read()
    done, _, second = run(folder, "cpu", extra=CHECK + STRESS, code=0)
    assert second["invariance"] == first["invariance"]
    rig.contains(done.stderr, " axes of operators, 0 of them now")
    assert "the whole model" not in done.stderr, done.stderr
    with open(page, "rb") as file:
        assert file.read() == before, "the same rows, other bytes"
    rig.contains(rig.check(rig.host("report", dir_), 0).stdout, "invariance: run ")
    _, _, third = run(folder, "cpu", extra="[check]\ninvariance = run\n", code=0)
    assert {item["axis"] for item in third["invariance"]} == {"run"}, third["invariance"]
    assert "invariance" not in run(folder, "cpu", extra="", code=0)[2]


TESTS = [
    varying("rows", "tapml.linear", ("within limits", 8), chunk=("within limits", 1, "layers.0/attn/q_proj"),
            verify=("within limits", 8, "layers.0/attn/q_proj")),
    varying("chunk", "tapml.state_append", ("wrong", 5), chunk=("wrong", 5, "layers.0/attn/k_append")),
    varying("order", "tapml.linear", ("wrong", 2)),
    a_second_start_measures_nothing_and_what_is_not_asked_goes,
]
MORE = [
    varying("run", "tapml.linear", ("wrong", 5)),
    varying("verify", "tapml.state_append", ("wrong", 3), verify=("wrong", 3, "layers.0/attn/k_append")),
    honest_devices_are_never_wrong,
]
rig.main(TESTS + (MORE if sys.argv[1:] == ["all"] else []))
