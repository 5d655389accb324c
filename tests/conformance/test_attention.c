// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// attention with each of its options, alone and together.

#include "device.h"
#include "harness/formulas.h"
#include "harness/sanitized.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct plugin *device;

static void open_device(void)
{
    device = device_open();
}

static void close_device(void)
{
    device_close(device);
}

TestSuite(attention, .init = open_device, .fini = close_device, .timeout = 300);

struct shape {
    int64_t tokens, position, hq, hk, dk, dv;
    int64_t window, chunk;
    double softcap;
    uint32_t sinks; // Their type; 0 is none.
    int is_bidirectional, has_slopes, is_alibi_bf16, has_mask, is_slice;
};

// As a model with 4 heads on 2 would ask.
static struct shape plain(int64_t tokens, int64_t position, int64_t width)
{
    return (struct shape){
        .tokens = tokens, .position = position, .hq = 4, .hk = 2, .dk = width, .dv = width};
}

// Zeros and ones; the first queries see nothing at all.
static int32_t *make_mask(const struct shape *s)
{
    const size_t length = (size_t)(s->position + s->tokens);
    int32_t *mask = calloc(length + 1, sizeof(*mask));

    cr_assert_not_null(mask);
    for (size_t i = 2; i < length; i++) {
        mask[i] = i % 3 != 0 ? 7 : 0;
    }
    return mask;
}

static void describe(const struct shape *s, char *name, size_t size)
{
    (void)snprintf(name, size,
                   "tokens %ld position %ld heads %ld/%ld widths %ld %ld window %ld chunk %ld "
                   "softcap %g sinks 0x%x%s%s%s%s%s",
                   (long)s->tokens, (long)s->position, (long)s->hq, (long)s->hk, (long)s->dk,
                   (long)s->dv, (long)s->window, (long)s->chunk, s->softcap, s->sinks,
                   s->is_bidirectional ? " bidirectional" : "", s->has_slopes ? " slopes" : "",
                   s->is_alibi_bf16 ? " bf16" : "", s->has_mask ? " mask" : "",
                   s->is_slice ? " slice" : "");
}

// The tensors as they are given: the states hold more rows than the op may read, which stay poison.
static struct operand_spec make_state(int64_t length, int64_t heads, int64_t width, int is_slice)
{
    struct operand_spec state = op_fixture_heads(TAPML_F32, length, heads, width, NULL);

    return is_slice ? op_fixture_spread(state, 1, 3) : state;
}

static void check(struct shape s)
{
    const int64_t length = s.position + s.tokens;
    const size_t rows = (size_t)(s.tokens * s.hq);
    double *q = op_fixture_values(1, TAPML_F32, rows * (size_t)s.dk);
    double *k = op_fixture_values(2, TAPML_F32, (size_t)(length * s.hk * s.dk));
    double *v = op_fixture_values(3, TAPML_F32, (size_t)(length * s.hk * s.dv));
    double *slopes = s.has_slopes ? op_fixture_values(4, TAPML_F32, (size_t)s.hq) : NULL;
    double *sinks = s.sinks != 0 ? op_fixture_values(5, s.sinks, (size_t)s.hq) : NULL;
    int32_t *mask = s.has_mask ? make_mask(&s) : NULL;
    double *mask_values = device_array((size_t)length),
           *expected = device_array(rows * (size_t)s.dv);
    const double scale = 1.0 / sqrt((double)s.dk);
    struct op_fixture fixture = {.op = &tapml_attention, .output = TAPML_ATTENTION_Y};
    struct op_fixture_argument *a = fixture.arguments;
    char name[200];

    for (int64_t i = 0; mask != NULL && i < length; i++) {
        mask_values[i] = mask[i];
    }
    for (int64_t h = 0; slopes != NULL && h < s.hq; h++) {
        slopes[h] /= 16; // A score of hundreds has few digits left behind the point.
    }
    formulas_attention(&(struct formulas_attention){(size_t)s.tokens, (size_t)s.hq, (size_t)s.hk,
                                                    (size_t)s.dk, (size_t)s.dv, q, k, v, slopes,
                                                    sinks, mask, s.position, scale,
                                                    !s.is_bidirectional, s.window, s.chunk,
                                                    s.softcap, s.is_alibi_bf16},
                       expected);
    a[TAPML_ATTENTION_Q].tensor = op_fixture_heads(TAPML_F32, s.tokens, s.hq, s.dk, q);
    a[TAPML_ATTENTION_Y].tensor = op_fixture_heads(TAPML_F32, s.tokens, s.hq, s.dv, NULL);
    if (s.is_slice) {
        a[TAPML_ATTENTION_Q].tensor = op_fixture_spread(a[TAPML_ATTENTION_Q].tensor, 7, 2);
        a[TAPML_ATTENTION_Y].tensor = op_fixture_spread(a[TAPML_ATTENTION_Y].tensor, 3, 1);
    }
    a[TAPML_ATTENTION_K_STATE].tensor = make_state(length, s.hk, s.dk, s.is_slice);
    a[TAPML_ATTENTION_K_STATE].tensor.values = k;
    a[TAPML_ATTENTION_V_STATE].tensor = make_state(length, s.hk, s.dv, s.is_slice);
    a[TAPML_ATTENTION_V_STATE].tensor.values = v;
    if (slopes != NULL) {
        a[TAPML_ATTENTION_SLOPES].tensor = op_fixture_row(TAPML_F32, s.hq, slopes);
    }
    if (sinks != NULL) {
        a[TAPML_ATTENTION_SINKS].tensor = op_fixture_row(s.sinks, s.hq, sinks);
        a[TAPML_ATTENTION_SINKS].tensor.lead = s.is_slice != 0;
    }
    if (mask != NULL) {
        a[TAPML_ATTENTION_KEY_MASK].tensor = op_fixture_row(TAPML_I32, length, mask_values);
        a[TAPML_ATTENTION_KEY_MASK].tensor.lead = s.is_slice != 0;
    }
    a[TAPML_ATTENTION_POSITION].i64 = s.position;
    a[TAPML_ATTENTION_SCALE].f64 = scale;
    a[TAPML_ATTENTION_CAUSAL].i64 = !s.is_bidirectional;
    a[TAPML_ATTENTION_WINDOW].i64 = s.window;
    a[TAPML_ATTENTION_CHUNK].i64 = s.chunk;
    a[TAPML_ATTENTION_SOFTCAP].f64 = s.softcap;
    a[TAPML_ATTENTION_ALIBI_BF16].i64 = s.is_alibi_bf16;
    describe(&s, name, sizeof(name));
    device_check(device, &fixture, rows * (size_t)s.dv, expected, 2e-5, name);
    free(q);
    free(k);
    free(v);
    free(slopes);
    free(sinks);
    free(mask);
    free(mask_values);
}

Test(attention, widths)
{
    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        struct shape s = plain(1 + i % 3, 9, device_widths[i]);

        check(s);
        s.is_slice = 1;
        s.tokens = 5;
        s.position = 0;
        check(s);
    }
}

Test(attention, tokens)
{
    static const int64_t tokens[] = {1, 2, 3, 5, 19, 33, 70}, positions[] = {0, 1, 63, 64, 65, 98};

    for (int t = 0; t < 7; t++) {
        for (int i = 0; i < 6; i++) {
            check(plain(tokens[t], positions[i], 24));
        }
    }
}

// dk and dv that differ, and heads that share keys in every way.
Test(attention, heads)
{
    static const int64_t heads[][2] = {{1, 1}, {4, 4}, {4, 1}, {6, 2}, {6, 3}};

    for (int i = 0; i < 5; i++) {
        struct shape s = plain(3, 20, 32);

        s.hq = heads[i][0];
        s.hk = heads[i][1];
        check(s);
        s.dk = 24;
        s.dv = 40;
        check(s);
        s.dk = 33;
        s.dv = 7;
        check(s);
    }
}

Test(attention, window_and_chunk)
{
    static const int64_t sizes[] = {1, 2, 7, 16, 64, 65, 100};

    for (int i = 0; i < 7; i++) {
        struct shape s = plain(19, 80, 24);

        s.window = sizes[i];
        check(s);
        s.is_bidirectional = 1;
        check(s);
        s.window = 0;
        s.chunk = sizes[i];
        check(s);
        s.is_bidirectional = 0;
        check(s);
        s.window = 5;
        check(s);
    }
}

Test(attention, bidirectional)
{
    struct shape s = plain(19, 0, 32);

    s.is_bidirectional = 1;
    check(s);
    s.position = 70;
    check(s);
}

Test(attention, softcap)
{
    static const double caps[] = {0.5, 3, 30, 100};

    for (int i = 0; i < 4; i++) {
        struct shape s = plain(5, 70, 32);

        s.softcap = caps[i];
        check(s);
        s.has_slopes = 1;
        check(s);
    }
}

Test(attention, slopes)
{
    struct shape s = plain(5, 70, 32);

    s.has_slopes = 1;
    check(s);
    s.is_alibi_bf16 = 1;
    check(s);
    s.is_bidirectional = 1;
    s.is_slice = 1;
    check(s);
    s.softcap = 20;
    check(s);
}

Test(attention, sinks)
{
    static const uint32_t dtypes[] = {TAPML_F32, TAPML_F16, TAPML_BF16};

    for (int i = 0; i < 3; i++) {
        struct shape s = plain(5, 70, 32);

        s.sinks = dtypes[i];
        check(s);
        s.is_slice = 1;
        check(s);
        s.window = 3;
        s.has_mask = 1;
        check(s);
    }
}

// With a mask that hides rows 0 and 1, the first queries see nothing and give zeros.
Test(attention, mask)
{
    struct shape s = plain(9, 0, 32);

    s.has_mask = 1;
    check(s);
    s.position = 90;
    check(s);
    s.is_bidirectional = 1;
    s.is_slice = 1;
    check(s);
    s.is_bidirectional = 0;
    s.window = 1;
    check(s);
    s.sinks = TAPML_F32;
    check(s);
}

Test(attention, everything)
{
    check((struct shape){.tokens = 19,
                         .position = 77,
                         .hq = 6,
                         .hk = 2,
                         .dk = 24,
                         .dv = 33,
                         .window = 40,
                         .chunk = 64,
                         .softcap = 15,
                         .sinks = TAPML_BF16,
                         .has_slopes = 1,
                         .has_mask = 1,
                         .is_slice = 1});
}

// One workgroup for each token and head: more than an axis of a grid promises.
Test(attention, folded_grid)
{
    struct shape s = plain(SANITIZED_COUNT(11001, 1000), 0, 4);

    s.hq = 6;
    s.hk = 1;
    s.window = 3;
    check(s);
}

// A head that no workgroup can hold is refused, with its width, before and at the call.
Test(attention, refusal)
{
    const int64_t width = 1 << 20;
    struct op_fixture fixture = {.op = &tapml_attention, .output = TAPML_ATTENTION_Y};
    const uint32_t tensors[] = {TAPML_ATTENTION_Q, TAPML_ATTENTION_K_STATE, TAPML_ATTENTION_V_STATE,
                                TAPML_ATTENTION_Y};

    for (int i = 0; i < 4; i++) {
        fixture.arguments[tensors[i]].tensor = op_fixture_heads(TAPML_F32, 1, 1, width, NULL);
    }
    const tapml_support support = op_fixture_supports(&fixture, device);

    if (support.grade == TAPML_SUPPORT_NO) {
        tapml_call call = {0};

        cr_expect(support.reason[0] != '\0');
        op_fixture_fail(&fixture, device, TAPML_UNIMPLEMENTED, &call);
        cr_expect_str_eq(call.message, support.reason);
    }
}
