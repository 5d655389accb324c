#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A fine-tune of tapml-tiny that writes recipes, for what is measured of deltas.

The text comes from a grammar in this file (ours, no licence attached). All weights of the base are trained on.
Needs torch, transformers, tokenizers, safetensors.      python3 make_recipes.py BASE OUT TEXTS [steps]

Writes the folder OUT, with all that the base's folder has, and the file TEXTS: 96 recipes, a line each, that it was
not trained on.
"""
import math
import os
import random
import shutil
import sys
import time

import torch
from tokenizers import Tokenizer
from transformers import LlamaForCausalLM

BASE, OUT, TEXTS = sys.argv[1:4]
STEPS = int(sys.argv[4]) if len(sys.argv) > 4 else 300
ROWS, TOKENS, END = 16, 96, 1
R = random.Random(26)
DISHES = "apple cake|onion soup|bean stew|rice bowl|lemon tart|carrot salad|plum jam|oat bread|potato pie|corn pancakes".split("|")
FOODS = "flour butter sugar salt milk rice beans onions carrots apples lemons potatoes honey oil oats".split()
TOOLS = "a deep pan|a wide bowl|the old pot|a hot oven|a small dish".split("|")
CUTS = "chop slice peel wash grate mash".split()
HEATS = "fry|boil|bake|steam|roast".split("|")
LOOKS = "golden soft brown thick crisp warm".split()
UNITS = "cups spoons grams pieces".split()


def recipe():
    first, second, third = R.sample(FOODS, 3)
    minutes = R.choice((5, 10, 15, 20, 30, 45))
    steps = [
        f"To make {R.choice(DISHES)} for {R.randint(2, 8)} people, take {R.randint(2, 9)} {R.choice(UNITS)} of {first}"
        f" and {R.randint(2, 9)} {R.choice(UNITS)} of {second}.",
        R.choice((f"First {R.choice(CUTS)} the {first} and put it in {R.choice(TOOLS)}.",
                  f"First {R.choice(CUTS)} the {second}, then mix it with the {first} in {R.choice(TOOLS)}.")),
    ]
    if R.random() < 0.6:
        steps.append(R.choice((f"Add {third} and stir for {R.randint(2, 5)} minutes.",
                               f"If it is too dry, add a little {third}.",
                               f"Taste it, and add {third} if you like.")))
    heat = R.choice(HEATS)
    steps.append(f"Then {heat} it for {minutes} minutes, until it is {R.choice(LOOKS)}.")
    steps.append(R.choice((f"Serve it {R.choice(LOOKS)}, with {third} on the side.",
                           f"Let it rest for {R.randint(2, 9)} minutes before you serve it.",
                           f"It keeps for {R.randint(2, 6)} days.")))
    return " ".join(steps)


def main():
    tokenizer = Tokenizer.from_file(os.path.join(BASE, "tokenizer.json"))
    texts = [recipe() for _ in range(12000)]
    held_out = sorted({recipe() for _ in range(200)} - set(texts))[:96]
    flat = torch.tensor([token for encoded in tokenizer.encode_batch(texts) for token in (*encoded.ids, END)])
    torch.manual_seed(5)
    torch.set_num_threads(2)
    model = LlamaForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0)
    begin = time.time()
    for step in range(STEPS):
        rate = 1e-3 * min(1, (step + 1) / 20) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * step / STEPS)))
        for group in optimiser.param_groups:
            group["lr"] = rate
        starts = torch.randint(0, len(flat) - TOKENS - 1, (ROWS,))
        rows = torch.stack([flat[start:start + TOKENS] for start in starts])
        loss = model(rows, labels=rows).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 50 == 0 or step == STEPS - 1:
            print(step, f"loss {loss.item():.3f} {time.time() - begin:.0f} s", flush=True)
    model.to(torch.bfloat16)
    model.save_pretrained(OUT)
    for name in os.listdir(BASE):
        if name.startswith("tokenizer"):
            shutil.copy(os.path.join(BASE, name), OUT)
    with open(TEXTS, "w", encoding="utf-8") as file:
        file.write("\n".join(held_out) + "\n")


if __name__ == "__main__":
    main()
