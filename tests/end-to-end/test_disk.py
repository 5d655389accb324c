#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Where there is no room, a run says so in a sentence, keeps what was committed, and goes on later.

With `inside FOLDER` the script is its own helper, which runs where it may mount.
"""
import json
import os
import re
import resource
import subprocess
import sys

import rig

CASES = "SELECT instance, prompt, step, part FROM \"case\" ORDER BY 1, 2, 3, 4"
RESULTS = ("SELECT instance, prompt, step, part, verdict, margin FROM judged JOIN \"case\" ON id = case_id"
           " ORDER BY 1, 2, 3, 4")


def short_run(folder):
    """Without a worker, whose shared memory is a file for such a limit, too."""
    return rig.write_small_run(folder, target="reference:f32-blocked\nisolation = never", ids=rig.THREE_PROMPTS)


def whole_run(folder):
    """What a run finds that has room, and the size of its store."""
    ini, dir_ = short_run(os.path.join(folder, "whole"))
    rig.check(rig.host("--config", ini), 0)
    return rig.rows(dir_, CASES), rig.rows(dir_, RESULTS), os.path.getsize(os.path.join(dir_, "run.tapmlrun"))


def kept(dir_):
    """The cases that are in the store; it is sound."""
    if not os.path.exists(os.path.join(dir_, "run.tapmlrun")):
        return []
    assert rig.rows(dir_, "PRAGMA integrity_check") == [("ok",)]
    try:
        return rig.rows(dir_, CASES)
    except rig.sqlite3.OperationalError as error:
        assert "no such table" in str(error)  # Not even these had room.
        return []


def one_sentence(done, what):
    """It ended with 3 and told of it once, with the path."""
    rig.check(done, 3)
    told = [line for line in done.stderr.splitlines() if line.startswith("tapml-host: ")]
    assert len(told) == 1 and re.search(what, told[0]), f"'{what}' is not what is told once:\n{done.stderr}"


def files_have_a_limit(folder):
    cases, results, size = whole_run(folder)
    ini, dir_ = short_run(os.path.join(folder, "limited"))
    before = []
    for part in (0.001, 0.02, 0.1, 0.3, 0.6, 0.75, 0.9):
        limit = int(size * part)
        done = subprocess.run([rig.HOST, "--config", ini], capture_output=True, text=True, timeout=600, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        one_sentence(done, rf"{dir_}.*the limit on the size of files \(ulimit -f\) of {limit} bytes is reached")
        now = kept(dir_)
        assert set(before) <= set(now) <= set(cases), f"of {len(before)} cases {len(now)} are left"
        before = now
    assert before, "nothing was ever kept: the limits are too small to show anything"
    rig.check(rig.host("--config", ini), 0)
    assert (rig.rows(dir_, CASES), rig.rows(dir_, RESULTS)) == (cases, results)


def mount(folder, options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)


def inside(folder):
    """On a disk with room for the first prompt and not for all, which then grows."""
    small = os.path.join(folder, "small")
    os.mkdir(small)
    mount(small, "size=1280k")
    ini, dir_ = short_run(small)
    one_sentence(rig.host("--config", ini), rf"{dir_}/run\.tapmlrun.*the disk is full \(\d+ bytes are free\)")
    before = kept(dir_)
    assert before, "nothing was kept"
    one_sentence(rig.host("--config", ini), rf"{dir_}/run\..*the disk is full")  # A second start finds it no better.
    assert kept(dir_) == before
    status = rig.check(rig.host("status", dir_), 0)
    rig.contains(status.stdout, "failed", "the disk is full")
    mount(small, "remount,size=64m")
    rig.check(rig.host("--config", ini), 0)
    cases, results, _ = whole_run(folder)
    assert set(before) <= set(cases)
    assert (rig.rows(dir_, CASES), rig.rows(dir_, RESULTS)) == (cases, results)


def a_disk_that_is_too_small(folder):
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    tried = subprocess.run(unshare + ["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, text=True,
                           check=False)
    if tried.returncode != 0:
        raise rig.Skip(f"no file system can be mounted in a user namespace: {tried.stderr.strip()}")
    done = subprocess.run(unshare + [sys.executable, os.path.abspath(__file__), "inside", folder],
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def printed_to(path, *args):
    """The host with a file as its standard output, "" for one that is closed."""
    command = [rig.HOST, *args]
    with open(path or os.devnull, "w", encoding="utf-8") as out:
        return subprocess.run(command if path else ["sh", "-c", '"$@" >&-', "sh", *command], stdout=out, timeout=600,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=False)


def what_cannot_be_printed_is_no_success(folder):
    """Whatever a command prints, and whether it would end with 0 or 1."""
    ini, dir_ = short_run(os.path.join(folder, "printed"))
    full = "the standard output: the disk is full"
    for path, why in (("/dev/full", full), ("", "the standard output: Bad file descriptor")):
        done = printed_to(path, "--config", ini)
        assert not os.path.exists(os.path.join(dir_, "run.tapmlrun")), "all was done before it was noticed"
        for command in (["--config", ini], ["--help"], ["--version"], ["--explain"], ["plugins"], ["ops"], ["models"],
                        ["graph", "--model", rig.TINY], ["--check-config", ini], ["report", "--help"],
                        ["check-device", "reference:f32"], ["devices", "reference"]):
            done = printed_to(path, *command)
            assert done.returncode == 3, f"{command} > {path}: exit {done.returncode}\n{done.stderr}"
            rig.contains(done.stderr, "tapml-host: cannot write to " + why)
    rig.check(rig.host("--config", ini), 0)
    for command in (["report", dir_], ["status", dir_], ["compare", dir_, dir_],
                    ["replay", os.path.join(dir_, "run.tapmlrun"), "--backend", "reference:f64"]):
        done = printed_to("/dev/full", *command)
        assert done.returncode == 3, f"{command}: exit {done.returncode}\n{done.stderr}"
        rig.contains(done.stderr, full)


def files_of_a_report_are_tried_first(folder):
    ini, dir_ = short_run(os.path.join(folder, "tried"))
    for option in ("--json", "--junit"):
        one_sentence(rig.host("--config", ini, option, "/dev/full"), "^tapml-host: /dev/full: .*the disk is full")
        rig.contains(rig.check(rig.host("--config", ini, option, folder), 2).stderr, "found a folder")
        rig.check(rig.host("--config", ini, option, os.path.join(folder, "none", "x")), 2)
    assert not os.path.exists(os.path.join(dir_, "run.tapmlrun")), "all was done before it was noticed"
    rig.check(rig.host("--config", ini), 0)
    for command in (["report", dir_, "--json"], ["report", dir_, "--junit"], ["compare", dir_, dir_, "--json"],
                    ["compare", dir_, dir_, "--html"]):
        one_sentence(rig.host(*command, "/dev/full"), "/dev/full: .*the disk is full")
    printed = rig.check(rig.host("report", dir_, "--json", "/dev/stdout"), 0).stdout
    assert json.loads(printed[printed.index("\n{\n"):])["verdict"] == "right", printed[:500]


if __name__ == "__main__":
    if sys.argv[1:2] == ["inside"]:
        inside(sys.argv[2])
    else:
        rig.main([files_have_a_limit, a_disk_that_is_too_small, what_cannot_be_printed_is_no_success,
                  files_of_a_report_are_tried_first], needs=["reference"])
