#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_zoo.py NAME

A run with a badly behaved plugin as one target and a tame one as another, each in a worker. The host lives, says what
happened, the tame one's results are complete, and nothing is left behind.
"""
import json
import os
import re
import subprocess
import sys
import time

import rig

NAME = sys.argv[1]
ZOO = os.path.join(rig.BUILD, "tests", "zoo")
MODEL = os.path.join(rig.DATA, "models", "llama")
INI = """[run]
dir = {folder}/run
prompts = {prompts}
decode = 2
capacity = 64
[model]
path = {model}
[source]
backend = reference
[target.bad]
backend = {name}
isolation = always
deadline = {deadline}
memory = 600
[target.good]
backend = tame
isolation = always
[offload]
prompts = 1
"""
HANGING = ("hangs_in_probe", "locks_itself", "loops")
FAILING = ("fails_in_op", "fails_in_queue")
# What is said where nothing can be opened, and where the op goes wrong; None: nothing is wrong.
OPENING = {
    "crashes_in_query": "was killed by SIGSEGV",
    "crashes_in_probe": "was killed by SIGSEGV",
    "crashes_in_create": "was killed by SIGSEGV",
    "exits_in_probe": "ended with exit status 0|ended its process with exit status 0",
    "garbage_root": "was killed by SIGSEGV|ended with exit status",
    "hangs_in_probe": "did not answer within|did not end within",
}
CALLING = {
    "crashes_in_op": "was killed by SIGSEGV while it ran silu at '{at}'",
    "crashes_in_buffer": "{at}: crashes_in_buffer: the worker was killed by SIGSEGV",
    "crashes_in_supports": "asked for tapml.silu: crashes_in_supports: the worker was killed by SIGSEGV",
    "crashes_in_wait": "was killed by SIGSEGV while or after it ran silu at '{at}'",
    "aborts": "was killed by SIGABRT while it ran silu at '{at}'; it wrote: .*assertion 'the driver is right' failed",
    "exits": "ended with exit status 3 while it ran silu at '{at}'",
    "loops": "did not answer within .* s and was ended while it ran silu at '{at}'",
    "locks_itself": "did not answer within .* s and was ended while it ran silu at '{at}'",
    "takes_memory": "took .* MiB of memory, may take 600, and was ended while it ran silu at '{at}'",
    "overflows_stack": "was killed by SIGSEGV while it ran silu at '{at}'",
    "closes_descriptors": "(closed its end of the wire|ended with exit status) .*silu at '{at}'",
    "changes_float": "silu at '{at}': .*left another floating-point mode behind",
    "fails_in_op": "silu at '{at}': fails_in_op: the kernel of this op was refused: code 42",
    "fails_in_queue": "silu at '{at}': fails_in_queue: trouble in the queue",
    "throws": "was killed by SIGABRT while it ran silu at '{at}'",
}
VERDICTS = ("SELECT instance, verdict, reason FROM judged JOIN \"case\" ON id = case_id"
            " WHERE op = 'tapml.silu' AND target = '{}'")


def processes():
    """Command lines of all processes."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found[int(pid)] = file.read()
        except OSError:
            pass
    return found


def plugins():
    return ["--plugin", os.path.join(ZOO, NAME + ".so"), "--plugin", os.path.join(ZOO, "tame.so")]


def write(folder):
    path = os.path.join(folder, "run.ini")
    prompts = os.path.join(folder, "prompts.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write("ids: 1 5 7 9\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(INI.format(folder=folder, prompts=prompts, model=MODEL, name=NAME,
                              deadline=3 if NAME in HANGING else 120))
    return path


def check_tame(dir_):
    verdicts = rig.rows(dir_, VERDICTS.format("good"))
    assert len(verdicts) >= 4 and {verdict for _, verdict, _ in verdicts} == {"pass"}, verdicts


def runs(folder):
    ini = write(folder)
    dir_ = os.path.join(folder, "run")
    before = set(processes())
    done = rig.host("--config", ini, *plugins())
    if NAME in OPENING:
        rig.check(done, 3)
        assert re.search(OPENING[NAME], done.stderr), done.stderr
        rig.contains(done.stderr, f"target 'bad' is given up: the component '{NAME}' of 'org.example.{NAME}'")
        return
    bad = rig.rows(dir_, VERDICTS.format("bad"))
    assert len(bad) >= 4, bad
    if NAME in CALLING:
        rig.check(done, 1)
        first = {}
        for at, verdict, reason in bad:
            assert verdict == "error", (at, verdict, reason)
            first.setdefault(at, reason)
        for at, reason in first.items():
            assert re.search(CALLING[NAME].format(at=at), reason), reason
        assert set(re.findall(r"^blamed: (\S+)", done.stdout, re.M)) == set(first), done.stdout
    else:
        rig.check(done, 0)
        assert {verdict for _, verdict, _ in bad} == {"pass"}, bad
    assert "all is well" not in done.stdout, "what a plugin prints is not the host's"
    check_tame(dir_)
    end = time.monotonic() + 2
    left = orphans(before)
    while left and time.monotonic() < end:
        time.sleep(0.01)
        left = orphans(before)
    assert not left, left


def orphans(before):
    """Workers whose hosts are gone, and which were not there before."""
    return {pid: line for pid, line in processes().items() if pid not in before and is_orphan(line)}


def generating_tells(folder):
    """A call that ends its process, or does not end, is one sentence that names it, as an opening is that does; the host
    lives."""
    said = CALLING[NAME].format(at="layers.0/mlp/silu") if NAME in CALLING else \
        f"'bad' cannot be opened: the component '{NAME}' of 'org.example.{NAME}': the worker {OPENING[NAME]}"
    plan = os.path.join(folder, "plan.txt")
    with open(plan, "w", encoding="utf-8") as file:
        file.write("* -> source\nop=silu -> bad\n")
    for how in [["--deadline", "1"]] if NAME in HANGING else [[], ["--isolation", "never"]] if NAME in FAILING else [[]]:
        began = time.monotonic()
        done = rig.host("generate", "--model", MODEL, "--ids", "1 5 7", "--count", "2", "--source", "reference",
                        "--plan", plan, "--target", "bad=" + NAME, *how, *plugins())
        rig.check(done, 3)
        assert re.search(said, done.stderr), done.stderr
        assert time.monotonic() - began < 30


def is_orphan(line):
    """Whether a command line is that of a worker whose host is gone."""
    words = line.split(b"\0")
    return b"tapml-worker" in words[0] and words[1:2] == [b"--under"] and not os.path.exists("/proc/" + words[2].decode())


def goes_with_its_host(folder):
    """What a plugin has forked does not outlive a host that is killed."""
    with subprocess.Popen([rig.HOST, "--config", write(folder), *plugins()], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as host:
        def family():
            wanted = [b"--under", str(host.pid).encode()]
            return [pid for pid, line in processes().items() if line.split(b"\0")[1:3] == wanted]
        while len(family()) < 5:  # Two workers under their supervisors, and one that was forked.
            assert host.poll() is None, "it ended before anything was forked"
            time.sleep(0.002)
        host.kill()
        host.wait()
        for _ in range(200):
            if not family():
                return
            time.sleep(0.05)
        raise AssertionError(f"{len(family())} processes outlive their host")


def is_remembered(folder):
    """A probe that hangs costs the first command its time limit, and the others nothing."""
    others = {"XDG_CACHE_HOME": folder}
    lines = ["did not answer within 20 s"] + ["its probe hung 0 minutes ago"] * 4
    for line, command in zip(lines, [["check-device", NAME, "--deadline", "20"], ["devices"], ["plugins"],
                                     ["devices", NAME], ["check-device", NAME]]):
        began = time.monotonic()
        done = rig.host(*command, *plugins(), env=others)
        rig.contains(done.stdout + done.stderr, NAME, line)
        assert time.monotonic() - began < (60 if line == lines[0] else 15), command


def is_listed(_):
    if NAME == "hangs_in_probe":
        return  # It takes the whole time limit; `is_remembered` shows the same.
    done = rig.check(rig.host("plugins", "--json", *plugins()), 0)
    states = {entry["component"]: entry for entry in json.loads(done.stdout)}
    assert states["tame"]["state"] == "usable", states["tame"]
    if NAME in OPENING:
        assert states[NAME]["state"] == "probe-failed", states[NAME]
        assert re.search(OPENING[NAME], states[NAME]["sentence"]), states[NAME]
    else:
        assert states[NAME]["state"] == "usable", states[NAME]


if __name__ == "__main__":
    more = [goes_with_its_host] if NAME.startswith("forks") else []
    more += [generating_tells] if NAME in (*FAILING, "aborts", "crashes_in_create", "crashes_in_op", "exits", "loops") else []
    more += [is_remembered] if NAME == "hangs_in_probe" else []
    rig.main([runs, is_listed] + more, needs=["reference"])
