#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Writes small quantised checkpoints in the layouts of published ones, with what Hugging Face computes of their weights.

    make_quantised.py FOLDER [CASE...]

Each case is a folder like those of tests/data/models. The weights are random; they are quantised here, widened again to
float32 by the method's definition, and the model with the widened weights runs in float32, as dump_expected.py does. The
definition is Hugging Face's own function where transformers has one, else the formula of the format. Scales differ from
block to block; there are blocks of zeros, with a scale of zero, and values at the end of the range. Where the method
quantises inputs, the model runs with such (quantised_inputs.py), on the first prompt of which none lies on a tie.

Runs wherever torch and transformers are installed.
"""
import contextlib
import json
import math
import os
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file

import dump_expected
import quantised_inputs as inputs

BASE = {"vocab_size": 96, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 64, "tie_word_embeddings": True, "rms_norm_eps": 1e-5,
        "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
F4 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def tiles(weight, rows, columns):
    """Indices of the tile of each row and each column; 0 is one tile."""
    down = torch.arange(weight.shape[-2]) // (rows or weight.shape[-2])
    across = torch.arange(weight.shape[-1]) // (columns or weight.shape[-1])
    return down, across


def spread(scales, weight, rows, columns):
    """The scale of each value."""
    down, across = tiles(weight, rows, columns)
    return scales.index_select(-2, down).index_select(-1, across)


def largest(weight, rows, columns):
    """The largest magnitude of each tile."""
    down, across = tiles(weight, rows, columns)
    shape = (int(down[-1]) + 1, int(across[-1]) + 1)
    index = (down[:, None] * shape[1] + across).flatten()
    flat = torch.zeros(shape[0] * shape[1]).scatter_reduce(0, index, weight.abs().flatten(), "amax")
    return flat.reshape(shape)


def judged(tile, quants, scales, ours):
    """Compares with Hugging Face's function, which takes none but tiles that fill the weight."""
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize

    if all(size == 0 or extent % size == 0 for size, extent in zip(tile, quants.shape)):
        theirs = Fp8Dequantize(None)._dequantize_one(quants, scales, torch.float32)
        assert torch.equal(theirs, ours), "not what Hugging Face widens"
    return ours


def fp8(rows, columns, scale_type, suffix, dtype=torch.float8_e4m3fn):
    """8-bit floats with a scale a tile."""
    def quantise(name, weight):
        scales = largest(weight, rows, columns) / torch.finfo(dtype).max
        if scales.numel() > 1:
            scales.view(-1)[-1] = 0.0 # A tile of zeros, whatever its quants.
        scales = scales.to(scale_type).float()
        quants = (weight / spread(scales, weight, rows, columns).clamp(min=1e-12)).clamp(-448, 448).to(dtype)
        kept = (scales if rows else scales.reshape(())).to(scale_type)
        ours = judged((rows, columns), quants, kept, quants.float() * spread(scales, weight, rows, columns))
        parts = {name + ".weight": quants, name + suffix: kept}
        return parts, ours
    return quantise


def mxfp8(name, weight):
    """8-bit floats with a power of two for 32 values."""
    scales = (torch.floor(torch.log2(largest(weight, 1, 32))) - 7 + 127).to(torch.uint8)
    wide = torch.exp2(scales.float() - 127)
    quants = (weight / spread(wide, weight, 1, 32)).clamp(-448, 448).to(torch.float8_e4m3fn)
    ours = judged((1, 32), quants, scales, quants.float() * spread(wide, weight, 1, 32))
    return {name + ".weight": quants, name + ".weight_scale_inv": scales}, ours


def int8(name, weight):
    """Whole numbers with a scale and a zero point a row."""
    scales = (2 * largest(weight, 1, 0) / 255).to(torch.bfloat16)
    zeros = (torch.arange(weight.shape[0])[:, None] % 17 - 8).to(torch.int8)
    quants = (torch.round(weight / scales.float()) + zeros).clamp(-128, 127).to(torch.int8)
    parts = {name + ".weight": quants, name + ".weight_scale": scales, name + ".weight_zero_point": zeros}
    return parts, (quants.float() - zeros.float()) * scales.float()


def nibbles(weight):
    """The nearest 4-bit floats, as codes."""
    codes = (weight.abs()[..., None] - F4).abs().argmin(-1)
    return codes + 8 * (weight < 0)


def of_nibbles(codes):
    """What codes stand for."""
    return torch.where(codes >= 8, -F4[codes & 7], F4[codes & 7])


def nvfp4(divides):
    """4-bit floats, an 8-bit scale for 16 values, a factor of the tensor."""
    def quantise(name, weight):
        factor = largest(weight, 0, 0).reshape(()) / (448 * 6)
        factor = (1 / factor if divides else factor).float()
        scales = largest(weight, 1, 16) / 6
        scales = (scales * factor if divides else scales / factor).to(torch.float8_e4m3fn)
        wide = scales.float() / factor if divides else scales.float() * factor
        wide = spread(wide, weight, 1, 16)
        codes = nibbles(weight / wide.clamp(min=1e-12))
        packed = (codes[:, 0::2] | codes[:, 1::2] << 4).to(torch.uint8)
        quants, global_scale = (".weight_packed", ".weight_global_scale") if divides else (".weight", ".weight_scale_2")
        parts = {name + quants: packed, name + ".weight_scale": scales,
                 name + global_scale: factor.reshape(1) if divides else factor}
        return parts, of_nibbles(codes) * wide
    return quantise


def words(codes, bits, places=None):
    """Codes of the last axis in words of 32 bits."""
    count = 32 // bits
    padded = torch.nn.functional.pad(codes.long(), (0, -codes.shape[-1] % count)).unflatten(-1, (-1, count))
    shifts = bits * torch.tensor(places or list(range(count)))
    packed = (padded << shifts).sum(-1)
    return torch.where(packed >= 1 << 31, packed - (1 << 32), packed).to(torch.int32)


def packed_int4(name, weight):
    """Groups of 32 columns in words, with zero points; compressed-tensors."""
    scales = (2 * largest(weight, 1, 32) / 15).to(torch.bfloat16)
    zeros = (torch.arange(scales.numel()) % 5 + 6).reshape(scales.shape)
    wide = spread(scales.float(), weight, 1, 32)
    codes = (torch.round(weight / wide) + spread(zeros, weight, 1, 32)).clamp(0, 15).long()
    parts = {name + ".weight_packed": words(codes, 4), name + ".weight_scale": scales,
             name + ".weight_zero_point": words(zeros.T, 4).T.contiguous(),
             name + ".weight_shape": torch.tensor(weight.shape)}
    return parts, (codes - spread(zeros, weight, 1, 32)).float() * wide


def gptq(is_chosen):
    """Groups of 32 columns, zero points less by one."""
    return lambda name, weight: grouped(name, weight, groups_of(name, weight, is_chosen))


def groups_of(name, weight, is_chosen):
    """The group of each column: of neighbours, or chosen by an order of the columns."""
    draw = torch.Generator().manual_seed(len(name))
    order = torch.randperm(weight.shape[1], generator=draw) if is_chosen else torch.arange(weight.shape[1])
    groups = torch.empty_like(order)
    groups[order] = torch.arange(weight.shape[1]) // 32
    return groups


def grouped(name, weight, groups):
    """The tensors of GPTQ."""
    scales = torch.stack([weight[:, groups == g].abs().amax(1) for g in range(int(groups.max()) + 1)])
    scales = (2 * scales / 15).to(torch.float16)
    zeros = (torch.arange(scales.numel()) % 5 + 6).reshape(scales.shape)
    wide = scales.float()[groups].T
    codes = (torch.round(weight / wide) + zeros[groups].T).clamp(0, 15).long()
    parts = {name + ".qweight": words(codes, 4).T.contiguous(), name + ".qzeros": words(zeros - 1, 4),
             name + ".scales": scales, name + ".g_idx": groups.to(torch.int32)}
    return parts, (codes - zeros[groups].T).float() * wide


def awq(name, weight):
    """Groups of 32 columns, words along the rows in their order."""
    places = [0, 4, 1, 5, 2, 6, 3, 7]
    scales = (2 * largest(weight, 1, 32) / 15).to(torch.float16)
    zeros = (torch.arange(scales.numel()) % 5 + 6).reshape(scales.shape)
    wide = spread(scales.float(), weight, 1, 32)
    codes = (torch.round(weight / wide) + spread(zeros, weight, 1, 32)).clamp(0, 15).long()
    parts = {name + ".qweight": words(codes.T, 4, places), name + ".qzeros": words(zeros.T, 4, places),
             name + ".scales": scales.T.contiguous()}
    return parts, (codes - spread(zeros, weight, 1, 32)).float() * wide


def mxfp4(name, weight):
    """Stacked experts [experts, in, out] in blocks of 32 along `in`, as gpt_oss has them."""
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    turned = weight.transpose(1, 2).contiguous()
    blocks = turned.unflatten(-1, (-1, 32))
    scales = (torch.floor(torch.log2(blocks.abs().amax(-1))) - 2 + 127).to(torch.uint8)
    codes = nibbles(blocks / torch.exp2(scales.float() - 127)[..., None])
    packed = (codes[..., 0::2] | codes[..., 1::2] << 4).to(torch.uint8)
    return ({name + "_blocks": packed, name + "_scales": scales},
            convert_moe_packed_tensors(packed, scales, dtype=torch.float32))


def group(targets, form, weights, activations=None):
    """A group of compressed-tensors."""
    return {"targets": targets, "format": form, "weights": weights, "input_activations": activations,
            "output_activations": None}


def compressed(form, ignore, **groups):
    """A configuration of compressed-tensors."""
    return {"quant_method": "compressed-tensors", "format": form, "quantization_status": "compressed",
            "ignore": ignore, "kv_cache_scheme": None, "config_groups": groups}


FLOAT8 = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True, "dynamic": False}
DYNAMIC = {"num_bits": 8, "type": "float", "strategy": "token", "symmetric": True, "dynamic": True}
LOCAL = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": True,
         "dynamic": "local", "observer": "minmax", "scale_dtype": "torch.float8_e4m3fn"}

# How inputs are rounded. Scales of the file leave the largest value of the prompt to be clamped.
TOKENS = inputs.Scheme(inputs.e4m3, inputs.quotient(448))
INT_TOKENS = inputs.Scheme(inputs.int8, inputs.quotient(127.5))
STATIC = inputs.Scheme(inputs.e4m3, inputs.given, 0, ".activation_scale", lambda largest: 0.75 * largest / 448)
NVFP4_DIVIDED = inputs.Scheme(inputs.e2m1, inputs.divided, 16, ".input_scale", lambda largest: largest / (448 * 6))
NVFP4_SCALED = inputs.Scheme(inputs.e2m1, inputs.scaled, 16, ".input_global_scale", lambda largest: 448 * 6 / largest)
PROMPT = [5 + 7 * i % 89 for i in range(12)]
PLAIN = ("lm_head", "embed_tokens", "router", "mlp.gate.", "norm")
LLAMA = ("LlamaConfig", {})
EXPERTS = {"moe_intermediate_size": 48, "num_experts": 4, "num_experts_per_tok": 2, "head_dim": 16, "norm_topk_prob": True}
MINISTRAL = {"head_dim": 16, "rope_parameters": {
    "rope_type": "yarn", "rope_theta": 1e6, "factor": 8.0, "original_max_position_embeddings": 4, "beta_fast": 32.0,
    "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.5}}
GPT_OSS = {"head_dim": 16, "intermediate_size": 64, "num_local_experts": 2, "num_experts_per_tok": 1,
           "sliding_window": 8, "tie_word_embeddings": False}

# Name: configuration class and changes, quantization_config, how the modules whose name contains a word are quantised,
# and how their inputs are.
CASES = {
    "quantised_fp8": (
        ("Qwen3MoeConfig", EXPERTS),
        {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [32, 40]},
        {"": fp8(32, 40, torch.float32, ".weight_scale_inv")},
        {"": inputs.Scheme(inputs.e4m3, inputs.quotient(448, 1e-4), 40)}),
    "quantised_fp8_blocks": (
        ("LlamaConfig", {"hidden_size": 144, "intermediate_size": 160, "num_attention_heads": 6}),
        {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
        {"": fp8(128, 128, torch.float32, ".weight_scale_inv")},
        {"": inputs.Scheme(inputs.e4m3, inputs.quotient(448, 1e-4), 128)}),
    "quantised_fp8_tensor": (
        ("Ministral3Config", MINISTRAL),
        {"quant_method": "fp8", "activation_scheme": "static", "weight_block_size": None, "dequantize": False,
         "modules_to_not_convert": ["lm_head"]},
        {"": fp8(0, 0, torch.bfloat16, ".weight_scale_inv")}, {"": STATIC}),
    "quantised_fbgemm": (
        LLAMA, {"quant_method": "fbgemm_fp8", "activation_scale_ub": 2.0, "modules_to_not_convert": ["lm_head"]},
        {"": fp8(1, 0, torch.float32, ".weight_scale")},
        {"": inputs.Scheme(inputs.e4m3, inputs.quotient(448, 1 / 512, 2.0))}),
    "quantised_mxfp8": (
        LLAMA, {"quant_method": "mxfp8", "activation_scheme": "dynamic", "weight_block_size": [1, 32],
                "scale_fmt": "ue8m0"},
        {"": mxfp8}, {"": inputs.Scheme(inputs.e4m3, inputs.power_above(448, 1e-4), 32)}),
    "quantised_mxfp4": (
        ("GptOssConfig", GPT_OSS),
        {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router",
                                                             "model.embed_tokens", "lm_head"]},
        {"experts.gate_up_proj": mxfp4, "experts.down_proj": mxfp4}, {}),
    "quantised_nvfp4": (
        LLAMA, {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head", "model.layers.*.mlp.down_proj"],
                "producer": {"name": "modelopt", "version": "0.29.0"}},
        {"down_proj": None, "": nvfp4(divides=False)}, {"down_proj": None, "": NVFP4_DIVIDED}),
    "quantised_compressed": (
        LLAMA, compressed(
            "mixed-precision", ["lm_head", "re:.*v_proj$"],
            group_0=group(["Linear"], "float-quantized", FLOAT8, DYNAMIC),
            group_1=group(["re:.*mlp\\.(gate|up)_proj$"], "int-quantized",
                          {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": False},
                          {**DYNAMIC, "type": "int"}),
            group_2=group(["model.layers.0.mlp.down_proj"], "pack-quantized",
                          {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": False},
                          None),
            group_3=group(["re:.*o_proj$"], "nvfp4-pack-quantized",
                          {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}, LOCAL)),
        {"v_proj": None, "gate_proj": int8, "up_proj": int8, "down_proj": packed_int4, "o_proj": nvfp4(divides=True),
         "": fp8(1, 0, torch.bfloat16, ".weight_scale")},
        {"v_proj": None, "gate_proj": INT_TOKENS, "up_proj": INT_TOKENS, "down_proj": None, "o_proj": NVFP4_SCALED,
         "": TOKENS}),
    "quantised_gptq": (
        LLAMA, {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True, "sym": False,
                "checkpoint_format": "gptq", "damp_percent": 0.1, "true_sequential": True},
        {"": gptq(is_chosen=True)}, {}),
    "quantised_gptq_groups": (
        LLAMA, {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "sym": False,
                "checkpoint_format": "gptq", "damp_percent": 0.1, "true_sequential": True},
        {"": gptq(is_chosen=False)}, {}),
    "quantised_awq": (
        LLAMA, {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm",
                "modules_to_not_convert": None},
        {"": awq}, {}),
}


def fill(model):
    """Random weights, whose rows have magnitudes of their own."""
    draw = torch.Generator().manual_seed(7)
    for name, tensor in model.named_parameters():
        noise = torch.randn(tensor.shape, generator=draw)
        if "norm" in name:
            tensor.data.add_(0.2 * noise)
        elif tensor.dim() < 2:
            tensor.data.copy_(0.2 * noise)
        else:
            size = torch.exp2(torch.randn((*tensor.shape[:-1], 1), generator=draw))
            tensor.data.copy_(noise * size / math.sqrt(tensor.shape[-1]))
        tensor.data.copy_(tensor.data.bfloat16().float())


def method_of(name, methods):
    """How a tensor is quantised, or None."""
    if any(word in name for word in PLAIN) or not name.endswith(("_proj", "_proj.weight")):
        return None
    return next((method for word, method in methods.items() if word in name), None)


def quantised(tensors, methods):
    """The tensors as the checkpoint has them, and as the model computes with them."""
    stored, plain = {}, {}
    for name, tensor in tensors.items():
        method = method_of(name, methods)
        if method is None:
            stored[name], plain[name] = tensor.bfloat16(), tensor.bfloat16().float()
            continue
        parts, plain[name] = method(name.removesuffix(".weight"), tensor)
        stored.update(parts)
    return stored, plain


def with_factors(judge, schemes, stored):
    """The factors of inputs, which the checkpoint stores, by the names of parameters. One for all experts of a stack."""
    factors = {}
    largest = inputs.largest_inputs(judge, lambda: dump_expected.compute(judge, PROMPT, 4))
    for name, scheme in schemes.items():
        if scheme.suffix:
            factors[name] = torch.tensor(scheme.of(largest[name]), dtype=torch.float32)
            stored[name.removesuffix(".weight") + scheme.suffix] = factors[name]
    return factors


def first_without_ties(judge):
    """What is computed of the first prompt of which no input lies on a tie. The fewer values, the sooner it is found."""
    for seed in range(40000):
        draw = torch.Generator().manual_seed(seed)
        prompt = torch.randint(BASE["vocab_size"], (6 if seed < 20000 else 2,), generator=draw).tolist()
        with contextlib.suppress(inputs.Tie):
            expected = dump_expected.compute(judge, prompt, 2)
            if dump_expected.margin(expected) > 0.01:
                return expected
    raise SystemExit("every prompt has a tie")


def compute(judge, methods, schemes, stored):
    """What Hugging Face's class computes, with inputs as the schemes round them."""
    schemes = {name: method_of(name, schemes) for name, _ in judge.named_parameters() if method_of(name, methods)}
    schemes = {name: scheme for name, scheme in schemes.items() if scheme}
    if not schemes:
        return dump_expected.compute(judge, PROMPT, 4)
    with inputs.quantised(judge, schemes, with_factors(judge, schemes, stored)):
        return first_without_ties(judge)


def make(folder, case):
    """One case."""
    (kind, changes), method, methods, schemes = CASES[case]
    config = getattr(transformers, kind)(**{**BASE, **changes})
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(config).float()
    fill(model)
    with tempfile.TemporaryDirectory() as plain_folder:
        model.save_pretrained(plain_folder)
        path = os.path.join(plain_folder, "model.safetensors")
        stored, plain = quantised(load_file(path), methods)
        save_file({name: tensor.contiguous() for name, tensor in plain.items()}, path, {"format": "pt"})
        judge = transformers.AutoModelForCausalLM.from_pretrained(
            plain_folder, torch_dtype=torch.float32, attn_implementation="eager", experts_implementation="eager").eval()
        with open(os.path.join(plain_folder, "config.json"), encoding="utf-8") as file:
            text = json.load(file)
    expected = compute(judge, methods, schemes, stored)
    os.makedirs(folder, exist_ok=True)
    save_file({name: tensor.contiguous().clone() for name, tensor in expected.items()},
              os.path.join(folder, "expected.safetensors"))
    save_file({name: tensor.contiguous() for name, tensor in stored.items()},
              os.path.join(folder, "model.safetensors"), {"format": "pt"})
    text.update(dtype="bfloat16", quantization_config=method)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(text, file, indent=1)
    note = {"transformers": transformers.__version__, "torch": torch.__version__, "class": type(judge).__name__,
            "note": "weights widened to float32, inputs rounded, by the definition of the method",
            "greedy_margin": dump_expected.margin(expected)}
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(note, file, indent=1)
    return note["greedy_margin"]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for chosen_case in sys.argv[2:] or CASES:
        print(chosen_case, make(os.path.join(sys.argv[1], chosen_case), chosen_case))
