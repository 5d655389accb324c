#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What Hugging Face's modules compute, against the ops of fixtures: faults that source and target share are located.

The files of tests/data/judge were written by tools/dump_expected.py for the fixtures of their names.
"""
import json
import os
import re
import shutil
import struct

import rig


def judged(folder, case):
    """A fixture with the judge's file beside it."""
    model = os.path.join(folder, "model")
    shutil.rmtree(model, ignore_errors=True)
    shutil.copytree(os.path.join(rig.DATA, "models", case), model, copy_function=shutil.copyfile)
    shutil.copyfile(os.path.join(rig.DATA, "judge", case + ".safetensors"), os.path.join(model, "expected.safetensors"))
    return model


def with_key(model, path, value):
    """The model with another configuration: a fault that every backend has."""
    name = os.path.join(model, "config.json")
    with open(name, encoding="utf-8") as file:
        config = json.load(file)
    table = config
    for key in path[:-1]:
        table = table[key]
    assert path[-1] in table, config
    table[path[-1]] = value
    with open(name, "w", encoding="utf-8") as file:
        json.dump(config, file)
    return model


def with_element(model, tensor, value):
    """The model with another first element of a tensor of f32."""
    with open(os.path.join(model, "model.safetensors"), "r+b") as file:
        length, = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(length))[tensor]
        assert entry["dtype"] == "F32", entry
        file.seek(8 + length + entry["data_offsets"][0])
        file.write(struct.pack("<f", value))
    return model


def evaluate(model, code, *more):
    return rig.check(rig.host("eval", "--model", model, "--backend", "reference", *more), code)


def every_module_agrees(folder):
    """Each entry of a file belongs to an op of the graph, at once, in chunks and token by token."""
    for case in ("llama", "gpt2", "bert"):
        pool = ["--pool", "cls", "--normalise"] if case == "bert" else []
        for backend in ("reference", "cpu"):
            done = rig.check(rig.host("eval", "--model", judged(folder, case), "--backend", backend, *pool), 0)
            compared = re.findall(r"an op (\S+) \(\S+\), (\d+) of (\d+) modules compared", done.stdout)
            assert len(compared) == (1 if case == "bert" else 3), done.stdout
            for error, some, every in compared:
                assert float(error) < 1e-5 and int(some) == int(every) > 30, done.stdout


def located(name, case, change, layer, op):
    """A test: a fault of a model is located in an op, alone."""
    def test(folder):
        done = evaluate(change(judged(folder, case)), 1)
        rig.contains(done.stdout, f"the first hidden layer that diverges: {layer},",
                     f"the first op that diverges: {op}; what it reads is right\n")
        assert done.stdout.count("the first op that diverges") == 3, done.stdout
    test.__name__ = "located: " + name
    return test


def key(*path, value):
    return lambda model: with_key(model, path, value)


FAULTS = [
    located("a wrong weight", "llama", lambda model: with_element(model, "model.layers.1.mlp.down_proj.weight", 1.0),
            2, "layers.1/mlp/down_proj (tapml.linear)"),
    located("another epsilon", "llama", key("rms_norm_eps", value=0.5), 1, "layers.0/attn/norm (tapml.rms_norm)"),
    located("another theta", "llama", key("rope_parameters", "rope_theta", value=500.0), 1,
            "layers.0/attn/q_rope (tapml.rope)"),
    located("gelu by erf where tanh is meant", "gpt2", key("activation_function", value="gelu"), 1,
            "layers.0/mlp/gelu (tapml.gelu)"),
    located("no scale of attention", "gpt2", key("scale_attn_weights", value=False), 1,
            "layers.0/attn/attention (tapml.attention)"),
]


def a_wrong_final_norm_is_located(folder):
    """The last op before the logits is named as any other."""
    done = evaluate(with_element(judged(folder, "gpt2"), "transformer.ln_f.weight", 9.0), 1)
    rig.contains(done.stdout, "the first op that diverges: norm (tapml.layer_norm); what it reads is right")


def an_entry_that_is_wrong_is_refused(folder):
    """Every entry has the rows of the prompt."""
    model = judged(folder, "llama")
    path = os.path.join(model, "expected.safetensors")
    with open(path, "rb") as file:
        data = file.read()
    name = b'"op.model.embed_tokens.weight":{"dtype":"F32","shape":[12,64]'
    assert name in data
    with open(path, "wb") as file:
        file.write(data.replace(name, name.replace(b"[12,64]", b"[64,12]")))
    rig.contains(evaluate(model, 2).stderr, "'op.model.embed_tokens.weight': expected rows of 12 tokens")


def embeddings_are_compared(folder):
    """The pooled rows of an encoder and of a decoder, as Hugging Face's and torch's functions give them."""
    for case, pool, other in (("bert", "cls", "mean"), ("qwen3", "last", "mean")):
        model = judged(folder, case)
        done = evaluate(model, 0, "--pool", pool, "--normalise")
        assert done.stdout.count("agrees ") == 3, done.stdout
        rig.contains(evaluate(model, 1, "--pool", other, "--normalise").stdout, "(embedding)")
        rig.contains(evaluate(model, 1, "--pool", pool).stdout, "(embedding)")
        rig.contains(evaluate(model, 2).stderr, "has 'embedding': give --pool")
    model = os.path.join(rig.DATA, "models", "bert")  # Without an embedding of its own: that of its rows.
    assert evaluate(model, 0, "--pool", "mean").stdout.count("agrees ") == 3


def tensor_of(path, name):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(length))[name]
        begin, end = entry["data_offsets"]
        file.seek(8 + length + begin)
        code = {"F32": "f", "I64": "q"}[entry["dtype"]]
        data = file.read(end - begin)
        return struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)


def embeddings_are_printed(folder):
    """`generate --pool` prints the vector, with and without JSON."""
    model = judged(folder, "qwen3")
    path = os.path.join(model, "expected.safetensors")
    expected = tensor_of(path, "embedding")
    ids = " ".join(str(value) for value in tensor_of(path, "input_ids"))
    words = ["generate", "--model", model, "--backend", "reference", "--ids", ids, "--pool", "last", "--normalise"]
    plain = [float(word) for word in rig.check(rig.host(*words), 0).stdout.split()]
    told = json.loads(rig.check(rig.host(*words, "--json"), 0).stdout)
    assert told["prompt_tokens"] == 12 and told["embedding"] == plain
    assert len(plain) == len(expected) and all(abs(a - b) < 1e-5 for a, b in zip(plain, expected))
    rig.contains(rig.check(rig.host(*words[:-2], "max"), 2).stderr, "--pool is 'max'")
    rig.contains(rig.check(rig.host("generate", "--model", model, "--ids", "1", "--normalise"), 2).stderr, "needs --pool")
    encoder = os.path.join(rig.DATA, "models", "bert")
    rig.check(rig.host("generate", "--model", encoder, "--ids", "1 2", "--pool", "mean"), 0)


NAN = "NaN comes from the weights: element [0, 0] of tensor 'model.layers.1.mlp.down_proj.weight', first read by " \
      "'layers.1/mlp/down_proj' (tapml.linear)"


def broken(folder):
    return with_element(judged(folder, "llama"), "model.layers.1.mlp.down_proj.weight", float("nan"))


def generate_names_what_is_not_finite(folder):
    done = rig.check(rig.host("generate", "--model", broken(folder), "--ids", "1 2", "--count", "2"), 2)
    assert done.stderr == f"tapml-host: the logit of id 0 is NaN; {NAN}\n", done.stderr
    done = rig.check(rig.host("generate", "--model", broken(folder), "--ids", "1 2", "--pool", "last"), 2)
    rig.contains(done.stderr, "of the embedding is not finite; " + NAN)


def a_run_names_what_is_not_finite(folder):
    """On the source: where the run cannot go on, and where it can."""
    ini, _ = rig.write_small_run(os.path.join(folder, "nan"), model=broken(folder))
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, NAN)
    model = with_element(judged(folder, "llama"), "lm_head.weight", float("-inf"))
    ini, _ = rig.write_small_run(os.path.join(folder, "infinite"), model=model)
    done = rig.host("--config", ini)
    lines = [line for line in done.stderr.splitlines() if "infinity" in line and "the source: " in line]
    assert len(lines) == 1, done.stderr
    rig.contains(lines[0], "-infinity comes from the weights: element [0, 0] of tensor 'lm_head.weight'")


if __name__ == "__main__":
    rig.main([every_module_agrees, *FAULTS, a_wrong_final_norm_is_located, an_entry_that_is_wrong_is_refused,
              embeddings_are_compared, embeddings_are_printed, generate_names_what_is_not_finite,
              a_run_names_what_is_not_finite])
