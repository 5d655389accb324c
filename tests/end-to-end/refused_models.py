# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of refusals for the files of a model: safetensors, shards, config.json, tokenizer.json."""
import json
import os
import shutil
import struct

import rig
from refusals import SHARDED, row, write, model_run

# -- Safetensors ---------------------------------------------------------------------------------

def weights(name, pieces, change):
    """`change(data)` gives other bytes for model.safetensors."""
    def make(folder):
        model, words = model_run(folder)
        path = os.path.join(model, "model.safetensors")
        with open(path, "rb") as file:
            data = file.read()
        write(path, change(data))
        return words
    row(f"safetensors: {name}", 2, ["model.safetensors:", *pieces], make)


def split(data):
    size, = struct.unpack_from("<Q", data)
    return json.loads(data[8:8 + size]), data[8 + size:]


def join(header, body):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def header(name, pieces, change):
    """`change(header, names)` edits the header, whose tensors are `names` in the order of their data."""
    def edit(data):
        table, body = split(data)
        names = sorted((key for key in table if key != "__metadata__"), key=lambda key: table[key]["data_offsets"])
        return join(change(table, names) or table, body)
    weights(name, pieces, edit)


def one(**values):
    """Sets keys of the second tensor."""
    return lambda table, names: table[names[1]].update(values)


weights("empty", ["expected at least 8 bytes, found 0"], lambda data: b"")
weights("seven bytes", ["expected at least 8 bytes, found 7"], lambda data: data[:7])
weights("cut in the header", ["expected a header within the 100 bytes of the file"], lambda data: data[:100])
weights("cut in the data", ["expected offsets within"], lambda data: data[:-1])
weights("more data than tensors", ["bytes of data, found"], lambda data: data + b"\0")
for claim in (0xffffffffffffffff, 0x7fffffffffffffff, 1 << 32, 100000001):
    weights(f"a header of {claim:#x} bytes", ["expected a header within", f"found {claim}"],
            lambda data, claim=claim: struct.pack("<Q", claim) + data[8:])
weights("a header of no bytes", ["model.safetensors:"], lambda data: struct.pack("<Q", 0) + data[8:])
weights("a header that is no JSON", ["model.safetensors:1: "], lambda data: join(b"{'a': 1}", b""))
weights("a header that is no object", ["expected an object as header"], lambda data: join(b"[1]", b""))
weights("a header that is too deep", ["maximum parsing depth reached"],
        lambda data: join(b'{"a":' + b"[" * 100000 + b"]" * 100000 + b"}", b""))
weights("zip", ["expected a header within"], lambda data: b"PK\3\4" + data)
weights("a tensor twice", ["duplicate object key"],
        lambda data: join(json.dumps(split(data)[0])[:-1].encode() + b"," +
                          json.dumps(split(data)[0])[1:].encode(), split(data)[1]))
header("a tensor that is no object", ["has no 'dtype'"], lambda table, names: table.update({names[1]: 3}))
header("no dtype", ["has no 'dtype'"], lambda table, names: table[names[1]].pop("dtype") and None)
header("an unknown dtype", ["expected dtype F64, F32", "found 'F6_E3M2'"], one(dtype="F6_E3M2"))
header("a dtype of quantised weights alone", ["expected a type of plain numbers", "found I8"],
       lambda table, names: table.update({names[0]: {**table[names[0]], "dtype": "I8", "shape": [96, 256]}}))
header("a dtype of another size", ["bytes for f64"], one(dtype="F64"))
header("no shape", ["expected a shape"], lambda table, names: table[names[1]].pop("shape") and None)
header("a shape that is no number", ["expected whole numbers as its shape"], one(shape=["a"]))
header("a negative extent", ["expected an extent of at least 0 on axis 0, found -4"], one(shape=[-4, -4]))
header("extents that overflow", ["too large to multiply"], one(shape=[1 << 40, 1 << 40]))
header("bytes that overflow", ["is too large"], one(shape=[1 << 62]))
header("seven axes", ["at most 6 extents, found 7"], one(shape=[1] * 7))
header("an extent beyond 64 bits", ["expected whole numbers as its shape"], one(shape=[1 << 70]))
header("no offsets", ["expected two whole numbers as 'data_offsets'"],
       lambda table, names: table[names[1]].pop("data_offsets") and None)
header("three offsets", ["expected two whole numbers as 'data_offsets'"], one(data_offsets=[0, 1, 2]))
header("offsets that run backwards", ["expected offsets within"], one(data_offsets=[8, 4]))
header("negative offsets", ["expected offsets within"], one(data_offsets=[-8, 4]))
header("offsets behind the end", ["expected offsets within"], one(data_offsets=[0, 1 << 60]))
header("overlapping tensors", ["tensors overlap"],
       lambda table, names: table[names[1]].update(
           data_offsets=[at - 4 for at in table[names[1]]["data_offsets"]]))
header("a gap", ["a gap"],
       lambda table, names: table.update({names[1]: {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}))
header("a name with a control character", ["a tensor's name has a control character"],
       lambda table, names: table.update({"a\nb": table.pop(names[1])}))
header("a tensor without a name", ["a tensor has no name"], lambda table, names: table.update({"": table.pop(names[1])}))


def tensor(name, pieces, change):
    """As `header`, for what the architecture refuses."""
    def make(folder):
        model, words = model_run(folder)
        path = os.path.join(model, "model.safetensors")
        with open(path, "rb") as file:
            table, body = split(file.read())
        change(table)
        write(path, join(table, body))
        return words
    row(f"weights: {name}", 2, pieces, make)


NORM = "model.layers.0.input_layernorm.weight"
tensor("a missing tensor", [NORM, "the checkpoint lacks it, expected"],
       lambda table: table.update({"other": table.pop(NORM)}))
tensor("a wrong shape", [NORM, "its shape is", "expected"],
       lambda table: table[NORM].update(shape=[2, table[NORM]["shape"][0] // 2]))
tensor("a wrong dtype", [NORM, "i32"], lambda table: table[NORM].update(dtype="I32"))


# -- Shards --------------------------------------------------------------------------------------

def index(name, pieces, change):
    def make(folder):
        model, words = model_run(folder, SHARDED)
        path = os.path.join(model, "model.safetensors.index.json")
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        changed = change(table)
        write(path, changed if isinstance(changed, bytes) else json.dumps(table))
        return words
    row(f"shards: {name}", 2, ["model.safetensors.index.json", *pieces], make)


def to(shard):
    def change(table):
        table["weight_map"][next(iter(table["weight_map"]))] = shard
    return change


for name in ("../model.safetensors", "/etc/passwd", "..", ".", "", "a/../b.safetensors"):
    index(f"a shard called '{name}'", ["expected the plain name of a shard", f"found '{name}'"], to(name))
index("a shard that is no name", ["expected the name of one of at most"], to(3))
index("a map of another shard", ["expected tensor", "in 'model-00003-of-00003.safetensors', found it in"],
      lambda table: table["weight_map"].update(
          {next(name for name, shard in table["weight_map"].items() if "00001" in shard):
           "model-00003-of-00003.safetensors"}))
index("a tensor that no shard has", ["expected tensor 'ghost'", "found it nowhere"],
      lambda table: table["weight_map"].update(ghost="model-00001-of-00003.safetensors"))
index("no map", ["expected an object 'weight_map'"], lambda table: table.pop("weight_map") and None)
index("no JSON", [":1: "], lambda table: b"{")


def same_tensor_twice(folder):
    model, words = model_run(folder, SHARDED)
    shutil.copyfile(os.path.join(model, "model-00001-of-00003.safetensors"),
                    os.path.join(model, "model-00002-of-00003.safetensors"))
    return words


row("shards: a tensor in two of them", 2,
    ["is in both 'model-00001-of-00003.safetensors' and 'model-00002-of-00003.safetensors'"], same_tensor_twice)


# -- config.json ---------------------------------------------------------------------------------

def config_bytes(name, pieces, data):
    """`data` is the file, or a function of the parsed one."""
    def make(folder):
        model, words = model_run(folder)
        path = os.path.join(model, "config.json")
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        write(path, data(table) if callable(data) else data)
        return words
    row(f"config.json: {name}", 2, pieces, make)


def config(name, pieces, **values):
    config_bytes(name, pieces, lambda table: json.dumps({**table, **values}))


config_bytes("empty", ["config.json:"], b"")
config_bytes("an array", ["config.json: expected an object"], b"[]")
config_bytes("cut", ["config.json:"], lambda table: json.dumps(table)[:-5])
config_bytes("a key twice", ["duplicate object key"], lambda table: json.dumps(table)[:-1] + ', "vocab_size": 3}')
config_bytes("too deep", ["maximum parsing depth"], b'{"a":' * 100000 + b"1" + b"}" * 100000)
config_bytes("too large", ["expected at most 16777216 bytes"], b" " * ((16 << 20) + 1))
config_bytes("not UTF-8", ["config.json:"], b'{"a": "\xff"}')
config_bytes("a zero byte", ["config.json:"], b'{"a": "\0"}')
config_bytes("without a model type", ["config.json has no 'model_type', expected a text"], b"{}")
config("an unknown architecture", ["no architecture knows the model type 'lama'", "'llama'"], model_type="lama")
config("a model type that is no text", ["config.json has no 'model_type', expected a text"], model_type=3, architectures=["X"])
config("an unknown key", ["'/sliding_gate'", "keys were read", "unknown-keys"], sliding_gate=3)
config("several unknown keys", ["'/one'", "'/two/three'"], one=1, two={"three": 3})
config("an unknown key with a line break", ["'/a?b'"], **{"a\nb": 1})
config("weights of an unknown method", ["'/quantization_config/quant_method': expected one of: fp8 ", "found nothing"],
       quantization_config={"bits": 4})
config("weights of bitsandbytes", ["'/quantization_config/quant_method'", "found '\"bitsandbytes\"'"],
       quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True})
config("quantised weights of 3 bits", ["'/quantization_config/bits': expected one of: 4 8, found '3'"],
       quantization_config={"quant_method": "gptq", "bits": 3})
config("an unknown key of quantised weights", ["'/quantization_config/twist'"],
       quantization_config={"quant_method": "fp8", "twist": 2})
for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size",
            "vocab_size", "head_dim"):
    for value in (-1, 0, 1 << 40, 1 << 62):
        config(f"{key} = {value}", [f"'{key}' is {value}, expected 1 to"], **{key: value})
    config(f"{key} = text", [f"'/{key}': expected a whole number, found '\"x\"'"], **{key: "x"})
    config(f"{key} = 1.5", [f"'/{key}': expected a whole number, found '1.5'"], **{key: 1.5})
    config(f"{key} = Infinity", [f"'/{key}': expected a whole number"], **{key: float("inf")})
    config(f"{key} = an array", [f"'/{key}': expected a whole number, found '[]'"], **{key: []})
for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"):
    config_bytes(f"no {key}", [f"the config lacks '{key}'"],
                 lambda table, key=key: json.dumps({name: value for name, value in table.items() if name != key}))
config("heads that do not share", ["4 heads do not share 3 key and value heads evenly"], num_key_value_heads=3)
config_bytes("heads that do not divide", ["hidden values do not divide among 7 heads"],
             lambda table: json.dumps({**{k: v for k, v in table.items() if k != "head_dim"}, "num_attention_heads": 7,
                                       "num_key_value_heads": 7}))
config("an unknown activation", ["'hidden_act' is 'swoosh', expected 'silu', 'swish', 'gelu', "], hidden_act="swoosh")
config("an activation that is no text", ["'/hidden_act': expected a string, found '1'"], hidden_act=1)
config("a bias that is no truth", ["'/attention_bias': expected true or false, found '0.5'"], attention_bias=0.5)
for value in (0, 1e-320, -1.0, 2, float("nan"), float("inf")):
    config(f"rms_norm_eps = {value}", ["'rms_norm_eps' is", "expected a number from 1.17549e-38 to 1"], rms_norm_eps=value)
config("an unknown rope", ["rope"], rope_parameters={"rope_type": "spiral", "rope_theta": 1e4})
for value in (0, -0.0, 1e-320, 1e308, -1.0, float("nan"), float("inf")):
    config(f"rope_theta = {value}", ["'rope_parameters/rope_theta' makes the base of the rotation"],
           rope_parameters={"rope_type": "default", "rope_theta": value})
for value in (0, -1, 1 << 62):
    config(f"max_position_embeddings = {value}", [f"'max_position_embeddings' is {value}, expected 1 to"],
           max_position_embeddings=value)
for kind in ("linear", "dynamic", "yarn", "llama3"):
    for value in (-1, 0, float("nan"), float("inf")):
        config(f"{kind} rope of factor {value}", ["rope_parameters/factor", "expected a number above 0"],
               rope_parameters={"rope_type": kind, "rope_theta": 1e4, "factor": value, "low_freq_factor": 1,
                                "high_freq_factor": 4, "original_max_position_embeddings": 32})
    config(f"{kind} rope whose factor is text", ["'/rope_parameters/factor': expected a number"],
           rope_parameters={"rope_type": kind, "rope_theta": 1e4, "factor": "x"})
    if kind != "yarn":  # Which finds it from the two lengths.
        config(f"{kind} rope without a factor", ["the config lacks 'rope_parameters/factor'"],
               rope_parameters={"rope_type": kind, "rope_theta": 1e4})
for kind in ("linear", "yarn", "llama3"):
    for factor in (1e-320, 1e-37):
        config(f"{kind} rope of factor {factor}", ["'rope_parameters/factor' "],
               rope_parameters={"rope_type": kind, "rope_theta": 1e4, "factor": factor, "low_freq_factor": 1,
                                "high_freq_factor": 4, "original_max_position_embeddings": 32})
config("yarn rope of a huge mscale", ["the numbers in 'rope_parameters' make a factor of heads 1e+30, expected"],
       rope_parameters={"rope_type": "yarn", "rope_theta": 1e4, "factor": 4, "attention_factor": 1e30,
                        "original_max_position_embeddings": 32})
config("a rope that is a list", ["'/rope_parameters'"], rope_parameters=[1, 2])


def config_of(name, pieces, **values):
    """As `config`, of another fixture."""
    def make(folder):
        model, words = model_run(folder, os.path.join(rig.DATA, "models", name))
        path = os.path.join(model, "config.json")
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        write(path, json.dumps({**table, **values}))
        return words
    row(f"config.json of {name}: {values}", 2, pieces, make)


def window(value, pieces):
    config_of("gemma2", pieces, sliding_window=value)


window(1e300, ["'/sliding_window': expected a whole number, found '1.0"])
window(float("nan"), ["'/sliding_window': expected a whole number"])
window(-1, ["'sliding_window' is -1, expected 1 to"])
window("x", ["'/sliding_window': expected a whole number, found '\"x\"'"])
# Numbers that f32 does not hold, or cannot be divided by: NaN and infinities would arise in the first op.
for name, key in [("cohere", "logit_scale"), ("granite", "embedding_multiplier"), ("granite", "logits_scaling"),
                  ("deepseek_v3", "routed_scaling_factor"), ("gemma2", "final_logit_softcapping"),
                  ("minicpm", "scale_depth"), ("jais", "embeddings_scale")]:
    for value in (1e308, 1e-320):
        config_of(name, [f"'{key}' is {value:g}", "expected a number above 0 that f32 holds"], **{key: value})
config_of("llama4_text", ["'attn_scale' is 1e+308, expected a number from -1e+15 to 1e+15"], attn_scale=1e308)
config_of("mamba2", ["'time_step_limit/0' is 1e+308, expected a number from "], time_step_limit=[1e308, float("inf")])
config_of("rwkv7", ["'norm_eps' is 0, expected a number from "], norm_eps=0)
config("a window without end", ["'/sliding_window'"], sliding_window=1e300)
config("tied weights that are text", ["'/tie_word_embeddings': expected true or false"], tie_word_embeddings="yes")
config("architectures that are a number", ["config.json has no 'model_type'"], model_type=None, architectures=7)
config("more layers than tensors", ["model.layers.2.", "the checkpoint lacks it"], num_hidden_layers=4096)
config("another width", ["its shape is"], hidden_size=32, head_dim=8)


# -- tokenizer.json ------------------------------------------------------------------------------

def tokenizer(name, pieces, data):
    def make(folder):
        model, words = model_run(folder, rig.TINY, prompts=b"once\n") # A text: ids need no tokenizer.
        path = os.path.join(model, "tokenizer.json")
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        write(path, data(table) or json.dumps(table) if callable(data) else data)
        return words
    row(f"tokenizer.json: {name}", 2, ["tokenizer.json", *pieces], make)


tokenizer("empty", [], b"")
tokenizer("an array", ["expected an object"], b"[]")
tokenizer("another model", ["model 'WordLevel' is unsupported"], lambda table: table["model"].update(type="WordLevel"))
tokenizer("a normalizer", ["normalizer 'Transliterate' is unsupported"],
          lambda table: table.update(normalizer={"type": "Transliterate"}))
tokenizer("an expression without an end", ["the expression '[a'"],
          lambda table: table.update(pre_tokenizer={"type": "Split", "pattern": {"Regex": "[a"}, "behavior": "Isolated"}))
tokenizer("two tokens with one id", ["expected one token for each id"],
          lambda table: table["model"]["vocab"].update(quux=next(iter(table["model"]["vocab"].values()))))
tokenizer("an added token with the id of another token", ["of 'added_tokens' for 100"],
          lambda table: table["added_tokens"].append({"id": 100, "content": "<other>", "special": True}))
tokenizer("no vocabulary", ["expected a vocabulary, found no token"], lambda table: table["model"].update(vocab={}))
tokenizer("an id that is none", ["token 'x': expected an id of 31 bits"], lambda table: table["model"]["vocab"].update(x=-1))
tokenizer("a merge of one", ["expected two tokens as merge 0"], lambda table: table["model"].update(merges=["a"]))
tokenizer("a merge of strangers", ["merge 0 makes 'quuxquux'"], lambda table: table["model"].update(merges=["quux quux"]))
tokenizer("merges that are none", ["expected an array 'merges'"], lambda table: table["model"].update(merges=3))
tokenizer("an added token without an id", ["of each added token"], lambda table: table.update(added_tokens=[{"content": "x"}]))
