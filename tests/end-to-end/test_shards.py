#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""`--shard I/N`: cases that several processes replay apart, merged, are those of one process."""
import functools
import glob
import os
import re
import shutil

import rig

# A wrong operator, so that not all verdicts are the same, and every call kept.
FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
LABEL = "instance, prompt, step, part"
VERDICTS = (f"SELECT target, {LABEL}, verdict, output, reason, implementation, device, driver FROM judged"
            " JOIN \"case\" ON id = case_id ORDER BY 1, 2, 3, 4, 5")
LIMITS = "SELECT op, version, shape_class, param, oracle, ulp, nmse, row_error FROM \"limit\" ORDER BY 1, 2, 3, 4"
ENGINES = ("SLURM_", "OMPI_", "PMI", "JOB_COMPLETION_INDEX", "TAPML_SHARD")


@functools.cache
def carved():
    """A run that is carved, and nothing more: its INI, its folder, and the same done by one process."""
    ini, dir_ = rig.write_small_run(os.path.join(rig.script_folder(), "carved"), ids=rig.THREE_PROMPTS, extra=FAULT)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("chunk = 64", "chunk = 64\nkeep = all"))
    rig.check(rig.host("--config", ini, "--carve"), 0)
    whole = os.path.join(rig.script_folder(), "whole")
    rig.check(rig.host("replay", *copied(dir_, whole), "--config", ini, "--target", "gpu"), 1)
    return ini, dir_, whole


def copied(dir_, to):
    """A copy of a run's store, by its path."""
    os.makedirs(to)
    shutil.copy(os.path.join(dir_, "run.tapmlrun"), to)
    return (os.path.join(to, "run.tapmlrun"),)


def environment(**variables):
    """That of this process without what may have numbered it."""
    return {**{name: "" for name in os.environ if name.startswith(ENGINES)}, **variables}


def shares(dir_):
    """What the shards of a folder have: sets of keys of their cases."""
    return [{row[0] for row in rig.rows(shard, "SELECT hex(key) FROM \"case\"")} for shard in sorted(glob.glob(f"{dir_}/shard-*"))]


def three_shards_are_the_whole(folder):
    ini, dir_, whole = carved()
    into = os.path.join(folder, "shards")
    before = os.stat(os.path.join(dir_, "run.tapmlrun")).st_mtime_ns
    for index, variables in ((1, {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "3"}),
                             (2, {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3"})):
        done = rig.check(rig.host("--config", ini, "--shard", "auto", "--into", into, env=environment(**variables)), 0)
        rig.contains(done.stderr, f"shard {index} of 3: ", "wrong")
    assert os.stat(os.path.join(dir_, "run.tapmlrun")).st_mtime_ns == before, "the carved store was written to"
    assert not os.path.exists(os.path.join(dir_, "run.tapmlrun-wal"))
    # Two are merged into the run: what is not there is counted.
    merged = os.path.join(folder, "merged")
    copied(dir_, merged)
    done = rig.check(rig.host("store", "merge", *sorted(glob.glob(f"{into}/shard-*")), "--into", merged), 0)
    (cases,), = rig.rows(dir_, "SELECT count(*) FROM \"case\"")
    left = int(re.search(rf"gpu: (\d+) of {cases} cases have no result", done.stdout).group(1))
    rig.contains(done.stdout, "no shard 3 of 3\n")
    # The third comes late and is run twice, the second time elsewhere.
    again = os.path.join(folder, "again")
    for place in (into, again):
        rig.check(rig.host("--config", ini, "--shard", "3/3", "--into", place), 0)
    done = rig.check(rig.host("store", "merge", f"{into}/shard-3-of-3", f"{again}/shard-3-of-3", "--into", merged), 0)
    assert "no result" not in done.stdout and "no shard" not in done.stdout, done.stdout
    parts = shares(into)
    keys = {row[0] for row in rig.rows(dir_, "SELECT hex(key) FROM \"case\"")}
    assert set.union(*parts) == keys and sum(map(len, parts)) == len(keys), [len(part) for part in parts]
    assert left == rig.rows(f"{into}/shard-3-of-3", "SELECT count(*) FROM \"case\"")[0][0]
    expected = [row for row in rig.rows(whole, VERDICTS)]
    # `replay` names the target by its backend.
    found = [(expected[0][0], *row[1:]) for row in rig.rows(merged, VERDICTS)]
    assert found == expected and {row[5] for row in found} >= {"pass", "fail"}, f"{len(found)} and {len(expected)} verdicts"
    assert rig.rows(merged, LIMITS) == rig.rows(whole, LIMITS)


def the_run_goes_on_in_the_merged_store(folder):
    ini, dir_, _ = carved()
    into = os.path.join(folder, "shards")
    for index in (1, 2):
        rig.check(rig.host("--config", ini, "--shard", f"{index}/2", "--into", into), 0)
    merged = os.path.join(folder, "merged")
    copied(dir_, merged)
    rig.check(rig.host("store", "merge", *sorted(glob.glob(f"{into}/shard-*")), "--into", merged), 0)
    own = os.path.join(folder, "run.ini")
    with open(ini, encoding="utf-8") as file, open(own, "w", encoding="utf-8") as out:
        out.write(file.read().replace(f"dir = {dir_}", f"dir = {merged}"))
    done = rig.check(rig.host("--config", own), 1)
    match = re.search(r"replay on gpu: (\d+) cases and \d+ derived ones, (\d+) and", done.stderr)
    assert match and match.group(2) == "0", done.stderr


def replay_and_rank_have_shards(folder):
    ini, dir_, _ = carved()
    store = os.path.join(dir_, "run.tapmlrun")
    counts = []
    for index in (1, 2):
        done = rig.check(rig.host("replay", store, "--backend", "reference:f32-blocked", "--shard", f"{index}/2", "--into", folder), 0)
        counts.append(int(re.search(r"(\d+) cases, 0 failed", done.stderr).group(1)))
    assert sum(counts) == rig.rows(dir_, "SELECT count(*) FROM \"case\"")[0][0] and min(counts) > 0, counts
    ranks = os.path.join(folder, "ranks")
    for index in (1, 2):
        rig.check(rig.host("rank", "--config", ini, "--over", "op", "--shard", f"{index}/2", "--into", ranks), 0)
    merged = os.path.join(folder, "merged")
    copied(dir_, merged)
    rig.check(rig.host("store", "merge", *sorted(glob.glob(f"{ranks}/shard-*")), "--into", merged), 0)
    own = os.path.join(folder, "run.ini")
    with open(ini, encoding="utf-8") as file, open(own, "w", encoding="utf-8") as out:
        out.write(file.read().replace(f"dir = {dir_}", f"dir = {merged}"))
    done = rig.check(rig.host("rank", "--config", own, "--over", "op"), 0)
    # A race of a shard ends as soon as nothing can change the first: what it has not asked for is not there.
    spent, now = map(int, re.search(r"(\d+) of \d+ cases in \d+ rounds, (\d+) of them replayed now", done.stdout).groups())
    assert now < spent and done.stdout.splitlines()[1].startswith("tapml.silu"), done.stdout


if __name__ == "__main__":
    rig.main([three_shards_are_the_whole, the_run_goes_on_in_the_merged_store, replay_and_rank_have_shards], needs=["reference"])
