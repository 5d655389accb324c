#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Shards that real engines start: two nodes of Slurm, with a shard killed and one run twice, and mpirun."""
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import rig
import slurm
from test_shards import LIMITS, VERDICTS, carved, copied, environment

SHARDS = 8
ENGINES = os.path.join(rig.SOURCE, "conf", "engines")


def into(folder):
    """The run's INI and folder in a copy, where shards write: none of another test is there."""
    ini, dir_, _ = carved()
    own = os.path.join(folder, "run")
    copied(dir_, own)
    path = os.path.join(folder, "run.ini")
    with open(ini, encoding="utf-8") as file, open(path, "w", encoding="utf-8") as out:
        out.write(file.read().replace(f"dir = {dir_}", f"dir = {own}"))
    return path, own


def parts(dir_):
    return sorted(glob.glob(f"{dir_}/shard-*-of-{SHARDS}"))


def expect_whole(dir_):
    """The merged verdicts are those of one process, each once."""
    whole = carved()[2]
    expected = rig.rows(whole, VERDICTS)
    found = [(expected[0][0], *row[1:]) for row in rig.rows(dir_, VERDICTS)]  # `replay` has named the target by its backend.
    assert found == expected, f"{len(found)} and {len(expected)} verdicts"
    assert rig.rows(dir_, LIMITS) == rig.rows(whole, LIMITS)


def kill_one(dir_, shard, job):
    """Kills a shard once it works; whether it was there to be killed."""
    lock = os.path.join(dir_, f"shard-{shard}-of-{SHARDS}", "run.lock")
    while job.poll() is None:
        try:
            with open(lock, encoding="utf-8") as file:
                os.kill(json.load(file)["process"], signal.SIGKILL)
            return True
        except (OSError, ValueError, KeyError):
            time.sleep(0.01)
    return False


def slurm_with_a_shard_killed_and_one_run_twice(folder):
    own = tempfile.mkdtemp(prefix="tapml-slurm-")
    try:
        with slurm.cluster(own) as variables:
            ini, dir_ = into(folder)
            batch = ["sbatch", "--wait", "--nodes=2", "--overcommit", f"--output={folder}/out.%j",
                     os.path.join(ENGINES, "slurm.sbatch"), ini]
            job = subprocess.Popen([slurm.find("sbatch"), *batch[1:]], env=variables, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            assert kill_one(dir_, 5, job), "shard 5 was never there"
            assert job.wait(600) != 0, "the job has not noticed"
            merged = os.path.join(folder, "merged")
            copied(dir_, merged)
            with_stores = [part for part in parts(dir_) if os.path.exists(os.path.join(part, "run.tapmlrun"))]
            done = rig.check(rig.host("store", "merge", *with_stores, "--into", merged), 0)
            rig.contains(done.stdout, "cases have no result")
            print(f"# after the kill: {done.stdout.strip().splitlines()[-2:]}")
            # The whole job again: what is done is not done twice.
            slurm.run(variables, *batch)
            outputs = ""
            for path in glob.glob(f"{folder}/out.*"):
                with open(path, encoding="utf-8") as file:
                    outputs += file.read()
            assert len(re.findall(r"cases, 0 of them now", outputs)) == SHARDS - 1, outputs
            # One of them elsewhere too, of an array.
            again = os.path.join(folder, "again")
            slurm.run(variables, "sbatch", "--wait", "--ntasks=1", f"--array=1-{SHARDS}", f"--output={folder}/array.%a", "--wrap",
                      f"test $SLURM_ARRAY_TASK_ID = 2 || exit 0; exec {rig.HOST} --config {ini} --shard auto --into {again}")
            done = rig.check(rig.host("store", "merge", *parts(dir_), *parts(again), "--into", merged), 0)
            assert "no result" not in done.stdout and len(parts(again)) == 1, done.stdout
            expect_whole(merged)
            # Without srun the script of a job would do the first part alone.
            slurm.run(variables, "sbatch", "--wait", "--ntasks=8", "--overcommit", f"--output={folder}/alone", "--wrap",
                      f"{rig.HOST} --config {ini} --shard auto", code=None)
            with open(f"{folder}/alone", encoding="utf-8") as file:
                rig.contains(file.read(), "put `srun` before the command")
    finally:
        shutil.rmtree(own, ignore_errors=True)


def mpirun_of_eight(folder):
    rig.need("mpirun", shutil.which("mpirun"))
    ini, dir_ = into(folder)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    done = subprocess.run(["sh", os.path.join(ENGINES, "mpirun.sh"), ini, "--oversubscribe"], capture_output=True, text=True,
                          env={**os.environ, **environment(), **root, "TAPML_HOST": rig.HOST}, check=False, timeout=600,
                          stdin=subprocess.DEVNULL)
    rig.check(done, 0)
    assert len(parts(dir_)) == SHARDS, parts(dir_)
    rig.check(rig.host("store", "merge", *parts(dir_), "--into", dir_), 0)
    expect_whole(dir_)


def processor_time_s(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = rig.check(rig.host(*words), 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def measure(ini, to):
    """The processor times of all shards, one after the other, the largest over the mean, and what is predicted."""
    times, said = zip(*(processor_time_s("--config", ini, "--shard", f"{i}/{SHARDS}", "--threads", "1", "--into", to)
                        for i in range(1, SHARDS + 1)))
    return max(times) * SHARDS / sum(times), " ".join(f"{time_s:.2f}" for time_s in times), said[0].splitlines()[0].split("; ")[1]


def shards_take_equal_time(folder):
    """Processor time of a model whose largest calls take a hundred times what the smallest do: clocks of processes that share
    cores say little."""
    model = os.path.join(folder, "model")
    subprocess.run([sys.executable, os.path.join(rig.SOURCE, "tools", "make_model"), "--layers", "2", "134m", model], check=True,
                   stdout=subprocess.DEVNULL)
    prompts = os.path.join(folder, "these.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write(f"ids: {' '.join(str(3 + i) for i in range(24))}\nids: 5 6 7\n")
    ini, dir_ = rig.write_run(folder, source="cpu", target="reference:f32-blocked", decode=4, model=model, prompts=prompts)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("chunk = 64", "chunk = 64\nkeep = all"))
    rig.check(rig.host("--config", ini, "--carve"), 0)
    worst, times, said = measure(ini, os.path.join(folder, "times"))
    rig.falsify(os.path.join(dir_, "run.tapmlrun"), ("UPDATE call SET time_ns = 0",))
    counted, count_times, _ = measure(ini, os.path.join(folder, "counts"))
    print(f"# {SHARDS} shards: {times} s of processor time, the slowest {worst:.2f} of the mean; predicted: {said}")
    print(f"# without times: {count_times} s, the slowest {counted:.2f} of the mean")
    assert worst < counted, times  # 1.2 is the aim, on a machine that nothing else uses while it carves.


if __name__ == "__main__":
    rig.main([slurm_with_a_shard_killed_and_one_run_twice, mpirun_of_eight, shards_take_equal_time], needs=["reference", "cpu"])
