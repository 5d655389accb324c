#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""GGUF files in the place of model folders: judged by what Hugging Face computes, run, and refused if they are wrong."""
import json
import os
import subprocess

import rig

SPLIT = os.path.join(rig.DATA, "gguf", "llama-f16-0000{}-of-00003.gguf")
BLOCKS = os.path.join(rig.DATA, "gguf", "llama-q4_0.gguf")
MAMBA = os.path.join(rig.DATA, "gguf", "mamba-f16.gguf")


def evaluate(path, fixture, *words):
    expected = os.path.join(rig.DATA, "models", fixture, "expected.safetensors")
    return rig.host("eval", "--model", path, "--expected", expected, "--backend", "reference", *words)


def files_agree(folder):
    """One of a rope whose rows a converter moves, split; one whose attention it sorts; one whose logarithms it takes."""
    for name, fixture in (("falcon_11b-f16", "falcon_11b"), ("mamba-f16", "mamba")):
        done = rig.check(evaluate(os.path.join(rig.DATA, "gguf", name + ".gguf"), fixture), 0)
        assert done.stdout.count("agrees") == 3, done.stdout
    for number in (1, 2, 3):
        done = rig.check(evaluate(SPLIT.format(number), "llama", "--limit", "1e-3"), 0)
        rig.contains(done.stdout, "agrees", "limit 1.00e-03")


def blocks_agree(folder):
    """What llama.cpp computes with the same weights decoded: of a rope whose rows move in their blocks, and of a class that
    stores its weights the other way round."""
    for name, limit in (("llama-q4_0", "1e-5"), ("gpt2-q8_0", "1e-3")):  # GELU is a table of F16 there.
        path = os.path.join(rig.DATA, "gguf", name)
        words = ("--model", path + ".gguf", "--expected", path + ".safetensors", "--limit", limit)
        for backend in ("reference", "cpu"):
            done = rig.check(rig.host("eval", *words, "--backend", backend), 0)
            assert done.stdout.count("agrees") == 3, done.stdout
    assert " gguf.q4_0/1 " in rig.check(rig.host("graph", "--model", BLOCKS), 0).stdout


def another_model_diverges(folder):
    """The judge can fail, and a limit is one."""
    rig.contains(rig.check(evaluate(SPLIT.format(1), "llama_yarn"), 1).stdout, "DIVERGES")
    rig.contains(rig.check(evaluate(SPLIT.format(1), "llama_yarn", "--limit", "1e-2"), 1).stdout, "DIVERGES")
    rig.contains(rig.check(evaluate(SPLIT.format(1), "llama", "--limit", "0"), 2).stderr, "--limit is '0'")


def a_run_moves(folder):
    for name, model in (("blocks", BLOCKS), ("plain", MAMBA)):
        ini, dir_ = rig.write_small_run(os.path.join(folder, name), model=model)
        done = rig.check(rig.host("--config", ini), 0)
        rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "end to end: agrees")
    plan = os.path.join(dir_, "plan-gpu.txt")
    done = rig.check(rig.host("generate", "--plan", plan, "--ids", "1 2 3", "--count", "2"), 0)
    assert done.stdout


def a_graph_needs_no_weights(folder):
    whole = rig.check(rig.host("graph", "--model", SPLIT.format(1)), 0).stdout
    plain = rig.check(rig.host("graph", "--model", SPLIT.format(1), "--without-weights"), 0).stdout
    assert whole.replace(" f16 ", " f32 ") == plain


def tokenizers_agree(folder):
    """The ids of Hugging Face's, without what begins and ends a text: these files do not say it."""
    for name in ("bpe_qwen2", "sp_model_bpe", "wordpiece_bert"):
        with open(os.path.join(rig.DATA, "tokenizers", name, "cases.json"), encoding="utf-8") as file:
            cases = [case for case in json.load(file)["cases"] if case["text"] != "<s>"]  # A token of control here.
        path = os.path.join(rig.DATA, "gguf", f"tokenizer-{name}.gguf")
        lines = "".join(json.dumps(case["text"]) + "\n" for case in cases).encode()
        done = subprocess.run([rig.HOST, "tokenize", path, "--plain"], input=lines, capture_output=True, timeout=120,
                              check=False)
        assert done.returncode == 0, done.stderr
        rows = [json.loads(line) for line in done.stdout.decode().splitlines()]
        assert len(rows) == len(cases), name
        for case, row in zip(cases, rows):
            assert case["ids_plain"] == row["ids"] and case["decoded"] == row["text"], (name, case, row)


def an_unknown_pattern_is_refused_for_texts(folder):
    path = os.path.join(folder, "x.gguf")
    with open(os.path.join(rig.DATA, "gguf", "tokenizer-bpe_qwen2.gguf"), "rb") as file:
        data = file.read()
    assert data.count(b"qwen2", data.index(b"tokenizer.ggml.pre")) > 0
    at = data.index(b"qwen2", data.index(b"tokenizer.ggml.pre"))
    with open(path, "wb") as file:
        file.write(data[:at] + b"qwen9" + data[at + 5:])
    done = rig.check(rig.host("tokenize", path), 2)
    rig.contains(done.stderr, "tokenizer.ggml.pre", "'qwen9' is unsupported")


def refused(folder, name, data, *pieces):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    for command in (["graph"], ["eval"], ["generate", "--ids", "1"]):
        done = rig.check(rig.host(*command, "--model", path), 2)
        assert done.stderr.count("\n") == 1, done.stderr
        rig.contains(done.stderr, name, *pieces)


def wrong_files_are_refused(folder):
    data = open(MAMBA, "rb").read()
    refused(folder, "empty.gguf", b"", "expected a GGUF file, found another")
    refused(folder, "text.gguf", b"a text\n", "expected a GGUF file")
    refused(folder, "cut.gguf", data[:-40], "within the")
    refused(folder, "header.gguf", data[:1000], "expected")
    refused(folder, "one.gguf", data[:4] + b"\1" + data[5:], "version 2 or 3, found 1")
    refused(folder, "keys.gguf", data[:16] + b"\0" * 7 + b"\x10" + data[24:], "number of keys")
    refused(folder, "other.gguf", data.replace(b"\5\0\0\0\0\0\0\0mamba", b"\5\0\0\0\0\0\0\0mumba", 2), "mumba")
    refused(folder, "tensor.gguf", data.replace(b"blk.0.ssm_dt.bias", b"blk.0.ssm_no.bias"), "blk.0.ssm_no.bias")
    part = open(SPLIT.format(2), "rb").read()
    refused(folder, "x-00002-of-00003.gguf", part, "x-00001-of-00003.gguf")
    refused(folder, "renamed.gguf", part, "expected a name such as")


rig.main([files_agree, blocks_agree, another_model_diverges, a_run_moves, a_graph_needs_no_weights, tokenizers_agree,
          an_unknown_pattern_is_refused_for_texts, wrong_files_are_refused])
