#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Runs whose keys and values are kept in fewer bits: moved, with faults, resumed, reported.

Usage: test_states.py [BACKEND]     with a backend, what depends on it: the embedded model moves wholly to it; else the rest
"""
import json
import os
import sys

import rig

LLAMA = os.path.join(rig.DATA, "models", "llama")
TARGET = sys.argv[1] if len(sys.argv) > 1 else "reference:f32-blocked"
STATES = ("f16", "q8_0")
STORED = {"f16": "f16", "q8_0": "tapml.q8_rows/1"}
WORST = {"f16": 2 ** -10, "q8_0": 2 ** -6}
# The embedded model, whose heads are whole blocks.
BLOCKS = {"write": rig.write_run, "count": 1, "decode": 2}


def kept(folder, state, write=rig.write_small_run, **more):
    """A run with [model] state."""
    os.makedirs(folder, exist_ok=True)
    ini, dir_ = write(folder, **{"target": TARGET, **more})
    change(ini, "[source]", f"state = {state}\n\n[source]")
    return ini, dir_


def change(ini, old, new):
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    assert old in text, text
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def agrees(done):
    rig.check(done, 0)
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "0 not compared", "end to end: agrees")
    return done


def report_of(ini, dir_):
    path = os.path.join(dir_, "report.json")
    done = agrees(rig.host("--config", ini, "--json", path))
    with open(path, encoding="utf-8") as file:
        return done, json.load(file)


def the_embedded_model_moves_wholly(folder):
    for state in STATES:
        ini, dir_ = kept(os.path.join(folder, state), state, write=rig.write_run, count=2)
        done, report = report_of(ini, dir_)
        rig.contains(done.stderr, f"8 states as {state}; 'layers.", "lost most", "logits differ by")
        losses = {loss["weight"]: loss["relative"] for loss in report["model"]["losses"]}
        assert len(losses) == 8 and "layers.3/attn/v" in losses, losses
        assert all(1e-5 < loss < WORST[state] for loss in losses.values()), losses
        assert report["model"]["state"] == state and 0 < report["model"]["state_difference"] < 0.1, report["model"]
        types = {row[0] for row in rig.rows(dir_, "SELECT DISTINCT dtype FROM argument WHERE param LIKE '%state'")}
        assert types == {STORED[state]}, types


def a_fixture_moves_in_every_isolation(folder):
    for isolation in ("never", "always", "loopback"):
        ini, _ = kept(os.path.join(folder, isolation), "f16")
        change(ini, "[offload]", f"isolation = {isolation}\nguard = on\n\n[offload]")
        agrees(rig.host("--config", ini))


def blocks_move_in_every_isolation(folder):
    """With a capacity at which states are no whole units of 16 bytes."""
    for isolation in ("never", "always"):
        ini, _ = kept(os.path.join(folder, isolation), "q8_0", **BLOCKS)
        change(ini, "capacity = 128", "capacity = 77")
        change(ini, "[offload]", f"isolation = {isolation}\nguard = on\n\n[offload]")
        agrees(rig.host("--config", ini))


@rig.slow
def activations_go_along(folder):
    ini, _ = kept(os.path.join(folder, "f16"), "f16")
    change(ini, "[offload]", "activations = f16\n\n[offload]")
    agrees(rig.host("--config", ini))


def rows_in_f16_are_not_encoded(folder):
    ini, _ = kept(folder, "q8_0", **BLOCKS)
    change(ini, "[offload]", "activations = f16\n\n[offload]")
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout + done.stderr, "in f16: rows are rounded before they are encoded", "0 blamed",
                 "end to end: agrees")


def states_of_recurrences_stay(folder):
    """Models with both kinds of state, and with recurrences alone, which lose nothing."""
    for name, types in (("qwen3_next", {"f16", "f32"}), ("mamba2", {"f32"})):
        ini, dir_ = kept(os.path.join(folder, name), "f16", model=os.path.join(rig.DATA, "models", name))
        _, report = report_of(ini, dir_)
        found = {row[0] for row in rig.rows(dir_, "SELECT DISTINCT dtype FROM argument WHERE param LIKE '%state'")}
        assert found == types, found
        assert ("state_difference" in report["model"]) == ("f16" in types), report["model"]


def a_fault_is_named(folder):
    for number, (op, kind) in enumerate((("state_append", "truncate"), ("state_append", "shift-rows"),
                                         ("attention", "scale 1.01"))):
        fault = f"[fault.1]\ntarget = gpu\ninstance = layers.0/*\nop = {op}\nkind = {kind}\n"
        ini, dir_ = kept(os.path.join(folder, str(number)), "f16", extra=fault)
        rig.check(rig.host("--config", ini), 1)
        blamed = {row[0] for row in rig.rows(dir_, "SELECT op FROM instance JOIN blame USING (instance)")}
        assert blamed == {"tapml." + op}, (kind, blamed)


@rig.slow
def faults_of_blocks_are_named(folder):
    for number, (op, kind) in enumerate((("state_append", "truncate"), ("state_append", "neighbour-scale"))):
        fault = f"[fault.1]\ntarget = gpu\ninstance = layers.0/*\nop = {op}\nkind = {kind}\n"
        ini, dir_ = kept(os.path.join(folder, str(number)), "q8_0", **BLOCKS, extra=fault)
        rig.check(rig.host("--config", ini), 1)
        blamed = {row[0] for row in rig.rows(dir_, "SELECT op FROM instance JOIN blame USING (instance)")}
        assert blamed == {"tapml." + op}, (kind, blamed)


def heads_that_are_no_blocks_are_refused(folder):
    ini, _ = kept(folder, "q8_0")
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr,
                 "[model] state is 'q8_0', in blocks of 32 values; the heads of state 'layers.0/attn/k' have 16")


@rig.slow
def it_goes_on_replays_and_generates(folder):
    for state, model, more in (("f16", LLAMA, {}), ("q8_0", rig.TINY, BLOCKS)):
        ini, dir_ = kept(os.path.join(folder, state), state, **more)
        first = agrees(rig.host("--config", ini))
        rig.contains(first.stderr, f"states as {state}")
        again = agrees(rig.host("--config", ini))
        assert f"states as {state}" not in again.stderr, again.stderr  # Measured once.
        assert len(rig.rows(dir_, "SELECT weight FROM loss")) > 0
        rig.check(rig.host("replay", os.path.join(dir_, "run.tapmlrun"), "--backend", "reference:f64"), 0)
        plan = os.path.join(dir_, "plan-gpu.txt")
        own = rig.check(rig.host("generate", "--plan", plan, "--ids", "1 5 7 9", "--count", "4", "--json"), 0)
        same = rig.check(rig.host("generate", "--model", model, "--state", state, "--backend", "reference",
                                  "--ids", "1 5 7 9", "--count", "4", "--json"), 0)
        assert json.loads(own.stdout)["ids"] == json.loads(same.stdout)["ids"]
    rig.contains(rig.check(rig.host("generate", "--model", LLAMA, "--state", "f8", "--backend", "reference",
                                    "--ids", "1"), 2).stderr, "--state is 'f32', 'f16' or 'q8_0', found 'f8'")


def another_type_is_another_run(folder):
    ini, dir_ = kept(folder, "f16")
    agrees(rig.host("--config", ini))
    change(ini, "state = f16", "state = f32")
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "[model] state = f16, now it is f32")
    # A store of an earlier version does not say what it kept: f32.
    rig.change_store(dir_, "DELETE FROM metadata WHERE name = 'model.state'")
    change(ini, "state = f32", "state = f16")
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "[model] state = f32, now it is f16")


if len(sys.argv) > 1:
    rig.main([the_embedded_model_moves_wholly])
else:
    rig.main([a_fixture_moves_in_every_isolation, blocks_move_in_every_isolation, activations_go_along,
              rows_in_f16_are_not_encoded, states_of_recurrences_stay, a_fault_is_named, faults_of_blocks_are_named, heads_that_are_no_blocks_are_refused,
              it_goes_on_replays_and_generates, another_type_is_another_run])
