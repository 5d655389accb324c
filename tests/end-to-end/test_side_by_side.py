#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Targets side by side, each in a process of its own: the verdicts of one after the other, whoever is killed."""
import functools
import os
import re
import signal
import sqlite3
import subprocess
import time

import killing
import rig

OTHERS = """[target.blocked]
backend = reference:f32-blocked
[fault.1]
target = blocked
op = silu
kind = scale 2
"""
FOUND = {
    "verdicts": "SELECT target, instance, phase, verdict, count(*) FROM judged JOIN \"case\" ON id = case_id"
                " GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
    "derived": "SELECT target, count(*) FROM derived GROUP BY 1 ORDER BY 1",
    "accused": "SELECT target, instance, kind FROM blame ORDER BY 1, 2",
    "plans": "SELECT target, plan FROM offload WHERE finished_s > 0 ORDER BY 1",
    "bundles": "SELECT target, instance, file FROM bundle ORDER BY 1, 2",
}


def write(folder):
    return rig.write_small_run(folder, target="opencl", ids=rig.THREE_PROMPTS, extra=OTHERS)


def found(dir_):
    """What a run has found, and that its store is whole."""
    cases, targets = rig.rows(dir_, "SELECT (SELECT count(*) FROM \"case\"), (SELECT count(DISTINCT target) FROM result)")[0]
    results, = rig.rows(dir_, "SELECT count(*) FROM result")[0]
    assert targets == 2 and results == 2 * cases > 0, (targets, cases, results)
    return {name: rig.rows(dir_, sql) for name, sql in FOUND.items()}


@functools.cache
def usual():
    """What is found one target after the other."""
    ini, dir_ = write(os.path.join(rig.script_folder(), "usual"))
    rig.check(rig.host("--config", ini), 1)
    return found(dir_)


def processes_of(pid):
    """The hosts that a host has started."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        children = [int(child) for child in file.read().split()]
    return [child for child in children if child not in killing.workers_of(pid)]


def start(ini):
    return subprocess.Popen([rig.HOST, "--config", ini, "--side-by-side"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for(process, words):
    """Reads what a host prints until it prints these words."""
    said = ""
    for line in process.stdout:
        said += line
        if words in line:
            return said
    raise AssertionError(f"'{words}' was not printed:\n{said}")


def what_is_found_is_the_same(folder):
    ini, dir_ = write(folder)
    done = rig.check(rig.host("--config", ini, "--side-by-side"), 1)
    rig.contains(done.stderr, "replay on gpu: ", "offload: ", "[fault.1] has corrupted ")
    assert "corrupted 0 calls" not in done.stderr, done.stderr
    rig.contains(done.stdout, "silu is wrong on blocked", "gpu: all ")
    assert found(dir_) == usual()
    again = rig.check(rig.host("--config", ini), 1)
    rig.contains(again.stderr, " derived ones, 0 and 0 of them now")


@rig.slow
def a_terminal_has_a_line_for_each_target(folder):
    ini, _ = write(folder)
    code, _, sent = rig.on_a_terminal({}, "--config", ini, "--side-by-side")
    assert code == 1, sent
    bars = {name for name in ("gpu", "blocked") if re.search(rf"(replay|derive) on {name} +\[[#.]+\]", sent)}
    assert bars == {"gpu", "blocked"}, sent
    assert "\033[A\033[K" in sent, "there were never two lines"
    rig.contains(sent, "silu is wrong on blocked")



def one_that_is_killed_costs_nothing(folder):
    ini, dir_ = write(folder)
    with start(ini) as process:
        said = wait_for(process, "driver of gpu: ")
        hosts = processes_of(process.pid)
        os.kill(hosts[0], signal.SIGKILL)
        said += process.stdout.read()
        assert process.wait(60) == 1, said
    assert hosts and "was ended by signal 9: what it has not done is done now" in said, said
    assert found(dir_) == usual()


@rig.slow
def an_interrupted_run_goes_on(folder):
    ini, dir_ = write(folder)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with start(ini) as process:
            said = wait_for(process, "driver of gpu: ")
            hosts = processes_of(process.pid)
            process.send_signal(number)
            said += process.stdout.read()  # To the end of all that have it.
            assert process.wait(60) == (130 if number == signal.SIGTERM else -number), said
        end = time.monotonic() + 10
        while any(os.path.exists(f"/proc/{host}") for host in hosts) and time.monotonic() < end:
            time.sleep(0.02)
        assert not any(os.path.exists(f"/proc/{host}") for host in hosts), f"{hosts} outlive their host"
    rig.check(rig.host("--config", ini, "--side-by-side"), 1)
    assert found(dir_) == usual()


def a_target_that_is_not_there_costs_no_other(folder):
    ini, _ = write(folder)
    done = rig.check(rig.host("--config", ini, "--side-by-side", env={"OCL_ICD_VENDORS": "/nonexistent"}), 1)
    assert done.stderr.count("target 'gpu' is given up: ") == 1, done.stderr
    rig.contains(done.stdout, "silu is wrong on blocked")


def write_rounds(folder, source="", **more):
    """A run whose targets keep step."""
    ini, dir_ = rig.write_small_run(folder, **{"target": "opencl", "ids": rig.THREE_PROMPTS, "extra": OTHERS, **more})
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("[run]\n", "[run]\ncoordinate = cost\n").replace("[source]\n", f"[source]\n{source}"))
    return ini, dir_


def those_that_keep_step_say_at_once_who_agrees(folder):
    """And without an option, whatever the source is."""
    sentence = "silu: 1 of 2 targets agrees with the source: gpu"
    for name, source in (("carved", ""), ("shared", "workers = 2\n")):
        ini, dir_ = write_rounds(os.path.join(folder, name), source)
        done = rig.check(rig.host("--config", ini), 1)
        said = re.findall(r"round (\d+): (.*)", done.stderr)
        assert len(said) == 1 and said[0][1] == sentence, done.stderr
        rig.contains(done.stdout, "silu is wrong on blocked", "gpu: all ", sentence)
        assert done.stderr.index("round ") < done.stderr.index("derived ones"), done.stderr
        assert found(dir_) == usual(), name


@rig.slow
def nobody_waits_for_one_that_is_killed_in_a_round(folder):
    """At the begin of its rounds, so that it has left most of them."""
    ini, dir_ = write_rounds(folder)
    with subprocess.Popen([rig.HOST, "--config", ini], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        said = wait_for(process, "driver of blocked: ")
        os.kill(processes_of(process.pid)[1], signal.SIGKILL)
        said += process.stdout.read()
        assert process.wait(60) == 1, said
    rig.contains(said, "was ended by signal 9: what it has not done is done now")
    assert found(dir_) == usual()


def results_of(dir_):
    """How many each target has by now; none before the tables are there."""
    try:
        return dict(rig.rows(dir_, "SELECT target, count(*) FROM result GROUP BY 1"))
    except sqlite3.OperationalError:
        return {}


@rig.slow
def a_slow_target_is_waited_for(folder):
    """At 20 ms a call a round is about forty cases, by which the fast one is ahead at most; else it is by all of them."""
    cases = sum(count for target, *_, count in usual()["verdicts"] if target == "gpu")
    ini, dir_ = write_rounds(folder, extra=OTHERS + "[fault.2]\ntarget = gpu\nkind = delay 20\n")
    ahead, counts = [], {}
    with subprocess.Popen([rig.HOST, "--config", ini], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and counts.get("gpu", 0) < cases:
            time.sleep(0.05)
            if os.path.exists(f"{dir_}/run.tapmlrun"):
                counts = results_of(dir_)
                ahead.append(counts.get("blocked", 0) - counts.get("gpu", 0))
        process.terminate()
        assert process.wait(60) == 130
    assert 0 < max(ahead) < cases / 2, ahead


def what_cannot_keep_step_is_refused(folder):
    select = OTHERS + "[select]\nbudget = 5\n"
    ini, _ = write_rounds(os.path.join(folder, "select"), extra=select)
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "[run] coordinate: expected no [select] beside it")
    split = OTHERS + "[pool.here]\nprocesses = 2\n"
    ini, _ = write_rounds(os.path.join(folder, "split"), target="opencl\npool = here\nshare = split", extra=split)
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "[target.gpu] share: expected no [run] coordinate beside it")


if __name__ == "__main__":
    rig.main([what_is_found_is_the_same, a_terminal_has_a_line_for_each_target, one_that_is_killed_costs_nothing,
              an_interrupted_run_goes_on, a_target_that_is_not_there_costs_no_other,
              those_that_keep_step_say_at_once_who_agrees, nobody_waits_for_one_that_is_killed_in_a_round,
              a_slow_target_is_waited_for, what_cannot_keep_step_is_refused], needs=["opencl", "reference"])
