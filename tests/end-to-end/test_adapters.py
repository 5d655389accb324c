#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""LoRA adapters on the fixtures: a base without what its adapter adds is with it what Hugging Face computed, and is moved,
replayed and judged as any model; what does not fit is refused by name.

Usage: test_adapters.py
"""
import json
import os

import adapters
import rig

MODELS = os.path.join(rig.DATA, "models")
LINEAR = r"model\.layers\.\d\.(self_attn|mlp)\.\w+_proj|lm_head"
# Which modules, how the adapter names them, and what its config says.
FAMILIES = {
    "llama": (LINEAR, {"target_modules": r".*_proj|lm_head"}),
    "gpt2": (r"transformer\.h\.\d\.(attn|mlp)\.c_\w+",  # Weights as [in, out]; queries, keys and values in one.
             {"fan_in_fan_out": True, "target_modules": ["c_attn", "c_proj", "c_fc"]}),
    "gpt_neox": (r"gpt_neox\.layers\.\d\.(attention|mlp)\.\w+", {"target_modules": ["query_key_value", "dense", "dense_h_to_4h",
                                                                                    "dense_4h_to_h"]}),
    "phi3": (r"model\.layers\.\d\.(self_attn|mlp)\.\w+_proj", {}),  # Products with parts of a weight.
    "falcon_7b": (r"transformer\.h\.\d\..*(dense|query_key_value|_h)", {"rename": lambda name: name.split(".", 1)[1]}),
    "mixtral": (r"model\.layers\.\d\.block_sparse_moe\.experts\.\d\.w[123]", {"target_modules": ["w1", "w2", "w3"]}),
}


def evaluate(base, *words):
    return rig.host("eval", "--model", base, "--backend", "reference", *words)


def with_an_adapter_a_base_is_what_hugging_face_computed(folder):
    for name, (modules, more) in FAMILIES.items():
        base, adapter = adapters.make(os.path.join(folder, name), os.path.join(MODELS, name), modules, **more)
        rig.contains(rig.check(evaluate(base), 1).stdout, "DIVERGES")
        for isolation in ("never", "always"):
            done = rig.check(evaluate(base, "--adapter", adapter, "--isolation", isolation), 0)
            assert done.stdout.count("agrees") == 3, (name, done.stdout)


def ranks_and_scales_of_modules(folder):
    """rank_pattern and alpha_pattern by name and by expression, and the scale of use_rslora."""
    def scale(module):
        rank = 9 if module.endswith("q_proj") else 4
        alpha = 3 if ".1." in module else 6
        return rank, alpha / rank ** 0.5

    base, adapter = adapters.make(folder, os.path.join(MODELS, "llama"), LINEAR, scale=scale, lora_alpha=6, use_rslora=True,
                                  rank_pattern={"q_proj": 9}, alpha_pattern={r"layers\.1\..*": 3})
    assert rig.check(evaluate(base, "--adapter", adapter), 0).stdout.count("agrees") == 3


def a_run_moves_an_adapter(folder):
    fixture = os.path.join(MODELS, "llama")
    base, adapter = adapters.make(folder, fixture, r".*\.[qv]_proj", target_modules=["q_proj", "v_proj"])
    ini, dir_ = rig.write_small_run(os.path.join(folder, "run"), model=f"{base}\nadapter = {adapter}")
    said = os.path.join(folder, "report.json")
    done = rig.check(rig.host("--config", ini, "--json", said), 0)
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "end to end: agrees")
    with open(said, encoding="utf-8") as file:
        model = json.load(file)["model"]
    assert model["adapter"] == "adapter" and "delta" not in model, model
    ops = dict(rig.rows(dir_, "SELECT instance, op FROM instance WHERE instance LIKE 'layers.0/attn/q_proj%'"))
    assert ops == {"layers.0/attn/q_proj": "tapml.linear", "layers.0/attn/q_proj/lora_a": "tapml.linear",
                   "layers.0/attn/q_proj/lora_b": "tapml.linear", "layers.0/attn/q_proj/lora_scale": "tapml.scale",
                   "layers.0/attn/q_proj/lora": "tapml.add"}, ops
    # Without a word the plan's run says which adapter; its tokens are those of the fixture.
    words = ("--ids", "1 5 7 9", "--count", "12")
    plan = ("generate", "--plan", os.path.join(dir_, "plan-gpu.txt"))
    expected = rig.check(rig.host("generate", "--model", fixture, "--backend", "reference", *words), 0).stdout
    assert rig.check(rig.host(*plan, *words), 0).stdout == expected
    assert rig.check(rig.host("generate", "--model", base, "--backend", "reference", *words), 0).stdout != expected
    rig.check(rig.host("replay", os.path.join(dir_, "run.tapmlrun"), "--backend", "reference:f32-blocked"), 0)
    # It is another run without.
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace(f"adapter = {adapter}", ""))
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "[model] path")


def a_fault_of_an_adapter_is_named(folder):
    base, adapter = adapters.make(folder, os.path.join(MODELS, "llama"), r".*\.[qv]_proj")
    fault = "[fault.1]\ntarget = gpu\nop = scale\ninstance = layers.1/attn/v_proj/lora_scale\nkind = argument factor *1.5\n"
    ini, dir_ = rig.write_small_run(os.path.join(folder, "run"), model=f"{base}\nadapter = {adapter}\nweights = q8_0", extra=fault)
    rig.check(rig.host("--config", ini), 1)
    assert {row[0] for row in rig.rows(dir_, "SELECT instance FROM blame")} == {"layers.1/attn/v_proj/lora_scale"}
    encoded = {row[0] for row in rig.rows(dir_, "SELECT name FROM weight WHERE dtype = 'u8'")}
    assert "model.layers.0.self_attn.q_proj.weight" in encoded and not any("lora" in name for name in encoded), encoded


def an_adapter_on_quantised_weights(folder):
    """The tokens are others, and those of every place the same."""
    adapter = os.path.join(folder, "llama", "adapter")
    adapters.make(os.path.join(folder, "llama"), os.path.join(MODELS, "llama"), r".*\.0\..*[qo]_proj")
    words = ("generate", "--model", os.path.join(MODELS, "quantised_compressed"), "--ids", "1 5 7 9", "--count", "12")
    found = {backend: rig.check(rig.host(*words, "--backend", backend, "--adapter", adapter), 0).stdout
             for backend in ("reference", "cpu")}
    assert found["reference"] == found["cpu"]
    assert found["reference"] != rig.check(rig.host(*words, "--backend", "reference"), 0).stdout


def what_does_not_fit_is_refused(folder):
    base, adapter = adapters.make(folder, os.path.join(MODELS, "llama"), r".*\.q_proj")
    weights = os.path.join(adapter, "adapter_model.safetensors")
    saved = adapters.read_tensors(weights)
    first = "base_model.model.model.layers.0.self_attn.q_proj.lora_"

    def refused(code, piece, tensors=None, **config):
        adapters.write_tensors(weights, saved if tensors is None else tensors)
        adapters.write_config(adapter, **config)
        rig.contains(rig.check(evaluate(base, "--adapter", adapter), code).stderr, piece)

    def renamed(old, new):
        return {name.replace(old, new): tensor for name, tensor in saved.items()}

    for key, value in (("use_dora", True), ("bias", "all"), ("modules_to_save", ["lm_head"]), ("init_lora_weights", "pissa"),
                       ("peft_type", "IA3"), ("a_new_key", 1), ("lora_bias", True)):
        refused(2, f"as '{key}', found '{json.dumps(value)}'", **{key: value})
    refused(2, "'r', found '0'", r=0)
    refused(2, "q_proj.lora_A.weight': expected [8, 64] of F32, F16 or BF16, found [4, 64] of f32", r=8)
    refused(2, "module 'model.layers.0.self_attn.q_proj' is none that 'target_modules' matches", target_modules=["v_proj"])
    refused(2, "expected tensors of module 'v_proj', which 'target_modules' has, for weight 'model.layers.0.self_attn.v_proj",
            target_modules=["q_proj", "v_proj"])
    refused(2, "module 'model.layers.0.self_attn.x_proj': expected a weight", renamed("q_proj", "x_proj"))
    refused(2, "module 'model.embed_tokens': expected a matrix product",
            {"base_model.model.model.embed_tokens.lora_A.weight": ("F32", [4, 64], bytes(1024)),
             "base_model.model.model.embed_tokens.lora_B.weight": ("F32", [96, 4], bytes(1536))})
    refused(2, "tensor 'base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector'",
            {**saved, first + "magnitude_vector": ("F32", [64], bytes(256))})
    refused(2, f"lacks tensor '{first}B.weight'", {name: tensor for name, tensor in saved.items() if name != first + "B.weight"})
    done = rig.host("graph", "--model", base, "--adapter", adapter, "--without-weights")
    rig.contains(rig.check(done, 2).stderr, "expected the weights of the model")
    os.remove(os.path.join(adapter, "adapter_config.json"))
    rig.contains(rig.check(evaluate(base, "--adapter", adapter), 2).stderr, "adapter_config.json")


rig.main([with_an_adapter_a_base_is_what_hugging_face_computed, ranks_and_scales_of_modules, a_run_moves_an_adapter,
          a_fault_of_an_adapter_is_named, an_adapter_on_quantised_weights, what_does_not_fit_is_refused])
