#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A target behind a bad link (relay.py): packets that come 25 ms later each way, of which one in a hundred is lost; the same,
and cut again and again, a far worker that is killed, a host that is killed. Each run finds what one of this machine finds,
nothing twice and nothing less. `TAPML_SEED` draws other moments.
"""
import contextlib
import functools
import os
import random
import subprocess
import time

import far
import killing
import relay
import rig
import test_kill
import test_remote

DELAY_S, LOSS = 0.025, 0.01  # Each way: a ping takes 50 ms.
PORT = 7700
TIMES = 20
CUT_S = (0.1, 30)
SEED = int(os.environ.get("TAPML_SEED", "1"))


@functools.cache
def expected():
    return test_kill.undisturbed(rig.script_folder())


class Site:
    """A host and a far worker that are paired, each in a network of its own, joined by the bad link."""

    def __init__(self, folder, target=f"url = tapml://{relay.ADDRESSES[1]}:{PORT}"):
        self.folder, self.target = folder, target
        self.host, self.worker = test_remote.machines(folder)
        self.link = relay.Relay(DELAY_S, LOSS, SEED)
        self.host.inside, self.worker.inside = self.link.enter(0), self.link.enter(1)
        self.runs = 0

    def write(self):
        self.runs += 1
        return test_kill.short_run(self.folder, f"run{self.runs}", target=f"reference:f32-blocked\n{self.target}")

    def start(self, ini):
        return test_remote.start(self.host, ini)

    def listening(self):
        return far.listening(self.worker, host=relay.ADDRESSES[1], port=PORT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.link.close()


def wait_for_session(process, serving):
    """A machine that cannot be reached from the beginning is waited for 10 s alone."""
    while process.poll() is None and not killing.workers_of(serving.pid):
        time.sleep(0.05)


def until_end(process, chance, least_s, most_s):
    """Gives the number of each moment at which something may be done to a run, until that has ended by itself."""
    count = 0
    while True:
        try:
            process.wait(chance.uniform(least_s, most_s))
            return
        except subprocess.TimeoutExpired:
            yield count
            count += 1


def check(process, dir_, what):
    said = process.communicate()
    assert process.returncode == 1, (what, process.returncode, said)
    killing.check_whole(dir_)
    test_kill.same(dir_, expected(), what)
    print(f"# {what}", flush=True)


def late_packets_change_nothing(folder):
    with Site(folder) as site, site.listening():
        ini, dir_ = site.write()
        begin = time.monotonic()
        with site.start(ini) as process:
            check(process, dir_, "undisturbed")
        print(f"# after {time.monotonic() - begin:.1f} s", flush=True)


def cuts_lose_nothing(folder):
    chance = random.Random(SEED)
    cuts = 0
    with Site(folder) as site, site.listening() as (serving, _):
        while cuts < TIMES:
            ini, dir_ = site.write()
            with site.start(ini) as process:
                wait_for_session(process, serving)
                for _ in until_end(process, chance, 0.2, 2):
                    if cuts < TIMES:
                        length_s = CUT_S[0] * (CUT_S[1] / CUT_S[0]) ** chance.random()
                        site.link.cut(length_s)
                        time.sleep(length_s)
                        cuts += 1
                check(process, dir_, f"after {cuts} cuts")


def killed_workers_are_survived(folder):
    """By turns the process of a session, and all of the far program, which is started anew."""
    chance = random.Random(SEED + 1)
    kills = 0
    with Site(folder) as site:
        while kills < TIMES:
            ini, dir_ = site.write()
            with contextlib.ExitStack() as serving, site.start(ini) as process:
                program, _ = serving.enter_context(site.listening())
                for moment in until_end(process, chance, 2, 4):
                    if kills < TIMES and moment % 2 == 0:
                        killing.kill_all(killing.workers_of(program.pid)[:1])
                        kills += 1
                    elif kills < TIMES:
                        program.kill()
                        program.wait()
                        killing.wait_until_gone(program.pid)
                        serving.close()
                        program, _ = serving.enter_context(site.listening())
                        kills += 1
                check(process, dir_, f"after {kills} workers were killed")


def killed_hosts_go_on(folder):
    """And the worker dials."""
    chance = random.Random(SEED + 2)
    kills = 0
    where = f"{relay.ADDRESSES[0]}:{PORT}"
    with Site(folder, f"listen = {where}") as site, far.dialling(site.worker, PORT, host=relay.ADDRESSES[0]):
        while kills < TIMES:
            ini, dir_ = site.write()
            is_over = False
            while not is_over:
                with site.start(ini) as process:
                    for _ in until_end(process, chance, 0.5, 6):
                        if kills < TIMES:
                            process.kill()
                            kills += 1
                    is_over = process.returncode >= 0
                    if is_over:
                        check(process, dir_, f"after {kills} hosts were killed")


if __name__ == "__main__":
    rig.main([late_packets_change_nothing, cuts_lose_nothing, killed_workers_are_survived, killed_hosts_go_on],
             needs=["reference"])
