#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Runs with plugins whose linear loses digits: one that declares how, one that declares something else, one that
declares nothing. Each in a worker, so that the declaration crosses the link, and the first in the host as well.
"""
import json
import os

import rig

ZOO = os.path.join(rig.BUILD, "tests", "zoo")
INI = """[run]
dir = {folder}/run
prompts = {prompts}
decode = 3
capacity = 64
[model]
path = {model}
[source]
backend = reference
[offload]
prompts = 1
"""
TARGET = "[target.{name}]\nbackend = {backend}\nisolation = {isolation}\n"
LINEAR = ("SELECT verdict, reason FROM judged JOIN \"case\" ON id = case_id"
          " WHERE op = 'tapml.linear' AND target = '{}'")


def run(folder, *targets, model="llama"):
    prompts = os.path.join(folder, "prompts.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write("ids: 1 5 7 9\n")
    ini = os.path.join(folder, "run.ini")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(INI.format(folder=folder, prompts=prompts, model=os.path.join(rig.DATA, "models", model)))
        for name, backend, isolation in targets:
            file.write(TARGET.format(name=name, backend=backend, isolation=isolation))
    plugins = []
    for backend in sorted({backend for _, backend, _ in targets}):
        plugins += ["--plugin", os.path.join(ZOO, backend + ".so")]
    path = os.path.join(folder, "run.json")
    done = rig.host("--config", ini, "--json", path, *plugins)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    return done, os.path.join(folder, "run"), {target["name"]: target for target in report["targets"]}


def an_honest_one_is_right_as_declared(folder):
    done, dir_, targets = run(folder, ("far", "declares_q8", "always"), ("near", "declares_q8", "never"))
    rig.check(done, 0)
    for name in ("far", "near"):
        cases = rig.rows(dir_, LINEAR.format(name))
        assert len(cases) >= 4 and {verdict for verdict, _ in cases} == {"pass"}, cases
        declared, = targets[name]["declared"]
        assert declared["op"] == "tapml.linear" and declared["form"] == "inputs q8 in blocks of 32", declared
        assert declared["verdict"] == "right" and declared["margin"] <= 1, declared
        assert 1e-3 < declared["cost"] < 0.1, declared
        assert targets[name]["end_to_end"]["agrees"], targets[name]["end_to_end"]
        assert targets[name]["counts"]["derived_failed"] == 0, targets[name]["counts"]
    rig.contains(done.stdout, "declared arithmetic", "inputs q8 in blocks of 32")


def a_dishonest_one_is_wrong(folder):
    done, dir_, targets = run(folder, ("gpu", "declares_wrong", "always"))
    rig.check(done, 1)
    cases = rig.rows(dir_, LINEAR.format("gpu"))
    assert len(cases) >= 4 and {verdict for verdict, _ in cases} == {"fail"}, cases
    declared, = targets["gpu"]["declared"]
    assert declared["verdict"] == "wrong" and declared["margin"] > 1, declared


def one_without_a_declaration_is_judged_by_f32(folder):
    done, dir_, targets = run(folder, ("gpu", "rounds_f16", "always"))
    rig.check(done, 1)
    cases = rig.rows(dir_, LINEAR.format("gpu"))
    assert len(cases) >= 4 and {verdict for verdict, _ in cases} == {"fail"}, cases
    assert {reason for _, reason in cases} == {"as if activations were f16"}, cases
    assert "declared" not in targets["gpu"]
    rig.contains(done.stdout, ", as if activations were f16")


if __name__ == "__main__":
    rig.main([an_honest_one_is_right_as_declared, a_dishonest_one_is_wrong,
              one_without_a_declaration_is_judged_by_f32], needs=["reference"])
