#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""rank over encodings, plans and models: what is best is found, what does not fit is said, and asking again runs nothing."""
import json
import os

import hub_cache
import rig

TEXT = os.path.join(rig.TINY, "prompts.txt")
TWO = ["--weights", "q4_0", "--weights", "q8_0"]


def ask(folder, over, *words, code=0, env=None):
    """The document of a question, whose results stay in the cache of `folder`."""
    env = {"XDG_CACHE_HOME": os.path.join(folder, "cache"), **(env or {})}
    done = rig.check(rig.host("rank", "--over", over, "--text", TEXT, "--context", "32", "--backend", "cpu", "--json", *words,
                              env=env), code)
    return json.loads(done.stdout) if code == 0 else done.stderr


def names(document):
    return [arm["name"] for arm in document["ranking"]]


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def the_value_is_that_of_perplexity_and_costs_nothing_again(folder):
    words = ["--model", rig.TINY, "--chunks", "4"]
    first = ask(folder, "encoding", *words, *TWO, "--by", "kl")
    assert names(first) == ["q8_0", "q4_0"], first
    assert first["spent"]["runs"] == first["predicted"]["runs"] == 8, first
    gap = first["ranking"][1]["value"] - first["ranking"][0]["value"]
    assert abs(first["ranking"][1]["behind"] / gap - 1) < 1e-6 and not first["ranking"][0]["is_behind"], first
    path = os.path.join(folder, "perplexity.json")
    rig.check(rig.host("perplexity", "--model", rig.TINY, "--text", TEXT, "--context", "32", "--chunks", "4", "--backend", "cpu",
                       "--weights", "q8_0", "--base", rig.TINY, "--json", path), 0)
    with open(path, encoding="utf-8") as file:
        known = json.load(file)
    assert abs(first["ranking"][0]["value"] / known["comparison"]["divergence"]["value"] - 1) < 1e-6, (first, known)
    assert abs(first["ranking"][0]["perplexity"] / known["perplexity"]["value"] - 1) < 1e-6, (first, known)

    again = ask(folder, "encoding", *words, *TWO, "--by", "kl")
    assert again["spent"]["runs"] == again["predicted"]["runs"] == again["openings"] == 0, again
    assert again["ranking"] == first["ranking"], again
    # One more, and more of the text.
    more = ask(folder, "encoding", "--model", rig.TINY, "--chunks", "5", *TWO, "--weights", "q5_1", "--by", "kl")
    assert more["spent"]["runs"] == 1 + 1 + 5 and names(more)[0] == "q8_0", more


def what_does_not_fit_is_said_and_not_run(folder):
    figures = "[device]\nname = phone\nsource = a test\n[memory]\nbytes = {}\n"
    words = ["--model", rig.TINY, "--chunks", "1", *TWO, "--by", "perplexity", "--fits"]
    bytes_of = {arm["name"]: arm["bytes"]
                for arm in ask(folder, "encoding", *words, write(folder, "large.ini", figures.format(1 << 40)))["ranking"]}
    small = write(folder, "small.ini", figures.format(bytes_of["q4_0"]))
    found = ask(folder, "encoding", *words, small)
    assert names(found) == ["q4_0"], found
    assert found["left_out"] == [{"name": "q8_0", "bytes": bytes_of["q8_0"],
                                  "why": f"it takes {bytes_of['q8_0']} bytes, 'phone' has {bytes_of['q4_0']}"}], found
    tiny = write(folder, "tiny.ini", figures.format(1000))
    rig.contains(ask(folder, "encoding", *words, tiny, code=3), "nothing can be tried: 'q4_0': it takes ")


def halving_stops_what_is_behind(folder):
    found = ask(folder, "encoding", "--model", rig.TINY, "--by", "kl", "--budget", "16", "--method", "halving", "--chunks", "8")
    assert found["method"] == "halving" and found["taken"] == 16 and names(found)[0] == "q8_0", found
    taken = {arm["name"]: (arm["taken"], arm["last_round"]) for arm in found["ranking"]}
    assert taken["q4_0"][0] < taken["q8_0"][0] and taken["q4_0"][1] > 0, taken
    assert {"q4_k", "q5_k", "q6_k"} == {left["name"] for left in found["left_out"]}, found


def the_faster_plan_is_found(folder):
    plans = [write(folder, "here.txt", "* -> source\n"), write(folder, "there.txt", "* -> gpu\n")]
    found = ask(folder, "plan", "--model", rig.TINY, "--plan", plans[0], "--plan", plans[1], "--target", "gpu=reference",
                "--by", "speed", "--chunks", "2")
    assert names(found) == plans and found["unit"] == "tokens/s", found  # The reference is slower by far.
    assert found["ranking"][0]["value"] > found["ranking"][1]["value"] > 0, found
    assert found["ranking"][0]["prefill/s"] > 0, found


def models_of_the_hub_are_ranked_and_others_are_absent(folder):
    cache = os.path.join(folder, "hub")
    hub_cache.add(cache, "Qwen/Qwen3-0.6B", rig.TINY)
    env = {"HF_HUB_CACHE": cache, "HF_HOME": folder, "HOME": folder}
    found = ask(folder, "model", "--chunks", "2", env=env)
    assert names(found) == ["qwen3-0.6b"] and found["unit"] == "bits per byte", found
    assert len(found["left_out"]) > 50 and "not in the hub's cache" in found["left_out"][0]["why"], found["left_out"][:2]


if __name__ == "__main__":
    rig.main([the_value_is_that_of_perplexity_and_costs_nothing_again, what_does_not_fit_is_said_and_not_run,
              halving_stops_what_is_behind, the_faster_plan_is_found,
              models_of_the_hub_are_ranked_and_others_are_absent],
             needs=["reference", "cpu"])
