#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Writes expected.safetensors into a model's folder: what Hugging Face computes, for `tapml-host eval`.

    dump_expected.py FOLDER [--ids "5 17 3 ..." | --tokens 12] [--steps 4] [--seed 0] [--no-ops]
                            [--pool cls|mean|last [--normalise]]

Runs wherever torch and transformers are installed. The model runs in float32 on the CPU with eager attention, as the fixtures
of the tests do. Without --ids the prompt is random, which finds more than a sentence does. Of an encoder it is what comes of a text at once, and
again with token types and with a mask that hides the last quarter. docs/judge.md describes the file.
"""
import argparse
import json
import os
import random
import sys

import expected_ops


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--ids", help="the prompt, as numbers with blanks between them")
    parser.add_argument("--tokens", type=int, default=12, help="length of a random prompt")
    parser.add_argument("--steps", type=int, default=4, help="greedy steps behind the prompt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-ops", action="store_true", help="leaves out what single modules compute")
    parser.add_argument("--pool", choices=("cls", "mean", "last"), help="adds the embedding of the text")
    parser.add_argument("--normalise", action="store_true", help="divides the embedding by its length")
    parser.add_argument("--trust-remote-code", action="store_true")
    chosen = parser.parse_args()
    if chosen.tokens < 1 or chosen.steps < 0:
        parser.error("--tokens is at least 1, --steps at least 0")
    if chosen.normalise and not chosen.pool:
        parser.error("--normalise needs --pool")
    return chosen


def prompt(chosen, vocabulary):
    if chosen.ids:
        return [int(word) for word in chosen.ids.split()]
    draw = random.Random(chosen.seed)
    return [draw.randrange(vocabulary) for _ in range(chosen.tokens)]


def step(model, fed, cache):
    """What comes of the last id: on the cache, or of the whole text where the class has another kind of cache."""
    import torch

    if cache is None:
        return model(input_ids=torch.tensor([fed]))
    return model(input_ids=torch.tensor([fed[-1:]]), use_cache=True, past_key_values=cache)


def compute(model, ids, steps):
    """The tensors of the file: the prompt at once, then greedy steps."""
    import torch

    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]), use_cache=True, output_hidden_states=True)
        tensors = {"input_ids": torch.tensor(ids), "prefill_logits": out.logits[0].float()}
        for index, hidden in enumerate(out.hidden_states or ()):
            tensors[f"hidden.{index}"] = hidden[0].float()
        greedy, logits = [int(out.logits[0, -1].argmax())], []
        for _ in range(steps):
            out = step(model, [*ids, *greedy], getattr(out, "past_key_values", None))
            logits.append(out.logits[0, -1].float())
            greedy.append(int(logits[-1].argmax()))
    tensors["greedy_ids"] = torch.tensor(greedy)
    if logits:
        tensors["decode_logits"] = torch.stack(logits)
    return tensors


def is_encoder(config):
    """Whether the class of the checkpoint is a body without a head, as BertModel is."""
    import transformers

    body = transformers.MODEL_MAPPING.get(type(config), None)
    return body is not None and (config.architectures or ["?"]) == [getattr(body, "__name__", "")]


def compute_encoder(model, ids):
    """The tensors of the file: outputs of a text, with nothing beside it, with token types, with a mask."""
    import torch
    from torch.nn.functional import normalize

    types = torch.tensor([index * 2 > len(ids) for index in range(len(ids))]).long()
    shown = max(1, len(ids) * 3 // 4)
    mask = torch.tensor([index < shown for index in range(len(ids))]).long()
    with torch.no_grad():
        text = torch.tensor([ids])
        out = model(input_ids=text, output_hidden_states=True)
        typed = model(input_ids=text, token_type_ids=types[None])
        masked = model(input_ids=text, attention_mask=mask[None])
    rows = out.last_hidden_state[0]
    tensors = {"input_ids": text[0], "last_hidden_state": rows, "token_type_ids": types,
               "last_hidden_state_tt": typed.last_hidden_state[0], "attention_mask": mask,
               "last_hidden_state_masked": masked.last_hidden_state[0, :shown],
               "cls_normalized": normalize(rows[0], dim=-1), "mean_normalized": normalize(rows.mean(0), dim=-1)}
    if getattr(out, "pooler_output", None) is not None:
        tensors["pooler_output"] = out.pooler_output[0]
    for index, hidden in enumerate(out.hidden_states or ()):
        tensors[f"hidden.{index}"] = hidden[0]
    return tensors


def embedding(tensors, pool, normalise):
    """The rows of the last hidden state as one vector."""
    from torch.nn.functional import normalize

    last = max(int(name[7:]) for name in tensors if name.startswith("hidden."))
    rows = tensors[f"hidden.{last}"]
    row = {"cls": rows[0], "last": rows[-1], "mean": rows.mean(0)}[pool]
    return normalize(row, dim=-1) if normalise else row


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
    config = transformers.AutoConfig.from_pretrained(chosen.folder, trust_remote_code=chosen.trust_remote_code)
    kind = transformers.AutoModel if is_encoder(config) else transformers.AutoModelForCausalLM
    model = kind.from_pretrained(
        chosen.folder, torch_dtype=torch.float32, attn_implementation="eager",
        trust_remote_code=chosen.trust_remote_code).eval()
    ids = prompt(chosen, model.config.get_text_config().vocab_size)
    ops = {} if chosen.no_ops else expected_ops.record(model, chosen.folder, ids)
    tensors = compute_encoder(model, ids) if is_encoder(config) else compute(model, ids, chosen.steps)
    if chosen.pool:
        tensors["embedding"] = embedding(tensors, chosen.pool, chosen.normalise)
    file = {name: tensor.contiguous().clone() for name, tensor in {**tensors, **ops}.items()}
    save_file(file, os.path.join(chosen.folder, "expected.safetensors"))
    note = {"transformers": transformers.__version__, "torch": torch.__version__, "class": type(model).__name__,
            "seed": chosen.seed}
    if chosen.pool:
        note["embedding"] = chosen.pool + (", normalised" if chosen.normalise else "")
    if "greedy_ids" in tensors:
        note["greedy_margin"] = margin(tensors)
    with open(os.path.join(chosen.folder, "expected.json"), "w", encoding="utf-8") as out:
        json.dump(note, out, indent=1)
    print(f"{len(tensors)} tensors, {len(ops)} of single modules; {json.dumps(note)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
