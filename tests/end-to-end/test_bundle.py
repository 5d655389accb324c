#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A fault is handed over as one file, which reproduces it elsewhere without the model. With `kinds`, a fault of each
further kind of argument."""
import glob
import os
import re
import shutil
import sqlite3
import sys

import rig
from test_corrupted_kernels import corrupt

SILU = (b"silu", rb"exp\(-v\)", b"exp( v)")
LINEAR = (b"linear_rows", rb"i < width;", b"i+9<width;")
EMBED = (b"embed", rb"ids\[p\.ids_at \+ t\]", b"ids[p.ids_at + 0]")
APPEND = (b"state_append", rb"k_r0 < p\.count\)", b"k_r0+1<p.count)")
ATTENTION = (b"attention", rb"end = here \+ 1u;", b"end = here + 0u;")


def carried(folder, fault):
    """Runs with a corrupted plugin and a model of its own; gives the first bundle, moved to another
    folder where the model is gone, the first accusation, and the corrupted plugin's environment."""
    model = os.path.join(folder, "model")
    shutil.copytree(rig.TINY, model)
    ini, dir_ = rig.write_run(folder, model=model, count=2, decode=3)
    env = corrupt(folder, *fault)
    done = rig.check(rig.host("--config", ini, env=env), 1)
    blamed = re.findall(r"^blamed: (\S+) \((\S+)\)", done.stdout, re.M)
    bundles = re.findall(r"^  tapml-host replay (\S+) --backend opencl$", done.stdout, re.M)
    assert bundles == [os.path.join(dir_, f"FAULT-{n}.tapmlrun") for n in range(1, len(blamed) + 1)], done.stdout
    assert sorted(glob.glob(os.path.join(dir_, "FAULT-*"))) == sorted(bundles), os.listdir(dir_)
    other = os.path.join(folder, "other")
    os.mkdir(other)
    path = shutil.copy(bundles[0], other)
    shutil.rmtree(dir_)
    shutil.rmtree(model)
    return path, blamed[0], env


def reproduces(fault, smaller):
    @rig.plain
    def test(folder):
        path, (instance, op), env = carried(folder, fault)
        done = rig.check(rig.host("replay", path, "--backend", "opencl", env=env), 1)
        rig.contains(done.stdout, f"bundle of {instance}\n", f"  op      {op}, ", ", margin ", "] expected ", ", computed ")
        for backend in ("opencl", "reference"):
            done = rig.check(rig.host("replay", path, "--backend", backend), 0)
            rig.contains(done.stdout, f"bundle of {instance}\n")
        rig.check(rig.host("replay", path, "component=reference", "device=f32"), 0)
        connection = sqlite3.connect(path)
        (shape,), = connection.execute('SELECT shape_class FROM "case"')
        connection.close()
        assert re.fullmatch(smaller, shape), f"reduced to {shape}, expected {smaller}"
    test.__name__ = f"{fault[0].decode()}: replayed elsewhere, corrupted and good"
    return test


@rig.plain
@rig.slow
def test_bundles_of_an_earlier_start_go(folder):
    ini, dir_ = rig.write_run(folder, count=2, decode=3)
    rig.check(rig.host("--config", ini, env=corrupt(folder, *SILU)), 1)
    assert glob.glob(os.path.join(dir_, "FAULT-*"))
    rig.check(rig.host("--config", ini), 0)
    assert not glob.glob(os.path.join(dir_, "FAULT-*"))


DAMAGE = [
    "UPDATE argument SET shape = '[1000000,1000000]' WHERE kind = 'in'",
    "UPDATE argument SET base_bytes = 4 WHERE kind = 'in'",
    "UPDATE argument SET offset_bytes = -4 WHERE kind = 'in'",
    "UPDATE argument SET stride = '[-1]' WHERE kind = 'in'",
    "UPDATE argument SET param = 'z'",
    "UPDATE tensor SET bytes = zeroblob(length(bytes))",
    "UPDATE tensor SET bytes = x'00'",
    "DELETE FROM tensor",
    "UPDATE \"case\" SET op = 'tapml.add'",
    "UPDATE \"case\" SET prompt = 'x'",
    "DELETE FROM argument WHERE position = 0",
    "CREATE TABLE stranger (x)",
]


def test_damaged_bundles_are_refused(folder):
    path, _, _ = carried(folder, LINEAR)
    data = open(path, "rb").read()
    damaged = os.path.join(folder, "damaged.tapmlrun")

    def refused(what):
        done = rig.host("replay", damaged, "--backend", "reference")
        assert done.returncode in (1, 2), f"{what}: exit {done.returncode}\n{done.stdout}{done.stderr}"

    for sql in DAMAGE:
        shutil.copy(path, damaged)
        connection = sqlite3.connect(damaged)
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(sql)
        connection.commit()
        connection.close()
        refused(sql)
    # A bundle has its weights, so a folder that it names is none of its business.
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(b"no model")
    shutil.copy(path, damaged)
    connection = sqlite3.connect(damaged)
    connection.execute("INSERT OR REPLACE INTO metadata VALUES ('model.path', ?)", (folder,))
    connection.commit()
    connection.close()
    rig.check(rig.host("replay", damaged, "--backend", "reference"), 0)
    for size in (0, 50, 100, 4096, len(data) // 2):
        with open(damaged, "wb") as file:
            file.write(data[:size])
        refused(f"{size} bytes")


if __name__ == "__main__":
    KINDS = [reproduces(LINEAR, r"x=\[1,1] w=bf16\[1,1]"),
             reproduces(EMBED, r"table=bf16\[\d+,1] ids=i32\[2]"),
             reproduces(APPEND, r"state=\[<=1,1,1] rows=\[1,1,1]"),
             reproduces(ATTENTION, r"q=\[1,1,1] k_state=\[<=1,1,1] v_state=\[<=1,1,1]")]
    FIRST = [reproduces(SILU, r"x=\[1,1]"), test_bundles_of_an_earlier_start_go, test_damaged_bundles_are_refused]
    rig.main(KINDS if sys.argv[1:] == ["kinds"] else FIRST, needs=["opencl", "reference"])
