# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of published models, made from the configurations of conf/models."""
import functools
import glob
import json
import math
import os
import re
import shutil
import struct

import rig

# In the text of a graph: a weight, whose name has no '/', behind an argument; "128 x" where each expert has one.
WEIGHT = re.compile(r"=(?:(\d+) x )?([^\s/=,]+\.[^\s/=,]+) \w+ \[(?:[TR], )?([\d, ]*)\]"
                    r"(?: strides \[(\d+)[\d, ]*\] at (\d+))?")


@functools.cache
def models():
    """All models of conf/models by their names, in the order of families and sizes."""
    found = []
    for path in sorted(glob.glob(os.path.join(rig.SOURCE, "conf", "models", "*.json"))):
        with open(path, encoding="utf-8") as file:
            found += json.load(file)["models"]
    named = {model["name"]: model for model in found}
    assert len(named) == len(found), "a name stands there twice"
    return named


def write_config(folder, model):
    """Makes a folder with config.json alone; gives its path."""
    path = os.path.join(folder, model["name"])
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
        json.dump(model["config"], file)
    return path


def weights(graph):
    """The weights that the text of a graph names, with their shapes."""
    found = {}
    given = set(re.findall(r"^(?:input|constant) (\S+)", graph, re.MULTILINE))
    for count, name, shape, stride, at in WEIGHT.findall(graph):
        if name in given:
            continue
        shape = [int(size) for size in shape.split(",") if size.strip()]
        if stride and int(stride) == math.prod(shape[1:]):  # Some rows of it.
            shape[0] = max(shape[0] + int(at) // int(stride), found.get(name, [0])[0])
        if count and ".experts.0." not in name:
            shape.insert(0, int(count))  # One tensor has all of them.
            count = None
        names = [re.sub(r"\.experts\.0\.", f".experts.{e}.", name, count=1) for e in range(int(count or 1))]
        found.update({each: shape for each in names})
    return found


@functools.cache
def checkpoint_shapes(kind):
    """The shapes of the fixtures of a model type, by names without numbers: what Hugging Face has written."""
    found = {}
    for path in sorted(glob.glob(os.path.join(rig.DATA, "models", "*", "model.safetensors"))):
        with open(os.path.join(os.path.dirname(path), "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        if kind in (config.get("model_type"), config.get("text_config", {}).get("model_type")):
            with open(path, "rb") as file:
                header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            found.update({without_numbers(name): entry["shape"] for name, entry in header.items() if "shape" in entry})
    return found


def without_numbers(name):
    return re.sub(r"\.\d+\.", ".N.", re.sub(r"^(model\.language_model\.|language_model\.)", "model.", name))


def is_bare(model):
    """Whether it is of LLaVA's own code, whose text part has neither a section nor a prefix."""
    return model["type"] == "llava" and "text_config" not in model["config"]


def text_type(model):
    section = model["config"].get("text_config") or {}
    return section.get("model_type", "llama" if is_bare(model) else model["type"])


def scalars(model, shapes):
    """Numbers that a description reads from the checkpoint, of which a graph without weights shows nothing."""
    layers = sorted({re.match(r"(.*?\.\d+)\.", name).group(1) for name in shapes if re.match(r".*?\.\d+\.", name)})
    for name, shape in checkpoint_shapes(text_type(model)).items():
        rest = name.partition(".N.")[2]
        if rest and math.prod(shape) == 1:
            yield from ((f"{layer}.{rest}", shape) for layer in layers if f"{layer}.{rest}" not in shapes)


# Weights that a graph shows flat: the key with the number of their columns.
COLUMNS = {"A_log": "state_size", "time_decay": "head_size", "time_faaaa": "head_size"}


def true_shape(model, name, shape):
    """A graph may show a weight flat or in other axes; a checkpoint has it as the class made it."""
    known = checkpoint_shapes(text_type(model)).get(without_numbers(name))
    if known is None or len(known) == len(shape):
        return shape
    rest = [extent for extent in shape if extent != 1]
    axes = [extent for extent in known if extent != 1]
    if len(known) == 1:
        return [math.prod(shape)]
    if len(rest) == 1 and len(axes) == 2:
        columns = model["config"][COLUMNS[name.rpartition(".")[2]]]
        return [rest[0] // columns, columns]
    if len(rest) == 2 and len(axes) == 3:
        return [known[0], rest[0] // known[0], rest[1]]  # Of the uses, which are as many everywhere.
    return [1 if extent == 1 else rest.pop(0) for extent in known]


DTYPES = {"float32": ("F32", 4), "float16": ("F16", 2), "bfloat16": ("BF16", 2)}
# What a hub folder has in front of the names that a class has: models without their head, and wrappers.
PREFIXES = {
    "bloom": ("transformer.", ""),
    "gpt2": ("transformer.", ""),
    "gemma3": ("", "language_model."),
    "llama4": ("", "language_model."),
    "llava": ("", "language_model."),
    "mistral3": ("", "language_model."),
    "qwen3_5": ("model.", "model.language_model."),
}
SHARD = 5 << 30


def hub_name(model, name):
    """The name of a weight in the model's hub folder."""
    before, after = ("", "") if is_bare(model) else PREFIXES.get(model["type"], ("", ""))
    return after + name[len(before):] if name.startswith(before) else name


def write_shard(path, shapes, dtype, size):
    """A safetensors file of zeros that takes no room on the disk."""
    header, offset = {}, 0
    for name, shape in shapes:
        end = offset + math.prod(shape) * size
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + offset)


def write_weights(path, model, shapes):
    """All weights as zeros, in shards with an index as on the hub, or in one file if they are small."""
    section = model["config"].get("text_config") or model["config"]
    dtype, size = DTYPES[section.get("torch_dtype") or section.get("dtype") or "bfloat16"]
    shards, room = [[]], SHARD
    for name, shape in [*shapes.items(), *scalars(model, shapes)]:
        length = math.prod(shape) * size
        if length > room and shards[-1]:
            shards.append([])
            room = SHARD
        shards[-1].append((hub_name(model, name), true_shape(model, name, shape)))
        room -= length
    if len(shards) == 1:
        write_shard(os.path.join(path, "model.safetensors"), shards[0], dtype, size)
        return
    index = {"metadata": {"total_size": sum(math.prod(shape) for shape in shapes.values()) * size}, "weight_map": {}}
    for i, shard in enumerate(shards, 1):
        file = f"model-{i:05}-of-{len(shards):05}.safetensors"
        write_shard(os.path.join(path, file), shard, dtype, size)
        index["weight_map"].update({name: file for name, _ in shard})
    with open(os.path.join(path, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)


# The case of tests/data/tokenizers that cuts and joins text as a kind does.
TOKENIZERS = {
    "bloom": "bpe_bloom", "deepseek-llm": "bpe_deepseek_llm", "deepseek-v3": "bpe_deepseek3", "digits": "bpe_gpt2",
    "falcon": "bpe_falcon", "gemma": "spm_gemma", "gpt2": "bpe_gpt2", "gpt_neox": "bpe_neox_nfc",
    "llama2": "spm_llama_legacy", "llama3": "bpe_llama3", "o200k": "bpe_o200k", "qwen2": "bpe_qwen2",
    "qwen3.5": "bpe_qwen35", "rwkv": "rwkv_world", "sentencepiece": "sp_model_bpe", "tekken": "bpe_tekken",
    "tiktoken": "tiktoken_ranks", "unigram": "unigram", "wordpiece": "wordpiece_bert",
}


def special_ids(config):
    """The ids that a config gives a meaning to."""
    section = {**config, **(config.get("text_config") or {})}
    for key in ("bos_token_id", "eos_token_id", "pad_token_id"):
        ids = section.get(key)
        yield from ids if isinstance(ids, list) else [ids] if isinstance(ids, int) and ids >= 0 else []


def add_special(path, config, cuts_digits):
    """Gives the tokenizer's file the special tokens of the model, by their ids, and may cut digits first."""
    with open(path, encoding="utf-8") as file:
        tokenizer = json.load(file)
    if cuts_digits:
        digits = {"type": "Digits", "individual_digits": True}
        tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, tokenizer["pre_tokenizer"]]}
    vocabulary = tokenizer["model"]["vocab"]
    used = {entry["id"] for entry in tokenizer["added_tokens"]} | set(
        vocabulary.values() if isinstance(vocabulary, dict) else range(len(vocabulary)))
    for number in sorted(set(special_ids(config)) - used):
        tokenizer["added_tokens"].append({"id": number, "content": f"<|{number}|>", "single_word": False, "lstrip": False,
                                          "rstrip": False, "normalized": False, "special": True})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tokenizer, file)


def write_tokenizer(path, model):
    """A small tokenizer of the model's kind, with its special tokens; false if there is none of the kind."""
    kind = model.get("tokenizer")
    case = os.path.join(rig.DATA, "tokenizers", TOKENIZERS.get(kind, "?"))
    if not os.path.isdir(case):
        return False
    for file in os.listdir(case):
        if file != "cases.json":
            shutil.copyfile(os.path.join(case, file), os.path.join(path, file))
    if model["type"] == "chatglm" and kind == "tiktoken":  # The class GLM-4 has: another pattern, no special tokens.
        os.replace(os.path.join(path, "qwen.tiktoken"), os.path.join(path, "tokenizer.model"))
        os.remove(os.path.join(path, "tokenizer_config.json"))
    file = os.path.join(path, "tokenizer.json")
    if os.path.exists(file):
        add_special(file, model["config"], cuts_digits=kind == "digits")
    return True
