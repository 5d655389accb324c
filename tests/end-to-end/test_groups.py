#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of operators: carved at their borders, given as a whole to devices that take them, divided where they fail."""
import os
import shutil
import sys

import rig

WRONG = os.path.join(rig.BUILD, "tests", "zoo", "wrong_groups.so")
LAYER = "[group.layer]\nbelow = layers.*\n"
PAIR = "[group.norm_linear]\nops = rms_norm linear\n"


def write(folder, groups, target, more=""):
    """The INI of a run with groups over a small model; gives its path and its folder."""
    model = os.path.join(folder, "model")
    if not os.path.exists(model):
        shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model)
    ini, dir_ = rig.write_small_run(folder, ids=rig.THREE_PROMPTS, model=model, target=target)
    with open(ini, "a", encoding="utf-8") as file:
        file.write(groups + more)
    return ini, dir_


def ops_of(dir_):
    """The groups that have cases, without their digests."""
    found = rig.rows(dir_, "SELECT DISTINCT op FROM \"case\" WHERE op LIKE 'group.%'")
    return sorted({op.rsplit(".", 1)[0] for op, in found})


def a_layer_is_taken_as_a_whole(folder):
    ini, dir_ = write(folder, LAYER, "whole_layer")
    rig.check(rig.host("--check-config", ini), 0)
    done = rig.check(rig.host("--config", ini), 0)
    assert ops_of(dir_) == ["group.layer"], ops_of(dir_)
    rig.contains(done.stdout, "group.layer.", "end to end: agrees")
    right, = rig.rows(dir_, "SELECT count(*) FROM judged JOIN \"case\" ON id = case_id WHERE op LIKE 'group.%' AND verdict <> 'pass'")
    assert right == (0,), right
    # The second start finds all results.
    again = rig.check(rig.host("--config", ini), 0)
    rig.contains(again.stderr, "0 and 0 of them now")


def a_norm_and_its_products_are_taken_in_one_pass(folder):
    ini, dir_ = write(folder, PAIR, "fused_norm")
    done = rig.check(rig.host("--config", ini), 0)
    assert ops_of(dir_) == ["group.norm_linear"], ops_of(dir_)
    rig.contains(done.stdout, "group.norm_linear.", "end to end: agrees")


def a_device_that_takes_no_groups_computes_their_operators(folder):
    ini, dir_ = write(folder, LAYER, "cpu")
    rig.contains(rig.check(rig.host("--config", ini), 0).stdout, "all ", "right", "end to end: agrees")
    assert ops_of(dir_) == ["group.layer"], ops_of(dir_)


def wrong(folder, words):
    ini, dir_ = write(folder, LAYER, "wrong_groups", f"[component.wrong_groups]\nwrong = {words}\n")
    done = rig.check(rig.host("--config", ini, "--plugin", WRONG), 1)
    return done.stdout, dir_


def what_is_wrong_only_when_fused_is_named(folder):
    said, dir_ = wrong(folder, "linear silu linear")
    rig.contains(said, "is wrong on gpu: first at layers.0",
                 "wrong only when fused: mlp/gate_proj + mlp/silu + mlp/up_proj")
    # The bundle has the group's definition: it is replayed without the run, and where nothing is wrong it passes.
    bundle = os.path.join(dir_, "FAULT-1.tapmlrun")
    done = rig.host("replay", bundle, "--backend", "wrong_groups", "--plugin", WRONG)
    rig.contains(done.stdout, "wrong only when fused: mlp/gate_proj")
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)


def an_operator_that_is_wrong_alone_is_named(folder):
    said, _ = wrong(folder, "rope")
    rig.contains(said, "is wrong on gpu: first at layers.0", "wrong alone: attn/q_rope")


def what_cannot_be_a_group_is_refused(folder):
    for groups, piece in ((PAIR.replace("linear\n", "no_op\n"), "group 'norm_linear' matches no two ops of the model"),
                          ("[group.a]\n", "expected one of 'ops' and 'below', found none"),
                          (PAIR + "below = layers.*\n", "expected one of 'ops' and 'below', found both"),
                          (PAIR.replace("norm_linear", "norm-linear"), "cannot be the name of a group")):
        ini, _ = write(folder, groups, "cpu")
        done = rig.check(rig.host("--config", ini), 2)
        rig.contains(done.stderr, piece)


TESTS = [a_layer_is_taken_as_a_whole, a_norm_and_its_products_are_taken_in_one_pass,
         a_device_that_takes_no_groups_computes_their_operators, what_is_wrong_only_when_fused_is_named,
         an_operator_that_is_wrong_alone_is_named, what_cannot_be_a_group_is_refused]

if __name__ == "__main__":
    sys.exit(rig.main(TESTS))
