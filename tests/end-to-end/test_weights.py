#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Runs whose weights are encoded at load: carved, replayed in a worker, moved, reported, replayed again.

With `every`: each encoding, and each quantised checkpoint as it is, moves wholly to opencl, and a fault there is named.
"""
import json
import os
import subprocess
import sys

import rig


def encoded(folder, weights, name, **more):
    """A small run of a fixture with [model] weights."""
    ini, dir_ = rig.write_small_run(folder, model=os.path.join(rig.DATA, "models", name), **more)
    text = open(ini, encoding="utf-8").read()
    open(ini, "w", encoding="utf-8").write(text.replace("[source]", f"weights = {weights}\n\n[source]"))
    return ini, dir_


def agrees(done):
    rig.check(done, 0)
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "0 not compared", "end to end: agrees")


def everything_moves_in_a_worker(folder):
    for weights in ("q8_0", "q4_0"):
        ini, dir_ = encoded(os.path.join(folder, weights), weights, "llama")
        text = open(ini, encoding="utf-8").read()
        open(ini, "w", encoding="utf-8").write(text.replace("[offload]", "isolation = always\n\n[offload]"))
        done = rig.host("--config", ini)
        agrees(done)
        rig.contains(done.stderr, f"weights as {weights}", "lost most")
        types = {row[0] for row in rig.rows(dir_, "SELECT DISTINCT dtype FROM argument WHERE param IN ('w', 'table')")}
        # Rows of 80 values have no whole blocks.
        assert types == {"f32", "tapml.q8/1" if weights == "q8_0" else "tapml.q4/1"}, types


@rig.plain
def blocks_of_files_move_to_a_device_of_its_own_memory(folder):
    """opencl gets them spread, so both forms of an encoding take part; a fault is named in them too."""
    model = os.path.join(folder, "model")
    subprocess.run([os.path.join(rig.SOURCE, "tools/make_model"), "1m", model], check=True)
    ini, _ = encoded(os.path.join(folder, "q4_k"), "q4_k", model, target="opencl")
    done = rig.host("--config", ini)
    agrees(done)
    rig.contains(done.stderr, "16 weights as q4_k", "lost most")
    fault = "\n[fault.1]\ntarget = gpu\nop = linear\ninstance = layers.1/*down*\nkind = zero-row\n"
    ini, _ = encoded(os.path.join(folder, "fault"), "q5_k", model, target="opencl", extra=fault)
    rig.contains(rig.check(rig.host("--config", ini), 1).stdout, "1 blamed", "down")


ENCODINGS = ("q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q5_k", "q6_k")


def moves_and_names(ini, instance):
    """A run that moves wholly, then the same of a new folder with a fault in the products of one instance."""
    agrees(rig.host("--config", ini))
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    for number, kind in enumerate(("zero-row", "scale 1.01")):
        with open(ini, "w", encoding="utf-8") as file:
            file.write(text.replace("/run\n", f"/run-{number}\n", 1) +
                       f"\n[fault.1]\ntarget = gpu\nop = linear*\ninstance = {instance}\nkind = {kind}\n")
        rig.contains(rig.check(rig.host("--config", ini), 1).stdout, "1 blamed", f"first at {instance}")


def every_encoding_moves(folder):
    model = os.path.join(folder, "model")
    subprocess.run([os.path.join(rig.SOURCE, "tools/make_model"), "1m", model], check=True)
    for weights in ENCODINGS:
        ini, _ = encoded(os.path.join(folder, weights), weights, model, target="opencl")
        moves_and_names(ini, "layers.1/mlp/down_proj")


def every_quantised_checkpoint_moves(folder):
    models = os.path.join(rig.DATA, "models")
    for name in sorted(name for name in os.listdir(models) if name.startswith("quantised_")):
        ini, _ = rig.write_small_run(os.path.join(folder, name), model=os.path.join(models, name), target="opencl")
        moves_and_names(ini, "layers.0/attn/o_proj")


@rig.plain
def what_is_too_narrow_stays(folder):
    ini, _ = encoded(folder, "q4_k", "llama")
    done = rig.host("--config", ini)
    agrees(done)
    rig.contains(done.stderr, "no weight is kept as q4_k: none has rows of complete blocks of values")


@rig.slow
def lists_of_experts_move(folder):
    ini, dir_ = encoded(folder, "q4_0", "qwen3_moe")
    agrees(rig.host("--config", ini))
    types = {row[0] for row in rig.rows(dir_, "SELECT DISTINCT dtype FROM argument WHERE param = 'w' AND kind = 'list'")}
    assert types == {"bf16", "tapml.q4/1"}, types  # Rows of 40 values have no whole blocks.


@rig.plain
def the_report_has_the_losses(folder):
    ini, dir_ = encoded(folder, "q8_0", "llama")
    path = os.path.join(dir_, "report.json")
    agrees(rig.host("--config", ini, "--json", path))
    report = json.load(open(path, encoding="utf-8"))
    losses = report["model"]["losses"]
    assert losses and all(0 < loss["relative"] < 0.02 for loss in losses), losses
    assert report["model"]["weight_bytes"]["tapml.q8/1"] > 0, report["model"]


@rig.slow
def it_goes_on_replays_and_generates_with_them(folder):
    ini, dir_ = encoded(folder, "q8_0", "llama")
    agrees(rig.host("--config", ini))
    agrees(rig.host("--config", ini))
    rig.check(rig.host("replay", os.path.join(dir_, "run.tapmlrun"), "--backend", "reference:f64"), 0)
    plan = os.path.join(dir_, "plan-gpu.txt")
    own = rig.check(rig.host("generate", "--plan", plan, "--ids", "1 5 7 9", "--count", "4", "--json"), 0)
    same = rig.check(rig.host("generate", "--model", os.path.join(rig.DATA, "models", "llama"), "--weights", "q8_0",
                              "--backend", "reference", "--ids", "1 5 7 9", "--count", "4", "--json"), 0)
    assert json.loads(own.stdout)["ids"] == json.loads(same.stdout)["ids"]


@rig.plain
@rig.slow
def another_word_is_another_run(folder):
    ini, _ = encoded(folder, "q8_0", "llama")
    agrees(rig.host("--config", ini))
    text = open(ini, encoding="utf-8").read()
    open(ini, "w", encoding="utf-8").write(text.replace("q8_0", "q4_0"))
    done = rig.check(rig.host("--config", ini), 2)
    rig.contains(done.stderr, "[model] weights = q8_0, now it is q4_0")
    open(ini, "w", encoding="utf-8").write(text.replace("q8_0", "q3_0"))
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "[model] weights: expected stored, q8_0, q4_0, ")


@rig.plain
def an_encoding_of_a_plugin_is_its_values_to_a_device(folder):
    """What goes on with such a run needs the plugin, and says so."""
    manifest = os.path.join(rig.BUILD, "tests", "zoo", "org.example.sin_halves_encoding.tapml")
    ini, dir_ = encoded(folder, "sin_halves_encoding", "llama", extra=f"\n[plugins]\nload = {manifest}\n")
    done = rig.host("--config", ini)
    agrees(done)
    rig.contains(done.stderr, "weights as sin_halves_encoding, ", "lost most")
    types = {row[0] for row in rig.rows(dir_, "SELECT DISTINCT dtype FROM argument WHERE param IN ('w', 'table')")}
    assert types == {"f32"}, types
    replay = ("replay", os.path.join(dir_, "run.tapmlrun"), "--backend", "reference:f64")
    rig.check(rig.host(*replay, "--plugin", manifest), 0)
    rig.contains(rig.check(rig.host(*replay), 2).stderr, "the weights of its run: expected stored, q8_0, ",
                 "found 'sin_halves_encoding'")


EVERY = [every_encoding_moves, every_quantised_checkpoint_moves]
FEW = [everything_moves_in_a_worker, blocks_of_files_move_to_a_device_of_its_own_memory, what_is_too_narrow_stays,
       lists_of_experts_move, the_report_has_the_losses, it_goes_on_replays_and_generates_with_them,
       another_word_is_another_run, an_encoding_of_a_plugin_is_its_values_to_a_device]
rig.main(EVERY if sys.argv[1:] == ["every"] else FEW)
