#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Runs to a target whose activations are f16: moved, with faults, resumed, replayed and reported.

Usage: test_activations.py [BACKEND]     with a backend, what depends on it: models move wholly to it; else the rest
"""
import json
import os
import sys

import rig

LLAMA = os.path.join(rig.DATA, "models", "llama")
TARGET = sys.argv[1] if len(sys.argv) > 1 else "reference:f32-blocked"


def reduced(folder, isolation="never", write=rig.write_small_run, extra="", offload="", **more):
    """A run with [target.gpu] activations = f16."""
    ini, dir_ = write(folder, extra=extra, **{"target": TARGET, **more})
    change(ini, "[offload]\n", f"activations = f16\nisolation = {isolation}\n\n[offload]\n{offload}")
    return ini, dir_


def change(ini, old, new):
    text = open(ini, encoding="utf-8").read()
    assert old in text, text
    open(ini, "w", encoding="utf-8").write(text.replace(old, new))


def agrees(done):
    rig.check(done, 0)
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "0 not compared", "end to end: agrees",
                 "activations f16")
    return done


def a_fixture_moves_wholly(folder):
    for isolation in ("never", "always", "loopback"):
        ini, dir_ = reduced(os.path.join(folder, isolation), isolation)
        agrees(rig.host("--config", ini))
        calibrated = {row[0] for row in rig.rows(dir_, "SELECT DISTINCT calibration FROM \"limit\"")}
        # A device of the reference has no part in its own limits.
        more = "" if TARGET == "reference:f32-blocked" else " f32-blocked"
        assert calibrated == {f"reference f64 f32 f32-reversed{more}, in f16"}, calibrated
        # Cases are the source's, in f32.
        types = {row[0] for row in rig.rows(dir_, "SELECT DISTINCT dtype FROM argument WHERE param IN ('x', 'q', 'state')")}
        assert types == {"f32"}, types


def the_embedded_model_moves_wholly(folder):
    ini, dir_ = reduced(folder, write=rig.write_run, count=2)
    path = os.path.join(dir_, "report.json")
    agrees(rig.host("--config", ini, "--json", path, "--junit", os.path.join(dir_, "report.xml")))
    target = json.load(open(path, encoding="utf-8"))["targets"][0]
    assert target["activations"] == "f16", target["activations"]
    # More than f32 loses, and no more than the roundings of f16.
    limit = float(target["end_to_end"]["sentence"].rsplit("limit ", 1)[1])
    assert 1e-8 < limit < 1e-3, target["end_to_end"]
    rig.contains(open(os.path.join(dir_, "report.html"), encoding="utf-8").read(), "activations f16")
    rig.contains(open(os.path.join(dir_, "report.xml"), encoding="utf-8").read(), 'name="activations" value="f16"')


def weights_that_stand_for_activations_go_along(folder):
    for name in ("mamba2", "rwkv7"):
        ini, _ = reduced(os.path.join(folder, name), model=os.path.join(rig.DATA, "models", name))
        agrees(rig.host("--config", ini))


def tokens_allocate_nothing(folder):
    """Twice as many tokens, the same number of allocations: but for the text of the answer, which doubles."""
    library = os.path.join(rig.BUILD, "tests", "end-to-end", "libcount_allocations.so")
    rig.need("plain build", os.path.exists(library))
    counts = []
    for count in ("16", "64"):
        path = os.path.join(folder, count)
        env = {"LD_PRELOAD": library, "TAPML_COUNT_FILE": path}
        rig.check(rig.host("generate", "--model", rig.TINY, "--backend", "reference", "--activations", "f16",
                           "--prompt", "Once upon a time", "--count", count, "--capacity", "96", "--json", env=env), 0)
        with open(path, encoding="utf-8") as file:
            counts.append(int(file.read()))
    assert counts[0] > 500, f"{counts[0]} allocations: they are not counted"
    assert counts[1] - counts[0] < 16, f"48 tokens made {counts[1] - counts[0]} allocations"


def faults_are_found_and_named(folder):
    faults = [("scale 1.5", "mul", "layers.1/mlp/mul"), ("drop-tail", "linear", "layers.0/attn/q_proj"),
              ("zero-row", "add", "layers.1/attn/add"), ("scale 1.02", "linear", "layers.1/attn/v_proj"),
              ("swap-halves", "rope", "layers.0/attn/k_rope"), ("skip-write", "state_append", "layers.1/attn/v_append")]
    for kind, op, instance in faults:
        fault = f"\n[fault.1]\ntarget = gpu\nop = {op}\ninstance = {instance}\nkind = {kind}\n"
        ini, dir_ = reduced(os.path.join(folder, kind.replace(" ", "-")), "always", extra=fault)
        done = rig.check(rig.host("--config", ini), 1)
        rig.contains(done.stdout, f"blamed: {instance} (tapml.{op})", "1 blamed, 0 unsupported, 1 left on the source",
                     "end to end: agrees")
        bundle = os.path.join(dir_, "FAULT-1.tapmlrun")
        again = rig.check(rig.host("replay", bundle, "--config", ini, "--target", "gpu"), 1)
        rig.contains(again.stdout, f"bundle of {instance}", "activations f16")


def every_mode_of_the_offload_knows_it(folder):
    for mode in ("shadow", "cumulative"):
        ini, _ = reduced(os.path.join(folder, mode), offload=f"mode = {mode}\n")
        agrees(rig.host("--config", ini))
        fault = "\n[fault.1]\ntarget = gpu\nop = silu\ninstance = layers.1/*\nkind = scale 1.5\nfrom-call = 2\n"
        ini, _ = reduced(os.path.join(folder, mode + "-fault"), offload=f"mode = {mode}\n", extra=fault)
        rig.contains(rig.check(rig.host("--config", ini), 1).stdout, "blamed: layers.1/mlp/silu (tapml.silu)")


def guarded_runs_are_right(folder):
    ini, _ = reduced(folder)
    change(ini, "activations = f16", "activations = f16\nguard = on")
    agrees(rig.host("--config", ini))


def a_bundle_is_replayed_as_it_failed(folder):
    fault = "\n[fault.1]\ntarget = gpu\nop = silu\ninstance = layers.1/*\nkind = scale 1.5\n"
    ini, dir_ = reduced(folder, extra=fault)
    rig.check(rig.host("--config", ini), 1)
    bundle = os.path.join(dir_, "FAULT-1.tapmlrun")
    # What is right in f16 is far from right in f32: the limits say how the bundle was replayed.
    change(ini, "scale 1.5", "scale 1.001")
    change(ini, "activations = f16", "activations = f32")
    rig.check(rig.host("replay", bundle, "--config", ini, "--target", "gpu"), 0)
    rig.check(rig.host("replay", os.path.join(dir_, "run.tapmlrun"), "--config", ini, "--target", "gpu"), 1)
    change(ini, "activations = f32", "activations = f16")
    rig.check(rig.host("replay", os.path.join(dir_, "run.tapmlrun"), "--config", ini, "--target", "gpu"), 0)
    done = rig.check(rig.host("replay", bundle, "--backend", "reference", "--activations", "f32"), 2)
    rig.contains(done.stderr, "--activations and a bundle exclude each other")


def another_setting_is_another_target(folder):
    ini, dir_ = reduced(folder)
    agrees(rig.host("--config", ini))
    kept = rig.rows(dir_, "SELECT count(*) FROM result")[0][0]
    agrees(rig.host("--config", ini))
    change(ini, "activations = f16", "activations = f32")
    done = rig.check(rig.host("--config", ini), 0)
    assert "activations f16" not in done.stdout, done.stdout
    results = rig.rows(dir_, "SELECT options LIKE '%activations=f16%', count(*) FROM result GROUP BY 1")
    assert results == [(0, kept)], results
    calibrated = {row[0] for row in rig.rows(dir_, "SELECT DISTINCT calibration LIKE '%in f16' FROM \"limit\"")}
    assert calibrated == {0, 1}, "both kinds of limits stay"
    change(ini, "activations = f32", "activations = f16")
    agrees(rig.host("--config", ini))


def without_a_run(folder):
    done = rig.check(rig.host("eval", "--model", LLAMA, "--backend", "reference", "--activations", "f16"), 0)
    rig.contains(done.stdout, "activations f16", "at once          agrees", "greedy 5 / 5")
    assert "e-03 (" in done.stdout and "in f32:" not in done.stdout, done.stdout
    # Experts 1 and 2 of token 3 are 9.2e-5 apart, and f16 moves their scores by more.
    done = rig.check(rig.host("eval", "--model", os.path.join(rig.DATA, "models", "deepseek_v3"), "--backend",
                              "reference", "--activations", "f16"), 0)
    rig.contains(done.stdout, "1 near tie of routing, the first one at layers.1/mlp/route, token 3",
                 "2 rows and 0 ids behind near ties of routing left out")
    made = []
    for activations in ("f32", "f16"):
        done = rig.host("generate", "--model", LLAMA, "--backend", "reference", "--activations", activations,
                        "--ids", "1 5 7 9", "--count", "4", "--json")
        made.append(json.loads(rig.check(done, 0).stdout)["ids"])
    assert made[0] == made[1], made
    ini, dir_ = reduced(folder)
    agrees(rig.host("--config", ini))
    plan = os.path.join(dir_, "plan-gpu.txt")
    own = rig.check(rig.host("generate", "--plan", plan, "--ids", "1 5 7 9", "--count", "4", "--json"), 0)
    assert json.loads(own.stdout)["ids"] == made[0]
    done = rig.check(rig.host("generate", "--plan", plan, "--ids", "1", "--activations", "f16"), 2)
    rig.contains(done.stderr, "--activations and --plan exclude each other")


def another_word_is_refused(folder):
    ini, _ = reduced(folder)
    change(ini, "activations = f16", "activations = bf16")
    rig.contains(rig.check(rig.host("--check-config", ini), 2).stdout, "'f32' or 'f16'")
    for command in (["eval", "--model", LLAMA], ["generate", "--model", LLAMA, "--ids", "1"]):
        done = rig.check(rig.host(*command, "--activations", "half"), 2)
        rig.contains(done.stderr, "--activations is 'half', expected 'f32' or 'f16'")
    rig.contains(rig.check(rig.host("--explain", "activations"), 0).stdout, "docs/activations.md")


MODELS = [a_fixture_moves_wholly, the_embedded_model_moves_wholly, weights_that_stand_for_activations_go_along]
REST = [tokens_allocate_nothing, faults_are_found_and_named, every_mode_of_the_offload_knows_it, guarded_runs_are_right,
        a_bundle_is_replayed_as_it_failed, another_setting_is_another_target, without_a_run, another_word_is_refused]

if __name__ == "__main__":
    rig.main(MODELS if len(sys.argv) > 1 else REST, needs=[TARGET.partition(":")[0]])
