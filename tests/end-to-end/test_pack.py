#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Chosen cases of a run go to one file, which has the verdicts of the run where neither model nor prompts exist."""
import functools
import os
import re
import shutil
import sqlite3
import subprocess

import rig

FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
PROMPTS = ("61 57 71 29", "35 42 77")
JUDGED = ('SELECT instance, phase, step, part, verdict, margin FROM judged JOIN "case" ON id = case_id'
          " WHERE target = ? ORDER BY 1, 2, 3, 4, 6")


@functools.cache
def packed():
    """A run with a fault, packed whole, failures alone and redacted; then the run and its model are gone."""
    folder = rig.script_folder()
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model)
    ini, dir_ = rig.write_small_run(folder, ids=PROMPTS, model=model, extra=FAULT)
    rig.check(rig.host("--config", ini), 1)
    packs = {}
    for name, where, *more in (("all", "1"), ("again", "1"), ("failures", "verdict = 'fail' -- of any target"),
                               ("redacted", "1", "--redact", "prompts")):
        packs[name] = os.path.join(folder, f"{name}.tapmlrun")
        done = rig.check(rig.host("pack", dir_, "--where", where, "--out", packs[name], *more), 0)
        packs[f"{name} said"] = done.stdout
    verdicts = read(os.path.join(dir_, "run.tapmlrun"), JUDGED, "gpu")
    shutil.rmtree(dir_)
    shutil.rmtree(model)
    os.remove(os.path.join(folder, "prompts.txt"))
    return ini, packs, verdicts


def read(path, sql, *values):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = connection.execute(sql, values).fetchall()
    connection.close()
    return rows


def replayed(folder, name, code):
    """The verdicts of a copy of a pack, on the target with its fault."""
    ini, packs, _ = packed()
    path = shutil.copy(packs[name], folder)
    done = rig.check(rig.host("replay", path, "--config", ini, "--target", "gpu"), code)
    rig.contains(done.stdout, "recorded on 'gpu': as here\n")
    targets = {target for target, in read(path, "SELECT DISTINCT target FROM result")}
    assert len(targets) == 1, targets
    return read(path, JUDGED, *targets)


def without_prompts(rows):
    return sorted(((instance, phase, verdict, margin) for instance, phase, _, _, verdict, margin in rows), key=repr)


def verdicts_are_those_of_the_run(folder):
    _, packs, verdicts = packed()
    rig.contains(packs["all said"], f"all.tapmlrun: {len(verdicts)} cases\n")
    assert without_prompts(replayed(folder, "all", 1)) == without_prompts(verdicts)
    failed = [row for row in verdicts if row[4] == "fail"]
    assert len(failed) == 6, failed
    assert without_prompts(replayed(folder, "failures", 1)) == without_prompts(failed)


def what_is_other_is_told(folder):
    _, packs, _ = packed()
    done = rig.check(rig.host("replay", shutil.copy(packs["failures"], folder), "--backend", "reference:f64"), 0)
    rig.contains(done.stdout, "recorded on 'gpu': here are other device: f32-blocked -> f64; device_name: ")


def two_packs_are_equal_byte_by_byte(folder):
    _, packs, _ = packed()
    contents = [open(packs[name], "rb").read() for name in ("all", "again")]
    assert contents[0] == contents[1]
    (id_, machine, begun), = read(packs["all"], "SELECT id, machine, begun_s FROM run")
    assert (set(id_), machine, begun) == ({"0"}, "", 0)


def no_prompt_remains(folder):
    _, packs, verdicts = packed()
    rig.contains(packs["redacted said"], "others have tokens of prompts and are left out")
    expected = [row for row in verdicts if row[0] != "embed"]
    assert without_prompts(replayed(folder, "redacted", 1)) == without_prompts(expected)
    data = open(packs["redacted"], "rb").read()
    hashes = [hash_ for hash_, in read(packs["all"], "SELECT hash FROM prompt")]
    for prompt in PROMPTS:
        assert prompt.encode() not in data and prompt.replace(" ", ",").encode() not in data
        ids = [int(word) for word in prompt.split()]
        assert b"".join(id_.to_bytes(4, "little") for id_ in ids) not in data
    for hash_ in hashes:
        assert hash_.encode() not in data and hash_.encode() in open(packs["all"], "rb").read()
    assert read(packs["redacted"], "SELECT count(*) FROM prompt WHERE text IS NOT NULL OR ids IS NOT NULL") == [(0,)]
    integers = read(packs["redacted"], "SELECT DISTINCT op, origin FROM argument JOIN \"case\" ON id = case_id"
                                       " WHERE dtype IN ('i32', 'i64')")
    assert integers == [("tapml.gather_rows", "rows")], integers


def the_check_of_a_plugin_takes_it(folder):
    """The reference has no fault, so that all cases pass."""
    _, packs, _ = packed()
    path = shutil.copy(packs["redacted"], folder)
    manifest = os.path.join(rig.BUILD, "plugins", "cpu", "org.tapml.cpu.tapml")
    done = subprocess.run([os.path.join(rig.BUILD, "tapml-plugin-check"), "--only", "R-01", "--replay", path, manifest],
                          capture_output=True, text=True, timeout=300, check=False)
    assert re.search(r"^passed +R-01", done.stdout, re.MULTILINE), done.stdout + done.stderr


if __name__ == "__main__":
    rig.main([verdicts_are_those_of_the_run, what_is_other_is_told, two_packs_are_equal_byte_by_byte, no_prompt_remains,
              the_check_of_a_plugin_takes_it],
             needs=["reference"])
