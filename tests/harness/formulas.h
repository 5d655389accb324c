// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

// The ops of the catalogue as their formulas stand in sdk/ops: the judge of every kernel.
//
// All numbers are double, all arrays dense with the last axis fastest, and nothing is shared with
// any backend. Give the values as the op will see them (rounded to the dtype of its tensor: see
// `formulas_rounded`), so that what is left between formula and kernel is the kernel's own
// arithmetic. An optional array is NULL where it is absent. Each function writes all of its last
// argument. Nothing is checked: the sizes are the caller's to get right.

// y[t] = table[ids[t] + offset]; `y` is [count, width].
struct formulas_embed {
    size_t count, width;
    const double *table; // [anything, width]
    const int32_t *ids;  // [count]
    int64_t offset;
};
void formulas_embed(const struct formulas_embed *op, double *y);

// y[r, n] = sum over k of x[r, k] * w[n, k], + b[n]; `y` is [rows, out].
struct formulas_linear {
    size_t rows, in, out;
    const double *x; // [rows, in]
    const double *w; // [out, in], or [in, out] where transposed
    const double *b; // [out], or NULL
    int transposed;
};
void formulas_linear(const struct formulas_linear *op, double *y);

// y = x / sqrt(mean(x^2) + eps) * (offset + weight); `y` is [rows, width].
struct formulas_rms_norm {
    size_t rows, width;
    const double *x;      // [rows, width]
    const double *weight; // [width], or NULL: the last factor is 1
    double eps, offset;
};
void formulas_rms_norm(const struct formulas_rms_norm *op, double *y);

// y = (x - m) / sqrt(v + eps) * (offset + weight) + bias; `y` is [rows, width].
struct formulas_layer_norm {
    size_t rows, width;
    const double *x;      // [rows, width]
    const double *weight; // [width], or NULL: that factor is 1
    const double *bias;   // [width], or NULL
    double eps, offset;
};
void formulas_layer_norm(const struct formulas_layer_norm *op, double *y);

// Rotates the first 2 * half values of each head; `y` is [tokens, heads, width].
struct formulas_rope {
    size_t tokens, heads, width, half;
    const double *x;   // [tokens, heads, width]
    const double *cos; // [tokens, half]
    const double *sin; // [tokens, half]
    int interleaved;   // Pairs (2j, 2j + 1) rather than (j, j + half).
};
void formulas_rope(const struct formulas_rope *op, double *y);

// Writes `rows` into `state` from row `position` on; a row is `width` values, all heads of it.
struct formulas_state_append {
    size_t count, width;
    const double *rows; // [count, width]
    int64_t position;
};
void formulas_state_append(const struct formulas_state_append *op, double *state);

// Attention over rows 0 .. position + tokens - 1 of the states; `y` is [tokens, hq, dv].
struct formulas_attention {
    size_t tokens, hq, hk, dk, dv;
    const double *q;         // [tokens, hq, dk]
    const double *k_state;   // [position + tokens, hk, dk]
    const double *v_state;   // [position + tokens, hk, dv]
    const double *slopes;    // [hq], or NULL
    const double *sinks;     // [hq], or NULL
    const int32_t *key_mask; // [position + tokens], or NULL
    int64_t position;
    double scale;
    int64_t causal, window, chunk;
    double softcap;
    int64_t alibi_bf16;
};
void formulas_attention(const struct formulas_attention *op, double *y);

// Element by element, `count` of them.
void formulas_silu(size_t count, const double *x, double *y);
void formulas_add(size_t count, const double *a, const double *b, double *y);
void formulas_mul(size_t count, const double *a, const double *b, double *y);
void formulas_sub(size_t count, const double *a, const double *b, double *y);

// y = x / sqrt(sum(x^2) + eps), [rows, width]; y = sum(x), [rows].
void formulas_l2_norm(size_t rows, size_t width, const double *x, double eps, double *y);
void formulas_sum(size_t rows, size_t width, const double *x, double *y);

// y[t, c] = sum over i of z[t + i, c] * w[c, i], + b[c], with z the tail and then x; the tail
// becomes the last rows of z. `y` is [tokens, width].
struct formulas_conv1d {
    size_t tokens, width, taps;
    const double *x; // [tokens, width]
    const double *w; // [width, taps]
    const double *b; // [width], or NULL
    double *tail;    // [taps - 1, width]
};
void formulas_conv1d(const struct formulas_conv1d *op, double *y);

// S' = S diag(w) - (S kk) (kk a)^T + v k^T, y = S' r, or S r where it is read before. `y` is
// [tokens, heads, rows].
struct formulas_scan {
    size_t tokens, heads, rows, width;
    size_t r_heads, k_heads, kk_heads; // Each divides `heads`.
    size_t decays, rates;              // `width`, or 1 for all columns.
    const double *r, *k, *kk;          // [tokens, their heads, width]; kk is NULL without a.
    const double *w, *a;               // [tokens, heads, decays or rates]
    const double *v;                   // [tokens, heads, rows]
    double *state;                     // [heads, rows, width]
    int read_before;
};
void formulas_scan(const struct formulas_scan *op, double *y);

// y = (N + e^(u + k) v) / (D + e^(u + k)), then N = e^w N + e^k v and D = e^w D + e^k, for each
// channel by itself. The rows of `state` are N e^-m, D e^-m and m, the greatest power so far. `y`
// is [tokens, width].
struct formulas_wkv4 {
    size_t tokens, width;
    const double *w, *u; // [width]
    const double *k, *v; // [tokens, width]
    double *state;       // [3, width]; no token has been seen where the second row is 0.
};
void formulas_wkv4(const struct formulas_wkv4 *op, double *y);

// The `k` largest of each row of scores, equal ones in the order of their numbers, and their
// weights: of the softmax over all, over their own sum where `renormalise`, or of the softmax over
// those alone where `topk`. `indices` and `weights` are [tokens, k].
struct formulas_route {
    size_t tokens, experts, k;
    const double *scores; // [tokens, experts]
    int renormalise, topk;
};
void formulas_route(const struct formulas_route *op, double *indices, double *weights);

// The `k` experts of each token with the largest part of the softmax and `bias`; weights are these
// parts over the larger of their sum and `least`.
struct formulas_route_biased {
    size_t tokens, experts, k; // At most 512 experts.
    const double *scores;      // [tokens, experts]
    const double *bias;        // [experts], or NULL
    double least;
};
void formulas_route_biased(const struct formulas_route_biased *op,
                           double *indices,
                           double *weights);

// The `k` experts of each token with the largest scores, each with its part of the softmax over
// those that were not chosen before it and lie within 2 `jitter` of it, relative to the larger
// magnitude. At most 512 experts.
void formulas_route_sparsemixer(const struct formulas_route *op,
                                double jitter,
                                double *indices,
                                double *weights);

// The `k` experts of each token from the `kept` best of its groups, and their weights: parts of the
// softmax over all, or sigmoids, then over their own sum + 1e-20 where `renormalise`. Sigmoids are
// chosen by with `bias`, groups by their two best. `indices` and `weights` are [tokens, k].
struct formulas_route_groups {
    size_t tokens, groups, size, kept, k; // size: experts of a group; at most 512 experts.
    const double *scores;                 // [tokens, groups * size]
    const double *bias;                   // [groups * size], or NULL
    int is_sigmoid, renormalise;
};
void formulas_route_groups(const struct formulas_route_groups *op,
                           double *indices,
                           double *weights);

// y[r] = a[r], then b[r]; `y` is [rows, left + right].
void formulas_concat(
    size_t rows, size_t left, size_t right, const double *a, const double *b, double *y);

// y[t, j] = w[e] x[t, j] + b[e], with e = indices[t, j]; `y` is [tokens, k, out].
struct formulas_linear_experts {
    size_t tokens, k, in, out, slots; // `slots` is 1, or k.
    const double *x;                  // [tokens, slots, in]
    const double *indices;            // [tokens, k]
    const double *const *w;           // Of each expert [out, in], or [in, out] where transposed,
    const double *const *b;           // and [out]; or NULL.
    int transposed;
};
void formulas_linear_experts(const struct formulas_linear_experts *op, double *y);

// y[t] = sum over j of weights[t, j] * x[t, j]; `y` is [tokens, width].
void formulas_weighted_sum(
    size_t tokens, size_t k, size_t width, const double *x, const double *weights, double *y);

// Ops of one operand and up to two numbers, of one element: gelu, gelu_tanh, relu, sigmoid, tanh,
// scale, softcap, clip, exp, softplus. Any other gives NaN.
double formulas_unary(const char *op, double x, const double *numbers);

// y[r] = x[rows[r]]; `y` is [count, width].
void formulas_gather_rows(
    size_t count, size_t width, const double *x, const int32_t *rows, double *y);

// `value` rounded to the nearest number of a dtype, ties to even: TAPML_F32, TAPML_F16 or
// TAPML_BF16; any other dtype leaves it as it is. What is too large becomes infinite.
double formulas_rounded(double value, uint32_t dtype);

// How far `computed` is from `expected`, both [rows, width]: over all rows the largest
// |a - b| / rms(expected row), where an rms below 1e-30 counts as 1e-30. Infinite where one side
// is NaN and the other is not, or where the sides differ in an infinity.
double formulas_distance(size_t rows, size_t width, const double *expected, const double *computed);
