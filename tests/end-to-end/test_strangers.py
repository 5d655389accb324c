#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_strangers.py [TRIALS]

Bundles and stores that somebody has sent, and limits of the system: what they say is shortened, what they ask for is
refused, what runs for them is limited. fuzz_bundle does in one process, a hundred thousand times, what the programs do
here with a sample.
"""
import contextlib
import glob
import json
import os
import random
import re
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import time

import rig

TRIALS = int(sys.argv[1]) if len(sys.argv) > 1 else 12
FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
LONG = "x" * (2 << 20)
SHOWN_BYTES = 100000  # Of a command, whatever a store says.
MEMORY_BYTES = 2 << 30
DOCUMENTED = (0, 1, 2, 3)  # Exit codes of `tapml-host help`.


def made(folder):
    """The store and a bundle of a run with a fault, which the tests copy."""
    shared = os.path.join(rig.script_folder(), "run")
    if not os.path.isdir(shared):
        ini, dir_ = rig.write_small_run(shared, extra=FAULT)
        rig.check(rig.host("--config", ini), 1)
    copy = os.path.join(folder, "sent")
    os.makedirs(copy)
    for name in ("run.tapmlrun", "FAULT-1.tapmlrun"):
        shutil.copy(os.path.join(shared, "run", name), copy)
    return copy, os.path.join(copy, "run.tapmlrun"), os.path.join(copy, "FAULT-1.tapmlrun")


def commands(folder, bundle):
    """What people do with what was sent."""
    other = os.path.join(folder, "other")
    return (["show", bundle], ["show", bundle, "1"], ["replay", bundle, "--backend", "reference"], ["report", os.path.dirname(bundle)],
            ["status", os.path.dirname(bundle)], ["store", "merge", os.path.dirname(bundle), "--into", other])


# -- What they say ---------------------------------------------------------------------------------

FACTS = [("INSERT OR REPLACE INTO metadata VALUES (?, ?)", (name, LONG)) for name in
         ("model.path", "source", "model.files", "model.state.difference", "limits.devices")]
FACTS += [('UPDATE "case" SET instance = ? WHERE id = 1', (LONG,)), ('UPDATE "case" SET shape_class = ? WHERE id = 1', (LONG,)),
          ('UPDATE "case" SET op = ? WHERE id = 1', (LONG,)), ("UPDATE prompt SET text = ?", (LONG,)),
          ("UPDATE target SET backend = ?", (LONG,)), ("UPDATE target SET name = ?", (LONG,)),
          ("UPDATE result SET reason = ?, outcome = 'error' WHERE case_id = 1", (LONG,)),
          ("UPDATE blame SET reason = ?", (LONG,)), ("UPDATE offload SET sentence = ?", (LONG,)),
          ("UPDATE run SET host = ?", (LONG,))]


def facts_of_megabytes_are_shortened(folder):
    sent, store, _ = made(folder)
    whole = shutil.copy(store, os.path.join(folder, "whole"))
    for fact in FACTS:
        shutil.copy(whole, store)
        rig.falsify(store, ("PRAGMA foreign_keys = 0",), fact)
        for words in (["report", sent], ["status", sent], ["show", store], ["replay", store, "--backend", "reference", "--case", "1"]):
            done = rig.host(*words)
            assert done.returncode in DOCUMENTED, (fact[0], words, done.returncode, done.stderr[:500])
            assert len(done.stdout) + len(done.stderr) < SHOWN_BYTES, f"{fact[0]}: {words[0]} prints {len(done.stdout)}"
        page = os.path.join(sent, "report.html")
        assert not os.path.exists(page) or os.path.getsize(page) < 10 * SHOWN_BYTES, f"{fact[0]}: {os.path.getsize(page)}"


def names_of_megabytes_in_other_files_are_shortened(folder):
    """A key of config.json, a tensor's name, a value of GGUF, a value of an INI: what was expected is still told."""
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model)
    path = os.path.join(model, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)

    def refused(*pieces, at=model):
        done = rig.check(rig.host("graph", "--model", at), 2)
        assert len(done.stderr) < 6000 and done.stderr.count("\n") == 1, len(done.stderr)
        rig.contains(done.stderr, *pieces)
    for change, pieces in (({"hidden_act": LONG}, ("x', expected 'silu'",)), ({"model_type": LONG}, ("...",)),
                           ({LONG: 1}, ("...",)), ({"rms_norm_eps": LONG}, ("'/rms_norm_eps': expected a number", "..."))):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**config, **change}, file)
        refused(*pieces)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    header = json.dumps({LONG: {"dtype": "F32", "shape": [4], "data_offsets": [0, 4]}}).encode()
    with open(os.path.join(model, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + bytes(16))
    refused("model.safetensors: tensor 'xxx", "xxx...': expected ")
    text = struct.pack("<Q", len(LONG)) + LONG.encode()
    name = b"general.architecture"
    with open(os.path.join(folder, "x.gguf"), "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", len(name)) + name + struct.pack("<I", 8) + text)
    refused("x.gguf: expected an architecture that is known", "found 'xxx", at=os.path.join(folder, "x.gguf"))


# -- What they ask for -----------------------------------------------------------------------------

def any_value(rand, old):
    numbers = (0, 1, -1, 2, 65536, 1 << 31, -(1 << 31), 1 << 40, (1 << 63) - 1, -(1 << 63))
    if isinstance(old, str) and rand.random() < 0.6:
        return re.sub(r"\d+", lambda found: str(rand.choice(numbers)) if rand.random() < 0.5 else found[0], old)
    if isinstance(old, bytes) and old and rand.random() < 0.6:
        changed = bytearray(old)
        changed[rand.randrange(len(changed))] ^= 1 << rand.randrange(8)
        return bytes(changed[:rand.choice((len(changed), len(changed) // 2))])
    return rand.choice((*numbers, None, "", "x" * 5000, b"\0" * 64, 1e308, -0.5, old))


def changed_row(connection, rand):
    """A statement that gives a value of some table another one."""
    tables = [name for name, in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    full = [name for name in tables if connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]]
    table = rand.choice(full)
    columns = [name for name, in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    column = rand.choice(columns)
    values = connection.execute(f'SELECT "{columns[0]}", "{column}" FROM "{table}"').fetchall()
    key, old = rand.choice(values)
    return f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE "{columns[0]}" = ?', (any_value(rand, old), key)


def mutate(rand, path):
    """A change of a row or several; or of bytes of a page."""
    if rand.random() < 0.25:
        with open(path, "rb") as file:
            data = bytearray(file.read())
        for _ in range(rand.randrange(1, 8)):
            data[rand.randrange(100, len(data))] ^= 1 << rand.randrange(8)
        with open(path, "wb") as file:
            file.write(data)
        rig.put_sums(path)
        return "bytes"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        changes = [changed_row(connection, rand) for _ in range(rand.randrange(1, 4))]
    try:
        rig.falsify(path, ("PRAGMA foreign_keys = 0",), *changes)
    except sqlite3.Error:  # A column that takes no NULL.
        rig.put_sums(path)
    return str(changes)[:500]


def limited():
    if not rig.SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def mutated_bundles_end_as_documented(folder):
    seed = int(os.environ.get("TAPML_SEED", "7"))
    print(f"# seed {seed}")
    rand = random.Random(seed)
    sent, store, bundle = made(folder)
    seeds = [store, bundle, *sorted(glob.glob(os.path.join(rig.DATA, "stores", "*", "FAULT-1.tapmlrun")))]
    kept = [shutil.copy(path, os.path.join(folder, f"seed-{at}")) for at, path in enumerate(seeds)]
    for trial in range(TRIALS):
        for left in glob.glob(glob.escape(store) + "-*"):  # The log of one that was broken is none of another's.
            os.remove(left)
        shutil.copy(kept[trial % len(kept)], store)
        what = mutate(rand, store)
        words = commands(folder, store)
        for command in [words[0], words[2], words[1 + trial % (len(words) - 1)]]:
            done = subprocess.run([rig.HOST, *command], capture_output=True, timeout=120, check=False, preexec_fn=limited,
                                  stdin=subprocess.DEVNULL)
            said = done.stderr.decode("utf-8", "replace")
            assert done.returncode in DOCUMENTED, f"trial {trial}, {what}: {command} ended with {done.returncode}\n{said}"
            assert done.returncode < 2 or said, f"trial {trial}, {what}: {command} says nothing"


# -- What runs for them ----------------------------------------------------------------------------

def worker_of(host):
    """The limits of the worker that serves, as the system lists them; None where there is none yet."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if b"--serve" in words and words[words.index(b"--under") + 1] == str(host.pid).encode():
                with open(f"/proc/{process}/limits", encoding="utf-8") as file:
                    limits = dict(re.findall(r"^(Max [a-z ]+?)  +(\d+)", file.read(), re.M))
                if limits.get("Max cpu time") is not None:
                    return limits
        except (OSError, ValueError, IndexError):
            pass  # It has ended, or is on its way.
    return None


def workers_have_the_limits_that_they_were_given(folder):
    _, _, bundle = made(folder)
    ini, _ = rig.write_small_run(os.path.join(folder, "limited"), ids=rig.THREE_PROMPTS)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("[target.gpu]", "[target.gpu]\nlimit-files = 77\nlimit-cpu = 500"))
    for words in (["--config", ini], ["replay", bundle, "--backend", "reference", "--repeat", "400", "--limit-files", "77",
                                      "--limit-cpu", "500"]):
        host = subprocess.Popen([rig.HOST, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        limits = None
        while host.poll() is None and limits is None:
            limits = worker_of(host)
            time.sleep(0.001)
        said = host.communicate()[1].decode()
        assert host.returncode == 0, said
        assert limits is not None and limits["Max open files"] == "77" and limits["Max cpu time"] == "500", limits
    rig.contains(rig.check(rig.host("replay", bundle, "--backend", "reference", "--limit-cpu", "x"), 2).stderr,
                 "option '--limit-cpu': 'x' is no whole number")


def a_worker_that_computes_for_too_long_is_ended(folder):
    _, _, bundle = made(folder)
    done = rig.host("replay", bundle, "--backend", "reference", "--repeat", "1000000", "--limit-cpu", "1")
    assert done.returncode in (1, 3), (done.returncode, done.stderr)
    rig.contains(done.stdout + done.stderr, "was killed by SIGXCPU")


def with_files(soft, hard, *words):
    return subprocess.run([rig.HOST, *words], capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))


def too_few_descriptors_say_how_many_are_needed(folder):
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model)
    with open(os.path.join(model, "model.safetensors"), "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        table, body = json.loads(file.read(size)), file.read()
    os.remove(os.path.join(model, "model.safetensors"))
    table.pop("__metadata__", None)
    for at, (name, entry) in enumerate(table.items()):
        begin, end = entry["data_offsets"]
        header = json.dumps({name: {**entry, "data_offsets": [0, end - begin]}}).encode()
        with open(os.path.join(model, f"shard-{at}.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + body[begin:end])
    with open(os.path.join(model, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump({"weight_map": {name: f"shard-{at}.safetensors" for at, name in enumerate(table)}}, file)
    least = len(table) + 160
    done = rig.check(with_files(170, 170, "graph", "--model", model), 3)
    needed, limit, raised = re.fullmatch(r"tapml-host: .*model: expected that (\d+) files can be open at once, the limit of this "
                                         r"system is (\d+): 'ulimit -n (\d+)' raises it\n", done.stderr).groups()
    assert limit == "170" and needed == raised and least <= int(needed) <= least + 16, done.stderr
    rig.check(with_files(int(needed), int(needed), "graph", "--model", model), 0)  # What was said is enough.
    rig.check(with_files(70, int(needed), "graph", "--model", model), 0)  # And it is taken where it can be.
    done = rig.check(with_files(16, 16, "plugins"), 3)
    rig.contains(done.stderr, "tapml-host: tapml-host: expected that 16", "the limit of this system is 16: 'ulimit -n 16")


def as_many_descriptors_as_are_asked_for_are_enough(folder):
    """For as many places as there can be, each in a worker of its own."""
    plan = os.path.join(folder, "plan.txt")
    with open(plan, "w", encoding="utf-8") as file:
        file.writelines(f"op={op} -> t{at}\n" for at, op in enumerate(("silu", "linear", "add", "mul", "rope", "embed", "rms_norm")))
    targets = [word for at in range(7) for word in ("--target", f"t{at}=reference:f32-blocked")]
    rig.check(with_files(168, 168, "generate", "--model", os.path.join(rig.DATA, "models", "llama"), "--ids", "1 2 3", "--count",
                         "4", "--source", "reference", *targets, "--plan", plan, "--isolation", "always"), 0)


if __name__ == "__main__":
    rig.main([facts_of_megabytes_are_shortened, names_of_megabytes_in_other_files_are_shortened, mutated_bundles_end_as_documented,
              workers_have_the_limits_that_they_were_given, a_worker_that_computes_for_too_long_is_ended,
              too_few_descriptors_say_how_many_are_needed, as_many_descriptors_as_are_asked_for_are_enough], needs=["reference"])
