#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The perplexity of the embedded model: by Hugging Face's logits, on the source, under a plan, and interrupted."""
import json
import math
import os
import signal
import struct
import subprocess

import rig

PROMPTS = os.path.join(rig.TINY, "prompts.txt")


def measure(folder, *words, text=PROMPTS):
    """What the command prints, and its document."""
    path = os.path.join(folder, "perplexity.json")
    done = rig.check(rig.host("perplexity", "--model", rig.TINY, "--text", text, "--json", path, *words), 0)
    with open(path, encoding="utf-8") as file:
        return done.stdout, json.load(file)


def tensors():
    """Those of expected.safetensors of the embedded model, each as a list of numbers."""
    with open(os.path.join(rig.TINY, "expected.safetensors"), "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    found = {}
    for name in ("input_ids", "greedy_ids", "prefill_logits", "decode_logits"):
        begin, end = header[name]["data_offsets"]
        code, size = {"I64": ("q", 8), "F32": ("f", 4)}[header[name]["dtype"]]
        found[name] = struct.unpack(f"<{(end - begin) // size}{code}", data[begin:end])
    return found


def it_is_that_of_hugging_face(folder):
    """Computed here from logits that Hugging Face gave for a text, by the formula alone."""
    expected = tensors()
    ids = expected["input_ids"] + expected["greedy_ids"]
    logits = expected["prefill_logits"] + expected["decode_logits"]
    width = len(logits) // (len(ids) - 1)
    losses = []
    for at in range(len(ids) // 2, len(ids) - 1):
        row = logits[at * width:(at + 1) * width]
        losses.append(math.log(math.fsum(math.exp(x) for x in row)) - row[ids[at + 1]])
    mean = math.fsum(losses) / len(losses)
    error = math.sqrt(math.fsum((x - mean) ** 2 for x in losses) / len(losses) / (len(losses) - 1))

    with open(os.path.join(rig.TINY, "expected.json"), encoding="utf-8") as file:
        case = json.load(file)["cases"][0]
    assert case["ids"][:len(ids)] == list(ids)
    words = json.dumps(case["ids"][:len(ids)])
    lines = json.dumps(case["text"]) + "\n"
    done = subprocess.run([rig.HOST, "tokenize", rig.TINY], input=lines, capture_output=True, text=True, check=True)
    assert json.dumps(json.loads(done.stdout)["ids"][:len(ids)]) == words, done.stdout

    text = os.path.join(folder, "text.txt")
    with open(text, "w", encoding="utf-8") as file:
        file.write(case["text"] + "\n")
    _, found = measure(folder, "--context", str(len(ids)), "--backend", "reference", text=text)
    assert (found["chunks"], found["scored_tokens"]) == (1, len(losses)), found
    perplexity = found["perplexity"]
    assert abs(perplexity["value"] / math.exp(mean) - 1) < 1e-5, (perplexity, math.exp(mean))
    assert abs(perplexity["error"] / (math.exp(mean) * error) - 1) < 1e-4, (perplexity, error)
    assert found["running"] == [perplexity["value"]] and found["comparison"] is None


def it_is_that_of_llama_cpp(folder):
    """docs/perplexity.md has the figures of its tool, by default 512 tokens a chunk."""
    for words, value, error in ((["--context", "128"], 13.6854, 3.19898), ([], 14.6585, 3.41391)):
        _, found = measure(folder, "--backend", "cpu", *words)
        assert abs(found["perplexity"]["value"] / value - 1) < 1e-4, found["perplexity"]
        assert abs(found["perplexity"]["error"] / error - 1) < 1e-4, found["perplexity"]


def a_plan_is_compared_with_the_source(folder):
    """Every operator on OpenCL in f32, and half of them in f16."""
    rig.need("opencl", rig.usable("opencl"))
    plan = os.path.join(folder, "plan.txt")
    with open(plan, "w", encoding="utf-8") as file:
        file.write("* -> gpu\n")
    words = ("--context", "64", "--chunks", "4")
    alone = measure(folder, *words, "--backend", "reference")[1]["perplexity"]
    for more, least, most in ((["--plan", plan, "--source", "reference", "--target", "gpu=opencl"], 0, 1e-9),
                              (["--activations", "f16", "--backend", "opencl"], 1e-9, 1e-4)):
        stdout, found = measure(folder, *words, *more)
        rig.contains(stdout, "KL divergence: mean ", "same likeliest token: ")
        comparison = found["comparison"]
        assert least <= comparison["divergence"]["value"] < most, comparison
        assert comparison["same_top"]["value"] > 0.97, comparison
        assert abs(found["perplexity"]["value"] / alone["value"] - 1) < 1e-2, (found["perplexity"], alone)
        assert abs(comparison["base"]["value"] / alone["value"] - 1) < 1e-4, (comparison["base"], alone)
        assert abs(found["perplexity"]["value"] / comparison["base"]["value"] - comparison["ratio"]["value"]) < 1e-7


def fewer_bits_are_compared_with_the_model(folder):
    """Weights in 4 bits diverge more than those in 8, in this process as in a worker."""
    words = ("--context", "64", "--chunks", "2", "--base", rig.TINY)
    values = [measure(folder, *words, "--weights", weights, "--isolation", mode)[1]["comparison"]["divergence"]["value"]
              for weights, mode in (("q8_0", "never"), ("q4_0", "never"), ("q4_0", "always"))]
    assert 1e-7 < values[0] < values[1] == values[2], values


def it_can_be_interrupted(folder):
    text = os.path.join(folder, "text.txt")
    with open(PROMPTS, encoding="utf-8") as file, open(text, "w", encoding="utf-8") as out:
        out.write(file.read() * 50)
    child = subprocess.Popen([rig.HOST, "perplexity", "--model", rig.TINY, "--text", text, "--backend", "reference"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "chunks of 512" in child.stdout.readline()
    rig.contains(child.stdout.readline(), "chunk 1 of ")
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 130, child.returncode


rig.main([it_is_that_of_hugging_face, it_is_that_of_llama_cpp, a_plan_is_compared_with_the_source,
          fewer_bits_are_compared_with_the_model, it_can_be_interrupted])
