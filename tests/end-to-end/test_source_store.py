#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""[source] store: cases that were carved elsewhere, by another run or by libtapml-carve, are judged without a model."""
import array
import json
import math
import os
import shutil
import sys

import rig

os.environ["TAPML_CARVE_LIBRARY"] = rig.PYTHON_ENVIRONMENT["TAPML_CARVE_LIBRARY"]
sys.path.insert(0, os.path.join(rig.SOURCE, "bindings", "python"))
import tapml  # noqa: E402

WIDTH = 8


def carved():
    """The folder and the model of a small run, carved once."""
    folder = os.path.join(rig.script_folder(), "small")
    model = os.path.join(folder, "model")
    if not os.path.exists(folder):
        os.makedirs(folder)
        shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model)
        ini, _ = rig.write_small_run(folder, ids=rig.THREE_PROMPTS, model=model)
        rig.check(rig.host("--config", ini), 0)
    return os.path.join(folder, "run"), model


def write(folder, store, extra="", target="reference:f32-blocked", more=""):
    """The INI of a run over the cases of a store; gives its path and its folder."""
    path, dir_ = os.path.join(folder, "cases.ini"), os.path.join(folder, "cases")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"[run]\ndir = {dir_}\n[source]\nstore = {store}\n{more}[target.gpu]\nbackend = {target}\n{extra}")
    return path, dir_


def report_of(dir_):
    path = os.path.join(dir_, "report.json")
    done = rig.host("report", dir_, "--json", path)
    assert done.returncode in (0, 1), done.stderr
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def blamed(dir_):
    return rig.rows(dir_, "SELECT instance, kind, evidence FROM blame ORDER BY 1")


FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.01\n"


def cases_of_a_run_are_judged_without_its_model(folder):
    dir_, _ = carved()
    ini, own = write(folder, os.path.join(dir_, "run.tapmlrun"), FAULT)
    done = rig.check(rig.host("--config", ini), 1)
    rig.contains(done.stdout, "silu is wrong on gpu: first at layers.0/mlp/silu",
                 "end to end: not judged: there are cases, and no model to run", "FAULT-1.tapmlrun")
    rig.contains(done.stderr, "0 are not what their op computes")
    assert blamed(own) == [(f"layers.{i}/mlp/silu", "alone", "case") for i in range(2)], blamed(own)
    (cases,), = rig.rows(own, "SELECT count(*) FROM \"case\"")
    assert rig.rows(dir_, "SELECT count(*) FROM \"case\"") == [(cases,)]
    target, = report_of(own)["targets"]
    assert target["end_to_end"]["agrees"] is None and target["verdict"] == "wrong", target["end_to_end"]
    # The second start finds all results, says the same, and a mended target is judged anew.
    with open(os.path.join(own, "report.html"), encoding="utf-8") as file:
        page = file.read()
    again = rig.check(rig.host("--config", ini), 1)
    rig.contains(again.stderr, "0 new cases of 0 new calls", "derived ones, 0 and 0 of them now")
    with open(os.path.join(own, "report.html"), encoding="utf-8") as file:
        assert file.read() == page
    write(folder, os.path.join(dir_, "run.tapmlrun"))
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "gpu: all ", "next: the model itself")
    assert blamed(own) == []


def plan_of_cases_is_one_for_the_model(folder):
    """The plan that the cases led to moves the model, by whoever has it."""
    dir_, model = carved()
    ini, own = write(folder, os.path.join(dir_, "run.tapmlrun"), FAULT)
    rig.check(rig.host("--config", ini), 1)
    plan = os.path.join(own, "plan-gpu.txt")
    with open(plan, encoding="utf-8") as file:
        rig.contains(file.read(), "* -> gpu\n", "instance=layers.1/mlp/silu -> source\n", "no model was run")
    rig.check(rig.host("graph", "--model", model, "--plan", plan, "--target", "gpu=reference:f32-blocked", "--steps"), 0)


def weights_must_be_at_hand(folder):
    dir_, model = carved()
    store = os.path.join(folder, "run.tapmlrun")
    moved = os.path.join(folder, "moved")
    shutil.copy(os.path.join(dir_, "run.tapmlrun"), store)
    os.rename(model, moved)
    try:
        ini, _ = write(folder, store)
        rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "refers to weight", "[model] path")
        ini, _ = write(folder, store, more=f"[model]\npath = {moved}\n")
        rig.check(rig.host("--config", ini), 0)
        other = os.path.join(rig.DATA, "models", "qwen2")
        ini, _ = write(folder, store, more=f"[model]\npath = {other}\n")
        rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "refers to weight")
    finally:
        os.rename(moved, model)


def weights_go_into_the_store(folder):
    """`store inline`: nothing of the model is needed from then on."""
    dir_, model = carved()
    moved, own = os.path.join(folder, "moved"), os.path.join(folder, "whole")
    os.makedirs(own)
    store = os.path.join(own, "run.tapmlrun")
    shutil.copy(os.path.join(dir_, "run.tapmlrun"), store)
    os.rename(model, moved)
    try:
        rig.contains(rig.check(rig.host("store", "inline", own), 2).stderr, "refers to weight", "give --model")
        other = os.path.join(rig.DATA, "models", "qwen2")
        rig.contains(rig.check(rig.host("store", "inline", own, "--model", other), 2).stderr, "refers to weight")
        assert rig.rows(own, "SELECT 1 FROM weight AS w JOIN tensor AS t ON t.key = w.key") == []
        for _ in range(2):  # The second one finds them there.
            rig.check(rig.host("store", "inline", own, "--model", moved), 0)
        ini, _ = write(folder, store)
        rig.contains(rig.check(rig.host("--config", ini), 0).stdout, "gpu: all ")
    finally:
        os.rename(moved, model)
    rig.contains(rig.check(rig.host("store", "inline", os.path.join(folder, "nowhere")), 2).stderr, "there is no store in")


def floats(values, *shape):
    return memoryview(array.array("f", values)).cast("B").cast("f", shape)


def silu(values):
    return [value / (1 + math.exp(-value)) for value in values]


def linear(x, w, rows):
    return [sum(x[r * WIDTH + i] * w[o * WIDTH + i] for i in range(WIDTH)) for r in range(rows) for o in range(WIDTH)]


def carve_by_hand(path, transposed=0, factor=1.0):
    """A model of three operators and one that nobody knows, from the standard library alone."""
    rows = 3

    def rounded(values):
        return list(array.array("f", values))
    x = rounded([math.sin(i) * 3 for i in range(rows * WIDTH)])
    w = rounded([math.cos(i * 1.7) for i in range(WIDTH * WIDTH)])
    y = rounded(linear(x, w, rows))
    z = rounded(silu(y))
    with tapml.Store(path, "by hand") as store:
        store.describe(component="python", version="3")
        with store.call("tapml.linear", "a/linear", prompt="p") as call:
            call.give(x=floats(x, rows, WIDTH), transposed=transposed)
            call.weight("w", "a.weight", floats(w, WIDTH, WIDTH))
            call.take(y=floats(y, rows, WIDTH))
            call.line("hand.py:7")
        with store.call("tapml.silu", "a/silu", prompt="p") as call:
            call.give(x=floats(y, rows, WIDTH))
            call.take(y=floats(z, rows, WIDTH))
        with store.call("tapml.scale", "a/scale", prompt="p") as call:
            call.give(x=floats(z, rows, WIDTH), factor=factor)
            call.take(y=floats(rounded([2 * value for value in z]), rows, WIDTH))
        with store.call("sort", "a/sort", prompt="p", version=0) as call:
            call.give(x=floats(z, rows, WIDTH))
            call.take(y=floats(sorted(z), rows, WIDTH))
        store.commit()


def calls_of_another_program_are_judged(folder):
    store = os.path.join(folder, "x.tapmlrun")
    carve_by_hand(store, factor=2.0)
    rig.contains(rig.check(rig.host("show", store, "--case", "1"), 0).stdout, "a/linear", "hand.py:7")
    ini, own = write(folder, store, FAULT)
    done = rig.check(rig.host("--config", ini), 1)
    rig.contains(done.stdout, "silu is wrong on gpu: first at a/silu", "unsupported: a/sort (opaque.sort)",
                 "2 of 4 instances on gpu, 1 blamed, 1 unsupported")
    assert rig.rows(own, "SELECT origin FROM argument JOIN \"case\" ON id = case_id WHERE instance = 'a/silu' AND param = 'x'") \
        == [("a/linear",)]
    report = report_of(own)
    assert report["model"]["name"] == "by hand" and report["source"]["component"] == "python", report["source"]
    # What nobody knows is counted and is no pass.
    ini, own = write(folder, store, "require = all\n")
    shutil.rmtree(own)
    done = rig.check(rig.host("--config", ini), 1)
    rig.contains(done.stdout, "gpu lacks 1 instances that it was asked to run")
    # A bundle of what fails is replayed as any other.
    ini, own = write(folder, store, FAULT)
    rig.check(rig.host("--config", ini), 1)
    rig.check(rig.host("replay", os.path.join(own, "FAULT-1.tapmlrun"), "--config", ini, "--target", "gpu"), 1)


def a_wrong_mapping_is_named_and_no_target_is_accused(folder):
    for name, wrong in (("transposed", {"transposed": 1, "factor": 2.0}), ("factor", {"factor": 2.5})):
        own_folder = os.path.join(folder, name)
        os.makedirs(own_folder)
        store = os.path.join(own_folder, "x.tapmlrun")
        carve_by_hand(store, **wrong)
        ini, own = write(own_folder, store)
        done = rig.check(rig.host("--config", ini), 0)
        instance = "a/linear" if name == "transposed" else "a/scale"
        rig.contains(done.stderr, f"1 of 4 cases are not what their op computes, and say nothing about a target; the first: {instance}")
        rig.contains(done.stdout, f"unsupported: {instance}", "the source recorded something else than its op computes", "0 blamed")
        assert rig.rows(own, "SELECT count(*) FROM blame WHERE kind <> 'unsupported'") == [(0,)]


def what_cannot_be_is_one_sentence(folder):
    dir_, _ = carved()
    store = os.path.join(dir_, "run.tapmlrun")
    ini, own = write(folder, os.path.join(folder, "nothing.tapmlrun"))
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "nothing.tapmlrun")
    assert not os.path.exists(own)
    ini, own = write(folder, os.path.join(rig.SOURCE, "README.md"))
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "README.md")
    pipe = os.path.join(folder, "pipe.tapmlrun")
    os.mkfifo(pipe)
    rig.contains(rig.check(rig.host("--config", write(folder, pipe)[0]), 2).stderr, "pipe.tapmlrun: expected a file, found a pipe")
    empty = os.path.join(folder, "empty.tapmlrun")
    with tapml.Store(empty, "nothing"):
        pass
    rig.contains(rig.check(rig.host("--config", write(folder, empty)[0]), 2).stderr, "has 0 calls and none is a case")
    shutil.rmtree(own)
    ini, own = write(folder, store, more="[offload]\nprompts = 3\n")
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "'prompts' in [offload] means nothing beside 'store'")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(f"[run]\ndir = {own}\n[source]\nstore = {store}\n")
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "expected a section [target.NAME]")
    done = rig.check(rig.host("--check-config", write(folder, store)[0]), 0)
    rig.contains(done.stdout, f"source   {store}: ", "cases of 40 instances", "target   gpu: reference:f32-blocked")


def a_case_that_is_no_call_accuses_no_target(folder):
    store = os.path.join(folder, "run.tapmlrun")
    carve_by_hand(store, factor=2.0)
    rig.change_store(folder, "UPDATE argument SET kind = 'f64', d = 0, i = NULL WHERE param = 'transposed'")
    done = rig.check(rig.host("--config", write(folder, store)[0]), 0)
    rig.contains(done.stdout, "unsupported: a/linear", "the source recorded something else than its op computes", "0 blamed")


def a_store_that_was_changed_is_refused(folder):
    dir_, _ = carved()
    copy = os.path.join(folder, "other")
    shutil.copytree(dir_, copy)
    ini, _ = write(folder, os.path.join(copy, "run.tapmlrun"))
    rig.check(rig.host("--config", ini), 0)
    rig.change_store(copy, "UPDATE \"case\" SET key = zeroblob(17) WHERE id = 4")
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "holds cases that", "1 of them")


TESTS = [cases_of_a_run_are_judged_without_its_model, plan_of_cases_is_one_for_the_model, weights_must_be_at_hand, weights_go_into_the_store,
         calls_of_another_program_are_judged, a_wrong_mapping_is_named_and_no_target_is_accused,
         what_cannot_be_is_one_sentence, a_case_that_is_no_call_accuses_no_target, a_store_that_was_changed_is_refused]

if __name__ == "__main__":
    rig.main([rig.plain(test) for test in TESTS], ["reference"])
