#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The component `cpu` in whole models: as a target, as a source, on several threads, without an allocation."""
import os

import rig

MODELS = [rig.TINY] + sorted(entry.path for entry in os.scandir(os.path.join(rig.DATA, "models")))


def threads_change_nothing(folder):
    """What eval prints of each fixture, errors with three digits."""
    for model in MODELS:
        said = {rig.check(rig.host("eval", "--model", model, "--backend", "cpu", "--threads", threads), 0).stdout
                for threads in "123"}
        assert len(said) == 1, said


def every_level_agrees(folder):
    """The devices of this machine, the lowest one is always there."""
    tried = 0
    for level in ("avx512vnni", "avx512", "avx2", "portable"):
        done = rig.host("eval", "--model", rig.TINY, "--backend", "cpu:" + level)
        if "no such device" in done.stderr or "no device" in done.stderr:
            assert level != "portable", done.stderr
            continue
        assert rig.check(done, 0).stdout.count("agrees") == 3, done.stdout
        tried += 1
    assert tried > 0


def run(folder, source, target):
    ini, _ = rig.write_run(folder, source=source, target=target)
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "0 not compared", "end to end: agrees")


def the_reference_goes_over_to_cpu(folder):
    run(folder, "reference", "cpu")


@rig.slow
def cpu_goes_over_to_opencl(folder):
    rig.need("opencl", rig.usable("opencl"))
    run(folder, "cpu", "opencl")


def tokens_allocate_nothing(folder):
    """Twice as many tokens, the same number of allocations: but for the text of the answer, which doubles."""
    rig.need("plain build", os.path.exists(os.path.join(rig.BUILD, "tests", "end-to-end", "libcount_allocations.so")))
    counts = []
    for count in ("16", "64"):
        path = os.path.join(folder, count)
        env = {"LD_PRELOAD": os.path.join(rig.BUILD, "tests", "end-to-end", "libcount_allocations.so"),
               "TAPML_COUNT_FILE": path}
        rig.check(rig.host("generate", "--model", rig.TINY, "--backend", "cpu", "--prompt", "Once upon a time",
                           "--count", count, "--capacity", "96", "--json", env=env), 0)
        with open(path, encoding="utf-8") as file:
            counts.append(int(file.read()))
    assert counts[0] > 500, f"{counts[0]} allocations: they are not counted"
    assert counts[1] - counts[0] < 16, f"48 tokens made {counts[1] - counts[0]} allocations"


if __name__ == "__main__":
    rig.main([threads_change_nothing, every_level_agrees, the_reference_goes_over_to_cpu, cpu_goes_over_to_opencl,
              tokens_allocate_nothing], needs=["cpu", "reference"])
