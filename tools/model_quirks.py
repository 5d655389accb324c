#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Derives `quirks` of conf/models from the configurations: in what a model differs from a plain decoder.

    model_quirks.py [--check] FOLDER

A plain decoder has RMS norms before attention and feed-forward, rotary positions, SiLU, a head of its own. Without
--check the files are written anew where quirks differ. With it they stay, and exit status 1 says that some differ.
"""
import argparse
import glob
import json
import os
import re
import sys
import textwrap

# What a type has whatever its configuration says.
OF_TYPE = {
    "apertus": ["xIELU"],
    "arcee": ["squared ReLU"],
    "bert": ["encoder", "learned positions", "layer norms", "norms behind blocks"],
    "bloom": ["ALiBi", "layer norms", "norm of embeddings"],
    "chatglm": ["rotary on half of a head", "biases in attention"],
    "codegen": ["layer norms", "parallel attention and feed-forward"],
    "cohere": ["layer norms", "parallel attention and feed-forward", "scaled logits"],
    "cohere2": ["layer norms", "parallel attention and feed-forward", "scaled logits", "no positions in full layers"],
    "exaone4": ["norms of queries and keys", "norms behind blocks", "no positions in full layers"],
    "falcon": ["layer norms"],
    "falcon_mamba": ["states of fixed size", "norms inside of mixers"],
    "gemma": ["scaled embeddings", "norm weights count from 1", "GELU"],
    "gemma2": ["scaled embeddings", "norm weights count from 1", "GELU", "norms around blocks"],
    "gemma3": ["scaled embeddings", "norm weights count from 1", "GELU", "norms around blocks",
               "norms of queries and keys", "another rope in sliding layers"],
    "glm": ["rotary on half of a head"],
    "glm4": ["norms around blocks"],
    "gpt2": ["learned positions", "layer norms", "biases in attention"],
    "gpt_bigcode": ["learned positions", "layer norms", "biases in attention"],
    "gpt_neo": ["learned positions", "layer norms", "scores not scaled"],
    "gpt_neox": ["layer norms", "biases in attention"],
    "gpt_oss": ["attention sinks", "clamped feed-forward"],
    "gptj": ["layer norms", "parallel attention and feed-forward"],
    "granite": ["scaled embeddings, residuals and logits"],
    "granitemoe": ["scaled embeddings, residuals and logits"],
    "llama4_text": ["shared experts"],
    "lfm2": ["convolutions in some layers", "norms of queries and keys"],
    "mamba": ["states of fixed size"],
    "minicpm": ["scaled embeddings, residuals and logits"],
    "mpt": ["layer norms"],
    "nemotron": ["layer norms", "norm weights count from 1", "squared ReLU"],
    "olmo": ["layer norms without weights"],
    "olmo2": ["norms of queries and keys", "norms behind blocks"],
    "olmo3": ["norms of queries and keys", "norms behind blocks"],
    "olmoe": ["norms of queries and keys"],
    "opt": ["learned positions", "layer norms", "ReLU", "biases in attention"],
    "orion": ["layer norms"],
    "phi": ["layer norms", "parallel attention and feed-forward", "biases in attention"],
    "phi-msft": ["layer norms", "parallel attention and feed-forward", "biases in attention"],
    "phimoe": ["layer norms"],
    "qwen": ["biases in attention"],
    "qwen2": ["biases in attention"],
    "qwen2_moe": ["biases in attention"],
    "qwen3": ["norms of queries and keys"],
    "qwen3_moe": ["norms of queries and keys"],
    "qwen3_next": ["linear attention in some layers", "norms of queries and keys", "gated attention",
                   "norm weights count from 1"],
    "qwen3_5": ["linear attention in some layers", "norms of queries and keys", "gated attention",
                "norm weights count from 1"],
    "rwkv": ["states of fixed size", "layer norms"],
    "rwkv5": ["states of fixed size", "layer norms"],
    "rwkv6": ["states of fixed size", "layer norms"],
    "stablelm": ["layer norms"],
    "starcoder2": ["layer norms", "biases in attention"],
}
OF_TYPE["gemma3_text"] = OF_TYPE["gemma3"]
OF_TYPE["qwen3_5_text"] = OF_TYPE["qwen3_5"]
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
CHOSEN = ("num_experts_per_tok", "moe_k", "moe_topk")
SHARED = ("n_shared_experts", "moe_num_shared_experts", "shared_expert_intermediate_size")
# Types whose windows are in some layers only.
MIXED_WINDOWS = ("cohere2", "exaone4", "gemma2", "gemma3", "gemma3_text", "gpt_oss", "olmo3")


def first(config, keys):
    """The first value that is there."""
    return next((config[key] for key in keys if config.get(key) is not None), None)


def mixtures(config, _):
    count = first(config, EXPERTS)
    if isinstance(count, int) and count > 1:
        yield f"mixture of {count} experts, {first(config, CHOSEN) or 1} for a token"
        if first(config, SHARED) or 0:
            yield "shared experts"
        if config.get("first_k_dense_replace"):
            yield "first layers without experts"
        if (config.get("n_group") or 0) > 1:
            yield "experts in groups"


def windows(config, kind):
    size = config.get("sliding_window") or config.get("window_size")
    layers = config.get("layer_types") or []
    is_used = config.get("use_sliding_window", True) and (not layers or "sliding_attention" in layers)
    if isinstance(size, int) and is_used and size < config.get("max_position_embeddings", 1 << 40):
        is_mixed = kind in MIXED_WINDOWS or kind == "gpt_neo" or "full_attention" in layers
        yield f"windows of {size}" + (" in some layers" if is_mixed else "")
    if config.get("attention_chunk_size"):
        yield f"chunks of {config['attention_chunk_size']} in some layers"


def heads(config, kind):
    queries = first(config, ("num_attention_heads", "n_head"))
    keys = first(config, ("num_key_value_heads", "multi_query_group_num", "num_kv_heads", "n_head_kv"))
    if config.get("multi_query") and not config.get("new_decoder_architecture"):
        keys = 1
    if config.get("kv_lora_rank"):
        yield "latent attention"
    elif keys == 1:
        yield "one key/value head"
    elif keys and queries and keys < queries and not kind.startswith("rwkv"):
        yield f"{queries // keys} queries for a key"
    if config.get("use_qk_norm") or config.get("qk_norm") or config.get("qk_layernorm"):
        yield "norms of queries and keys"
    if config.get("clip_qkv"):
        yield "clipped queries, keys and values"
    if config.get("attention_bias") or config.get("use_qkv_bias"):
        yield "biases in attention"
    if config.get("attn_logit_softcapping"):
        yield "soft limit of scores"
    if config.get("final_logit_softcapping"):
        yield "soft limit of logits"
    if config.get("use_logn_attn"):
        yield "scores scaled by length"
    if config.get("is_causal") is False:
        yield "sees later tokens"
    if config.get("parallel_attn") or config.get("use_parallel_residual"):
        yield "parallel attention and feed-forward"


def rope_kind(config):
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    return rope.get("rope_type") or rope.get("type")


def positions(config, kind):
    if config.get("alibi") or (config.get("attn_config") or {}).get("alibi"):
        yield "ALiBi"
    share = first(config, ("partial_rotary_factor", "rotary_pct"))
    share = first(config.get("rope_parameters") or {}, ("partial_rotary_factor",)) or share
    if config.get("rotary_dim") or share and share < 1:
        yield "rotary on a part of a head"
    if config.get("no_rope_layers") or config.get("no_rope_layer_interval"):
        yield "no positions in some layers"
    scaling = {"su": "longrope", "mrope": None, "default": None}.get(rope_kind(config), rope_kind(config))
    if scaling:
        yield f"{scaling} rope"
    if config.get("use_dynamic_ntk"):
        yield "dynamic rope"


def is_tied(config, kind):
    """By the key, or by what the class of the type has without it."""
    untied = ("apertus", "arcee", "baichuan", "chatglm", "codegen", "deepseek", "deepseek_v2", "deepseek_v3", "exaone",
              "exaone4", "falcon_mamba", "glm", "glm4", "glm4_moe", "gpt_neox", "gpt_oss", "gptj", "helium", "internlm",
              "internlm2", "llama", "llama4", "llama4_text", "llava", "minicpm", "ministral3", "mistral", "mixtral",
              "nemotron", "olmo", "olmo2", "olmo3", "olmoe", "orion", "phi", "phi-msft", "phi3", "phimoe", "qwen",
              "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen3_next", "rwkv", "rwkv5", "rwkv6", "rwkv7", "seed_oss",
              "stablelm", "bert")
    return config.get("tie_word_embeddings", kind not in untied)


def quantised(config, _):
    method = config.get("quantization_config") or {}
    size = method.get("weight_block_size")
    if method:
        yield method.get("quant_method", "quantised") + (f" in blocks of {size[0]} x {size[1]}" if size else "")


def quirks(model):
    """All of a model, each once."""
    config = model["config"]
    section = {**config, **(config.get("text_config") or {})}
    kind = (config.get("text_config") or {}).get("model_type", model["type"])
    found = list(OF_TYPE.get(kind, []))
    for rule in (heads, windows, positions, mixtures, quantised):
        found += rule(section, kind)
    if is_tied(section, kind):
        found.append("tied head")
    if section.get("do_layer_norm_before") is False:
        found.append("norms behind blocks")
    if {"vision_config", "mm_vision_tower", "mm_image_tower"} & config.keys():
        found.append("takes images")
    return list(dict.fromkeys(found))


def print_list(values):
    """A member of an entry, in lines of 120."""
    line = '  "quirks": [' + ", ".join(json.dumps(value) for value in values) + "],"
    if len(line) <= 120:
        return line
    words = [json.dumps(value) + ("," if value != values[-1] else "") for value in values]
    joined = textwrap.wrap(" ".join(word.replace(" ", "\0") for word in words), 116)
    return '  "quirks": [\n' + "\n".join("   " + text.replace("\0", " ") for text in joined) + "\n  ],"


def rewrite(text, models):
    """The text of a file with the quirks of its models before their sources."""
    text = re.sub(r'^  "quirks": \[[^]]*\],\n', "", text, flags=re.MULTILINE)
    lines = iter([print_list(found) if (found := quirks(model)) else None for model in models])
    return re.sub(r'^  "source": ', lambda match: "\n".join(filter(None, [next(lines), match[0]])), text,
                  flags=re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folder")
    chosen = parser.parse_args()
    is_right = True
    for path in sorted(glob.glob(os.path.join(chosen.folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        written = rewrite(text, json.loads(text)["models"])
        if written != text and chosen.check:
            print(f"{path}: quirks differ from the configurations, run tools/model_quirks.py conf/models")
            is_right = False
        elif written != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(written)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
