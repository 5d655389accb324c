#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_sharding.py BACKEND

A model over several places: the text that it generates, what is said of its parts, what is refused, and the rules by
which operators are split, asked of a target.
"""
import json
import os
import re
import shutil
import sys

import rig

BACKEND = sys.argv[1]
COLUMN = "*.q_proj *.k_proj *.v_proj *.gate_proj *.up_proj"
ROW = "*.o_proj *.down_proj"
IDS = ["--ids", "5 17 3 9", "--count", "12", "--json"]


def sharding(folder, mesh="a b", column=COLUMN, row=ROW, name="two.ini"):
    keys = {"mesh": mesh, "column": column, "row": row}
    lines = ["[shard]", *(f"{key} = {value}" for key, value in keys.items() if value)]
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def generate(*more, model=rig.TINY):
    return rig.host("generate", "--model", model, "--source", "reference", *IDS, *more)


def targets(**places):
    return [word for name, backend in places.items() for word in ("--target", f"{name}={backend}")]


def ids_of(done):
    return json.loads(rig.check(done, 0).stdout)["ids"]


def columns_have_the_same_text(folder):
    """Nothing is added up, so each place computes what the source would."""
    expected = rig.check(generate(), 0).stdout
    file = sharding(folder, row=None)
    for isolation in ("never", "always"):
        done = generate("--sharding", file, *targets(a="reference", b="reference"), "--isolation", isolation)
        assert rig.check(done, 0).stdout == expected, (isolation, done.stdout, expected)


def places_of_several_backends_have_the_same_ids(folder):
    """Of the source, of the processor and of a driver: sums in another order, and one answer."""
    expected = ids_of(generate())
    file = sharding(folder)
    assert ids_of(generate("--sharding", file, *targets(a="cpu", b=BACKEND))) == expected
    with_source = sharding(folder, mesh="source b", name="source.ini")
    assert ids_of(generate("--sharding", with_source, *targets(b=BACKEND))) == expected


def divided_models_agree_with_hugging_face(folder):
    models = {"llama": (COLUMN, ROW), "mixtral": ("*.q_proj *.k_proj *.v_proj *.w1 *.w3", "*.o_proj *.w2"),
              "gpt2": ("*mlp.c_fc*", "*mlp.c_proj*")}
    for name, (column, row) in models.items():
        model = os.path.join(rig.DATA, "models", name)
        file = sharding(folder, column=column, row=row)
        done = rig.host("eval", "--model", model, "--source", "reference", "--sharding", file,
                        *targets(a="reference", b=BACKEND))
        assert rig.check(done, 0).stdout.count("agrees") == 3, done.stdout
        rig.contains(done.stdout, f", a on reference, b on {BACKEND}\n")


def what_each_place_has_is_said(folder):
    file = sharding(folder)
    done = rig.check(rig.host("graph", "--model", rig.TINY, "--sharding", file, "--shardings"), 0)
    rig.contains(done.stdout, "op layers.0/attn/q_proj (tapml.linear): out; ",
                 "inserted layers.0/attn/o_proj/sum (tapml.add): ",
                 "weights: a ", "if nothing but what is annotated were split: ")
    whole = rig.check(rig.host("graph", "--model", rig.TINY, "--sharding", file), 0)
    rig.contains(whole.stdout, "layers.0/attn/q_proj@a", "layers.0/attn/q_proj@b")


def a_published_plan_is_followed(folder):
    """By a copy of the model whose config.json has one, as models of Hugging Face have it."""
    model = shutil.copytree(rig.TINY, os.path.join(folder, "model"), copy_function=os.symlink)
    path = os.path.join(model, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    os.remove(path)
    modules = {"colwise": ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"), "rowwise": ("o_proj", "down_proj")}
    config["base_model_tp_plan"] = {f"layers.*.{'self_attn' if name[0] in 'qkvo' else 'mlp'}.{name}": way
                                    for way, names in modules.items() for name in names}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    published = sharding(folder, column=None, row="", name="hf.ini")
    with open(published, "a", encoding="utf-8") as file:
        file.write("plan = hf\n")
    given = rig.check(rig.host("graph", "--model", rig.TINY, "--sharding", sharding(folder)), 0)
    found = rig.check(rig.host("graph", "--model", model, "--sharding", published), 0)
    assert given.stdout == found.stdout, (given.stdout, found.stdout)
    done = rig.host("graph", "--model", rig.TINY, "--sharding", published)
    assert done.returncode != 0, done
    rig.contains(done.stderr, "expected the key 'base_model_tp_plan', found none")


def what_cannot_be_split_is_refused(folder):
    cases = {
        "mesh: expected 2 places or more, found 'a'": {"mesh": "a"},
        "mesh: 'a' stands twice": {"mesh": "a a"},
        "'*.nobody' matches no operator and no weight": {"column": "*.nobody"},
        "has no rule for 'row'": {"row": "*mlp/silu"},
        "is both 'column' and 'row'": {"row": "*.q_proj"},
        "units that stay together, which is less than the 3 parts": {"mesh": "a b c", "column": "*/attention", "row": None},
    }
    for index, (said, options) in enumerate(cases.items()):
        file = sharding(folder, name=f"{index}.ini", **options)
        done = rig.host("graph", "--model", rig.TINY, "--sharding", file)
        assert done.returncode != 0, (said, done.stdout[:200])
        rig.contains(done.stderr, said)
    done = generate("--sharding", sharding(folder, mesh="a z"), *targets(a="cpu"))
    assert done.returncode != 0, done
    rig.contains(done.stderr, "'z'")


def rules_hold_on_a_target(folder):
    """Each operator of a run in parts; and of a mixture of experts."""
    for model in ("llama", "mixtral"):
        path = os.path.join(folder, model)
        ini, _ = rig.write_small_run(path, target=BACKEND, model=os.path.join(rig.DATA, "models", model))
        with open(ini, "a", encoding="utf-8") as file:
            file.write("[check]\ninvariance = parts\n")
        report = os.path.join(path, "run.json")
        rig.check(rig.host("--config", ini, "--json", report), 0)
        with open(report, encoding="utf-8") as file:
            found = {item["op"]: item for item in json.load(file)["targets"][0]["invariance"]}
        assert not [item for item in found.values() if item["verdict"] == "wrong"], found
        for op in ("tapml.linear", "tapml.attention", "tapml.rope", "tapml.state_append", "tapml.rms_norm"):
            assert found[op]["verdict"] in ("equal bits", "within limits"), found[op]


def a_target_has_its_part_in_a_run(folder):
    """By columns with the bits of the whole, where source and target have the same for the same inputs."""
    for target, more, verdict in (("reference", "", "equal bits"), ("reference:f32-blocked", f"row = {ROW}\n", "within limits")):
        own = os.path.join(folder, verdict.replace(" ", "-"))
        ini, _ = rig.write_small_run(own, target=target)
        with open(ini, encoding="utf-8") as file:
            name = re.search(r"\[target\.(.*)\]", file.read())[1]
        with open(ini, "a", encoding="utf-8") as file:
            file.write(f"[check]\ninvariance = parts\n[shard]\nmesh = source {name}\ncolumn = {COLUMN}\n{more}")
        path = os.path.join(own, "run.json")
        rig.check(rig.host("--config", ini, "--json", path), 0)
        with open(path, encoding="utf-8") as file:
            found = {(item["op"], item["axis"]): item for item in json.load(file)["targets"][0]["invariance"]}
        assert found["model", "parts"]["verdict"] == verdict, found["model", "parts"]


def a_wrong_section_is_refused(folder):
    ini, _ = rig.write_small_run(folder)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    for lines, said in (("[shard]\nmesh = source gpv\ncolumn = *\n[check]\ninvariance = parts\n",
                         "[shard] mesh: expected 'source' and names of targets, found 'gpv'"),
                        ("[shard]\nmesh = source gpu\ncolumn = *\n",
                         "[shard] mesh: expected 'parts' among [check] invariance")):
        with open(ini, "w", encoding="utf-8") as file:
            file.write(text + lines)
        done = rig.check(rig.host("--check-config", ini), 2)
        rig.contains(done.stdout + done.stderr, said)


rig.main([columns_have_the_same_text, places_of_several_backends_have_the_same_ids,
          divided_models_agree_with_hugging_face, what_each_place_has_is_said,
          a_published_plan_is_followed, what_cannot_be_split_is_refused, rules_hold_on_a_target,
          a_target_has_its_part_in_a_run, a_wrong_section_is_refused], needs=(BACKEND,))
