#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""[source] workers: several processes carve, and the run has the cases and verdicts of one."""
import os
import re
import signal
import subprocess
import time

import rig

# Of unequal lengths, one twice; later ones have larger values than earlier ones.
PROMPTS = ("ids: 1 5 7 9", "ids: 3", "ids: 12 40 41 2 88 7 9 9 1 5", "ids: 60 61 62", "ids: 3", "ids: 90 17 4 4 4 4 4",
           "ids: 2 71 8 28 18", "ids: 31 41 59 26 53 58 87", "ids: 14", "ids: 95 94 93 92 91 90 89 88")
CASES = 'SELECT instance, prompt, step, part, hex(key), phase, shape_class, tokens FROM "case" ORDER BY 1, 2, 3, 4'
CALLS = ("SELECT instance, prompt, step, part, kept, param, least, largest, mean_square, count FROM call"
         " JOIN statistic ON call_id = call.id ORDER BY 1, 2, 3, 4, 6")
VERDICTS = ('SELECT instance, prompt, step, part, verdict, margin FROM judged JOIN "case" ON id = case_id ORDER BY 1, 2, 3, 4')
TOKENS = "SELECT hash, position, ids, greedy FROM prompt ORDER BY hash"


SMALL = os.path.join(rig.DATA, "models", "llama")  # Carved faster than it can be interrupted.


def write(folder, workers, *keys, prompts=PROMPTS, decode=4, keep="", model=SMALL, **options):
    """A run on `reference:f64`; its INI file, and its folder."""
    os.makedirs(folder)
    ini, dir_ = rig.write_run(folder, target="reference:f64", decode=decode, model=model, **options)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    path = os.path.join(folder, "these.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(prompts) + "\n")
    text = re.sub(r"(?m)^prompts *=.*\.txt$", f"prompts = {path}{keep}", text)
    text = text.replace("[source]\n", f"[source]\nworkers = {workers}\n")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text + "".join(keys))
    return ini, dir_


def results(dir_):
    return {query: rig.rows(dir_, query) for query in (CASES, CALLS, VERDICTS, TOKENS)}


def expect_equal(found, expected):
    for query, rows in expected.items():
        assert rows and found[query] == rows, (query, len(rows), len(found[query]))


def any_number_of_processes_carves_the_same(folder):
    ini, dir_ = write(os.path.join(folder, "1"), 1)
    rig.check(rig.host("--config", ini), 0)
    expected = results(dir_)
    for workers in (2, 12):  # Some have no prompt.
        ini, dir_ = write(os.path.join(folder, str(workers)), workers)
        done = rig.check(rig.host("--config", ini), 0)
        expect_equal(results(dir_), expected)
        said = re.search(r"carved side by side: 9 prompts, (\d+) calls, (\d+) of (\d+) cases kept", done.stderr)
        assert said and int(said[2]) == len(expected[CASES]) < int(said[3]), done.stderr
        assert len(set(re.findall(rf"(?m)^carve \d+ of {workers}: ", done.stderr))) == min(workers, 9), done.stderr
        assert not [name for name in os.listdir(dir_) if name.startswith("source-")], os.listdir(dir_)
        again = rig.check(rig.host("--config", ini), 0)
        assert "carve" not in again.stderr, again.stderr
        expect_equal(results(dir_), expected)


@rig.slow
def all_calls_may_be_kept(folder):
    expected = None
    for workers in (1, 3):
        ini, dir_ = write(os.path.join(folder, str(workers)), workers, prompts=PROMPTS[:4], decode=2, keep="\nkeep = all")
        rig.check(rig.host("--config", ini), 0)
        expected = expected or results(dir_)
        expect_equal(results(dir_), expected)


@rig.slow
def beside_targets_side_by_side(folder):
    ini, dir_ = write(os.path.join(folder, "1"), 1)
    rig.check(rig.host("--config", ini), 0)
    expected = results(dir_)
    more = "[target.more]\nbackend = reference:f64\n"
    ini, dir_ = write(os.path.join(folder, "3"), 3, more)
    rig.check(rig.host("--config", ini, "--side-by-side"), 0)
    found = results(dir_)
    found[VERDICTS] = rig.rows(dir_, VERDICTS.replace(" ORDER", " WHERE target = 'more' ORDER"))
    expect_equal(found, expected)


def shares_of(dir_):
    return [os.path.join(dir_, name) for name in os.listdir(dir_) if name.startswith("source-")] if os.path.isdir(dir_) else []


def wait_until(child, is_there):
    while child.poll() is None and not is_there():
        time.sleep(0.005)


def children_of(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


def expect_right(dir_, expected):
    """What was carved in another order may be kept otherwise; all is there, and right."""
    assert rig.rows(dir_, TOKENS) == expected[TOKENS], "other tokens"
    counts = [[row[0] for row in rows] for rows in (rig.rows(dir_, CALLS), expected[CALLS])]
    assert counts[0] == counts[1], "other calls"
    assert {row[4] for row in rig.rows(dir_, VERDICTS)} == {"pass"}, "something is wrong"


@rig.slow
def interrupted_and_gone_on_with(folder):
    """The shares stay, and are gone on with; one process takes what is whole, and carves the rest."""
    ini, dir_ = write(os.path.join(folder, "1"), 1, decode=20, model=rig.TINY)
    rig.check(rig.host("--config", ini), 0)
    expected = results(dir_)
    for workers in (3, 1):
        own = os.path.join(folder, f"then-{workers}")
        ini, dir_ = write(own, 3, decode=20, model=rig.TINY)
        with subprocess.Popen([rig.HOST, "--config", ini], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
            wait_until(child, lambda path=dir_: len(shares_of(path)) == 3)
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=60)
        assert child.returncode == 130, errors
        with open(ini, encoding="utf-8") as file:
            text = file.read()
        with open(ini, "w", encoding="utf-8") as file:
            file.write(text.replace("workers = 3", f"workers = {workers}"))
        rig.check(rig.host("--config", ini), 0)
        if workers > 1:
            expect_equal(results(dir_), expected)
        else:
            expect_right(dir_, expected)
        assert not shares_of(dir_), shares_of(dir_)


def one_that_is_killed_is_made_up_for(folder):
    ini, dir_ = write(os.path.join(folder, "1"), 1, decode=20, model=rig.TINY)
    rig.check(rig.host("--config", ini), 0)
    expected = results(dir_)
    ini, dir_ = write(os.path.join(folder, "3"), 3, decode=20, model=rig.TINY)
    with subprocess.Popen([rig.HOST, "--config", ini], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        wait_until(child, lambda: len(shares_of(dir_)) == 3)
        os.kill(children_of(child.pid)[1], signal.SIGKILL)
        _, errors = child.communicate(timeout=120)
    assert child.returncode == 0, errors
    rig.contains(errors, "the process of source 2 of 3 was ended by signal 9")
    expect_right(dir_, expected)


def a_share_of_another_run_is_refused(folder):
    ini, dir_ = write(os.path.join(folder, "1"), 2)
    rig.check(rig.host("--config", ini), 0)
    other, other_dir = write(os.path.join(folder, "2"), 1, prompts=PROMPTS[:2])
    os.makedirs(other_dir)
    os.rename(dir_, os.path.join(other_dir, "source-1-of-2"))
    done = rig.check(rig.host("--config", other), 2)
    rig.contains(done.stderr, "are of different runs: prompts.hash is")
    assert shares_of(other_dir), "it is gone"


rig.main([any_number_of_processes_carves_the_same, all_calls_may_be_kept, beside_targets_side_by_side,
          interrupted_and_gone_on_with, one_that_is_killed_is_made_up_for, a_share_of_another_run_is_refused])
