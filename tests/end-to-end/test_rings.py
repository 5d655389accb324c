#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Models whose weights go through less memory than they take, in `generate` and in runs.

Usage: test_rings.py BACKEND
"""
import json
import os
import sys

import rig

BACKEND = sys.argv[1]
IDS = ["--ids", "5 17 3 9", "--count", "12", "--json"]


def generate(*more, backend=BACKEND):
    return rig.host("generate", "--model", rig.TINY, "--backend", backend, *IDS, *more)


def generate_gives_the_same(_):
    expected = rig.check(generate(), 0).stdout
    for ring in (["25%"], ["40%", "--slots", "3"], ["40%", "--slots", "1"], ["1"], ["auto"]):
        for isolation in ("never", "always", "loopback") if ring == ["25%"] else ("never",):
            done = rig.check(generate("--ring", *ring, "--isolation", isolation, "--explain"), 0)
            assert done.stdout == expected, (ring, isolation, done.stdout, expected)
            rig.contains(done.stderr, "ring of source: ", " MB of weights")
            if ring[0].endswith("%"):
                rig.contains(done.stderr, " sections go through ", "; each call loads ", " GB/s, as measured")


def a_ring_agrees_with_hugging_face(_):
    done = rig.check(rig.host("eval", "--model", rig.TINY, "--backend", BACKEND, "--ring", "25%", "--explain"), 0)
    assert done.stdout.count("agrees") == 3, done.stdout
    rig.contains(done.stderr, "ring of source: ", "; each call loads ")


def what_has_no_room_is_refused(_):
    done = generate("--ring", "5%")
    assert done.returncode != 0, done
    rig.contains(done.stderr, " on source: its weights take a slot of ", ", of which the ring has 2: its memory is ")
    for words, said in ((["--ring", "much"], "--ring: expected 'auto', MiB from 1 to"),
                        (["--slots", "2"], "--slots is of --ring, which is not given")):
        rig.contains(rig.check(generate(*words), 2).stderr, said)


def change(ini, lines):
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("[target.gpu]\n", "[target.gpu]\n" + lines))


def run(folder, name, lines):
    os.makedirs(os.path.join(folder, name))
    ini, _ = rig.write_run(os.path.join(folder, name), target=BACKEND, count=1, decode=2)
    change(ini, lines)
    path = os.path.join(folder, name, "report.json")
    done = rig.check(rig.host("--config", ini, "--json", path), 0)
    with open(path, encoding="utf-8") as file:
        return done, json.load(file)["targets"][0]


def a_run_is_refused_before_it_carves(folder):
    ini, dir_ = rig.write_small_run(folder, target=BACKEND)
    change(ini, "ring = 5%\n")
    done = rig.host("--config", ini)
    assert done.returncode == 3, done
    rig.contains(done.stderr, "[target.gpu] ring: ", " on gpu: its weights take a slot of ", ", expected at least ")
    assert rig.rows(dir_, 'SELECT count(*) FROM "case"') == [(0,)], "it has carved"


def a_run_finds_the_same(folder):
    plain_done, plain = run(folder, "plain", "")
    done, ring = run(folder, "ring", "ring = 40%\nslots = 2\n")
    assert plain["ring"] == "", plain["ring"]
    rig.contains(ring["ring"], "ring of gpu: ", " through 2 slots of ")
    rig.contains(done.stdout, ring["ring"])
    assert "ring of gpu" not in plain_done.stdout
    for key in ("verdict", "counts", "end_to_end"):
        assert plain[key] == ring[key], (key, plain[key], ring[key])


rig.main([generate_gives_the_same, a_ring_agrees_with_hugging_face, what_has_no_room_is_refused, a_run_is_refused_before_it_carves,
          a_run_finds_the_same], needs=(BACKEND,))
