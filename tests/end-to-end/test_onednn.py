#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Runs to the devices of `onednn`: what it has is moved, what it lacks is named, and so is an error in a copy of it.

    test_onednn.py COMPILER...

A copy differs from the plugin of the build in one source, of which it has an object of its own.
"""
import os
import re
import subprocess
import sys

import rig

sys.path.insert(0, os.path.join(rig.SOURCE, "bench"))

import planted  # noqa: E402  The folder must be known first.
import suspect  # noqa: E402

COMPILER = sys.argv[1:]
PLUGIN = os.path.join(rig.BUILD, "plugins", "onednn")
OBJECTS = os.path.join(PLUGIN, "tapml-onednn.so.p")
HAS = {"add", "attention", "linear", "mul", "rms_norm", "silu"}
LACKS = {"embed", "gather_rows", "rope", "state_append"}

# Threads that wait would take the cores of what runs beside.
os.environ["OMP_WAIT_POLICY"] = "passive"


def moved(stdout):
    """Op: how many of its instances there are, and how many are on the target."""
    return {name: (int(count), int(there))
            for name, count, there in re.findall(r"^tapml\.(\w+) +(\d+) +(\d+) ", stdout, re.M)}


def blamed(stdout):
    return {op for _, op in re.findall(r"^blamed(?: with others)?: (\S+) \(tapml\.(\w+)\)", stdout, re.M)}


def what_it_has_is_moved_and_what_it_lacks_is_named(folder):
    ini, _ = rig.write_run(folder, target="onednn", count=2, decode=2)
    done = rig.check(rig.host("--config", ini), 0)
    table = moved(done.stdout)
    assert set(table) == HAS | LACKS, done.stdout
    assert all(table[op][0] == table[op][1] for op in HAS), done.stdout
    assert all(table[op][1] == 0 for op in LACKS), done.stdout
    rig.contains(done.stdout, ", 0 blamed, ", "end to end: agrees",
                 *[f": has no op 'tapml.{op}'\n" for op in LACKS])


def declared(device, form, weights="stored"):
    """A test: linear on a device that rounds is right as declared, and costs what it must."""
    def test(folder):
        if f"onednn:{device} " not in re.sub(r"\s+", " ", rig.host("devices").stdout):
            raise rig.Skip(f"no instructions for {device}")
        ini, _ = rig.write_small_run(folder, target=f"onednn:{device}")
        with open(ini, encoding="utf-8") as file:
            text = file.read().replace("[model]\n", f"[model]\nweights = {weights}\n")
        with open(ini, "w", encoding="utf-8") as file:
            file.write(text)
        done = rig.check(rig.host("--config", ini), 0)
        line = re.search(rf"^tapml\.linear +{form} +right +([\d.]+) +([\d.e-]+)$", done.stdout, re.M)
        assert line and float(line[1]) <= 1 and 1e-4 < float(line[2]) < 0.1, done.stdout
        rig.contains(done.stdout, ", 0 blamed, ", "end to end: agrees")
    test.__name__ = f"linear in {device} is right as declared"
    return test


def copy_with(fault, folder):
    """A copy of the plugin with a fault; its manifest."""
    source = os.path.basename(fault.path)
    changed = os.path.join(folder, source)
    with open(changed, "w", encoding="utf-8") as file:
        file.write(suspect.put(suspect.read(os.path.join(rig.SOURCE, fault.path)), fault.old, fault.new, fault.path))
    library = os.path.join(folder, "tapml-onednn.so")
    objects = [os.path.join(OBJECTS, name) for name in sorted(os.listdir(OBJECTS))
               if name.endswith(".c.o") and name != source + ".o"]
    includes = [os.path.join(rig.SOURCE, path) for path in ("plugins/onednn", "sdk/include", "sdk/memory/include")]
    includes.append(os.path.join(rig.BUILD, "sdk", "ops"))
    archives = [os.path.join(rig.BUILD, "sdk", name) for name in ("memory/libtapml-memory.a", "ops/libtapml-ops.a")]
    subprocess.run([*COMPILER, "-std=c11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-fvisibility=hidden", "-shared",
                    "-Wl,-z,now", "-Wl,-z,nodelete", "-Wl,--build-id", *[f"-I{path}" for path in includes], changed,
                    *objects, *archives, "-ldnnl", "-lxxhash", "-lm", "-pthread", "-o", library], check=True)
    manifest = os.path.join(folder, "org.tapml.onednn.tapml")
    subprocess.run([sys.executable, os.path.join(rig.SOURCE, "sdk", "tools", "manifest"), "write", manifest, library],
                   check=True)
    return library


def named(fault, op):
    """A test: a copy with an error in its mapping is found out, at the op that has it and no other."""
    def test(folder):
        library = copy_with(fault, folder)
        ini, _ = rig.write_small_run(os.path.join(folder, "run"), target="onednn")
        done = rig.check(rig.host("--config", ini, "--plugin", library), 1)
        assert blamed(done.stdout) == {op}, done.stdout
        rig.contains(done.stdout, "end to end: agrees")
    test.__name__ = "named: " + fault.name.removeprefix("onednn ")
    return test


FAULTS = {fault.name: fault for fault in planted.MAPPINGS}

if __name__ == "__main__":
    rig.main([
        what_it_has_is_moved_and_what_it_lacks_is_named,
        declared("bf16", "inputs bf16, weights bf16"),
        declared("int8", "inputs q8 in blocks of 32", weights="q8_0"),
        named(FAULTS["onednn linear: a weight read as if it were transposed"], "linear"),
        rig.slow(named(FAULTS["onednn attention: no mask"], "attention")),
        rig.slow(named(FAULTS["onednn rms_norm: eps left out"], "rms_norm")),
    ], needs=["reference", "onednn"])
