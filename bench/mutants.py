# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that nobody planned: mutation operators over the sources of kernels, launches, drivers and the CPU's plugin.

A seed draws them. An area is drawn first, then a file of it, then an operator among those that can do something
there, then a place: so a long file or a frequent operator does not crowd out the others.
"""
import glob
import os
import random
import re

import planted

# Area: its sources below the root, and how often it is drawn.
AREAS = {
    "kernel": (["sdk/gpu/kernels/*.k"], 4),
    "launch": (["sdk/gpu/ops/*.c", "sdk/gpu/view.c", "sdk/gpu/plan.c", "sdk/gpu/support.c"], 2),
    "driver": (["plugins/opencl/*.c", "plugins/vulkan/*.c", "sdk/gpu/queue.c", "sdk/gpu/backend.c", "sdk/gpu/objects.c",
                "sdk/gpu/notices.c"], 2),
    "cpu": (["plugins/cpu/reference/*.c", "plugins/cpu/fast/*.c"], 3),
}

# What cannot be wrong in a value: entries, opening of libraries, caches on disk, digests of sources.
LEFT_OUT = ("entry.c", "driver.c", "cache.c", "identity.c", "reference.c", "fast.c")

# Operators: pattern, and what stands there instead; `\\1` as in re.sub.
NAME = r"[A-Za-z_][\w.>-]*(?:\[[^\][]*\])?"
OPERATORS = {
    "relation": [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "),
                 (r" != ", " == ")],
    "turned relation": [(r" < ", " > "), (r" > ", " < ")],
    "arithmetic": [(r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "), (r" % ", " / ")],
    "logic": [(r" && ", " || "), (r" \|\| ", " && ")],
    "constant": [(r"(?<![\w.])1u\b", "2u"), (r"(?<![\w.])0u\b", "1u"), (r"(?<![\w.])1\b(?![.\w])", "2"),
                 (r"(?<![\w.])0\b(?![.\w])", "1"), (r"(?<![\w.])2\b(?![.\w])", "3"), (r"\b1\.0f\b", "1.001f"),
                 (r"\b0\.0f\b", "0.001f"), (r"\b0\.5f\b", "0.501f"), (r"(\d\.\d+)f\b", r"(\1f * 1.01f)")],
    "off by one": [(r"\[([\w.>-]+)\]", r"[\1 + 1]"), (r"< (p\.\w+)([;)])", r"< \1 - 1u\2"),
                   (r"< ([\w>-]+)(; )", r"< \1 - 1\2")],
    "index": [(r"\[(\w+)\]", "[0]"), (r"\bLOCAL_X\b", "0u"), (r"\bGROUP_LINEAR\b", "GROUP_X"), (r"\bGROUP_Z\b", "0u")],
    "barrier": [(r"^\s*(?:WG_)?BARRIER\(\);\n", "")],
    "clamp": [(r"\b(?:min|max)\((" + NAME + r"), [^(),]+\)", r"\1"),
              (r"\bSELECT\([^(),]+, ([^(),]+), [^(),]+\)", r"\1")],
    "stride": [(r"_s0\b", "_s1"), (r"_s1\b", "_s0"), (r"_s\b(?!\w)", "_at"), (r"(stride\(\w+, )0\)", r"\g<1>1)"),
               (r"(shape\[)1\]", r"\g<1>0]"), (r"(shape\[)0\]", r"\g<1>1]")],
    "operands": [(r"(" + NAME + r") - (" + NAME + r")", r"\2 - \1"), (r"(" + NAME + r") / (" + NAME + r")", r"\2 / \1"),
                 (r"\((" + NAME + r"), (" + NAME + r")\)", r"(\2, \1)")],
    "sign": [(r"([(=,] ?)-(\w)", r"\1\2")],
    "condition": [(r"\bif \((?!!)(.+)\) \{", r"if (!(\1)) {")],
    "statement": [(r"^\s+[\w.>\[\]-]+ (?:[-+*]?=) [^{}]+;\n", ""),
                  (r"^\s+(?:WG_SUM|WG_MAX|ADD_BIAS|ADD_BIAS_X)\(.*\);\n", "")],
}

DECLARATION = re.compile(r"^\s*(?:#|//|static |const |struct |enum |typedef |extern |_Static_assert|PARAMS|"
                         r"WORKGROUP|TUNE|IN\(|OUT\(|INOUT\(|SHARED\(|KERNEL|FIELD|\w+\(.*TAPML_\w+_PARAMS|"
                         r"return gpu_fail|.*\"[^\"]*\"| \*)")


def sources(root, area):
    """The sources of an area, below the root."""
    found = [path for pattern in AREAS[area][0] for path in glob.glob(os.path.join(root, pattern))]
    return sorted(os.path.relpath(path, root) for path in found if os.path.basename(path) not in LEFT_OUT)


def places(lines, operator):
    """(line, the line as it becomes) for each place where an operator changes something."""
    found = []
    for number, line in enumerate(lines):
        code = line.partition("//")[0]
        if not code.strip() or DECLARATION.match(line):
            continue
        for pattern, replacement in OPERATORS[operator]:
            for match in re.finditer(pattern, line):
                if match.start() < len(code) or not code.endswith("\n"):
                    new = line[:match.start()] + match.expand(replacement) + line[match.end():]
                    if new != line and match.start() < len(code):
                        found.append((number, new))
    return found


# -- Where a change shows ------------------------------------------------------------------------------------------

# The model that has an op, where it is not the first one of the board.
MODEL_OF = {
    "gpt2": "layer_norm gelu_tanh linear_columns",
    "gemma2": "softcap scale",
    "mixtral": "route route_softmax route_topk weighted_sum linear_experts experts",
    "mamba2": "conv1d_causal linear_scan conv1d scan recurrence softplus exponential exp",
    "qwen3_next": "l2_norm sigmoid sum",
    "rwkv4": "wkv4",
    "ernie4_5_moe": "route_biased",
    "phimoe": "route_sparsemixer",
    "deepseek_v3": "route_groups",
    "quantised_mxfp8": "fake_quantise",
    "gpt_neox": "gelu",
    "opt": "relu",
    "gpt_oss": "clip",
}


def model_of(path, lines, at):
    """A model that uses what is changed: an op, where the line stands in its function, or a file that has its name."""
    start = next((number for number in range(at, -1, -1) if lines[number].startswith("}")), 0)
    functions = re.findall(r"TAPML_(\w+)_PARAMS", "".join(lines[start:at + 1]))
    name = functions[-1].lower() if functions else os.path.splitext(os.path.basename(path))[0]
    return next((model for model, names in MODEL_OF.items() if name in names.split()), "llama")


def target_of(path, rng):
    """The target that is changed: each kernel of attention and of products has devices that use it."""
    if path.startswith("plugins/cpu/"):
        return "suspect" if "/fast/" in path else "suspect-reference:f32"
    if path.startswith("plugins/vulkan/"):
        return "vulkan"
    name = os.path.splitext(os.path.basename(path))[0]
    if name in ("attention_lanes", "linear_lanes") or path.startswith("plugins/opencl/"):
        return "opencl"
    if name in ("linear_tiles", "linear_rows") or path.endswith("attention.k"):
        return planted.LARGE
    return rng.choice(["opencl", planted.LARGE])


def draw_one(root, seed, number, rng):
    area = rng.choices(list(AREAS), [weight for _, weight in AREAS.values()])[0]
    path = rng.choice(sources(root, area))
    with open(os.path.join(root, path), encoding="utf-8") as file:
        lines = file.readlines()
    usable = {operator: found for operator in OPERATORS if (found := places(lines, operator))}
    if not usable:
        return None
    operator = rng.choice(sorted(usable))
    at, new = rng.choice(usable[operator])
    name = f"seed {seed}, {number}: {operator}, {path.removeprefix('sdk/gpu/')}:{at + 1}"
    return planted.Fault(name=name, like=f"{area}: {operator}", path=path, old=lines[at], new=new,
                         model=model_of(path, lines, at),
                         target=target_of(path, rng), kind="drawn", line=at + 1)


def draw(root, seed, count):
    """`count` faults of a seed; the first of a longer draw are those of a shorter one."""
    rng = random.Random(seed)
    drawn, seen = [], set()
    while len(drawn) < count:
        fault = draw_one(root, seed, len(drawn) + 1, rng)
        if fault is not None and (fault.path, fault.line, fault.new) not in seen:
            seen.add((fault.path, fault.line, fault.new))
            drawn.append(fault)
    return drawn
