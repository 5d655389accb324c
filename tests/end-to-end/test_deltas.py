#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes as differences on a base: made, applied, checked, run and refused.

Usage: test_deltas.py
"""
import array
import glob
import json
import os
import random
import re
import shutil

import adapters
import rig

MODELS = os.path.join(rig.DATA, "models")
BASE = os.path.join(MODELS, "llama_bf16")
IDS = ("--ids", "1 5 7 9", "--count", "12")


def fine_tune(folder, changes=r".*(q_proj|down_proj|norm)\.weight", base=BASE):
    """A folder beside which some weights are others: each value by a few of its last bits."""
    draw = random.Random(26)
    fine = os.path.join(folder, "fine")
    shutil.copytree(base, fine)
    path = os.path.join(fine, "model.safetensors")
    tensors = adapters.read_tensors(path)
    for name, (dtype, shape, data) in tensors.items():
        if re.fullmatch(changes, name):
            assert dtype == "BF16", dtype
            words = array.array("H", data)
            tensors[name] = dtype, shape, array.array("H", (word ^ draw.randrange(8) for word in words)).tobytes()
    adapters.write_tensors(path, tensors)
    return fine


def make(folder, fine, *words, base=BASE):
    path = os.path.join(folder, "delta.safetensors")
    done = rig.check(rig.host("delta", "make", base, fine, "--out", path, *words), 0)
    return path, done.stdout


def generated(*words):
    return rig.check(rig.host("generate", "--backend", "reference", *IDS, *words), 0).stdout


def xor_is_bit_for_bit(folder):
    fine = fine_tune(folder)
    path, said = make(folder, fine)
    changed = 2 * 2 + 2 * 2 + 1
    rig.contains(said, f"{changed} change bit for bit")
    ratio = float(re.search(r"1/([\d.]+);", said)[1])
    assert 2 < ratio and os.path.getsize(path) < os.path.getsize(os.path.join(fine, "model.safetensors")) / 2, said
    rig.contains(rig.check(rig.host("delta", "check", BASE, path), 0).stdout, f"{changed} are made as the file says: {changed} xor, 0 sparse")
    out = os.path.join(folder, "out.safetensors")
    rig.check(rig.host("delta", "apply", BASE, path, "--out", out), 0)
    assert adapters.read_tensors(out) == adapters.read_tensors(os.path.join(fine, "model.safetensors"))
    assert not glob.glob(os.path.join(folder, "*.part"))
    # The files of a fine-tune and base and delta are the same model, which the base is not.
    assert generated("--model", BASE, "--delta", path) == generated("--model", fine)
    same, _ = make(folder, BASE)
    assert generated("--model", BASE, "--delta", same) == generated("--model", BASE)


def a_base_becomes_what_hugging_face_computed(folder):
    """All matrices differ; a worker gets the ones that are made, and an adapter comes on top of a delta."""
    fixture = os.path.join(MODELS, "llama")
    base, adapter = adapters.make(folder, fixture, r".*_proj|lm_head")
    path, said = make(folder, fixture, base=base)
    rig.contains(said, "6 tensors stay, 15 change bit for bit")
    words = ("eval", "--model", base, "--backend", "reference")
    rig.contains(rig.check(rig.host(*words), 1).stdout, "DIVERGES")
    for isolation in ("never", "always"):
        done = rig.check(rig.host(*words, "--delta", path, "--isolation", isolation), 0)
        assert done.stdout.count("agrees") == 3, done.stdout
    first, other = adapters.make(os.path.join(folder, "first"), base, r".*\.q_proj")
    path, _ = make(folder, base, base=first)
    done = rig.check(rig.host("eval", "--model", first, "--backend", "reference", "--delta", path, "--adapter", adapter), 0)
    assert done.stdout.count("agrees") == 3, done.stdout
    rig.contains(rig.check(rig.host("eval", "--model", first, "--backend", "reference", "--adapter", other), 1).stdout, "DIVERGES")


def a_run_of_a_delta(folder):
    fine = fine_tune(folder)
    path, _ = make(folder, fine)
    ini, dir_ = rig.write_small_run(os.path.join(folder, "run"), model=f"{BASE}\ndelta = {path}")
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "end to end: agrees")
    rig.check(rig.host("replay", os.path.join(dir_, "run.tapmlrun"), "--backend", "reference:f32-blocked"), 0)
    assert rig.check(rig.host("generate", "--plan", os.path.join(dir_, "plan-gpu.txt"), *IDS), 0).stdout == \
        generated("--model", fine)
    # Its weights are those of a run of the fine-tune's own files, and those that stay are the base's.
    keys = {}
    for name, model in (("base", BASE), ("fine", fine)):
        other, other_dir = rig.write_small_run(os.path.join(folder, name), model=model)
        rig.check(rig.host("--config", other), 0)
        keys[name] = dict(rig.rows(other_dir, "SELECT name, hex(key) FROM weight"))
    found = dict(rig.rows(dir_, "SELECT name, hex(key) FROM weight"))
    assert found == keys["fine"]
    differ = {name for name, key in found.items() if keys["base"][name] != key}
    assert differ == {name for name in found if re.fullmatch(r".*(q_proj|down_proj|norm)\.weight", name)}, differ
    # Another delta is another run.
    make(folder, fine, "--as", "sparse")
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "[model] path")


def sparse_keeps_the_largest(folder):
    fine = fine_tune(folder, r".*(q_proj|down_proj)\.weight")
    lost, sizes = {}, {}
    for density in ("0.05", "0.2", "1"):
        path, said = make(folder, fine, "--as", "sparse", "--density", density)
        lost[density] = float(re.search(r"4 lose ([\d.e-]+) of what changes", said)[1])
        sizes[density] = os.path.getsize(path)
        rig.contains(rig.check(rig.host("delta", "check", BASE, path), 0).stdout, "0 xor, 4 sparse, 0 24q2, 0 24q4")
        out = os.path.join(folder, "out.safetensors")
        rig.check(rig.host("delta", "apply", BASE, path, "--out", out), 0)
        made, base = adapters.read_tensors(out), adapters.read_tensors(os.path.join(BASE, "model.safetensors"))
        for name in made:
            count = sum(x != y for x, y in zip(array.array("H", made[name][2]), array.array("H", base[name][2])))
            kept = re.fullmatch(r".*(q_proj|down_proj)\.weight", name) is not None
            assert count <= (float(density) * len(made[name][2]) / 2 + 1) * kept, (name, count)
            assert count > 0 or not kept
    assert lost["0.05"] > lost["0.2"] > lost["1"] and lost["1"] < 0.01, lost
    assert sizes["0.05"] < sizes["0.2"] < sizes["1"], sizes


def outputs_that_lose(said):
    """The part, and of how many weights."""
    found = re.search(r"products with (\d+) weights lose ([\d.e-]+) of what changes", said)
    return float(found[2]), int(found[1])


def layers_of(said, path):
    """What each weight loses, as the lines and the JSON file say."""
    with open(path, encoding="utf-8") as file:
        layers = [(layer["weight"], layer["lost"]) for layer in json.load(file)]
    for name, lost in layers:
        rig.contains(said, f"{name} (24q")
        assert lost == 0 or f"{lost:.3g}\n" in said, said
    return layers


def levels_are_chosen_by_inputs(folder):
    fine = fine_tune(folder, r".*(q_proj|down_proj|norm)\.weight")
    ini, dir_ = rig.write_small_run(os.path.join(folder, "run"), model=fine)
    rig.check(rig.host("--config", ini), 0)
    cases = os.path.join(dir_, "run.tapmlrun")

    def judged(path, *words):
        return rig.check(rig.host("delta", "check", BASE, path, "--fine", fine, "--cases", cases, *words), 0).stdout

    sizes = {}
    for kind in ("24q2", "24q4"):
        path, said = make(folder, fine, "--as", kind)
        assert "products" not in said, said
        direct, count = outputs_that_lose(judged(path))
        assert count == 4, count
        path, said = make(folder, fine, "--as", kind, "--cases", cases)
        sizes[kind] = os.path.getsize(path)
        known, count = outputs_that_lose(said)
        assert count == 4 and known < 0.7 * direct, (kind, known, direct)
        rig.contains(judged(path), f"0 sparse, {4 * (kind == '24q2')} 24q2, {4 * (kind == '24q4')} 24q4")
        assert outputs_that_lose(judged(path)) == (known, count)
        layers = layers_of(judged(path, "--json", os.path.join(folder, "layers.json")), os.path.join(folder, "layers.json"))
        assert len(layers) == 4 and all(re.fullmatch(r".*(q_proj|down_proj)\.weight", name) for name, _ in layers), layers
        assert [lost for _, lost in layers] == sorted((lost for _, lost in layers), reverse=True) and layers[3][1] > 0, layers
        # Its hashes say whether what comes out is what was made.
        assert generated("--model", BASE, "--delta", path) != ""
    assert sizes["24q2"] < sizes["24q4"], sizes
    # The body of another weight.
    tensors = adapters.read_tensors(path)
    name = "model.layers.0.self_attn.q_proj.weight"
    adapters.write_tensors(path, {**tensors, name: tensors["model.layers.1.self_attn.q_proj.weight"]})
    rig.contains(rig.check(rig.host("delta", "check", BASE, path), 2).stderr, f"tensor '{name}': expected")
    # A run with the delta has what the file says it lost, without the fine-tune.
    path, _ = make(folder, fine, "--as", "24q2", "--cases", cases)
    ini, dir_ = rig.write_small_run(os.path.join(folder, "made"), model=f"{BASE}\ndelta = {path}")
    report = os.path.join(folder, "report.json")
    rig.check(rig.host("--config", ini, "--json", report), 0)
    with open(report, encoding="utf-8") as file:
        told = json.load(file)["model"]["delta_losses"]
    assert {loss["weight"]: f"{loss['lost']:.3g}" for loss in told} == \
        {name: f"{lost:.3g}" for name, lost in layers_of(judged(path, "--json", report), report)}
    assert all(loss["kind"] == "24q2" and loss["of"] == "outputs" for loss in told), told
    with open(os.path.join(dir_, "report.html"), encoding="utf-8") as file:
        rig.contains(file.read(), f"fine-tune of it by <code>{os.path.basename(path)}</code>; most of what changes is lost of <code>{told[0]['weight']}")
    exact, _ = make(folder, fine)
    assert outputs_that_lose(judged(exact))[0] == 0


def told_by(*words):
    """What `generate --json` says of each fine-tune, and what --explain says of all."""
    done = rig.check(rig.host("generate", "--model", BASE, "--backend", "reference", *IDS, "--json", "--explain", *words), 0)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def fine_tunes_share_a_base(folder):
    """Deltas and an adapter over one base say what each of them says alone."""
    first = fine_tune(os.path.join(folder, "first"), r".*(q_proj|down_proj|norm)\.weight")
    second = fine_tune(os.path.join(folder, "second"), r".*(o_proj|up_proj)\.weight")
    deltas = [make(os.path.join(folder, name), fine)[0] for name, fine in (("first", first), ("second", second))]
    _, adapter = adapters.make(os.path.join(folder, "adapter"), os.path.join(MODELS, "llama"), r".*\.q_proj")
    words = [word for path in (*deltas, adapter) for word in ("--fine-tune", path)]
    told, explained = told_by(*words)
    alone = [told_by(option, path)[0][0] for option, path in (("--delta", deltas[0]), ("--delta", deltas[1]), ("--adapter", adapter))]
    assert [one["fine_tune"] for one in told] == [*deltas, adapter], told
    assert [one["ids"] for one in told] == [one["ids"] for one in alone], (told, alone)
    assert told[0]["ids"] != told[2]["ids"], told
    base, *own = map(int, re.search(r"weights of the base (\d+) bytes, of \S+ (\d+), of \S+ (\d+), of \S+ (\d+); source", explained).groups())
    tensors = adapters.read_tensors(os.path.join(BASE, "model.safetensors"))
    assert base == sum(len(data) for _, _, data in tensors.values()), (base, explained)
    assert own[1] == sum(len(data) for name, (_, _, data) in tensors.items() if re.fullmatch(r".*(o_proj|up_proj)\.weight", name)), explained
    # A worker has the weights of all of them, too.
    assert told_by(*words, "--isolation", "always")[0] == told
    refused = rig.check(rig.host("generate", "--model", BASE, "--backend", "reference", *IDS, "--beside"), 2)
    rig.contains(refused.stderr, "--beside is of --fine-tune alone")


def changes_stay_beside_their_weights(folder):
    """Levels as blocks whose products are added give nearly the logits of the weights that are made, and take less."""
    fine = fine_tune(folder, r".*(proj|embed_tokens|norm|lm_head)\.weight")
    for kind in ("24q4", "24q2"):
        path, _ = make(folder, fine, "--as", kind)
        whole, _ = told_by("--fine-tune", path)
        beside, explained = told_by("--fine-tune", path, "--beside")
        assert whole[0]["ids"] == beside[0]["ids"], (kind, whole, beside)
        base, own = map(int, re.search(r"weights of the base (\d+) bytes, of \S+ (\d+)", explained).groups())
        assert own < base / 2, (kind, base, own)  # 16 bits against 4.5 or 5.5, and norms.
        assert told_by("--fine-tune", path, "--beside", "--isolation", "always")[0] == beside
    # A weight that lies as [in, out] has none beside it.
    base = os.path.join(MODELS, "gpt2")
    other = os.path.join(folder, "gpt2")
    shutil.copytree(base, other)
    tensors = adapters.read_tensors(os.path.join(other, "model.safetensors"))
    name = next(name for name in tensors if name.endswith("c_fc.weight"))
    dtype, shape, data = tensors[name]
    tensors[name] = dtype, shape, array.array("f", (value * 1.01 for value in array.array("f", data))).tobytes()
    adapters.write_tensors(os.path.join(other, "model.safetensors"), tensors)
    path, _ = make(folder, other, "--as", "24q4", base=base)
    done = rig.check(rig.host("generate", "--model", base, "--backend", "reference", *IDS, "--fine-tune", path, "--beside"), 2)
    rig.contains(done.stderr, f"tensor '{name}': expected a product of all of it, as [out, in], for the change beside it")


def what_does_not_fit_is_refused(folder):
    fine = fine_tune(folder)
    path, _ = make(folder, fine)
    out = os.path.join(folder, "out.safetensors")
    other = os.path.join(MODELS, "llama")

    def refused(piece, *words, code=2):
        done = rig.check(rig.host(*words), code)
        rig.contains(done.stderr, piece)
        assert done.stdout == "" and not os.path.exists(out)

    refused("with another", "delta", "check", fine, path)
    refused("values of bf16 with the hash of the base, found", "delta", "check", other, path)
    refused("tensor 'lm_head.weight': expected [96, 64] of f32 in the fine-tune, as the base has it, found [96, 64] of bf16",
            "delta", "make", other, fine, "--out", out)
    refused("expected plain numbers, found a quantised weight", "delta", "make", os.path.join(MODELS, "quantised_awq"),
            os.path.join(MODELS, "quantised_awq"), "--out", out)
    refused("is in the base and not in the fine-tune", "delta", "make", os.path.join(MODELS, "gpt2"), fine, "--out", out)
    refused("/dev/null: expected a file to write, found a device", "delta", "make", BASE, fine, "--out", "/dev/null")
    refused("--density is '0'", "delta", "make", BASE, fine, "--out", out, "--as", "sparse", "--density", "0")
    refused("--density is of --as sparse alone", "delta", "make", BASE, fine, "--out", out, "--density", "0.5")
    refused("--cases is of --as 24q2 and 24q4 alone", "delta", "make", BASE, fine, "--out", out, "--cases", path)
    refused("is damaged", "delta", "make", BASE, fine, "--out", out, "--as", "24q4", "--cases", path)
    refused("check takes --fine and --cases, or neither", "delta", "check", BASE, path, "--fine", fine)
    refused("--json is of check with --fine alone", "delta", "check", BASE, path, "--json", out)
    refused("--as is '24q9'", "delta", "make", BASE, fine, "--out", out, "--as", "24q9")
    refused("delta takes 'make BASE FINE --out FILE'", "delta", "make", BASE, fine)
    refused("expected a U8 tensor 'tapml.delta'", "delta", "check", BASE, os.path.join(BASE, "model.safetensors"))
    refused("expected the weights of the model", "graph", "--model", BASE, "--delta", path, "--without-weights")
    # A file that says so, and whose bytes are others.
    tensors = adapters.read_tensors(path)
    name = "model.norm.weight"
    dtype, shape, data = tensors[name]
    for piece, changed in (("bytes by zstd, found", data[:-1]), ("by zstd", bytes(len(data)))):
        adapters.write_tensors(path, {**tensors, name: (dtype, [len(changed)], changed)})
        refused(f"tensor '{name}': expected", "generate", "--model", BASE, "--delta", path, *IDS)
        refused(piece, "delta", "apply", BASE, path, "--out", out)
    other = tensors["model.layers.0.input_layernorm.weight"]
    adapters.write_tensors(path, {**tensors, name: other})
    refused("expected bytes with the hash of the fine-tune, found others", "delta", "check", BASE, path)


rig.main([xor_is_bit_for_bit, a_base_becomes_what_hugging_face_computed, a_run_of_a_delta, sparse_keeps_the_largest, levels_are_chosen_by_inputs,
          fine_tunes_share_a_base, changes_stay_beside_their_weights, what_does_not_fit_is_refused])
