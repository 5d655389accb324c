#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Short runs from end to end: there, back, again, and with what a user gets wrong."""
import functools
import json
import os
import re
import shutil
import subprocess

import rig


# The weights of the model take more, so that they make room for each other.
TARGET = "opencl\nbudget = 1"


@functools.cache
def first_run():
    """The run that several tests look at or go on with: what it said, and its folder."""
    ini, dir_ = rig.write_run(rig.script_folder(), target=TARGET)
    return rig.check(rig.host("--config", ini), 0), dir_


def finished(folder):
    """A copy of that run, and the config to go on with it."""
    ini, dir_ = rig.write_run(folder, target=TARGET)
    shutil.copytree(first_run()[1], dir_)
    return ini, dir_


def everything_moves(_folder):
    done, dir_ = first_run()
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "0 not compared", "end to end: agrees")
    ops, = rig.rows(dir_, "SELECT count(DISTINCT op) FROM \"case\"")[0]
    assert ops == 10, f"{ops} op kinds were carved"
    plan = open(os.path.join(dir_, "plan-gpu.txt"), encoding="utf-8").read()
    assert plan.splitlines()[1:] == ["* -> gpu"], plan


def fixture(folder, name, *changes):
    """A copy of a fixture, whose config is changed: pairs of texts; and a prompt of ids."""
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", name), model, copy_function=shutil.copy)
    path = os.path.join(model, "config.json")
    text = open(path, encoding="utf-8").read()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    os.chmod(path, 0o644)
    open(path, "w", encoding="utf-8").write(text)
    prompts = os.path.join(folder, "ids.txt")
    open(prompts, "w", encoding="utf-8").write("ids: 5 17 3 9 22 41 60 8\n")
    return {"model": model, "prompts": prompts, "decode": 3}


@rig.slow
def lists_of_weights_and_wide_windows_move(folder):
    """Experts, and a window that is wider than the states are long."""
    changed = fixture(folder, "gpt_oss", ('"sliding_window": 8', '"sliding_window": 4096'))
    ini, dir_ = rig.write_run(folder, target="reference:f32-blocked", **changed)
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "54 of 54 instances on gpu", "0 not compared", "end to end: agrees")
    kinds = rig.rows(dir_, "SELECT DISTINCT kind FROM argument WHERE param = 'w'")
    assert ("list",) in kinds, kinds


def ids_prompts(folder):
    path = os.path.join(folder, "ids.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("ids: 5 17 3 44 91 2 60\nids: 1 2 3 4 5 6 7 8 9 10 11\n")
    return path


@rig.slow
def latent_attention_and_routes_from_groups_move(folder):
    """Concat, of a view whose heads share a row, and route_sigmoid."""
    ini, dir_ = rig.write_run(folder, model=os.path.join(rig.DATA, "models", "deepseek_v3"), decode=3,
                              prompts=ids_prompts(folder))
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "60 of 60 instances on gpu", "0 not compared", "equal top-1 at every step")
    ops = rig.rows(dir_, "SELECT DISTINCT op FROM \"case\"")
    assert {("tapml.concat",), ("tapml.route_sigmoid",)} <= set(ops), ops


@rig.slow
def an_encoder_moves(folder):
    """No logits, no tokens: its outputs are compared end to end."""
    bert = os.path.join(rig.DATA, "models", "bert")
    ini, dir_ = rig.write_run(folder, model=bert, decode=0, prompts=ids_prompts(folder))
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "42 of 42 instances on gpu", "0 not compared", "end to end: agrees: NMSE")
    ops = rig.rows(dir_, "SELECT DISTINCT op FROM \"case\"")
    assert ("tapml.tanh",) in ops, ops
    ini, _ = rig.write_run(folder, model=bert, decode=2, prompts=ids_prompts(folder))
    for command in (("--config", ini), ("--check-config", ini), ("generate", "--model", bert, "--ids", "5 7")):
        done = rig.check(rig.host(*command), 2)
        rig.contains(done.stdout + done.stderr, "no 'logits' to choose tokens by, as an encoder")


def states_of_every_kind_move(folder):
    """A recurrent model, and a hybrid with experts: tails and matrices beside growing keys and values."""
    for name, count in (("mamba2", 42), ("qwen3_next", 191)):
        own = os.path.join(folder, name)
        os.makedirs(own)
        ini, dir_ = rig.write_run(own, **fixture(own, name))
        done = rig.check(rig.host("--config", ini), 0)
        rig.contains(done.stdout, f"{count} of {count} instances on gpu", "0 blamed, 0 unsupported, 0 left on the source",
                     "0 not compared", "end to end: agrees")
        states = rig.rows(dir_, "SELECT DISTINCT param FROM argument WHERE effects = 'state-write'")
        assert {("tail",), ("state",)} <= set(states), states
        kept = rig.rows(dir_, "SELECT DISTINCT moment FROM page JOIN argument USING (case_id, position)"
                              " WHERE param = 'state' AND effects = 'state-write'")
        assert set(kept) == {("before",), ("after",)}, kept


@rig.plain
@rig.slow
def states_follow_a_plan_that_changes_sides(folder):
    """The prompt on one side, each token after it on the other: states of a fixed size go with it."""
    for name, rule in (("mamba2", "op=linear_scan phase=prefill"), ("qwen3_next", "op=conv1d_causal phase=decode")):
        own = os.path.join(folder, name)
        os.makedirs(own)
        ini, _ = rig.write_run(own, extra=f"[plan]\nrule = * -> source\nrule = {rule} -> gpu\n", **fixture(own, name))
        done = rig.check(rig.host("--config", ini), 0)
        rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "end to end: agrees")


@rig.plain
def the_way_back(folder):
    ini, _ = rig.write_small_run(folder, source="opencl", target="reference")
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "end to end: agrees")


@rig.plain
def the_final_plan_generates_the_same_text(folder):
    _, dir_ = finished(folder)
    with open(os.path.join(rig.TINY, "expected.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    for case in cases:
        done = rig.check(rig.host("generate", "--plan", os.path.join(dir_, "plan-gpu.txt"), "--prompt", case["prompt"],
                                  "--count", "48", "--json"), 0)
        assert json.loads(done.stdout)["ids"] == case["ids"], done.stdout


def a_second_start_says_the_same_and_replays_nothing(folder):
    first, _ = first_run()
    ini, dir_ = finished(folder)
    ledger = rig.rows(dir_, "SELECT * FROM step")
    cases = rig.rows(dir_, "SELECT count(*) FROM \"case\"")
    second = rig.check(rig.host("--config", ini), 0)
    assert rig.rows(dir_, "SELECT * FROM step") == ledger, "a finished step was repeated"
    assert rig.rows(dir_, "SELECT count(*) FROM \"case\"") == cases
    summary = [line for line in first.stdout.splitlines() if " instances on gpu" in line]
    rig.contains(second.stdout, *summary)


def another_run_in_the_same_folder_is_refused(folder):
    finished(folder)
    ini, _ = rig.write_run(folder, decode=7)
    done = rig.check(rig.host("--config", ini), 2)
    rig.contains(done.stderr, "[run] decode = 6, now it is 7")


@rig.plain
@rig.slow
def a_plan_says_what_moves(folder):
    ini, dir_ = rig.write_run(folder, extra="[plan]\nrule = * -> source\nrule = op=linear -> gpu\n"
                                            "rule = instance=layers.0/* -> source\n")
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "22 of 22 instances on gpu")
    plan = open(os.path.join(dir_, "plan-gpu.txt"), encoding="utf-8").read()
    rig.contains(plan, "op=linear -> gpu", "instance=layers.0/* -> source")


def cases_are_replayed_alone(folder):
    _, dir_ = finished(folder)
    store = os.path.join(dir_, "run.tapmlrun")
    done = rig.check(rig.host("replay", store, "--backend", "reference:f64"), 0)
    rig.contains(done.stdout, "tapml.attention")
    case_id, = rig.rows(dir_, "SELECT min(id) FROM \"case\"")[0]
    done = rig.check(rig.host("replay", store, "--backend", "opencl", "--case", str(case_id)), 0)
    rig.contains(done.stderr, "1 cases, 0 failed")


def a_terminal_shows_the_verdict_first_and_last(folder):
    """No line is shared, no table is wider than 100 columns; colours are for those who want them."""
    fault = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
    ini, dir_ = rig.write_small_run(folder, ids=rig.THREE_PROMPTS, extra=fault)
    code, shown, sent = rig.on_a_terminal({"NO_COLOR": ""}, "--config", ini)
    assert code == 1 and "\033[1;31msilu is wrong on gpu: first at " in sent, sent
    assert "\033[33mwarning\033[0m: injected on 'gpu'" in sent, sent
    assert not [line for line in shown if re.search(r"\[[#.]{30}\]", line)], shown
    assert "[" + "." * 30 + "]" in sent or "#" in sent, "there was no bar"
    text = rig.check(rig.host("report", dir_), 1).stdout.splitlines()
    verdict = text[0]
    assert verdict.startswith("silu is wrong on gpu: first at layers.0/mlp/silu: y["), text
    assert text[-3:] == [verdict, f"report: {dir_}/report.html",
                         f"next: tapml-host replay {dir_}/FAULT-1.tapmlrun --config {ini} --target gpu"], text[-3:]
    rig.check(rig.host(*text[-1].split()[2:]), 1)
    table = [line for line in text if re.match(r"operator |tapml\.\S+ +\d", line)]
    assert len(table) == 11 and all(len(line) <= 100 for line in table), table
    assert not [line for line in text if line.startswith("localising: ")], "costs are for --verbose"
    verbose = rig.check(rig.host("report", dir_, "--verbose"), 1).stdout
    rig.contains(verbose, "\nlocalising: ", "\noperator                on the source ")
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\033[1;31m" not in rig.on_a_terminal(env, "report", dir_)[2], env


def both_streams_in_one_file_keep_their_order(folder):
    """The report of the first target stands before the progress of the second."""
    ini, _ = rig.write_small_run(folder, extra="[target.second]\nbackend = reference:f64\n")
    path = os.path.join(folder, "both.txt")
    with open(path, "w", encoding="utf-8") as file:
        subprocess.run([rig.HOST, "--config", ini], stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=True)
    with open(path, encoding="utf-8") as file:
        said = file.read()
    places = [said.index(words) for words in ("replay on gpu: ", "\ngpu = reference:f32-blocked ", "replay on second: ",
                                              "\nsecond = reference:f64 ", "\nnext: ")]
    assert places == sorted(places), said


def mistakes_are_reported(folder):
    ini, _ = rig.write_run(folder, target="opencll")
    done = rig.host("--config", ini)
    assert done.returncode in (2, 3), done.returncode
    rig.contains(done.stderr, "opencll")
    rig.check(rig.host("--config", os.path.join(folder, "absent.ini")), 2)
    rig.check(rig.host("--nonsense"), 2)
    rig.check(rig.host("nonsense"), 2)
    rig.check(rig.host(), 2)
    for command in ("generate", "eval", "graph", "replay", "plugins", "ops"):
        rig.contains(rig.check(rig.host(command, "--help"), 0).stdout, "usage: tapml-host " + command)


if __name__ == "__main__":
    rig.main([everything_moves, lists_of_weights_and_wide_windows_move,
              latent_attention_and_routes_from_groups_move, an_encoder_moves, states_of_every_kind_move,
              states_follow_a_plan_that_changes_sides, the_way_back,
              the_final_plan_generates_the_same_text, a_second_start_says_the_same_and_replays_nothing,
              another_run_in_the_same_folder_is_refused, a_plan_says_what_moves, cases_are_replayed_alone,
              a_terminal_shows_the_verdict_first_and_last,
              both_streams_in_one_file_keep_their_order, mistakes_are_reported], needs=["opencl", "reference"])
