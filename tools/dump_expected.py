#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Writes expected.safetensors into a model's folder: what Hugging Face computes, for `tapml-host eval`.

    dump_expected.py FOLDER [--ids "5 17 3 ..." | --tokens 12] [--steps 4] [--seed 0]

Runs wherever torch and transformers are installed. The model runs in float32 on the CPU with eager attention, as the fixtures
of the tests do. Without --ids the prompt is random, which finds more than a sentence does.
"""
import argparse
import json
import os
import random
import sys


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--ids", help="the prompt, as numbers with blanks between them")
    parser.add_argument("--tokens", type=int, default=12, help="length of a random prompt")
    parser.add_argument("--steps", type=int, default=4, help="greedy steps behind the prompt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trust-remote-code", action="store_true")
    chosen = parser.parse_args()
    if chosen.tokens < 1 or chosen.steps < 0:
        parser.error("--tokens is at least 1, --steps at least 0")
    return chosen


def prompt(chosen, vocabulary):
    if chosen.ids:
        return [int(word) for word in chosen.ids.split()]
    draw = random.Random(chosen.seed)
    return [draw.randrange(vocabulary) for _ in range(chosen.tokens)]


def compute(model, ids, steps):
    """The tensors of the file: the prompt at once, then greedy steps on the cache."""
    import torch

    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]), use_cache=True, output_hidden_states=True)
        tensors = {"input_ids": torch.tensor(ids), "prefill_logits": out.logits[0].float()}
        for index, hidden in enumerate(out.hidden_states or ()):
            tensors[f"hidden.{index}"] = hidden[0].float()
        greedy, logits = [int(out.logits[0, -1].argmax())], []
        for _ in range(steps):
            out = model(input_ids=torch.tensor([[greedy[-1]]]), use_cache=True, past_key_values=out.past_key_values)
            logits.append(out.logits[0, -1].float())
            greedy.append(int(logits[-1].argmax()))
    tensors["greedy_ids"] = torch.tensor(greedy)
    if logits:
        tensors["decode_logits"] = torch.stack(logits)
    return {name: tensor.contiguous().clone() for name, tensor in tensors.items()}


def margin(tensors):
    """The least distance of the two best logits in a greedy step: below 1e-3 equal ids are luck."""
    rows = [tensors["prefill_logits"][-1], *tensors.get("decode_logits", ())]
    best = [row.topk(2).values for row in rows]
    return min(float(pair[0] - pair[1]) for pair in best)


def main():
    chosen = options()
    try:
        import torch
        import transformers
        from safetensors.torch import save_file
    except ImportError as error:
        print(f"dump_expected.py: {error.name} is not installed", file=sys.stderr)
        return 3
    model = transformers.AutoModelForCausalLM.from_pretrained(
        chosen.folder, torch_dtype=torch.float32, attn_implementation="eager",
        trust_remote_code=chosen.trust_remote_code).eval()
    ids = prompt(chosen, model.config.get_text_config().vocab_size)
    tensors = compute(model, ids, chosen.steps)
    save_file(tensors, os.path.join(chosen.folder, "expected.safetensors"))
    note = {"transformers": transformers.__version__, "torch": torch.__version__, "class": type(model).__name__,
            "seed": chosen.seed, "greedy_margin": margin(tensors)}
    with open(os.path.join(chosen.folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(note, file, indent=1)
    print(f"{len(tensors)} tensors; greedy margin {note['greedy_margin']:.2g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
