#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of checkpoints that quantise inputs: moved, with faults, and with plain inputs.

Usage: test_quantised_inputs.py
"""
import os

import rig

MODEL = os.path.join(rig.DATA, "models", "quantised_compressed")
OPS = "SELECT instance FROM instance WHERE op = 'tapml.fake_quantise'"


def written(folder, model="", extra=""):
    """A run of the fixture with more lines in [model]."""
    ini, dir_ = rig.write_small_run(folder, model=MODEL, extra=extra)
    change(ini, "[source]", f"{model}\n[source]")
    return ini, dir_


def change(ini, old, new):
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    assert old in text, text
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def agrees(ini):
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "0 not compared", "end to end: agrees")
    return done


def inputs_are_rounded_once_for_all_products(folder):
    for activations in ("f32", "f16"):
        ini, dir_ = written(os.path.join(folder, activations))
        change(ini, "[offload]", f"activations = {activations}\n[offload]")
        assert "stay as they are" not in agrees(ini).stderr
        found = {row[0] for row in rig.rows(dir_, OPS)}
        # Of the others either the weights are plain, or the checkpoint leaves the inputs alone.
        assert found == {"layers.0/attn/q_proj/input", "layers.0/attn/o_proj/input", "layers.0/mlp/gate_proj/input"}, found


def faults_are_named(folder):
    for number, (instance, kind) in enumerate((("q_proj", "truncate"), ("o_proj", "neighbour-scale"),
                                               ("o_proj", "reverse-scales"), ("gate_proj", "truncate"))):
        fault = f"[fault.1]\ntarget = gpu\nop = fake_quantise\ninstance = */{instance}/input\nkind = {kind}\n"
        ini, dir_ = written(os.path.join(folder, str(number)), extra=fault)
        rig.check(rig.host("--config", ini), 1)
        blamed = {row[0] for row in rig.rows(dir_, "SELECT instance FROM blame")}
        assert len(blamed) == 1 and blamed.pop().endswith(f"{instance}/input"), (kind, blamed)


def plain_inputs_are_another_run(folder):
    ini, dir_ = written(folder, "quantised-inputs = plain")
    rig.contains(agrees(ini).stderr, "inputs of 5 weights stay as they are, which the checkpoint quantises")
    assert rig.rows(dir_, OPS) == []
    change(ini, "= plain", "= stored")
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "model")
    other = rig.host("eval", "--model", MODEL, "--backend", "reference", "--quantised-inputs", "none")
    rig.contains(rig.check(other, 2).stderr, "--quantised-inputs is 'none', expected 'stored' or 'plain'")


def eval_in_f16_needs_a_limit(folder):
    command = ["eval", "--model", MODEL, "--backend", "reference", "--activations", "f16"]
    said = rig.check(rig.host(*command), 2).stderr
    rig.contains(said, "inputs of tensor 'model.layers.0.", "are quantised, and f16 moves some by a whole step: give --limit")
    rig.check(rig.host(*command, "--limit", "0.1"), 0)


rig.main([eval_in_f16_needs_a_limit, inputs_are_rounded_once_for_all_products, faults_are_named, plain_inputs_are_another_run])
