#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The scoreboard (bench/scoreboard) without its builds: its faults are there, and its rules say what they should."""
import os
import shutil
import subprocess
import sys

import rig

sys.path.insert(0, os.path.join(rig.SOURCE, "bench"))

import board  # noqa: E402  The folder must be known first.
import mutants  # noqa: E402
import planted  # noqa: E402
import suspect  # noqa: E402

OUTPUTS = os.path.join(rig.BUILD, "bench", "outputs")


def planted_faults_stand_in_the_sources(folder):
    faults = planted.faults()
    wrong = [fault for fault in faults if fault.kind == "planted"]
    assert len(wrong) >= 80 and len(faults) - len(wrong) >= 15, (len(wrong), len(faults))
    assert len({fault.model for fault in wrong}) >= 5
    assert len({fault.name for fault in faults}) == len(faults)
    for fault in faults:
        if fault.path:
            with open(os.path.join(rig.SOURCE, fault.path), encoding="utf-8") as file:
                assert file.read().count(fault.old) == 1, fault.name
            assert fault.old != fault.new, fault.name


def a_seed_draws_the_same_faults(folder):
    drawn = mutants.draw(rig.SOURCE, 5, 40)
    assert mutants.draw(rig.SOURCE, 5, 20) == drawn[:20]
    assert mutants.draw(rig.SOURCE, 6, 20) != drawn[:20]
    assert {fault.like.partition(":")[0] for fault in drawn} == set(mutants.AREAS)
    for fault in drawn:
        text = suspect.read(os.path.join(rig.SOURCE, fault.path))
        lines = text.splitlines(keepends=True)
        after = suspect.put_line(text, fault.line, fault.old, fault.new, fault.path)
        assert lines[fault.line - 1] == fault.old and fault.new != fault.old, fault.name
        assert after == "".join(lines[:fault.line - 1]) + fault.new + "".join(lines[fault.line:]), fault.name


def every_operator_has_places(folder):
    found = set()
    for area in mutants.AREAS:
        for path in mutants.sources(rig.SOURCE, area):
            with open(os.path.join(rig.SOURCE, path), encoding="utf-8") as file:
                lines = file.readlines()
            found |= {operator for operator in mutants.OPERATORS if mutants.places(lines, operator)}
    assert found == set(mutants.OPERATORS), set(mutants.OPERATORS) - found


def outputs(folder, sections):
    """The rows of bench/outputs on a small run whose target has faults."""
    ini, dir_ = rig.write_small_run(os.path.join(folder, "run"))
    rig.check(rig.host("--config", ini), 0)
    with open(ini, "a", encoding="utf-8") as file:
        file.write(sections)
    done = subprocess.run([OUTPUTS, "--store", os.path.join(dir_, "run.tapmlrun"), "--config", ini],
                          capture_output=True, text=True, check=False)
    shutil.rmtree(os.path.join(folder, "run"))
    assert done.returncode == 0, done.stderr
    return board.read_rows(done.stdout)


def rules_judge_the_same_outputs(folder):
    """A sigmoid of twice its value is found by all rules, and a thousandth by those that are strict enough."""
    honest = outputs(folder, "")
    assert {row.source for row in honest} == {"carved", "uniform", "boundary", "shape"}
    assert all(row.verdict == "pass" for row in honest if row.source == "carved")
    fault = planted.Fault("silu", "")
    for factor, detects in (("1e6", set(board.RULES[1:])), ("1.001", {"relative 1e-5", "NMSE 1e-7, uniform"})):
        rows = outputs(folder, f"\n[fault.1]\ntarget = gpu\nop = silu\nkind = scale {factor}\n")
        truth = board.find_truth(fault, rows, honest)
        assert truth.ops == {"tapml.silu"} and truth.first() == "layers.0/mlp/silu" and not truth.is_harmless, truth
        said = board.judge_others(truth, rows)
        assert {rule for rule, one in said.items() if one.detected} == detects, (factor, said)
        assert all(one.right and not one.innocents for one in said.values() if one.detected), said
    same = board.find_truth(fault, honest, honest)
    assert same.is_harmless and same.cases == 0
    assert board.find_truth(fault, honest[:3], honest).ops == {honest[3].op}  # What ended it behind the third.


def a_report_is_read(folder):
    truth = board.Truth(False, {"tapml.silu"}, {"tapml.silu": ["layers.0/mlp/silu"]})
    report = ("blamed: layers.0/mlp/silu (tapml.silu), the first of its op\n"
              "blamed: norm (tapml.rms_norm), the first of its op\n")
    said = board.judge_ours(truth, subprocess.CompletedProcess([], 1, report, ""), 1)
    assert (said.detected, said.right, said.first, said.innocents) == (True, False, "yes", 1), said
    driver = "blamed: the driver of gpu: its 'fill' is wrong\n"
    said = board.judge_ours(truth, subprocess.CompletedProcess([], 1, driver, ""), 1)
    assert (said.detected, said.right, said.innocents) == (True, False, 1), said
    said = board.judge_ours(board.Truth(True, set(), {}), subprocess.CompletedProcess([], 1, driver, ""), 1)
    assert (said.detected, said.right, said.innocents) == (True, True, 0), said


def an_answer_of_eval_is_read(folder):
    truth = board.Truth(False, {"tapml.linear"}, {})
    answer = "  the first op that diverges: layers.1/mlp/down_proj (tapml.linear); what it reads is right\n"
    said = board.judge_eval(truth, subprocess.CompletedProcess([], 1, answer, ""), 1)
    assert (said.detected, said.right, said.innocents) == (True, True, 0), said
    said = board.judge_eval(truth, subprocess.CompletedProcess([], 1, answer.replace("linear", "rope"), ""), 1)
    assert (said.detected, said.right, said.innocents) == (True, False, 1), said
    said = board.judge_eval(truth, subprocess.CompletedProcess([], 0, "at once  agrees\n", ""), 1)
    assert (said.detected, said.right) == (False, False), said


if __name__ == "__main__":
    rig.main([planted_faults_stand_in_the_sources, a_seed_draws_the_same_faults, every_operator_has_places,
              rules_judge_the_same_outputs, a_report_is_read, an_answer_of_eval_is_read])
