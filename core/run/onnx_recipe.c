// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/onnx_recipe.h"

#include <stddef.h>
#include <string.h>

static const struct onnx_recipe RECIPES[] = {
    {"tapml.add", "", "y = Add(a, b)"},
    {"tapml.sub", "", "y = Sub(a, b)"},
    {"tapml.mul", "", "y = Mul(a, b)"},
    {"tapml.scale", "", "y = Mul(x, $factor)"},
    {"tapml.exp", "", "y = Exp(x)"},
    {"tapml.tanh", "", "y = Tanh(x)"},
    {"tapml.sigmoid", "", "y = Sigmoid(x)"},
    {"tapml.relu", "", "y = Relu(x)"},
    {"tapml.softplus", "", "y = Softplus(x)"},
    {"tapml.silu", "", "s = Sigmoid(x); y = Mul(x, s)"},
    {"tapml.gelu", "", "y = Gelu(x) {approximate=none}"},
    {"tapml.gelu_tanh", "", "y = Gelu(x) {approximate=tanh}"},
    {"tapml.softcap", "", "d = Div(x, $limit); t = Tanh(d); y = Mul(t, $limit)"},
    {"tapml.clip", "", "y = Clip(x, $low, $high)"},
    {"tapml.copy", "", "y = Identity(x)"},
    {"tapml.concat", "", "y = Concat(a, b) {axis=-1}"},
    {"tapml.gather_rows", "", "y = Gather(x, rows) {axis=0}"},
    {"tapml.sum", "", "y = ReduceSum(x, [-1]) {keepdims=0}"},
    {"tapml.weighted_sum", "",
     "w = Unsqueeze(weights, [2]); p = Mul(x, w); y = ReduceSum(p, [1]) {keepdims=0}"},
    {"tapml.embed", "",
     "i = Cast(ids) {to=7}; j = Add(i, [offset]); y = Gather(table, j) {axis=0}"},
    {"tapml.linear", "",
     "?transposed: t = Identity(w); !transposed: t = Transpose(w) {perm=1,0};"
     "p = MatMul(x, t); ?b: y = Add(p, b); !b: y = Identity(p)"},
    {"tapml.l2_norm", "",
     "q = Mul(x, x); s = ReduceSum(q, [-1]) {keepdims=1}; e = Add(s, $eps); r = Sqrt(e);"
     "y = Div(x, r)"},
    {"tapml.rms_norm", "",
     "q = Mul(x, x); m = ReduceMean(q, [-1]) {keepdims=1}; e = Add(m, $eps); r = Sqrt(e);"
     "n = Div(x, r); ?weight: w = Add(weight, $offset); ?weight: y = Mul(n, w);"
     "!weight: y = Identity(n)"},
    {"tapml.layer_norm", "",
     "m = ReduceMean(x, [-1]) {keepdims=1}; c = Sub(x, m); q = Mul(c, c);"
     "v = ReduceMean(q, [-1]) {keepdims=1}; e = Add(v, $eps); r = Sqrt(e); n = Div(c, r);"
     "?weight: w = Add(weight, $offset); ?weight: s = Mul(n, w); !weight: s = Identity(n);"
     "?bias: y = Add(s, bias); !bias: y = Identity(s)"},
    {"tapml.rope", "interleaved",
     "c = Unsqueeze(cos, [1]); s = Unsqueeze(sin, [1]); a = Slice(x, [0], [cos.1], [2]);"
     "b = Slice(x, [cos.1], [2*cos.1], [2]); rest = Slice(x, [2*cos.1], [x.2], [2]);"
     "ac = Mul(a, c); bs = Mul(b, s); bc = Mul(b, c); as = Mul(a, s); left = Sub(ac, bs);"
     "right = Add(bc, as); y = Concat(left, right, rest) {axis=2}"},
    {"tapml.state_append", "",
     "head = Slice(state, [0], [state.begin], [0]); tail = Slice(state, [state.end], [state.0], "
     "[0]);"
     "state_out = Concat(head, rows, tail) {axis=0}"},
    {"tapml.attention", "slopes sinks key_mask alibi_bf16",
     "q1 = Transpose(q) {perm=1,0,2}; q2 = Reshape(q1, [k_state.1 q.1/k_state.1 q.0 q.2]);"
     "k1 = Slice(k_state, [0], [k_state.end], [0]); k2 = Transpose(k1) {perm=1,2,0};"
     "k3 = Unsqueeze(k2, [1]); p = MatMul(q2, k3); d = Mul(p, $scale);"
     "?softcap: d1 = Div(d, $softcap); ?softcap: d2 = Tanh(d1); ?softcap: e = Mul(d2, $softcap);"
     "!softcap: e = Identity(d); m = Add(e, mask); w = Softmax(m) {axis=-1};"
     "v1 = Slice(v_state, [0], [v_state.end], [0]); v2 = Transpose(v1) {perm=1,0,2};"
     "v3 = Unsqueeze(v2, [1]); o = MatMul(w, v3); o1 = Reshape(o, [q.1 q.0 v_state.2]);"
     "y = Transpose(o1) {perm=1,0,2}"},
};

const struct onnx_recipe *onnx_recipe_find(const char *op)
{
    for (size_t i = 0; i < sizeof(RECIPES) / sizeof(*RECIPES); i++) {
        if (strcmp(RECIPES[i].op, op) == 0) {
            return &RECIPES[i];
        }
    }
    return NULL;
}
