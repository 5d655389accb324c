#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures against what Hugging Face computes, on a backend. test_eval.py BACKEND [families | few]

All of them, one of each family of model types, or those few whose state, experts or attention nothing else has."""
import json
import os
import shutil
import struct
import sys

import fixtures
import rig


FEW = ("bert", "bloom", "deepseek", "falcon_mamba", "lfm2", "qwen")


def one(model, backend):
    """A test of one model folder."""
    def test(folder):
        done = rig.check(rig.host("eval", "--model", model, "--backend", backend), 0)
        is_encoder = done.stdout.count("\ntoken_type_ids ") == 1
        for way in ("at once", "attention_mask") if is_encoder else ("at once", "chunks of 5", "token by token"):
            rig.contains(done.stdout, way)
        assert done.stdout.count("agrees") == 3, done.stdout
    test.__name__ = f"{os.path.basename(model)} on {backend}"
    return test


def with_weight(folder, tensor, value):
    """The fixture `llama`, the first element of a tensor changed."""
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model, copy_function=shutil.copyfile)
    with open(os.path.join(model, "model.safetensors"), "r+b") as file:
        length, = struct.unpack("<Q", file.read(8))
        begin, _ = json.loads(file.read(length))[tensor]["data_offsets"]
        file.seek(8 + length + begin)
        file.write(struct.pack("<f", value))
    return model


def a_changed_weight_diverges(folder):
    """The judge can fail: one weight changed is seen, and the layer named."""
    model = with_weight(folder, "model.layers.1.mlp.down_proj.weight", 1.0)
    done = rig.check(rig.host("eval", "--model", model, "--backend", sys.argv[1]), 1)
    rig.contains(done.stdout, "DIVERGES", "the first hidden layer that diverges: 2",
                 "ops diverges first: layers.1/attn/norm (tapml.rms_norm) .. norm (tapml.rms_norm);")


def a_weight_that_is_no_number_is_named(folder):
    """A NaN on the source is located: one sentence with the tensor and the element."""
    model = with_weight(folder, "model.layers.1.mlp.down_proj.weight", float("nan"))
    done = rig.check(rig.host("eval", "--model", model, "--backend", sys.argv[1]), 1)
    assert done.stderr.count("\n") == 1, done.stderr
    rig.contains(done.stderr, "warning: NaN comes from the weights: element [0, 0] of tensor "
                 "'model.layers.1.mlp.down_proj.weight', first read by 'layers.1/mlp/down_proj' (tapml.linear)")


def weights_at_odd_addresses_agree(folder):
    """A header of an odd length, as some published files have, leaves every tensor between two elements."""
    for name in ("llama", "llama_bf16", "mamba2", "rwkv4"):
        model = os.path.join(folder, name)
        shutil.copytree(os.path.join(rig.DATA, "models", name), model, copy_function=shutil.copyfile)
        with open(os.path.join(model, "model.safetensors"), "r+b") as file:
            length, = struct.unpack("<Q", file.read(8))
            header, data = file.read(length), file.read()
            file.seek(0)
            file.write(struct.pack("<Q", length | 1) + header.ljust(length | 1) + data)
        done = rig.check(rig.host("eval", "--model", model, "--backend", sys.argv[1]), 0)
        assert done.stdout.count("agrees") == 3, done.stdout


def a_name_the_model_lacks_is_refused(folder):
    """Everything in the file must be compared."""
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model, copy_function=shutil.copy)
    path = os.path.join(model, "expected.safetensors")
    os.chmod(path, 0o644)
    data = open(path, "rb").read()
    assert data.count(b'"hidden.1"') == 1
    open(path, "wb").write(data.replace(b'"hidden.1"', b'"hiddem.1"'))
    done = rig.check(rig.host("eval", "--model", model, "--backend", sys.argv[1]), 2)
    rig.contains(done.stderr, "hiddem.1")


def changed_model(folder, name, change):
    """The fixture `llama` with another JSON file."""
    model = os.path.join(folder, "model")
    shutil.copytree(os.path.join(rig.DATA, "models", "llama"), model, copy_function=shutil.copyfile)
    path = os.path.join(model, name)
    table = json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**table, **change}, file)
    return model


def what_needs_no_text_does_without_a_tokenizer(folder):
    """A tokenizer.json that is not understood costs a sentence, and only texts are refused."""
    model = changed_model(folder, "tokenizer.json", {"normalizer": {"type": "Nmt"}})
    said = "warning: ids alone can be used, no text: "
    for words in (["eval", "--backend", sys.argv[1]], ["generate", "--ids", "1 2", "--count", "1"]):
        done = rig.check(rig.host(*words, "--model", model), 0)
        rig.contains(done.stderr, said, "tokenizer.json: ")
        assert done.stderr.count("\n") == 1, done.stderr
    done = rig.check(rig.host("generate", "--prompt", "x", "--model", model), 2)
    rig.contains(done.stderr, "tokenizer.json: ", "; give --ids")
    ini = os.path.join(folder, "run.ini")
    prompts = os.path.join(folder, "prompts.txt")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(f"[run]\ndir = {folder}/run\nprompts = {prompts}\ndecode = 1\n[model]\npath = {model}\n"
                   f"[source]\nbackend = {sys.argv[1]}\n")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write("ids: 1 2\n")
    rig.contains(rig.check(rig.host("--check-config", ini), 0).stderr, said)
    rig.contains(rig.check(rig.host("--config", ini), 0).stderr, said)


def keys_and_architecture_are_options(folder):
    """Every command that opens a model can be told to pass over keys, and which architecture builds it."""
    model = changed_model(folder, "config.json", {"sliding_gate": 3})
    for words in (["eval", "--backend", sys.argv[1]], ["generate", "--ids", "1", "--count", "1"], ["graph"]):
        rig.contains(rig.check(rig.host(*words, "--model", model), 2).stderr, "'/sliding_gate'", "--unknown-keys allow")
        rig.check(rig.host(*words, "--model", model, "--unknown-keys", "allow", "--architecture", "llama"), 0)


def a_plan_is_judged(folder):
    path = os.path.join(folder, "plan.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("op=linear -> gpu\n")
    model = os.path.join(rig.DATA, "models", "llama")
    done = rig.host("eval", "--model", model, "--plan", path, "--source", "reference", "--target", f"gpu={sys.argv[1]}")
    assert rig.check(done, 0).stdout.count("agrees") == 3, done.stdout
    rig.contains(done.stdout, f", gpu on {sys.argv[1]}\n")


def what_loses_something_needs_a_limit(_):
    words = ("eval", "--model", os.path.join(rig.DATA, "models", "llama"), "--backend", sys.argv[1])
    for option, value in (("--weights", "q8_0"), ("--state", "f16")):
        rig.contains(rig.check(rig.host(*words, option, value), 2).stderr,
                     f"{option} loses something: give --limit, the relative error that is allowed")
    assert rig.check(rig.host(*words, "--weights", "q8_0", "--limit", "0.1"), 0).stdout.count("agrees") == 3


if __name__ == "__main__":
    backend = sys.argv[1]
    models = fixtures.models()
    if sys.argv[2:] == ["families"]:
        models = fixtures.one_of_each_family(models)
    others = [a_changed_weight_diverges, a_weight_that_is_no_number_is_named,
              weights_at_odd_addresses_agree, a_name_the_model_lacks_is_refused,
              what_needs_no_text_does_without_a_tokenizer, keys_and_architecture_are_options, a_plan_is_judged,
              what_loses_something_needs_a_limit]
    if sys.argv[2:] == ["few"]:  # Of a backend whose calls take long: what the others ask of the command is not its affair.
        models, others = [os.path.join(rig.DATA, "models", name) for name in FEW], []
    rig.main([one(model, backend) for model in [rig.TINY] + models] + others, needs=[backend.split(":")[0]])
