# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The faults that the scoreboard always has, and the changes that harm nobody.

A fault is a change of a source, as text that stands there once, or sections [fault.N] of a run. `like` names the
field case of docs/faults.md that it imitates, or says in a word what it is.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Fault:
    """One fault of the board."""
    name: str
    like: str
    path: str = ""              # Of the changed source, below the root; "": nothing is changed,
    old: str = ""               # what stands there,
    new: str = ""               # and what is put there instead.
    model: str = "llama"
    target: str = "opencl"      # A backend and options of its component; or "eval" and the plugin of a model.
    sections: tuple = ()        # Of [fault.N]: pairs of key and value.
    kind: str = "planted"       # Or "drawn", "harmless".
    line: int = 0               # Of a drawn one, which changes a whole line.
    ops: tuple = ()             # What is wrong, where a replay of cases does not show it.


LARGE = "opencl tile=large"


def kernel(name, like, file, old, new, **more):
    return Fault(name, like, f"sdk/gpu/kernels/{file}.k", old, new, **more)


def cpu(name, like, file, old, new, **more):
    target = "suspect" if file.startswith("fast/") else "suspect-reference:f32"
    return Fault(name, like, f"plugins/cpu/{file}.c", old, new, **{"target": target, **more})


def mapping(name, like, file, old, new, **more):
    return Fault(name, like, f"plugins/onednn/{file}.c", old, new, **{"target": "onednn", **more})


def launch(name, like, file, old, new, **more):
    return Fault(name, like, f"sdk/gpu/ops/{file}.c", old, new, **more)


def source(name, like, path, old, new, **more):
    return Fault(name, like, path, old, new, **more)


def description(name, like, path, old, new, *ops, plugin="llama", **more):
    return Fault(name, like, path, old, new, target=f"eval {plugin}", ops=tuple("tapml." + op for op in ops), **more)


def injected(name, like, *sections, **more):
    return Fault(name, like, sections=tuple(tuple(section.items()) for section in sections), **more)


# -- Texts of the dialect ------------------------------------------------------------------------------------------

TILES = "sdk/gpu/dialect/k_tiles.h"
KERNELS = [
    kernel("rms_norm: one item in two is left out of the sum", "A1", "rms_norm",
           "i < width; i += WG_X) {\n    LET(VX, v", "i < width; i += WG_X * 2u) {\n    LET(VX, v"),
    kernel("rms_norm: the sum of one item alone", "A2", "rms_norm", "  WG_SUM(sum, red);\n", ""),
    kernel("rms_norm: mean over one more", "constant", "rms_norm", "f32(p.width * LANES)", "f32(p.width * LANES + 1u)"),
    kernel("rms_norm: eps outside of the root", "B4", "rms_norm", "sqrt(sum / f32(p.width * LANES) + p.eps)",
           "(sqrt(sum / f32(p.width * LANES)) + p.eps)"),
    kernel("rms_norm: squares in f16", "B4", "rms_norm", "squares = fma(v, v, squares);",
           "squares = min(fma(v, v, squares), VX_SPLAT(64.0f));"),
    kernel("layer_norm: no mean in the second pass", "formula", "layer_norm", "AX_AT(x, xr + i) - mean);\n    squares",
           "AX_AT(x, xr + i));\n    squares", model="gpt2"),
    kernel("layer_norm: bias left out", "statement", "layer_norm", "    ADD_BIAS_X(value, i);\n", "", model="gpt2"),
    kernel("layer_norm: variance as a difference, which cancels", "B4", "layer_norm", "sqrt(sum / count + p.eps)",
           "sqrt(max(sum / count - 0.001f, 0.0f) + p.eps)", model="gpt2"),
    kernel("l2_norm: maximum with eps instead of a sum", "formula", "l2_norm", "sqrt(sum + p.eps)",
           "sqrt(max(sum, 0.001f))", model="qwen3_next"),
    kernel("sum: the last item is left out", "A3", "sum", "i < width; i += WG_X", "i + 1u < width; i += WG_X",
           model="deepseek_v3"),
    kernel("silu: linear below -5", "range", "silu", "v / (VX_SPLAT(1.0f) + exp(-v))",
           "v / (VX_SPLAT(1.0f) + exp(min(-v, VX_SPLAT(5.0f))))"),
    kernel("silu: a sigmoid 1 % wrong", "B9", "silu", "VX_SPLAT(1.0f) + exp", "VX_SPLAT(1.01f) + exp"),
    kernel("softplus: x above 3", "range", "softplus", "return SELECT(v < 0.0f, 0.0f, v) + 2.0f * s * series;",
           "return SELECT(v > 3.0f, v, SELECT(v < 0.0f, 0.0f, v) + 2.0f * s * series);", model="qwen3_next"),
    kernel("softplus: a series that ends too early", "precision", "softplus",
           "series = fma(z, series, 0.14285714f);", "series = 0.14285714f;", model="qwen3_next"),
    kernel("gelu_tanh: another cubic term", "B9", "gelu_tanh", "0.044715f", "0.044f", model="gpt2"),
    kernel("gelu_tanh: tanh through exp, which overflows", "B1", "gelu_tanh",
           "v / (VX_SPLAT(1.0f) + exp(u * -2.0f))",
           "v * 0.5f * (VX_SPLAT(1.0f) + (exp(u * 2.0f) - 1.0f) / (exp(u * 2.0f) + 1.0f))", model="gpt2"),
    kernel("sigmoid: saturates at 4", "range", "sigmoid", "exp(-v)", "exp(max(-v, VX_SPLAT(-4.0f)))",
           model="qwen3_next"),
    kernel("softcap: a cap on one side alone", "range", "softcap", "return precise_tanh(v);",
           "return SELECT(v < 0.0f, precise_tanh(v), min(v, 1.0f));", model="gemma2"),
    kernel("exponential: clamped", "B1", "exponential", "AT(y), exp(", "AT(y), exp(0.999f * ", model="qwen3_next"),
    kernel("mul: vectors in another order", "C1", "mul", "AX_AT(b, AT(b))", "AX_AT(b, AT(a))"),
    kernel("mul: the sign of small products is lost", "precision", "mul",
           "AX_AT(a, AT(a)) * AX_AT(b, AT(b))", "(AX_AT(a, AT(a)) + 0.0001f) * AX_AT(b, AT(b))"),
    kernel("add: one operand twice", "operands", "add", "AX_AT(b, AT(b))", "AX_AT(a, AT(a))"),
    kernel("add: a part in a thousand is lost", "precision", "add", "+ AX_AT(b, AT(b))", "+ AX_AT(b, AT(b)) * 0.999f"),
    kernel("scale: twice the factor", "constant", "scale", "p.factor", "(p.factor + p.factor)", model="gemma2"),
    kernel("rope: the sign of the second half", "G2", "rope", "SELECT(is_b != 0u, turned, -turned)",
           "SELECT(is_b == 0u, turned, -turned)"),
    kernel("rope: pairs one off", "G2", "rope", "VAR(u32, j, i % p.pairs)", "VAR(u32, j, (i + 1u) % p.pairs)"),
    kernel("rope: the first token's sines for all", "F2", "rope", "sines[p.sin_at + t * p.sin_s + j]",
           "sines[p.sin_at + j]"),
    kernel("rope: the angle of the wrong row behind 8 tokens", "shape", "rope", "LET(u32, t, row / p.heads);",
           "LET(u32, t, min(row / p.heads, 8u));"),
    kernel("embed: the neighbour's row", "E7", "embed", "min(id, p.last - p.offset)",
           "min(id + 1u, p.last - p.offset)"),
    kernel("embed: ids above 31 wrap", "E1", "embed", "u32(max(ids[p.ids_at + t], 0))",
           "(u32(max(ids[p.ids_at + t], 0)) & 31u)"),
    kernel("gather_rows: always the first row", "index", "gather_rows", "rows[p.rows_at + r]", "rows[p.rows_at]"),
    kernel("gather_rows: the row before", "off by one", "gather_rows", "u32(max(rows[p.rows_at + r], 0))",
           "u32(max(rows[p.rows_at + r] - 1, 0))"),
    kernel("state_append: the tail of a row is not written", "E4", "state_append",
           "EACH_ELEMENT { RX_APPEND", "EACH_ELEMENT { if (AT(x) % 16u != 15u) RX_APPEND"),
    kernel("attention: mask one off, by lanes", "mask", "attention_lanes", "end[i] = here + 1u", "end[i] = here"),
    kernel("attention: sees the future, by lanes", "mask", "attention_lanes", "end[i] = here + 1u",
           "end[i] = here + 2u"),
    kernel("attention: no scale, by lanes", "G1", "attention_lanes", "    score = score * p.scale;\n", ""),
    kernel("attention: heads of another group, by lanes", "G2", "attention_lanes", "h0 * p.kv_heads / p.heads",
           "h0 % p.kv_heads"),
    kernel("attention: the sum is not faded, by lanes", "B5", "attention_lanes", "total[i] * fade[i] + e[i]",
           "total[i] + e[i]"),
    kernel("attention: window one off, by lanes", "F7", "attention_lanes", "begin[i] = here + 1u - p.window",
           "begin[i] = here - p.window", model="gemma2"),
    kernel("attention: no softcap, by lanes", "G2", "attention_lanes", "if (p.softcap > 0.0f)", "if (p.softcap < 0.0f)",
           model="gemma2"),
    kernel("attention: weights fade twice", "B5", "attention", "total = total * fade + sum;",
           "total = total * fade * fade + sum;", target=LARGE),
    kernel("attention: head map", "G2", "attention", "h * p.kv_heads / p.heads", "h % p.kv_heads", target=LARGE),
    kernel("attention: a hidden row counts", "B7", "attention", "SELECT(score <= HIDDEN, 0.0f, exp(score - high))",
           "exp(score - high)", target=LARGE),
    kernel("attention: the barrier behind the query is dropped", "F5", "attention", "  WG_BARRIER();\n\n  for",
           "\n  for",
           target=LARGE),
    kernel("attention: only 64 rows of a state", "A2", "attention", "base < end; base += CHUNK",
           "base < min(end, begin + CHUNK); base += CHUNK", target=LARGE),
    kernel("linear_lanes: the last step is left out", "A1", "linear_lanes", "first < width; first += WG_X * STEP",
           "first + STEP < width; first += WG_X * STEP"),
    kernel("linear_lanes: the last row of a tile", "A6", "linear_lanes", "own < SUMS && t < p.tokens && n < p.n",
           "own < SUMS && t < p.tokens && n + 1u < p.n"),
    kernel("linear_lanes: the bias of the neighbour", "index", "linear_lanes", "ADD_BIAS(sum, n)", "ADD_BIAS(sum, n0)",
           model="qwen2"),
    kernel("linear_columns: panels forget the sum", "state", "linear_columns", "acc[t] = fma(VX_SPLAT",
           "acc[t] = fma(0.999f * VX_SPLAT", model="gpt2"),
    kernel("linear_columns: the last k is left out", "off by one", "linear_columns", "i < p.k; i += 1u",
           "i + 1u < p.k; i += 1u", model="gpt2"),
    kernel("linear_tiles: columns of a partial tile are not stored", "A6", "linear_tiles",
           "if (row < p.tokens && col < p.n) {\n        VAR", "if (row < p.tokens && col + 1u < p.n) {\n        VAR",
           target=LARGE),
    kernel("linear_tiles: the barrier between steps is dropped", "F5", "linear_tiles",
           "    }\n    BARRIER();\n  }\n", "    }\n  }\n", target=LARGE),
    kernel("linear_rows: a row of the weight twice", "C11", "linear_rows",
           "wr[r] = p.w_at + min(n0 + r, p.n - 1u)", "wr[r] = p.w_at + min(n0 + (r | 1u), p.n - 1u)", target=LARGE),
    source("weights in tiles: the scale of the next row", "E7", TILES, "((n) >> K_FORM_ROWS(p.w##_form))",
           "(((n) + 1u) >> K_FORM_ROWS(p.w##_form))", model="quantised_fp8_blocks"),
    source("weights in tiles: zero points that are less by one", "off by one", TILES,
           "SELECT(kind == K_ZEROS_LESS, zero + 1.0f, zero)", "zero", model="quantised_gptq_groups"),
    source("weights in tiles: subnormal quants are normal", "B6", TILES, "SELECT((m >> digits) == 0u, AS_F32",
           "SELECT((m >> digits) > 127u, AS_F32", model="quantised_fp8_blocks"),
    kernel("linear_rows: tokens past the first read the first", "index", "linear_rows",
           "ROW(x, min(t0 + t, p.tokens - 1u))",
           "ROW(x, min(t0, p.tokens - 1u))", target=LARGE),
    kernel("route: equal scores in another order", "ties", "route", "(score == last_score && e > last)",
           "(score == last_score && e != last)", model="mixtral"),
    kernel("route: weights over all", "formula", "route", "if (p.over_all != 0u)", "if (p.over_all == 0u)",
           model="mixtral"),
    kernel("weighted_sum: the last choice is left out", "off by one", "weighted_sum", "j < p.chosen",
           "j + 1u < p.chosen",
           model="mixtral"),
    kernel("linear_experts: the next expert", "C12", "linear_experts", "if (e == p.expert)",
           "if ((e == 0u ? p.last : e - 1u) == p.expert)", model="mixtral"),
    kernel("linear_experts: tail of the rows", "E4", "linear_experts",
           "i < p.width; i += 1u) {\n          sum = fma(A1_AT(x, xr + i), WEIGHT_AT",
           "i + 1u < p.width; i += 1u) {\n          sum = fma(A1_AT(x, xr + i), WEIGHT_AT", model="mixtral"),
    kernel("conv1d_causal: the taps reversed", "index", "conv1d_causal", "c * p.w_s + i)", "c * p.w_s + (kept - i))",
           model="mamba2"),
    kernel("conv1d_causal: the tail keeps one row too old", "F4", "conv1d_causal", "LET(u32, at, p.tokens + i);",
           "LET(u32, at, p.tokens + i - 1u);", model="mamba2"),
    kernel("linear_scan: the state is not kept", "F4", "linear_scan", "      state[begin + i] = after;\n",
           "      if (t == 0u) { state[begin + i] = after; }\n", model="mamba2"),
    kernel("linear_scan: reads before writing", "order", "linear_scan", "(p.flags & READS_BEFORE) != 0u, before, after",
           "(p.flags & READS_BEFORE) == 0u, before, after", model="mamba2"),
]

# -- Launches ------------------------------------------------------------------------------------------------------

TO_RMS_NORM = """    };

    return gpu_plan_launch(
        self, call,
        &(struct gpu_plan){
            .kernel = "rms_norm\""""

LAUNCHES = [
    launch("rope: interleaved always", "G2", "rope", ".interleaved = interleaved != 0", ".interleaved = 1"),
    launch("rope: one group too few", "D3", "rope", "((uint64_t)params.count + items - 1) / items",
           "((uint64_t)params.count) / items"),
    launch("elementwise: one group too few", "D3", "elementwise", "((uint64_t)e.count + items - 1) / items",
           "((uint64_t)e.count) / items"),
    launch("rms_norm: no offset", "constant", "norm",
           ".offset = (float)offset,\n" + TO_RMS_NORM, ".offset = (float)(0 * offset),\n" + TO_RMS_NORM,
           model="gemma2"),
    launch("attention: the window is forgotten", "F7", "attention", ".window = (uint32_t)window", ".window = 0",
           model="gemma2"),
    launch("attention: position from the row before", "F2", "attention", ".first = (uint32_t)position",
           ".first = (uint32_t)(position > 0 ? position - 1 : 0)"),
    launch("embed: the offset is forgotten", "index", "rows", ".last = (uint32_t)(rows - 1)",
           ".last = (uint32_t)(rows / 2)"),
    launch("softcap: the limit is halved", "constant", "elementwise", "number = (float)limit;", "number = (float)limit / 2;",
           model="gemma2"),
]

# -- The plugin of the CPU ----------------------------------------------------------------------------------------

CPU = [
    cpu("reference rms_norm: the mean of a length", "formula", "reference/norm",
        "norm->is_length ? squares : squares / width",
        "norm->is_length ? squares : squares"),
    cpu("reference norm: another row's weights", "index", "reference/norm", "norm->offset + (real)weights[i]",
        "norm->offset + (real)weights[count - 1 - i]"),
    cpu("reference rope: sine for cosine", "G2", "reference/rope", "(b * (real)cos[j] + a * (real)sin[j])",
        "(b * (real)sin[j] + a * (real)cos[j])"),
    cpu("reference linear: the bias twice", "constant", "reference/linear", "sums[r][lane] + (real)bias[lane]",
        "sums[r][lane] + 2 * (real)bias[lane]", model="qwen2"),
    cpu("reference attention: a query without its last key", "mask", "reference/attention",
        "for (size_t key = seen.begin; key < seen.end; key++) {\n        real *value",
        "for (size_t key = seen.begin; key + 1 < seen.end; key++) {\n        real *value"),
    cpu("reference silu: through f16", "B3", "reference/unary", "return x / (1 + exp(-x));",
        "return x / (1 + exp(-x * (real)0.99));"),
    cpu("reference gelu_tanh: erf's instead", "B9", "reference/unary", "return x / (1 + exp(-2 * u));",
        "return x / 2 * erfc(-x * (real)0.70710678118654752440);", model="gpt2"),
    cpu("reference route: weights of the first", "index", "reference/route", "value_write(weights, (ptrdiff_t)j,",
        "value_write(weights, (ptrdiff_t)(route->chosen_count - 1 - j),", model="mixtral"),
    cpu("fast norm: the tail is left out", "E4", "fast/norm", "    for (; i < width; i++) {\n        const float value",
        "    for (; i + 1 < width; i++) {\n        const float value"),
    cpu("fast norm: one chain of four", "A3", "fast/norm", "(sums[0] + sums[1]) + (sums[2] + sums[3])",
        "(sums[0] + sums[1]) + (sums[2] + sums[2])"),
    cpu("fast rope: sign", "G2", "fast/rope", "vector_store(y + j, a * c - b * s)",
        "vector_store(y + j, a * c + b * s)"),
    cpu("fast rope: the tail's sign", "E4", "fast/rope", "x[j] * cos[j] - x[half + j] * sin[j]",
        "x[j] * cos[j] + x[half + j] * sin[j]"),
    cpu("fast elementwise: a product of the first vector", "C3", "fast/elementwise",
        "vector_load(TAPML_F32, b + i)));\n    }",
        "vector_load(TAPML_F32, b)));\n    }"),
    cpu("fast silu: 1 in a thousand", "precision", "fast/unary", "return x / (1.0f + vector_exp(-x));",
        "return x / (1.001f + vector_exp(-x));"),
    cpu("fast gelu_tanh: tail not written", "E4", "fast/unary",
        "                          op->width - i);\n", "                          (op->width - i) / 2);\n",
        model="gpt2"),
]

# -- Drivers -------------------------------------------------------------------------------------------------------

# How ops become steps of a vendor's library.
MAPPINGS = [
    mapping("onednn linear: a weight read as if it were transposed", "layout", "linear",
            "weights.view.stride[i] = stored.view.stride[1 - i];",
            "weights.view.stride[i] = i == 0 ? stored.view.shape[0] : 1;"),
    mapping("onednn linear: no bias", "statement", "linear",
            "const struct operand bias = part_of(&linear->bias, first, n);\n        struct operand taken",
            "const struct operand bias = {.address = NULL};\n        struct operand taken", model="gpt2"),
    mapping("onednn attention: no mask", "mask", "attention",
            "if (!run_is_live(run) || fill_mask(sight, begin_at, begin, &mask)) {",
            "if (!run_is_live(run) || fill_mask(sight, begin_at, begin, &mask) < 0) {"),
    mapping("onednn attention: heads of another group", "G2", "attention",
            "{groups * stride[1], stride[1], stride[0], stride[2]}",
            "{stride[1], heads * stride[1], stride[0], stride[2]}"),
    mapping("onednn attention: no scale", "G1", "attention",
            "rows_scale(run, &scores, a.scale, a.softcap, &scores);", "rows_scale(run, &scores, 1, a.softcap, &scores);"),
    mapping("onednn rms_norm: eps left out", "constant", "rows",
            "dnnl_eltwise_linear, 1, eps, {&factor, &factor}", "dnnl_eltwise_linear, 1, 0 * eps, {&factor, &factor}"),
    mapping("onednn rms_norm: a sum in place of the mean", "constant", "rows", "dnnl_reduction_mean, 0, 0, {&squares",
            "dnnl_reduction_sum, 0, 0, {&squares"),
    mapping("onednn silu: twice the slope", "constant", "rows", "dnnl_eltwise_swish, 1}", "dnnl_eltwise_swish, 2}"),
]

DRIVER_KINDS = ["fill-start", "fill-tail", "write-tail", "write-late", "read-tail", "stale-arguments"]
DRIVERS = [injected(f"driver: {kind}", "driver", {"kind": kind}) for kind in DRIVER_KINDS] + [
    source("opencl: a write without its last word", "driver", "plugins/opencl/memory.c",
           "(size_t)size, source, 0, NULL, NULL)", "(size_t)(size > 64 ? size - 4 : size), source, 0, NULL, NULL)"),
    source("opencl: a read from the start", "driver", "plugins/opencl/memory.c",
           "CL_FALSE, (size_t)offset, (size_t)size,\n" + " " * 61 + "target",
           "CL_FALSE, 0, (size_t)size,\n" + " " * 61 + "target"),
    source("opencl: a point is reached before its work", "F6", "plugins/opencl/queue.c",
           "device->reached < ticket) {", "device->reached + 1 < ticket) {"),
    source("gpu: buffers are a word too small", "E5", "sdk/gpu/buffers.c",
           "buffer_new(owner->impl, call, whole, &buffer->impl)",
           "buffer_new(owner->impl, call, whole > 4096 ? whole - 16 : whole, &buffer->impl)"),
    source("vulkan: no barrier behind a write", "F5", "plugins/vulkan/queue.c", "    if (is_late) {",
           "    if (is_late && count > 9) {",
           target="vulkan"),
    source("vulkan: a read is lost", "F6", "plugins/vulkan/queue.c", "r < batch->read_count; r++",
           "r + 1 < batch->read_count; r++",
           target="vulkan"),
]

# -- Wrappers: between the host and a backend -------------------------------------------------------------------

PAIR = [{"instance": "layers.1/mlp/silu", "kind": "scale 2"}, {"instance": "layers.1/mlp/mul", "kind": "scale 0.5"}]
WRAPPERS = [dataclasses.replace(fault, target="suspect-reference:f32-blocked") for fault in [
    injected("two that cancel", "E6", *PAIR),
    injected("two at once", "E6", {"instance": "layers.1/attn/k_rope", "kind": "swap-halves"},
             {"instance": "layers.0/mlp/up_proj", "kind": "zero-row"}),
    injected("late", "F1", {"instance": "layers.1/mlp/silu", "kind": "scale 2", "from-call": 20}, ops=("tapml.silu",)),
    injected("one call of five", "A5", {"instance": "layers.1/attn/o_proj", "kind": "zero-row", "probability": 0.2,
             "seed": 3}, ops=("tapml.linear",)),
    injected("stale rows of a state", "B7", {"instance": "layers.1/attn/v_append", "kind": "skip-write"}),
    injected("rows of a state one off", "F4", {"op": "state_append", "kind": "shift-rows"}),
    injected("results in f16", "B3", {"op": "linear", "kind": "round-f16"}),
    injected("not a number at the end", "B1", {"op": "silu", "kind": "nan"}),
    injected("an allocation that failed", "D5", {"op": "mul", "kind": "skip-write"}),
]]

# -- Descriptions of models, which source and target share: another implementation judges them (docs/judge.md) --------

MODELS = [
    description("llama: no scale of the scores", "G1", "sdk/model/attention.c",
                "1 / sqrt((double)block->sizes->head_width)", "1", "attention"),
    description("llama: the future is seen", "mask", "sdk/model/attention.c", ".is_causal = 1", ".is_causal = 0",
                "attention"),
    description("llama: another epsilon", "constant", "sdk/model/residual.c", ".eps = block->sizes->eps",
                ".eps = block->sizes->eps + 0.01", "rms_norm"),
    description("llama: the gate times itself", "operands", "sdk/model/mlp.c",
                'mlp->down, model_multiply(context, "mul", gate, up)',
                'mlp->down, model_multiply(context, "mul", gate, gate)', "mul"),
    description("llama: twice the base of the rotation", "G2", "sdk/model/rope.c",
                "rope->theta = read_theta(&section, defaults);", "rope->theta = 2 * read_theta(&section, defaults);",
                "rope"),
    description("gemma2: a scale without its root", "G1", "plugins/models/gemma/gemma.c",
                '1 / sqrt(model_config_factor(context, "/query_pre_attn_scalar", 256))',
                '1 / model_config_factor(context, "/query_pre_attn_scalar", 256)', "attention", plugin="gemma",
                model="gemma2"),
    description("gemma2: norms without 1 +", "G2", "plugins/models/gemma/gemma2.c", ".norm_offset = 1",
                ".norm_offset = 0", "rms_norm", plugin="gemma", model="gemma2"),
    description("mamba2: a decay 1 % wrong", "constant", "plugins/models/state-space/mamba2.c", "logs), -1);",
                "logs), -1.01);", "scale", plugin="state-space", model="mamba2"),
]

# -- Changes that harm nobody ------------------------------------------------------------------------------------

HARMLESS = [
    kernel("silu: a reciprocal", "rounding", "silu", "v / (VX_SPLAT(1.0f) + exp(-v))",
           "v * (VX_SPLAT(1.0f) / (VX_SPLAT(1.0f) + exp(-v)))"),
    kernel("rms_norm: a reciprocal of the root", "rounding", "rms_norm", "/ root * factor", "* (1.0f / root) * factor"),
    kernel("rms_norm: factor first", "rounding", "rms_norm", "AX_AT(x, xr + i) / root * factor",
           "factor * AX_AT(x, xr + i) / root"),
    kernel("rms_norm: not fused", "rounding", "rms_norm", "fma(v, v, squares)", "v * v + squares"),
    kernel("layer_norm: a reciprocal", "rounding", "layer_norm", "/ root * factor", "* (1.0f / root) * factor",
           model="gpt2"),
    kernel("softcap: a reciprocal", "rounding", "softcap", "/ p.limit)", "* (1.0f / p.limit))", model="gemma2"),
    kernel("rope: the sum the other way round", "order", "rope",
           "value * cosines[p.cos_at + t * p.cos_s + j] + SELECT(is_b != 0u, turned, -turned)",
           "SELECT(is_b != 0u, turned, -turned) + value * cosines[p.cos_at + t * p.cos_s + j]"),
    kernel("mul: operands swapped", "order", "mul", "AX_AT(a, AT(a)) * AX_AT(b, AT(b))",
           "AX_AT(b, AT(b)) * AX_AT(a, AT(a))"),
    kernel("add: operands swapped", "order", "add", "AX_AT(a, AT(a)) + AX_AT(b, AT(b))",
           "AX_AT(b, AT(b)) + AX_AT(a, AT(a))"),
    kernel("attention: chunks of another length", "order", "attention", "TUNE(CHUNK, 3, 64)", "TUNE(CHUNK, 3, 32)",
           target=LARGE),
    kernel("attention: a reciprocal of the total, by lanes", "rounding", "attention_lanes",
           "sum[i * V_PART + a] / divisor",
           "sum[i * V_PART + a] * (1.0f / divisor)"),
    kernel("linear_rows: not fused", "rounding", "linear_rows",
           "acc[t * ROWS + r] = fma(v, row[r], acc[t * ROWS + r]);",
           "acc[t * ROWS + r] = v * row[r] + acc[t * ROWS + r];", target=LARGE),
    kernel("linear_columns: not fused", "rounding", "linear_columns",
           "acc[t] = fma(VX_SPLAT(A1_AT(x, xr[t] + i)), e, acc[t]);",
           "acc[t] = VX_SPLAT(A1_AT(x, xr[t] + i)) * e + acc[t];", model="gpt2"),
    kernel("weighted_sum: not fused", "rounding", "weighted_sum",
           "sum = fma(A1_AT(weights, wr + j), A1_AT(x, ROW(x, t * p.chosen + j) + i), sum);",
           "sum = A1_AT(weights, wr + j) * A1_AT(x, ROW(x, t * p.chosen + j) + i) + sum;", model="mixtral"),
    kernel("softplus: another seventh term, by 4 ULP at most", "rounding", "softplus",
           "VAR(f32, series, fma(z, 0.06666667f, 0.07692308f))", "VAR(f32, series, fma(z, 0.06666667f, 0.27692308f))",
           model="qwen3_next"),
    kernel("gelu_tanh: powers in another order", "rounding", "gelu_tanh", "v * v * v * 0.044715f",
           "v * (v * v) * 0.044715f", model="gpt2"),
    kernel("conv1d_causal: not fused", "rounding", "conv1d_causal",
           "sum = fma(z, WEIGHT_AT(w, p.w_kind, p.w_at + c * p.w_s + i), sum);",
           "sum = z * WEIGHT_AT(w, p.w_kind, p.w_at + c * p.w_s + i) + sum;", model="mamba2"),
    cpu("reference silu: a reciprocal", "rounding", "reference/unary", "return x / (1 + exp(-x));",
        "return x * (1 / (1 + exp(-x)));"),
    cpu("fast norm: chains in another order", "order", "fast/norm", "(sums[0] + sums[1]) + (sums[2] + sums[3])",
        "(sums[3] + sums[1]) + (sums[2] + sums[0])"),
    launch("rope: fewer items in a group", "schedule", "rope", "enum { ITEMS = 64 };", "enum { ITEMS = 32 };"),
]


def faults():
    """All of them, in an order in which areas take turns: a board that was stopped early has some of each."""
    areas = [KERNELS, LAUNCHES, CPU, MAPPINGS, DRIVERS, WRAPPERS, MODELS,
             [dataclasses.replace(fault, kind="harmless") for fault in HARMLESS]]
    whole = [(number / len(area), index, fault) for index, area in enumerate(areas)
             for number, fault in enumerate(area)]
    return [fault for _, _, fault in sorted(whole, key=lambda item: item[:2])]
