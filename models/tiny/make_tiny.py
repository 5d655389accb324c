#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""tapml-tiny: a small llama that writes small stories, for demos and tests.

The text comes from a grammar in this file (ours, no licence attached), the tokenizer is a byte-level BPE
trained on it, the model is a 4-layer llama trained on the CPU in some minutes.  Needs torch, transformers,
tokenizers, safetensors.      python3 make_tiny.py OUT [steps]
"""
import json, math, os, random, sys, time
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, decoders, trainers, processors
from transformers import LlamaConfig, LlamaForCausalLM
from dump_expected import dump

OUT = sys.argv[1]
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
R = random.Random(7)
NAMES = {"she": "Ada Mia Lena Rosa Ivy Nora Zoe Tess".split(), "he": "Tom Ben Max Leo Finn Sam Otto Hugo".split()}
POSS = {"she": "her", "he": "his"}
OBJ = {"she": "her", "he": "him"}
ANIMALS = "cat dog fox owl hen goat duck frog mouse horse".split()
COLORS = "red blue green yellow white black brown small big old".split()
THINGS = "ball kite boat box lamp drum hat cake bell book cup key".split()
PLACES = "the garden|the river|the hill|the old barn|the market|the school|the forest|the kitchen|the sea".split("|")
FEEL = "happy sad tired proud afraid calm hungry curious".split()
WEATHER = "sunny rainy windy cold warm quiet snowy".split()
TIMES = "One morning|One day|In the evening|After lunch|Last winter|On a {w} day|That night".split("|")

def story():
    g = R.choice(["she", "he"]); n = R.choice(NAMES[g]); g2 = R.choice(["she", "he"])
    m = R.choice([x for x in NAMES[g2] if x != n])
    a, c, c2 = R.choice(ANIMALS), R.choice(COLORS), R.choice(COLORS)
    t, t2 = R.sample(THINGS, 2); p, p2 = R.sample(PLACES, 2); f, f2 = R.sample(FEEL, 2)
    w = R.choice(WEATHER); k = R.randint(2, 9)
    def art(x): return ("an " if x[0] in "aeiou" else "a ") + x
    s = [R.choice(TIMES).format(w=w) + f", {n} went to {p} with {POSS[g]} {c} {t}."]
    s.append(R.choice([f"There {g} met {art(c2 + ' ' + a)}.", f"It was {w}, and {g} felt {f}.", f"{n} had {k} coins and {art(t2)}."]))
    if R.random() < .6:
        s.append(R.choice([f"The {a} was {f2}, so {n} gave it the {t}.", f"The {t} fell into the water, and {n} began to look for it.",
                           f"\"Where is my {t2}?\" asked {m}.", f"{m} came too, and {g2} carried the {t2}."]))
    if R.random() < .5:
        j = R.randint(1, k - 1)
        s.append(R.choice([f"{n} gave {j} of the {k} coins to {m}, and {k - j} were left.", f"They counted {k} birds near {p2}.",
                           f"The {a} ran from {p} to {p2}."]))
    s.append(R.choice([f"In the end {n} was {f} and went home.", f"{m} thanked {OBJ[g]}, and they were friends.",
                       f"{n} put the {t} on the table and slept.", f"So {n} learned to share the {t}."]))
    return " ".join(s)

docs = [story() for _ in range(60000)]
tok = Tokenizer(models.BPE(unk_token=None))
tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tok.decoder = decoders.ByteLevel()
tok.train_from_iterator(docs[:8000], trainers.BpeTrainer(vocab_size=768, special_tokens=["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
tok.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
V = tok.get_vocab_size()
ids = [e.ids + [1] for e in tok.encode_batch(docs)]
flat = torch.tensor([x for d in ids for x in d]); val, flat = flat[-60000:], flat[:-60000]
print("vocab", V, "tokens", len(flat), flush=True)
torch.manual_seed(3); torch.set_num_threads(2)
cfg = LlamaConfig(vocab_size=V, hidden_size=128, intermediate_size=352, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
                  max_position_embeddings=1024, rms_norm_eps=1e-5, tie_word_embeddings=False, bos_token_id=0, eos_token_id=1, attn_implementation="sdpa")
model = LlamaForCausalLM(cfg); print("parameters", sum(p.numel() for p in model.parameters()), flush=True)
B, T = 24, 128
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(.9, .95), weight_decay=.05)
def batch(src):
    i = torch.randint(0, len(src) - T - 1, (B,)); return torch.stack([src[j:j + T] for j in i])
t0 = time.time()
for step in range(STEPS):
    lr = 3e-3 * min(1, (step + 1) / 100) * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * step / STEPS)))
    for gq in opt.param_groups: gq["lr"] = lr
    x = batch(flat); loss = model(x, labels=x).loss
    opt.zero_grad(); loss.backward(); torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0); opt.step()
    if step % 100 == 0 or step == STEPS - 1:
        with torch.no_grad(): v = sum(model(b, labels=b).loss.item() for b in [batch(val) for _ in range(4)]) / 4
        print(step, f"loss {loss.item():.3f} val {v:.3f} {time.time() - t0:.0f}s", flush=True)
    if time.time() - t0 > float(os.environ.get("LIMIT_S", 1500)): break
model.eval(); model.to(torch.bfloat16); model.config.torch_dtype = torch.bfloat16
model.save_pretrained(OUT); tok.save(os.path.join(OUT, "tokenizer.json"))
json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True, "add_eos_token": False,
           "model_max_length": 1024, "clean_up_tokenization_spaces": False}, open(os.path.join(OUT, "tokenizer_config.json"), "w"), indent=1)
model.to(torch.float32); exp = []
for text in ["One morning, Ada went to the river", "After lunch, Ben", "The fox was", "Tom had 7 coins and"]:
    x = torch.tensor([tok.encode(text).ids])
    y = model.generate(x, max_new_tokens=48, do_sample=False, pad_token_id=1)
    exp.append({"prompt": text, "ids": y[0].tolist(), "prompt_tokens": x.shape[1], "text": tok.decode(y[0].tolist())}); print(exp[-1]["text"], flush=True)
judged = dump(OUT, exp[0]["prompt"], 24)                     # expected.safetensors
json.dump({"note": "greedy continuation in float32 of the bf16 weights", **judged, "cases": exp}, open(os.path.join(OUT, "expected.json"), "w"), indent=1)
R.seed(99); open(os.path.join(OUT, "prompts.txt"), "w").write("\n".join(" ".join(story().split()[:R.randint(4, 24)]) for _ in range(64)) + "\n")
