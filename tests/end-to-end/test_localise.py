#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What no kept case shows is localised, proved, paid for and handed over as a bundle.

Usage: test_localise.py TARGET
"""
import contextlib
import os
import re
import sqlite3
import sys

import rig
from test_faults import blamed_of, sections

TARGET = sys.argv[1] if len(sys.argv) > 1 else "reference:f32-blocked"


def run(folder, *faults, code=1, mode="mixed", guard="off", **kinds):
    """A run with faults on the target; what it says, and its INI."""
    ini, dir_ = rig.write_run(folder, target=TARGET, extra=sections(*faults), **kinds)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("[offload]\n", f"[offload]\nmode = {mode}\n")
                   .replace("[target.gpu]\n", f"[target.gpu]\nguard = {guard}\n"))
    return rig.check(rig.host("--config", ini, "--verbose"), code), ini, dir_


def expect(done, *instances):
    assert [instance for instance, _ in blamed_of(done.stdout)[0]] == list(instances), done.stdout
    rig.contains(done.stdout, "end to end: agrees", "\nproved: with the blamed on the source the model agrees, in ")
    assert "unexplained" not in done.stdout, done.stdout


def cost_of(done):
    return float(re.search(r"^localising: \d+ op executions, (\S+) times the carving run", done.stdout, re.M)[1])


def expect_bundles(done, count):
    """Every accusation has a bundle that its command reproduces."""
    commands = re.findall(r"^  tapml-host (replay .*)$", done.stdout, re.M)
    assert len(commands) == count, done.stdout
    for command in commands:
        rig.check(rig.host(*command.split()), 1)


def repeats_of(bundle):
    """How often the bundle says that it is replayed."""
    with contextlib.closing(sqlite3.connect(bundle)) as store:
        (value,), = store.execute("SELECT value FROM metadata WHERE name = 'bundle.repeat'")
    return value


def a_late_call_costs_little(folder):
    """As many calls as the replays make pass; a shadow run finds the rest, up to the step that diverged."""
    done, ini, dir_ = run(folder, {"instance": "layers.1/attn/v_append", "kind": "shift-rows", "from_call": 30})
    expect(done, "layers.1/attn/v_append")
    rig.contains(done.stdout, ": in a shadow run: state[")
    assert repeats_of(os.path.join(dir_, "FAULT-1.tapmlrun")) == "1000"
    assert cost_of(done) <= 3, cost_of(done)
    expect_bundles(done, 1)
    before = rig.rows(dir_, "SELECT * FROM \"limit\"")
    again = rig.check(rig.host("--config", ini, "--verbose"), 1)
    assert [instance for instance, _ in blamed_of(again.stdout)[0]] == ["layers.1/attn/v_append"], again.stdout
    rig.contains(again.stdout, "FAULT-1.tapmlrun")
    assert rig.rows(dir_, "SELECT * FROM \"limit\"") == before
    first, second = (int(re.search(r", calibration: (\d+) apart$", text, re.M)[1]) for text in (done.stdout, again.stdout))
    assert first == second, "a second start reports the costs of the offload, which it does not do again"


@rig.slow
def a_rare_fault_blames_no_other_operator(folder):
    done, _, dir_ = run(folder, {"op": "linear", "instance": "layers.1/mlp/up_proj", "kind": "shift-rows",
                                 "probability": 0.02, "seed": 3})
    expect(done, "layers.1/mlp/up_proj")
    rig.contains(done.stdout, " tries failed)", "is missed with a chance of ")
    assert int(repeats_of(os.path.join(dir_, "FAULT-1.tapmlrun"))) > 1
    expect_bundles(done, 1)


def a_fault_of_every_call_costs_little(folder):
    done, _, _ = run(folder, {"instance": "layers.2/attn/q_rope", "kind": "swap-halves"}, count=1, decode=4)
    expect(done, "layers.2/attn/q_rope")
    assert cost_of(done) <= 3, cost_of(done)


def derived_cases_blame_too(folder):
    """All kept cases pass; of one instance what surrounds them does not, and the others have its kernel."""
    done, _, _ = run(folder, {"op": "silu", "kind": "scale 2", "from_call": 7}, count=2, decode=3)
    expect(done, *(f"layers.{layer}/mlp/silu" for layer in range(4)))
    rig.contains(done.stdout, "(found by a derived ", "layers.3/mlp/silu (tapml.silu): its kernel fails in a derived ")
    expect_bundles(done, 1)


def watched(mode, words):
    def test(folder):
        done, _, _ = run(folder, {"instance": "layers.2/mlp/silu", "kind": "scale 1.00001", "from_call": 17},
                         mode=mode)
        expect(done, "layers.2/mlp/silu")
        rig.contains(done.stdout, words, "judged runs at any rate: 2.00 times the carving run", ", search 0, ")
        expect_bundles(done, 1)
    test.__name__ = f"{mode}: a late call too small to see at the end is found"
    return test


@rig.slow
def a_late_and_small_one_is_found_at_the_end(folder):
    done, _, _ = run(folder, {"instance": "layers.2/mlp/down_proj", "kind": "round-f16", "from_call": 35},
                     count=2)
    expect(done, "layers.2/mlp/down_proj")
    expect_bundles(done, 1)


def right_in_every_mode(folder):
    for mode in ("shadow", "cumulative"):
        path = os.path.join(folder, mode)
        os.mkdir(path)
        done, _, _ = run(path, code=0, mode=mode, guard="on", count=1, decode=3)
        rig.contains(done.stdout, "76 of 76 instances on gpu, 0 blamed", "localising: 0 op executions")


def another_mode_is_refused(folder):
    done, _, _ = run(folder, code=2, mode="shadowy")
    rig.contains(done.stderr, "[offload] mode: expected ", "found 'shadowy'")


if __name__ == "__main__":
    rig.main([a_late_call_costs_little, a_rare_fault_blames_no_other_operator, a_fault_of_every_call_costs_little,
              derived_cases_blame_too, a_late_and_small_one_is_found_at_the_end, watched("shadow", ": in a shadow run: y["),
              rig.slow(watched("cumulative", ": in a cumulative run: y[")), right_in_every_mode, another_mode_is_refused],
             needs=[TARGET.partition(":")[0], "reference"])
