#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_tune.py [opencl]

tune: a setting that is fast and wrong is rejected and remembered, the fastest right one is used by later runs, which say
so, and nothing is tried twice. `opencl`: the kernels of a driver, on its real knobs.
"""
import json
import os
import sys

import rig

PLUGIN = os.path.join(rig.BUILD, "tests", "zoo", "tunes.so")
OF_PLUGIN = ["--plugin", PLUGIN]


def cache(folder):
    return {"XDG_CACHE_HOME": os.path.join(folder, "cache")}


def the_file(folder):
    return os.path.join(folder, "cache", "tapml", "tuning.ini")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(folder, ini):
    """The only target of the report, and what was said."""
    path = os.path.join(folder, "run.json")
    done = rig.host("--config", ini, "--json", path, *OF_PLUGIN, env=cache(folder))
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return json.loads(read(path))["targets"][0], done


def tune(folder, *words, code=0):
    done = rig.check(rig.host("tune", "--json", *words, env=cache(folder)), code)
    return json.loads(done.stdout) if code == 0 else done.stderr


def carved(folder, target="tunes"):
    """The run's file and folder, after a run without winners."""
    ini, dir_ = rig.write_small_run(folder, target=target)
    return ini, dir_


def a_fast_and_wrong_setting_is_rejected(folder):
    ini, _ = carved(folder)
    target, _ = run(folder, ini)
    assert target["tuning"] == "", target["tuning"]
    made = tune(folder, "--config", ini, *OF_PLUGIN)
    assert made["component"] == "tunes" and made["classes"], made
    for item in made["classes"]:
        assert item["op"] == "tapml.silu" and item["legal"] == item["tried"] == item["now"] == 6, item
        assert item["winner"].startswith("speed=2 "), item
        assert item["wrong"] == 2 and item["auto"] == "speed=1 nothing=1" and item["auto_wrong"] == "", item
        assert item["winner_ns"] < 0.7 * item["auto_ns"], item
    text = read(the_file(folder))
    assert text.count("wrong = speed=3 ") == 2 * len(made["classes"]), text
    assert "speed=4" not in text, text


def later_runs_use_the_winner_and_say_so(folder):
    ini, dir_ = carved(folder)
    before, _ = run(folder, ini)
    made = tune(folder, "--config", ini, *OF_PLUGIN)
    after, done = run(folder, ini)
    words = f"settings of 'tapml-host tune' are used: silu {len(made['classes'])}"
    assert after["tuning"] == words and after["verdict"] == before["verdict"] == "right", after["tuning"]
    rig.contains(done.stderr, words)
    rig.contains(done.stdout, words)
    # The code is another one: what was measured without the settings says nothing.
    rig.contains(rig.check(rig.host("report", dir_), 0).stdout, words)
    text = read(ini)
    write(ini, text.replace("backend = tunes\n", "backend = tunes\ntuning = off\n"))
    assert run(folder, ini)[0]["tuning"] == ""


def what_is_known_is_not_tried_again(folder):
    ini, _ = carved(folder)
    run(folder, ini)
    first = tune(folder, "--config", ini, *OF_PLUGIN, "--trials", "2", "--by", "random")
    assert all(item["tried"] == item["now"] == 2 for item in first["classes"]), first
    second = tune(folder, "--config", ini, *OF_PLUGIN, "--trials", "6")
    assert all((item["tried"], item["now"]) == (6, 4) for item in second["classes"]), second
    third = tune(folder, "--config", ini, *OF_PLUGIN, "--trials", "6")
    assert all((item["tried"], item["now"]) == (6, 0) for item in third["classes"]), third
    assert [item["winner"] for item in third["classes"]] == [item["winner"] for item in second["classes"]]


def a_file_that_is_damaged_is_not_used(folder):
    ini, _ = carved(folder)
    run(folder, ini)
    tune(folder, "--config", ini, *OF_PLUGIN)
    write(the_file(folder), read(the_file(folder)).replace("winner = speed=2", "winner = speed=3"))
    target, done = run(folder, ini)
    assert target["tuning"] == "", target
    rig.contains(done.stderr, "is none of the trials that are right")


def a_folder_is_tuned_with_a_backend(folder):
    ini, dir_ = carved(folder)
    run(folder, ini)
    made = tune(folder, dir_, "--backend", "tunes", *OF_PLUGIN, "--trials", "1")
    assert all(item["tried"] == 1 and item["winner"] == "" for item in made["classes"]), made
    rig.contains(tune(folder, dir_, "--backend", "reference", code=2), "has nothing to choose")


@rig.slow
def keys_of_the_file_are_tuned_by_whole_runs(folder):
    ini, dir_ = rig.write_small_run(folder, target="cpu")
    best = os.path.join(folder, "best.ini")
    environment = cache(folder)
    made = rig.check(rig.host("tune", "--keys", "--config", ini, "--trials", "3", "--by", "random", "--into", best,
                              env=environment), 0)
    rig.contains(made.stdout, "3 of ", "0 of them wrong", "as it is ", "cache=0 ahead=0 workers=1")
    assert os.path.exists(best) == ("\nwinner " in made.stdout), made.stdout
    # Nothing is left, and the run's own folder was not touched.
    left = [name for name in os.listdir(folder) if ".tune." in name]
    assert not left and not os.path.exists(dir_), left
    again = rig.check(rig.host("tune", "--keys", "--config", ini, "--trials", "3", "--json", env=environment), 0)
    item = json.loads(again.stdout)["classes"][0]
    assert item["tried"] == 3 and item["now"] == 0, item
    if os.path.exists(best):
        rig.check(rig.host("--config", best), 0)


def kernels_of_a_driver_are_tuned(folder):
    ini, _ = rig.write_small_run(folder, target="opencl")
    run(folder, ini)
    for op, knobs in (("linear", "form= width= items="), ("attention", "form= width= items= chunk=")):
        made = tune(folder, "--config", ini, "--op", op, "--trials", "3")
        for item in made["classes"]:
            assert item["op"] == "tapml." + op and item["tried"] == min(3, item["legal"]) and item["wrong"] == 0, item
            assert all(knob in item["auto"] for knob in knobs.split()), item
    target, _ = run(folder, ini)
    assert target["verdict"] == "right", target


if sys.argv[1:] == ["opencl"]:
    rig.main([kernels_of_a_driver_are_tuned], needs=("opencl",))
else:
    rig.main([a_fast_and_wrong_setting_is_rejected, later_runs_use_the_winner_and_say_so, what_is_known_is_not_tried_again,
              a_file_that_is_damaged_is_not_used, a_folder_is_tuned_with_a_backend,
              keys_of_the_file_are_tuned_by_whole_runs])
