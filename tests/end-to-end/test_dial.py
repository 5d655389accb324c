#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A target whose worker dials the host: pairing, a run that is cut and killed while another worker waits, and what commands say
(`short`); processes of a run that wait for one worker (`beside`)."""
import os
import random
import subprocess
import sys
import time

import far
import killing
import rig
import test_kill

CUTS = 8
MODEL = os.path.join(rig.DATA, "models", "llama")


def machines(folder):
    """A host and two workers that are paired, the way back."""
    host = far.Machine(os.path.join(folder, "near"))
    workers = [far.Machine(os.path.join(folder, name)) for name in ("far", "other")]
    for worker in workers:
        ends = far.pair_back(host, worker, os.path.basename(worker.folder))
        assert [end[0] for end in ends] == [0, 0], ends
        codes = [end[1].split("code: ")[1].split()[0] for end in ends]
        assert codes[0] == codes[1], codes
    return host, workers


def write(folder, port, name, **more):
    target = f"reference:f32-blocked\nlisten = 127.0.0.1:{port}"
    return test_kill.short_run(folder, name, **{"target": target, **more})


def start(host, ini):
    return host.start(rig.HOST, "--config", ini, "--threads", "1")


def until_it_waits(process, port):
    """The line of a host that waits, which has the address and its patience."""
    line = process.stderr.readline()
    while line and "waiting at" not in line:
        line = process.stderr.readline()
    rig.contains(line, f"waiting at 127.0.0.1:{port} for a worker, 'tapml-worker --dial', for 600 s at most")


def it_finds_what_a_local_run_finds(folder, host, workers, expected):
    """Over a link that is cut, with a worker process and a host that are killed, while another worker waits."""
    port = far.free_port()
    link = far.Link(port)
    chance = random.Random(1)
    cuts = 0
    ini, dir_ = write(folder, port, "cut")
    with start(host, ini) as process:  # It waits; nobody dials yet.
        until_it_waits(process, port)
        process.kill()
    with far.dialling(workers[0], link.own_port) as serving:
        with start(host, ini) as process:  # The worker may come before the host says that it waits.
            while not killing.workers_of(serving.pid):
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.02)
            process.kill()  # The session that it has at the worker is replaced by that of the next host.
        with start(host, ini) as process, far.dialling(workers[1], port):
            while process.poll() is None and cuts < CUTS:
                time.sleep(chance.uniform(0.05, 0.3))
                if cuts in (3, 6):  # Work that is killed three times would be given up.
                    killing.kill_all(killing.workers_of(serving.pid)[:1])
                link.cut()
                cuts += 1
            said = process.communicate()
    link.close()
    assert process.returncode == 1 and cuts > 0, said
    killing.check_whole(dir_)
    test_kill.same(dir_, expected, f"after {cuts} cuts")


def side_by_side(folder, host, workers, expected):
    """Two processes of a run wait for one worker, one behind the other."""
    port = far.free_port()
    ini, dir_ = write(folder, port, "beside")
    with far.dialling(workers[0], port):
        rig.check(rig.host("--config", ini, "--threads", "1", "--side-by-side", env=host.env), 1)
    test_kill.same(dir_, expected, "side by side")


def patience_ends_in_a_sentence(folder, host, workers):
    """Also where only keys have dialled that are not paired."""
    port = far.free_port()
    ini, _ = write(folder, port, "nobody", target=f"reference\nlisten = 127.0.0.1:{port}\npatience = 1")
    done = rig.check(rig.host("--config", ini, env=host.env), 3)
    rig.contains(done.stderr, "waiting at", "target 'gpu' cannot be opened", "was out of reach for",
                 f"no worker has dialled 127.0.0.1:{port}")
    check = ("check-device", "reference", "--listen", f"127.0.0.1:{port}", "--patience", "2")
    rig.check(rig.host("pair", "--remove", "other", env=host.env), 0)
    for worker, here, there in (
            (workers[1], "shows a key that is not paired: 'tapml-host pair --listen", "is this user paired there?"),
            (far.Machine(os.path.join(folder, "stranger")), "no worker has dialled",
             f"tapml://127.0.0.1:{port} shows a key that is not paired: 'tapml-worker --pair")):
        with far.dialling(worker, port) as process:
            rig.contains(rig.check(rig.host(*check, env=host.env), 3).stderr, here, "was out of reach for")
            rig.contains(process.stderr.readline(), there)


def commands_take_a_far_backend(host, workers):
    """As they take one of this machine."""
    port = far.free_port()
    generate = ("generate", "--model", MODEL, "--ids", "1 5 7", "--count", "3", "--backend", "reference")
    here = rig.check(rig.host(*generate), 0).stdout
    with far.listening(workers[0], "--dial", f"tapml://127.0.0.1:{port}") as (_, other):
        listen, url = ("--listen", f"127.0.0.1:{port}"), ("--url", f"tapml://127.0.0.1:{other}")
        rig.contains(rig.check(rig.host("check-device", "reference", *listen, env=host.env), 0).stdout, "the driver passed")
        for way in (listen, url):
            there = rig.check(rig.host(*generate, *way, env=host.env), 0).stdout
            assert there == here, there


def short(folder):
    expected = test_kill.undisturbed(folder)
    host, workers = machines(folder)
    it_finds_what_a_local_run_finds(folder, host, workers, expected)
    patience_ends_in_a_sentence(folder, host, workers)
    commands_take_a_far_backend(host, workers)


def beside(folder):
    expected = test_kill.undisturbed(folder)
    host, workers = machines(folder)
    side_by_side(folder, host, workers, expected)


if __name__ == "__main__":
    rig.main([{"short": short, "beside": beside}[sys.argv[1]]], needs=["reference"])
