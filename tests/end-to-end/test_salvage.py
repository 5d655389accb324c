#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged stores: what is whole is used, what is lost is named and done again, and the findings are the same.

Usage: test_salvage.py [all]: every page and many lengths, not a sample of them.
"""
import functools
import glob
import os
import random
import re
import sys

import rig

ALL = sys.argv[1:] == ["all"]
PAGE = 16384
FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
PROMPTS = "ids: 1 5 7 9\nids: 2 3 4 5 6 7 8 9 10\nids: 11 3\n"
FINDINGS = {
    "results": "SELECT target, instance, hash, step, part, verdict, margin FROM judged JOIN \"case\" ON id = case_id"
               " JOIN prompt ON hash = prompt ORDER BY 1, 2, 3, 4, 5",
    "cases": "SELECT instance, op, phase, shape_class, prompt, step, part, hex(group_concat(coalesce(hex(before), '') || "
             "coalesce(hex(after), ''))) FROM \"case\" JOIN argument ON case_id = id GROUP BY id ORDER BY 1, 5, 6, 7",
    "calls": "SELECT instance, prompt, step, part, kept, param, largest, count FROM call JOIN statistic ON call_id = id"
             " ORDER BY 1, 2, 3, 4, 6",
    "pages": "SELECT instance, prompt, step, part, position, moment, page, hex(page.key) FROM page JOIN \"case\" ON id = case_id"
             " ORDER BY 1, 2, 3, 4, 5, 6, 7",
    "prompts": "SELECT hash, position, text, ids, greedy FROM prompt ORDER BY position",
    "weights": "SELECT name, dtype, byte_count, hex(key) FROM weight ORDER BY 1",
    "plan": "SELECT plan, verdict FROM step WHERE step = 'final'",
}


def run(ini):
    return rig.host("--config", ini, "--threads", "1")


@functools.cache
def finished():
    """A run that has ended, with something blamed, which the tests share: its INI, folder, store, bytes and findings."""
    folder = rig.script_folder()
    prompts = os.path.join(folder, "prompts.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write(PROMPTS)
    ini, dir_ = rig.write_run(folder, target="reference:f32-blocked", decode=2, prompts=prompts,
                              model=os.path.join(rig.DATA, "models", "llama"), extra=FAULT)
    rig.check(run(ini), 1)
    store = os.path.join(dir_, "run.tapmlrun")
    with open(store, "rb") as file:
        return ini, dir_, store, file.read(), findings(dir_)


def findings(dir_):
    found = {name: rig.rows(dir_, sql) for name, sql in FINDINGS.items()}
    with open(os.path.join(dir_, "plan-gpu.txt"), encoding="utf-8") as file:
        found["file"] = file.read()
    return found


def clean(dir_):
    for path in glob.glob(os.path.join(dir_, "run.tapmlrun*")) + glob.glob(os.path.join(dir_, "plan-*")):
        os.remove(path)


def damaged_ends_the_same(ini, dir_, data, expected, what):
    """Runs with a store of `data`. Gives the prompts kept, or None where it was refused."""
    clean(dir_)
    store = os.path.join(dir_, "run.tapmlrun")
    with open(store, "wb") as file:
        file.write(data)
    done = run(ini)
    if done.returncode == 2:
        assert re.search(r"store '\S+' is damaged.*cannot be salvaged.*put back a copy of it, or move it away and start "
                         r"again$", done.stderr, re.M), f"{what}: {done.stderr}"
        assert open(store, "rb").read() == data, f"{what}: it was touched"
        assert glob.glob(store + "?*") == [], f"{what}: {glob.glob(store + '?*')}"
        return None
    assert done.returncode == 1, f"{what}: {done.returncode}\n{done.stderr}"
    told = re.search(r"was damaged in .*kept are (\d+) of (\d+) prompts, \d+ of \d+ cases, .*is now '(\S+)'", done.stderr)
    found = findings(dir_)
    for name, rows in expected.items():
        assert found[name] == rows, f"{what}: other {name}\n{rows}\n{found[name]}\n{done.stderr}"
    assert rig.rows(dir_, "PRAGMA integrity_check") == [("ok",)], what
    assert rig.rows(dir_, "PRAGMA foreign_key_check") == [], what
    assert told, f"{what}: nothing was told\n{done.stderr}"
    assert told[3] == store + ".damaged" and os.path.exists(told[3]), what
    return int(told[1])


def corrupted_pages(_):
    ini, dir_, _, whole, expected = finished()
    count = len(whole) // PAGE
    kept = []
    for page in range(count) if ALL else [0, 1, 2, 5, count // 2, 2 * count // 3]:
        corrupted = bytearray(whole)
        corrupted[page * PAGE + 2000] ^= 4
        kept.append(damaged_ends_the_same(ini, dir_, corrupted, expected, f"page {page + 1} of {count}"))
    print("# prompts kept:", kept, flush=True)
    assert kept[0] == 3, "a corrupted header loses nothing"
    assert kept.count(None) == 1, "the page of the facts alone cannot be done without"
    assert 2 in kept or 1 in kept, "no prompt was kept beside one that is lost"


@rig.plain
def corrupted_headers(_):
    """A page size, a size, a text encoding that are others, and no header at all: nothing is lost."""
    ini, dir_, _, whole, expected = finished()
    for at in (16, 20, 28, 59) if ALL else (16, 20):
        corrupted = bytearray(whole)
        corrupted[at] ^= 1
        assert damaged_ends_the_same(ini, dir_, corrupted, expected, f"header byte {at}") == 3
    assert damaged_ends_the_same(ini, dir_, bytes(PAGE) + whole[PAGE:], expected, "no header") == 3


@rig.plain
def cut_files(_):
    ini, dir_, _, whole, expected = finished()
    count = len(whole) // PAGE
    sizes = [99, 5000, len(whole) - 1]
    for size in sizes + [pages * PAGE + 77 for pages in range(1, count)] if ALL else sizes:
        kept = damaged_ends_the_same(ini, dir_, whole[:size], expected, f"{size} bytes")
        assert (kept is None) == (size < 6000) or size not in sizes, (size, kept)


def lost_together(_):
    """Several pages at once, and what was zeroed: still a sentence, or the same findings."""
    ini, dir_, _, whole, expected = finished()
    count = len(whole) // PAGE
    seed = int(os.environ.get("TAPML_SEED", "7"))
    print(f"# seed {seed}")
    rand = random.Random(seed)
    for trial in range(60 if ALL else 2):
        corrupted = bytearray(whole)
        pages = rand.sample(range(2, count), rand.randrange(2, 9))
        for page in pages:
            begin = page * PAGE
            corrupted[begin:begin + PAGE] = rand.randbytes(PAGE) if trial % 3 else bytes(PAGE)
        damaged_ends_the_same(ini, dir_, corrupted, expected, f"pages {pages}")


def readers_refuse_and_name_who_salvages(_):
    _, dir_, store, whole, _ = finished()
    clean(dir_)
    corrupted = bytearray(whole)
    for page in range(2, len(whole) // PAGE):
        corrupted[page * PAGE + 2000] ^= 4
    with open(store, "wb") as file:
        file.write(corrupted)
    rig.contains(rig.check(rig.host("replay", store, "--backend", "reference", "--model",
                                    os.path.join(rig.DATA, "models", "llama")), 2).stderr, "is damaged in page",
                 "'tapml-host --config' goes on with what is whole of it")
    assert open(store, "rb").read() == corrupted, "it was touched"


if __name__ == "__main__":
    rig.main([corrupted_pages, corrupted_headers, cut_files, lost_together, readers_refuse_and_name_who_salvages],
             needs=["reference"])
