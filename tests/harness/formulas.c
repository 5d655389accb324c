// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/formulas.h"

#include <tapml/tensor.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

void formulas_embed(const struct formulas_embed *op, double *y)
{
    for (size_t t = 0; t < op->count; t++) {
        const double *row = op->table + (size_t)(op->ids[t] + op->offset) * op->width;

        memcpy(y + t * op->width, row, op->width * sizeof(*y));
    }
}

void formulas_linear(const struct formulas_linear *op, double *y)
{
    for (size_t r = 0; r < op->rows; r++) {
        for (size_t n = 0; n < op->out; n++) {
            double sum = 0;

            for (size_t k = 0; k < op->in; k++) {
                const size_t at = op->transposed ? k * op->out + n : n * op->in + k;

                sum += op->x[r * op->in + k] * op->w[at];
            }
            y[r * op->out + n] = op->b != NULL ? sum + op->b[n] : sum;
        }
    }
}

void formulas_rms_norm(const struct formulas_rms_norm *op, double *y)
{
    for (size_t r = 0; r < op->rows; r++) {
        const double *x = op->x + r * op->width;
        double sum = 0;

        for (size_t i = 0; i < op->width; i++) {
            sum += x[i] * x[i];
        }
        for (size_t i = 0; i < op->width; i++) {
            const double factor = op->weight != NULL ? op->offset + op->weight[i] : 1;

            y[r * op->width + i] = x[i] / sqrt(sum / (double)op->width + op->eps) * factor;
        }
    }
}

void formulas_layer_norm(const struct formulas_layer_norm *op, double *y)
{
    for (size_t r = 0; r < op->rows; r++) {
        const double *x = op->x + r * op->width;
        double mean = 0, variance = 0;

        for (size_t i = 0; i < op->width; i++) {
            mean += x[i] / (double)op->width;
        }
        for (size_t i = 0; i < op->width; i++) {
            variance += (x[i] - mean) * (x[i] - mean) / (double)op->width;
        }
        for (size_t i = 0; i < op->width; i++) {
            const double factor = op->weight != NULL ? op->offset + op->weight[i] : 1;
            const double term = op->bias != NULL ? op->bias[i] : 0;

            y[r * op->width + i] = (x[i] - mean) / sqrt(variance + op->eps) * factor + term;
        }
    }
}

void formulas_rope(const struct formulas_rope *op, double *y)
{
    memcpy(y, op->x, op->tokens * op->heads * op->width * sizeof(*y));
    for (size_t row = 0; row < op->tokens * op->heads; row++) {
        const double *x = op->x + row * op->width;
        const size_t table = row / op->heads * op->half;

        for (size_t j = 0; j < op->half; j++) {
            const size_t first = op->interleaved ? 2 * j : j;
            const size_t second = op->interleaved ? 2 * j + 1 : j + op->half;
            const double cosine = op->cos[table + j], sine = op->sin[table + j];

            y[row * op->width + first] = x[first] * cosine - x[second] * sine;
            y[row * op->width + second] = x[second] * cosine + x[first] * sine;
        }
    }
}

void formulas_state_append(const struct formulas_state_append *op, double *state)
{
    memcpy(state + (size_t)op->position * op->width, op->rows,
           op->count * op->width * sizeof(*state));
}

static bool is_visible(const struct formulas_attention *op, int64_t i, int64_t s)
{
    if (op->chunk > 0 && s / op->chunk != i / op->chunk) {
        return false;
    }
    return op->key_mask == NULL || op->key_mask[s] != 0;
}

// The positions outside of which a query sees none: with a window they are few of many.
static size_t first_in_reach(const struct formulas_attention *op, int64_t i)
{
    return op->window > 0 && i >= op->window ? (size_t)(i - op->window + 1) : 0;
}

static size_t end_of_reach(const struct formulas_attention *op, int64_t i)
{
    return op->causal ? (size_t)i + 1 : (size_t)op->position + op->tokens;
}

static double score(const struct formulas_attention *op, size_t t, size_t h, size_t s)
{
    const size_t g = h * op->hk / op->hq;
    double value = 0;

    for (size_t i = 0; i < op->dk; i++) {
        value += op->q[(t * op->hq + h) * op->dk + i] * op->k_state[(s * op->hk + g) * op->dk + i];
    }
    if (op->slopes != NULL && op->alibi_bf16) {
        const double slope = formulas_rounded(op->slopes[h], TAPML_BF16);

        value += formulas_rounded(slope * (double)s, TAPML_BF16);
    }
    value *= op->scale;
    if (op->softcap > 0) {
        value = op->softcap * tanh(value / op->softcap);
    }
    if (op->slopes != NULL && !op->alibi_bf16) {
        value += op->slopes[h] * (double)s;
    }
    return value;
}

// One query of one head. The largest score is found first, then everything is computed again: slow,
// and without memory.
static void attend(const struct formulas_attention *op, size_t t, size_t h, double *y)
{
    const int64_t i = op->position + (int64_t)t;
    const size_t first = first_in_reach(op, i), end = end_of_reach(op, i), g = h * op->hk / op->hq;
    double top = op->sinks != NULL ? op->sinks[h] : -INFINITY;
    double total;

    for (size_t s = first; s < end; s++) {
        if (is_visible(op, i, (int64_t)s)) {
            top = fmax(top, score(op, t, h, s));
        }
    }
    memset(y, 0, op->dv * sizeof(*y));
    total = op->sinks != NULL ? exp(op->sinks[h] - top) : 0;
    for (size_t s = first; s < end; s++) {
        if (is_visible(op, i, (int64_t)s)) {
            const double weight = exp(score(op, t, h, s) - top);

            total += weight;
            for (size_t j = 0; j < op->dv; j++) {
                y[j] += weight * op->v_state[(s * op->hk + g) * op->dv + j];
            }
        }
    }
    for (size_t j = 0; j < op->dv && total > 0; j++) {
        y[j] /= total;
    }
}

void formulas_attention(const struct formulas_attention *op, double *y)
{
    for (size_t t = 0; t < op->tokens; t++) {
        for (size_t h = 0; h < op->hq; h++) {
            attend(op, t, h, y + (t * op->hq + h) * op->dv);
        }
    }
}

void formulas_silu(size_t count, const double *x, double *y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = x[i] / (1 + exp(-x[i]));
    }
}

void formulas_add(size_t count, const double *a, const double *b, double *y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = a[i] + b[i];
    }
}

void formulas_mul(size_t count, const double *a, const double *b, double *y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = a[i] * b[i];
    }
}

void formulas_sub(size_t count, const double *a, const double *b, double *y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = a[i] - b[i];
    }
}

void formulas_l2_norm(size_t rows, size_t width, const double *x, double eps, double *y)
{
    for (size_t r = 0; r < rows; r++, x += width, y += width) {
        double sum = 0;

        for (size_t i = 0; i < width; i++) {
            sum += x[i] * x[i];
        }
        for (size_t i = 0; i < width; i++) {
            y[i] = x[i] / sqrt(sum + eps);
        }
    }
}

void formulas_sum(size_t rows, size_t width, const double *x, double *y)
{
    for (size_t r = 0; r < rows; r++) {
        y[r] = 0;
        for (size_t i = 0; i < width; i++) {
            y[r] += x[r * width + i];
        }
    }
}

void formulas_conv1d(const struct formulas_conv1d *op, double *y)
{
    const size_t kept = op->taps - 1, width = op->width;

    for (size_t t = 0; t < op->tokens; t++) {
        for (size_t c = 0; c < width; c++) {
            double sum = op->b != NULL ? op->b[c] : 0;

            for (size_t i = 0; i < kept; i++) {
                sum += op->tail[i * width + c] * op->w[c * op->taps + i];
            }
            y[t * width + c] = sum + op->x[t * width + c] * op->w[c * op->taps + kept];
        }
        if (kept > 0) {
            memmove(op->tail, op->tail + width, (kept - 1) * width * sizeof(*y));
            memcpy(op->tail + (kept - 1) * width, op->x + t * width, width * sizeof(*y));
        }
    }
}

// One token of one row of a head's state; gives what is read.
static double scan_row(const struct formulas_scan *op, size_t t, size_t head, double v, double *s)
{
    const size_t width = op->width;
    const double *r = op->r + (t * op->r_heads + head * op->r_heads / op->heads) * width;
    const double *k = op->k + (t * op->k_heads + head * op->k_heads / op->heads) * width;
    const double *kk = op->kk != NULL
                           ? op->kk + (t * op->kk_heads + head * op->kk_heads / op->heads) * width
                           : NULL;
    double removed = 0, before = 0, after = 0;

    for (size_t i = 0; i < width; i++) {
        removed += kk != NULL ? s[i] * kk[i] : 0;
    }
    for (size_t i = 0; i < width; i++) {
        const double decay = op->w[(t * op->heads + head) * op->decays + i % op->decays];

        before += s[i] * r[i];
        s[i] = s[i] * decay + v * k[i];
        if (kk != NULL) {
            s[i] -= removed * kk[i] * op->a[(t * op->heads + head) * op->rates + i % op->rates];
        }
        after += s[i] * r[i];
    }
    return op->read_before ? before : after;
}

void formulas_scan(const struct formulas_scan *op, double *y)
{
    const size_t rows = op->heads * op->rows;

    for (size_t t = 0; t < op->tokens; t++) {
        for (size_t row = 0; row < rows; row++) {
            y[t * rows + row] =
                scan_row(op, t, row / op->rows, op->v[t * rows + row], op->state + row * op->width);
        }
    }
}

static void walk_channel(const struct formulas_wkv4 *op, size_t c, double *y)
{
    double *n = &op->state[c], *d = n + op->width, *m = d + op->width;

    for (size_t t = 0; t < op->tokens; t++) {
        const double k = op->k[t * op->width + c], v = op->v[t * op->width + c];
        const double here = exp(op->u[c] + k), past = exp(*m), taken = *d > 0 ? *m + op->w[c] : k;
        const double top = fmax(taken, k);

        y[t * op->width + c] = (past * *n + here * v) / (past * *d + here);
        *n = exp(taken - top) * *n + exp(k - top) * v;
        *d = exp(taken - top) * *d + exp(k - top);
        *m = top;
    }
}

void formulas_wkv4(const struct formulas_wkv4 *op, double *y)
{
    for (size_t c = 0; c < op->width; c++) {
        walk_channel(op, c, y);
    }
}

static int comes_before(const double *scores, size_t a, size_t b)
{
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
}

void formulas_route(const struct formulas_route *op, double *indices, double *weights)
{
    for (size_t t = 0; t < op->tokens; t++) {
        const double *scores = op->scores + t * op->experts;
        double all = 0, chosen = 0;

        for (size_t e = 0; e < op->experts; e++) {
            size_t rank = 0;

            for (size_t other = 0; other < op->experts; other++) {
                rank += comes_before(scores, other, e) != 0;
            }
            all += exp(scores[e]);
            if (rank < op->k) {
                indices[t * op->k + rank] = (double)e;
                weights[t * op->k + rank] = exp(scores[e]);
                chosen += exp(scores[e]);
            }
        }
        for (size_t j = 0; j < op->k; j++) {
            weights[t * op->k + j] /= op->topk || op->renormalise ? chosen : all;
        }
    }
}

enum { EXPERTS_MAX = 512 };

// How many of `count` values stand before number `at`.
static size_t rank_of(const double *values, size_t count, size_t at)
{
    size_t rank = 0;

    for (size_t other = 0; other < count; other++) {
        rank += comes_before(values, other, at) != 0;
    }
    return rank;
}

void formulas_route_biased(const struct formulas_route_biased *op, double *indices, double *weights)
{
    for (size_t t = 0; t < op->tokens; t++) {
        const double *scores = op->scores + t * op->experts;
        double keys[EXPERTS_MAX], all = 0, chosen = 0;

        for (size_t e = 0; e < op->experts; e++) {
            all += exp(scores[e]);
        }
        for (size_t e = 0; e < op->experts; e++) {
            keys[e] = exp(scores[e]) / all + (op->bias != NULL ? op->bias[e] : 0);
        }
        for (size_t e = 0; e < op->experts; e++) {
            const size_t rank = rank_of(keys, op->experts, e);

            if (rank < op->k) {
                indices[t * op->k + rank] = (double)e;
                weights[t * op->k + rank] = exp(scores[e]) / all;
                chosen += exp(scores[e]) / all;
            }
        }
        for (size_t j = 0; j < op->k; j++) {
            weights[t * op->k + j] /= fmax(chosen, op->least);
        }
    }
}

// The part of number `at` of what is near it and stands behind it.
static double part_among_near(const double *scores, size_t count, size_t at, double jitter)
{
    double sum = 1;

    for (size_t e = 0; e < count; e++) {
        const double distance = scores[at] - scores[e];

        if (comes_before(scores, at, e) &&
            distance <= 2 * jitter * fmax(fabs(scores[e]), scores[at])) {
            sum += exp(-distance);
        }
    }
    return 1 / sum;
}

void formulas_route_sparsemixer(const struct formulas_route *op,
                                double jitter,
                                double *indices,
                                double *weights)
{
    for (size_t t = 0; t < op->tokens; t++) {
        const double *scores = op->scores + t * op->experts;

        for (size_t e = 0; e < op->experts; e++) {
            const size_t rank = rank_of(scores, op->experts, e);

            if (rank < op->k) {
                indices[t * op->k + rank] = (double)e;
                weights[t * op->k + rank] = part_among_near(scores, op->experts, e, jitter);
            }
        }
    }
}

static double worth_of_group(const double *keys, size_t size, int is_sigmoid)
{
    double best = -INFINITY, second = -INFINITY;

    for (size_t i = 0; i < size; i++) {
        second = keys[i] > best ? best : fmax(second, keys[i]);
        best = fmax(best, keys[i]);
    }
    return is_sigmoid && size > 1 ? best + second : best;
}

// Keys of the experts of one token; those that no kept group has are below all others.
static void keys_of(const struct formulas_route_groups *op, const double *parts, double *keys)
{
    double worths[EXPERTS_MAX];

    for (size_t e = 0; e < op->groups * op->size; e++) {
        keys[e] = parts[e] + (op->bias != NULL ? op->bias[e] : 0);
    }
    for (size_t g = 0; g < op->groups; g++) {
        worths[g] = worth_of_group(keys + g * op->size, op->size, op->is_sigmoid);
    }
    for (size_t e = 0; e < op->groups * op->size; e++) {
        keys[e] = rank_of(worths, op->groups, e / op->size) < op->kept ? keys[e] : -INFINITY;
    }
}

void formulas_route_groups(const struct formulas_route_groups *op, double *indices, double *weights)
{
    const size_t experts = op->groups * op->size;

    for (size_t t = 0; t < op->tokens; t++) {
        double parts[EXPERTS_MAX], keys[EXPERTS_MAX], all = 0, chosen = 1e-20;

        for (size_t e = 0; e < experts; e++) {
            const double score = op->scores[t * experts + e];

            parts[e] = op->is_sigmoid ? 1 / (1 + exp(-score)) : exp(score);
            all += parts[e];
        }
        keys_of(op, parts, keys);
        for (size_t e = 0; e < experts; e++) {
            const size_t rank = rank_of(keys, experts, e);

            if (rank < op->k) {
                indices[t * op->k + rank] = (double)e;
                weights[t * op->k + rank] = parts[e];
                chosen += parts[e];
            }
        }
        for (size_t j = 0; j < op->k; j++) {
            weights[t * op->k + j] /= !op->is_sigmoid ? all : op->renormalise ? chosen : 1;
        }
    }
}

void formulas_concat(
    size_t rows, size_t left, size_t right, const double *a, const double *b, double *y)
{
    for (size_t r = 0; r < rows; r++) {
        memcpy(y + r * (left + right), a + r * left, left * sizeof(*y));
        memcpy(y + r * (left + right) + left, b + r * right, right * sizeof(*y));
    }
}

void formulas_linear_experts(const struct formulas_linear_experts *op, double *y)
{
    for (size_t row = 0; row < op->tokens * op->k; row++) {
        const size_t e = (size_t)op->indices[row];
        const size_t taken = op->slots == 1 ? row / op->k : row;

        formulas_linear(&(struct formulas_linear){.rows = 1,
                                                  .in = op->in,
                                                  .out = op->out,
                                                  .x = op->x + taken * op->in,
                                                  .w = op->w[e],
                                                  .b = op->b != NULL ? op->b[e] : NULL,
                                                  .transposed = op->transposed},
                        y + row * op->out);
    }
}

void formulas_weighted_sum(
    size_t tokens, size_t k, size_t width, const double *x, const double *weights, double *y)
{
    for (size_t t = 0; t < tokens; t++) {
        for (size_t i = 0; i < width; i++) {
            y[t * width + i] = 0;
            for (size_t j = 0; j < k; j++) {
                y[t * width + i] += weights[t * k + j] * x[(t * k + j) * width + i];
            }
        }
    }
}

double formulas_unary(const char *op, double x, const double *numbers)
{
    if (strcmp(op, "tapml.gelu") == 0) {
        return x * (1 + erf(x / sqrt(2))) / 2;
    }
    if (strcmp(op, "tapml.gelu_tanh") == 0) {
        return x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x))) / 2;
    }
    if (strcmp(op, "tapml.relu") == 0) {
        return x < 0 ? 0 : x;
    }
    if (strcmp(op, "tapml.sigmoid") == 0) {
        return 1 / (1 + exp(-x));
    }
    if (strcmp(op, "tapml.tanh") == 0) {
        return tanh(x);
    }
    if (strcmp(op, "tapml.scale") == 0) {
        return numbers[0] * x;
    }
    if (strcmp(op, "tapml.softcap") == 0) {
        return numbers[0] * tanh(x / numbers[0]);
    }
    if (strcmp(op, "tapml.clip") == 0) {
        return x < numbers[0] ? numbers[0] : x > numbers[1] ? numbers[1] : x;
    }
    if (strcmp(op, "tapml.exp") == 0) {
        return exp(x);
    }
    if (strcmp(op, "tapml.softplus") == 0) {
        return fmax(x, 0) + log1p(exp(-fabs(x))) + (isnan(x) ? NAN : 0);
    }
    return NAN;
}

void formulas_gather_rows(
    size_t count, size_t width, const double *x, const int32_t *rows, double *y)
{
    for (size_t r = 0; r < count; r++) {
        memcpy(y + r * width, x + (size_t)rows[r] * width, width * sizeof(*y));
    }
}

// A binary floating-point format: `digits` of the significand, the implied one too; the exponents,
// as frexp counts them, of the least and of the largest normal number.
struct format {
    int digits, exponent_min, exponent_max;
};

static double format_round(const struct format *format, double value)
{
    int exponent;

    if (value == 0 || !isfinite(value)) {
        return value;
    }
    (void)frexp(value, &exponent);
    if (exponent < format->exponent_min) {
        exponent = format->exponent_min; // Subnormal: the last digit stays where it is.
    }

    // nearbyint rounds ties to even in the default mode, which nothing here changes.
    const double unit = ldexp(1, exponent - format->digits);
    const double rounded = nearbyint(value / unit) * unit;

    return fabs(rounded) < ldexp(1, format->exponent_max) ? rounded : copysign(INFINITY, value);
}

double formulas_rounded(double value, uint32_t dtype)
{
    static const struct format f16 = {11, -13, 16}, bf16 = {8, -125, 128};

    if (dtype == TAPML_F32) {
        return (double)(float)value;
    }
    if (dtype == TAPML_F16) {
        return format_round(&f16, value);
    }
    return dtype == TAPML_BF16 ? format_round(&bf16, value) : value;
}

static double distance(double expected, double computed, double rms)
{
    if (isnan(expected) || isnan(computed)) {
        return isnan(expected) && isnan(computed) ? 0 : INFINITY;
    }
    if (isinf(expected) || isinf(computed)) {
        return expected == computed ? 0 : INFINITY;
    }
    return fabs(expected - computed) / rms;
}

double formulas_distance(size_t rows, size_t width, const double *expected, const double *computed)
{
    double worst = 0;

    for (size_t r = 0; r < rows; r++) {
        const double *a = expected + r * width, *b = computed + r * width;
        double sum = 0;

        for (size_t i = 0; i < width; i++) {
            sum += isfinite(a[i]) ? a[i] * a[i] : 0;
        }

        const double rms = fmax(sqrt(sum / (double)width), 1e-30);

        for (size_t i = 0; i < width; i++) {
            worst = fmax(worst, distance(a[i], b[i], rms));
        }
    }
    return worst;
}
