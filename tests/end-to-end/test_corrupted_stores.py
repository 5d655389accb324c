#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_corrupted_stores.py [FLIPS]

Stores that are damaged, of another version, or of another run: a sentence, never a wrong verdict.
"""
import functools
import glob
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import rig

HEADER = [16, 20, 28, 60, 100, 110]  # Bytes of it that mean something.
FLIPS = int(sys.argv[1]) if len(sys.argv) > 1 else 24
FINDINGS = ["SELECT target, case_id, verdict, margin, reason FROM judged ORDER BY 1, 2",
            "SELECT instance, op, phase, step, part FROM \"case\" ORDER BY 1, 2, 3, 4, 5",
            "SELECT * FROM \"limit\" ORDER BY 1, 2, 3, 4", "SELECT plan FROM step WHERE step = 'final'"]
FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"


def run(ini):
    return rig.host("--config", ini, "--threads", "1")


@functools.cache
def make_finished():
    """A run that has ended, with something blamed: its INI, folder, bytes and findings."""
    ini, dir_ = rig.write_small_run(os.path.join(rig.script_folder(), "run"), extra=FAULT)
    rig.check(run(ini), 1)
    with open(os.path.join(dir_, "run.tapmlrun"), "rb") as file:
        return ini, dir_, file.read(), findings(dir_)


def finished():
    """The finished run that the tests share, whole again: its INI, folder, store, bytes and findings."""
    ini, dir_, whole, expected = make_finished()
    store = os.path.join(dir_, "run.tapmlrun")
    for path in glob.glob(store + "*"):
        os.remove(path)
    with open(store, "wb") as file:
        file.write(whole)
    return ini, dir_, store, whole, expected


def findings(dir_):
    return [rig.rows(dir_, sql) for sql in FINDINGS]


def noticed_or_the_same(ini, dir_, expected, what):
    """The run says that its store is damaged and cannot be salvaged, or ends as ever. Gives whether damage was told."""
    for path in glob.glob(os.path.join(dir_, "run.tapmlrun.*")):
        os.remove(path)
    done = run(ini)
    if done.returncode == 2:
        assert re.search(r"store '\S+' is damaged.*move it away and start again$", done.stderr, re.M), \
            f"{what}: {done.stderr}"
        return 1
    rig.check(done, 1)
    assert findings(dir_) == expected, f"{what}: other findings\n{done.stderr}"
    return "was damaged in" in done.stderr


def flipped_bytes(_):
    ini, dir_, store, whole, expected = finished()
    seed = int(os.environ.get("TAPML_SEED", "7"))
    print(f"# seed {seed}")
    rand = random.Random(seed)
    noticed = 0
    for trial in range(FLIPS):
        corrupted = bytearray(whole)
        # The header, then anywhere.
        at = HEADER[trial] if trial < len(HEADER) else rand.randrange(len(whole))
        corrupted[at] ^= 1 << rand.randrange(8)
        with open(store, "wb") as file:
            file.write(corrupted)
        noticed += noticed_or_the_same(ini, dir_, expected, f"byte {at}")
        status = rig.host("status", dir_)
        assert status.returncode in (0, 2), (at, status.stderr)
    assert noticed == FLIPS, f"{noticed} of {FLIPS} were noticed"


def cut_files(_):
    ini, dir_, store, whole, expected = finished()
    for size in (0, 99, 512, 4096, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        with open(store, "wb") as file:
            file.write(whole[:size])
        noticed = noticed_or_the_same(ini, dir_, expected, f"{size} bytes")
        # Of an empty file nothing is lost that could be named: the run is made again.
        assert noticed == (size > 0), f"{size} of {len(whole)} bytes"


def a_damaged_log_loses_steps_and_they_are_done_again(folder):
    expected = finished()[4]
    for trial in range(3):
        ini, dir_ = rig.write_small_run(os.path.join(folder, f"killed-{trial}"), extra=FAULT)
        child = subprocess.Popen([rig.HOST, "--config", ini, "--threads", "1"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        store = os.path.join(dir_, "run.tapmlrun")
        while child.poll() is None and not (os.path.exists(store + "-wal") and os.path.getsize(store + "-wal") > 400000):
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.wait()
        for end in ("-wal", "-shm"):
            data = bytearray(open(store + end, "rb").read())
            data[len(data) * (trial + 1) // 4] ^= 0x10
            with open(store + end, "wb") as file:
                file.write(data)
        rig.check(run(ini), 1)
        assert findings(dir_) == expected


def what_is_no_store(_):
    ini, _, store, _, _ = finished()
    for data in (b"hello", os.urandom(8192)):
        with open(store, "wb") as file:
            file.write(data)
        rig.contains(rig.check(run(ini), 2).stderr, store, "damaged")
    os.remove(store)
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE holiday (day)")
    connection.close()
    rig.contains(rig.check(run(ini), 2).stderr, f"'{store}' is no store of a run")


def a_newer_version(folder):
    ini, dir_ = rig.write_small_run(folder)
    os.makedirs(dir_)
    store = os.path.join(dir_, "run.tapmlrun")
    connection = sqlite3.connect(store)
    connection.executescript("PRAGMA application_id = 0x5461704d; PRAGMA user_version = 1000; CREATE TABLE fact (x);")
    connection.close()
    before = open(store, "rb").read()
    rig.contains(rig.check(run(ini), 2).stderr, f"store '{store}' has version 1000, this host knows 2")
    assert open(store, "rb").read() == before, "it was touched"
    rig.contains(rig.check(rig.host("status", dir_), 2).stdout, "version 1000, this host knows 2")


def edit(path, old, new):
    text = open(path, encoding="utf-8").read()
    assert old in text
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def another_run_model_or_source(_):
    """Each key that would make another run of it is named with both values."""
    ini, dir_, store, _, before = finished()
    changes = [
        ("decode = 2", "decode = 3", "with [run] decode = 2, now it is 3"),
        ("capacity = 128", "capacity = 64", "with [run] capacity = 128, now it is 64"),
        ("chunk = 64", "chunk = 32", "with [run] chunk = 64, now it is 32"),
        ("decode = 2", "decode = 2\nkeep = all", "with [run] keep = first, now it is all"),
        ("backend = reference\n", "backend = reference:f64\n",
         "with [source] backend = reference, now it is reference:f64"),
        ("models/llama", "models/llama_bias_llama3", "with another [model] path: its contents had the hash"),
    ]
    for old, new, sentence in changes:
        edit(ini, old, new)
        rig.contains(rig.check(run(ini), 2).stderr, store, sentence, "another [run] dir, or remove that one")
        edit(ini, new, old)
    prompts = os.path.join(os.path.dirname(ini), "prompts.txt")
    edit(prompts, "7", "8")
    rig.contains(rig.check(run(ini), 2).stderr, "with another [run] prompts", prompts)
    edit(prompts, "8", "7")
    rig.check(run(ini), 1)
    assert findings(dir_) == before


def first_byte_of_a_large_tensor(data):
    length = int.from_bytes(data[:8], "little")
    tensors = json.loads(data[8:8 + length])
    large = max((entry["data_offsets"] for name, entry in tensors.items() if name != "__metadata__"),
                key=lambda offsets: offsets[1] - offsets[0])
    assert large[1] - large[0] > 1024
    return 8 + length + large[0]


def other_weights_under_the_same_path(folder):
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model)
    ini, dir_ = rig.write_small_run(folder, model=model)
    rig.check(run(ini), 0)
    weights = os.path.join(model, "model.safetensors")
    os.utime(weights)
    rig.check(run(ini), 0)  # Touched, and the same.
    data = bytearray(open(weights, "rb").read())
    data[first_byte_of_a_large_tensor(data)] ^= 0x40  # The model's hash takes a sample of its middle.
    with open(weights, "wb") as file:
        file.write(data)
    done = rig.check(run(ini), 2)
    rig.contains(done.stderr, "with another [model] path: weight '", "is not what it was")


if __name__ == "__main__":
    rig.main([flipped_bytes, cut_files, a_damaged_log_loses_steps_and_they_are_done_again, what_is_no_store,
              a_newer_version, another_run_model_or_source, other_weights_under_the_same_path], needs=["reference"])
