#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What Hugging Face computes for a model folder, written beside it as expected.safetensors.

    python3 dump_expected.py MODEL_DIR "a prompt" [greedy tokens, default 24]

Float32 on the CPU whatever dtype the weights have. Tensors: input_ids [T], prefill_logits [T,V], greedy_ids [N+1], decode_logits [N,V]
(after feeding greedy_ids[0..N-1]), hidden.0 [T,H] after the embedding, hidden.i after layer i-1, the last after the final norm.
expected.json gets greedy_margin, the smallest distance between the two best logits in any greedy step.
"""
import json
import os
import sys

import torch
import transformers
from safetensors.torch import save_file


def greedy(model, ids, count):
    """Logits of the last position after each step, each from a full pass without cache."""
    rows = []
    for _ in range(count + 1):
        rows.append(model(ids).logits[0, -1].float())
        ids = torch.cat([ids, rows[-1].argmax()[None, None]], 1)
    return torch.stack(rows)


def dump(folder, text, count):
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=os.path.join(folder, "tokenizer.json"))
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    ids = torch.tensor([tokenizer(text).input_ids])
    with torch.no_grad():
        out = model(ids, output_hidden_states=True)
        steps = greedy(model, ids, count)
    tensors = {"input_ids": ids[0], "prefill_logits": out.logits[0].float().contiguous(),
               "greedy_ids": steps.argmax(-1), "decode_logits": steps[1:].contiguous()}
    for i, hidden in enumerate(out.hidden_states):
        tensors[f"hidden.{i}"] = hidden[0].float().contiguous()
    save_file(tensors, os.path.join(folder, "expected.safetensors"))
    best = steps.topk(2, -1).values
    return {"prompt": text, "greedy_margin": (best[:, 0] - best[:, 1]).min().item(),
            "transformers": transformers.__version__, "torch": torch.__version__}


if __name__ == "__main__":
    print(json.dumps(dump(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 24), indent=1))
