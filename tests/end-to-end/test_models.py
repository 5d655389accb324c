#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Models by name: in the hub's local cache, wherever a folder can be given."""
import json
import os
import subprocess

import hub_cache
import rig

HUB = "Someone/Small-Llama-1M"
NAME = "small-llama-1m"


def write_list(folder, **more):
    """A list of one published model, whose configuration is that of the fixture; gives the environment for it."""
    os.makedirs(folder)
    with open(os.path.join(rig.DATA, "models", "llama", "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    entry = {"name": NAME, "hub": HUB, "type": "llama", "source": {"repository": "r", "path": "p"}, "config": config, **more}
    with open(os.path.join(folder, "list.json"), "w", encoding="utf-8") as file:
        json.dump({"models": [entry]}, file)
    return {"TAPML_MODELS": folder}


def with_cache(folder):
    """A list and a cache that has its model; gives the environment and the model's snapshot."""
    cache = os.path.join(folder, "cache")
    snapshot = hub_cache.add(cache, HUB, os.path.join(rig.DATA, "models", "llama"))
    return {**write_list(os.path.join(folder, "lists")), "HF_HUB_CACHE": cache}, snapshot


def names_stand_where_folders_do(folder):
    """Every command opens the snapshot, whose files are links."""
    env, snapshot = with_cache(folder)
    for name in (NAME, HUB):
        done = rig.check(rig.host("eval", "--model", name, "--backend", "cpu", env=env), 0)
        rig.contains(done.stdout, snapshot)
        rig.check(rig.host("generate", "--model", name, "--ids", "1 2", "--count", "1", "--backend", "cpu", env=env), 0)
        rig.contains(rig.check(rig.host("graph", "--model", name, env=env), 0).stdout, "layers.0/attn")
    hub_cache.add(env["HF_HUB_CACHE"], "Someone/Tiny", rig.TINY)
    done = subprocess.run([rig.HOST, "tokenize", "Someone/Tiny"], input='"Hello"\n', env={**os.environ, **env}, capture_output=True,
                          text=True, check=False)
    rig.contains(rig.check(done, 0).stdout, '"ids"')


def a_run_remembers_the_folder(folder):
    """[model] path takes a name; what reads the run later needs neither list nor cache."""
    env, snapshot = with_cache(folder)
    prompts = os.path.join(folder, "prompts.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write("ids: 1 5 7 9\n")
    path, dir_ = rig.write_run(folder, source="reference", target="reference:f32-blocked", decode=2, model=NAME,
                               prompts=prompts)
    rig.contains(rig.check(rig.host("--check-config", path, env=env), 0).stdout, snapshot)
    rig.check(rig.host("--config", path, env=env), 0)
    assert rig.rows(dir_, "SELECT value FROM metadata WHERE name = 'model.path'") == [(snapshot,)]
    plan = os.path.join(dir_, "plan-gpu.txt")
    rig.check(rig.host("generate", "--plan", plan, "--ids", "1 2", "--count", "1"), 0)
    store = os.path.join(dir_, "run.tapmlrun")
    rig.check(rig.host("replay", store, "--backend", "reference:f32-blocked", "--model", NAME, env=env), 0)


def what_is_not_there_ends_in_a_sentence(folder):
    """The sentence names entry, folders and command; in a file of a run it has the line too."""
    env = {**write_list(os.path.join(folder, "lists")), "HF_HUB_CACHE": folder}
    done = rig.check(rig.host("generate", "--model", NAME, "--ids", "1", env=env), 2)
    rig.contains(done.stderr, f"model '{NAME}': ", f"'{HUB}'", f"looked in '{folder}'", f"'hf download {HUB}'")
    assert done.stderr.count("\n") == 1, done.stderr
    path, _ = rig.write_run(folder, target="reference", model="small-llama-2m")
    done = rig.check(rig.host("--check-config", path, env=env), 2)
    rig.contains(done.stdout, ":9: [model] path: ", f"did you mean '{NAME}'?")
    rig.contains(rig.check(rig.host("--config", path, env=env), 2).stderr, f"did you mean '{NAME}'?")
    os.makedirs(os.path.join(folder, "models--Someone--Small-Llama-1M", "refs"))
    with open(os.path.join(folder, "models--Someone--Small-Llama-1M", "refs", "main"), "w", encoding="utf-8") as file:
        file.write("../../../etc")
    done = rig.check(rig.host("tokenize", HUB, env=env), 2)
    rig.contains(done.stderr, "refs/main: expected a commit of 40 hexadecimal digits")


def what_needs_a_plugin_says_so(folder):
    """A type that no plugin knows is listed all the same, with its name for a state."""
    env = write_list(os.path.join(folder, "lists"), type="new_kind", config={"model_type": "new_kind"})
    rig.contains(rig.check(rig.host("models", env=env), 0).stdout, NAME, "no plugin")
    entry, = json.loads(rig.check(rig.host("models", "--json", NAME, env=env), 0).stdout)
    assert entry["state"] == "no plugin" and "parameters" not in entry and "'new_kind'" in entry["sentence"], entry
    rig.contains(rig.check(rig.host("models", env={"TAPML_MODELS": folder + "/nowhere"}), 2).stderr, "/nowhere: expected")


if __name__ == "__main__":
    rig.main([what_needs_a_plugin_says_so, names_stand_where_folders_do, a_run_remembers_the_folder, what_is_not_there_ends_in_a_sentence])
