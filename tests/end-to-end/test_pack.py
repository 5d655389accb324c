#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Chosen cases of a run go to one file, which has the verdicts of the run where neither model nor prompts exist."""
import functools
import json
import os
import re
import shutil
import sqlite3
import subprocess

import rig

FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
TOLD = "injected_faults: fault.1: scale 1.5, op=silu instance=* from-call=1 probability=1 seed=1 -> none\n"
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
    rig.contains(done.stdout, "recorded on 'gpu': here are other device: f32-blocked -> f64; device_name: ", TOLD)


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


def they_are_found_again(folder):
    """By tags, by the begin of an id, in a folder and in the search path; a copy has the same id."""
    _, packs, _ = packed()
    here = os.path.dirname(packs["all"])
    def find(*words, code=0):
        return json.loads(rig.check(rig.host("find", here, *words, "--json"), code).stdout)

    found = {os.path.basename(one["file"]): one for one in find()}
    assert set(found) == {"all.tapmlrun", "again.tapmlrun", "failures.tapmlrun", "redacted.tapmlrun"}, found
    assert found["all.tapmlrun"]["id"] == found["again.tapmlrun"]["id"] != found["failures.tapmlrun"]["id"]
    one = found["failures.tapmlrun"]
    assert one["kind"] == "pack" and one["cases"] == 6 and one["tags"]["op"] == ["tapml.silu"], one
    assert one["tags"]["model"] == ["model"] and [place["verdict"] for place in one["recorded"]] == [["fail"]], one
    assert [os.path.basename(one["file"]) for one in find("redacted=prompts", "target=gpu", "verdict=fail")] == [
        "redacted.tapmlrun"]
    assert [one["id"] for one in find("id=" + one["id"][:9])] == [one["id"]]
    assert find("op=attention", "verdict=error", code=1) == []
    assert len(find("injected_faults=*scale 1.5*", "verdict=fail")) == 4, "none of these failures is the device's own"
    again = shutil.copy(packs["failures"], folder)
    done = rig.check(rig.host("replay", one["id"][:8], "--backend", "reference:f64",
                              env={"TAPML_BUNDLE_PATH": folder}), 0)
    rig.contains(done.stdout, "recorded on 'gpu': here are other device: f32-blocked -> f64")
    assert find("id=" + one["id"])[0]["id"] == json.loads(
        rig.check(rig.host("find", again, "--json"), 0).stdout)[0]["id"], "results of the replay change no id"


def every_device_is_tried_and_named(folder):
    """With the fault in one device alone, the others are right; what is not here is told."""
    _, packs, _ = packed()
    path = shutil.copy(packs["failures"], folder)
    done = rig.check(rig.host("replay", path, "component=reference"), 0)
    for device in ("f64", "f32", "f32-reversed", "f32-blocked"):
        assert re.search(rf"^reference:{device} +right +0 failed, 6 right, 0 did not run; ", done.stdout,
                         re.MULTILINE), done.stdout
    rig.contains(done.stdout, f"recorded on 'gpu': here are other {TOLD}", "recorded on 'gpu': here are other device")
    assert "as here" not in done.stdout, "without the fault it is nowhere as it was"
    done = rig.check(rig.host("replay", path, "component=null", "--bisect"), 125)
    rig.contains(done.stdout, "null:host", "not judged 0 failed, 0 right, 6 did not run")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE metadata SET value = '77' WHERE name = 'recorded.0.device'")
    connection.commit()
    connection.close()
    rig.put_sums(path)
    done = rig.check(rig.host("replay", path, "component=reference", "device=f64"), 0)
    rig.contains(done.stdout, "recorded on 'gpu' = reference:77 (", "), which is not here\n")


if __name__ == "__main__":
    rig.main([verdicts_are_those_of_the_run, what_is_other_is_told, two_packs_are_equal_byte_by_byte, no_prompt_remains,
              they_are_found_again, every_device_is_tried_and_named, the_check_of_a_plugin_takes_it],
             needs=["reference"])
