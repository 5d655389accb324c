// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// Ops that move values: bit for bit, whatever the bits mean.

#include "device.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct plugin *device;

static void open_device(void)
{
    device = device_open();
}

static void close_device(void)
{
    device_close(device);
}

TestSuite(bits, .init = open_device, .fini = close_device, .timeout = 300);

static const uint32_t poison = 0x7fc0dead;

// Words on the host and on the device.
struct words {
    uint32_t *data;
    size_t count;
    tapml_object *buffer;
};

// Every kind of number: quiet and signalling NaN with payloads, infinities, both zeros, subnormal
// ones.
static uint32_t word_at(uint32_t seed, size_t i)
{
    static const uint32_t special[] = {0x7fc00001, 0xffc12345, 0x7f800001, 0x7f800000, 0xff800000,
                                       0x80000000, 0x00000001, 0x807fffff, 0x00000000, 0xdeadbeef};
    const uint32_t mixed = ((uint32_t)i * 2654435761u + seed) * 2246822519u;

    return i % 3 == 0 ? special[i / 3 % 10] : mixed ^ mixed >> 13;
}

static tapml_object *new_buffer(const uint32_t *data, size_t count)
{
    const tapml_backend *table = plugin_table(device);
    tapml_object *buffer = NULL;
    tapml_call call = {0};
    tapml_status status =
        table->buffer_new(plugin_device(device), &call, 0, (count + 3) / 4 * 16, &buffer);

    if (status == TAPML_OK) {
        status = table->queue_write(plugin_queue(device), &call, buffer, 0, data, count * 4);
    }
    if (status == TAPML_OK) {
        status = plugin_wait(device, &call);
    }
    cr_assert_eq(status, TAPML_OK, "%s", call.message);
    return buffer;
}

static struct words make_words(size_t count, int is_poison, uint32_t seed)
{
    struct words words = {calloc(count + 4, 4), count, NULL};

    cr_assert_not_null(words.data);
    for (size_t i = 0; i < count; i++) {
        words.data[i] = is_poison ? poison : word_at(seed, i);
    }
    words.buffer = new_buffer(words.data, count);
    return words;
}

static void free_words(struct words *words)
{
    words->buffer->vt->release(words->buffer);
    free(words->data);
}

static struct words make_ids(const int32_t *ids, size_t count)
{
    struct words words = {calloc(count + 4, 4), count, NULL};

    cr_assert_not_null(words.data);
    memcpy(words.data, ids, count * 4);
    words.buffer = new_buffer(words.data, count);
    return words;
}

// Calls the op and compares all words of `y` on the device with those on the host.
static void check(const tapml_op *op, const tapml_value *values, struct words *y, const char *name)
{
    uint32_t *computed = calloc(y->count + 1, 4);
    tapml_call call = {0};
    tapml_status status = plugin_apply(device, op, values, &call);

    cr_assert_not_null(computed);
    if (status == TAPML_OK) {
        status = plugin_table(device)->queue_read(plugin_queue(device), &call, y->buffer, 0,
                                                  computed, y->count * 4);
    }
    if (status == TAPML_OK) {
        status = plugin_wait(device, &call);
    }
    cr_assert_eq(status, TAPML_OK, "%s", call.message);
    for (size_t i = 0; i < y->count; i++) {
        if (computed[i] != y->data[i]) {
            cr_expect_fail("%s, %s: word %zu is %08x, expected %08x", op->name, name, i,
                           computed[i], y->data[i]);
            break;
        }
    }
    free(computed);
}

static tapml_value in(const tapml_tensor *tensor)
{
    return (tapml_value){.kind = TAPML_P_TENSOR_IN, .u.p = tensor};
}

static tapml_tensor tensor_of(const struct words *words,
                              uint32_t dtype,
                              uint32_t rank,
                              const int64_t *shape,
                              const int64_t *stride,
                              size_t at)
{
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                          .dtype = dtype,
                          .rank = rank,
                          .shape = shape,
                          .stride = stride,
                          .offset = at * TAPML_DT_BYTES(dtype),
                          .buffer = words->buffer};
}

// -- copy and state_append ---------------------------------------------------------------------

static void check_copy(int64_t rows, int64_t width, size_t at, int64_t gap, uint32_t dtype)
{
    const int64_t shape[] = {rows, width}, xs[] = {width + 2 * gap, 1}, ys[] = {width + gap, 1};
    struct words x = make_words(at + (size_t)(rows * xs[0]), 0, 1);
    struct words y = make_words(at + (size_t)(rows * ys[0]) + 5, 1, 0);
    const tapml_tensor xt = tensor_of(&x, dtype, 2, shape, xs, at);
    const tapml_tensor yt = tensor_of(&y, dtype, 2, shape, ys, at);
    const tapml_value values[] = {in(&xt), {.kind = TAPML_P_TENSOR_OUT, .u.p = &yt}};
    char name[64];

    for (int64_t r = 0; r < rows; r++) {
        memcpy(y.data + at + r * ys[0], x.data + at + r * xs[0], (size_t)width * 4);
    }
    (void)snprintf(name, sizeof(name), "%ld x %ld", (long)rows, (long)width);
    check(&tapml_copy, values, &y, name);
    free_words(&x);
    free_words(&y);
}

Test(bits, copy)
{
    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        check_copy(1 + i % 5, device_widths[i], (size_t)(i % 4), i % 3, TAPML_F32);
        check_copy(2, device_widths[i], 4, 4, i % 2 != 0 ? TAPML_I32 : TAPML_F32);
    }
}

static void
check_append(int64_t tokens, int64_t heads, int64_t width, int64_t position, int is_slice)
{
    enum { CAPACITY = 90 };
    const int64_t pitch = heads * width * (is_slice ? 3 : 1);
    const int64_t rows_shape[] = {tokens, heads, width}, rows_stride[] = {pitch, width, 1};
    const int64_t state_shape[] = {CAPACITY, heads, width};
    const int64_t state_stride[] = {heads * width + is_slice, width, 1};
    struct words rows = make_words((size_t)(tokens * pitch + is_slice), 0, 2);
    struct words state = make_words((size_t)(CAPACITY * state_stride[0]), 1, 0);
    const tapml_tensor rt = tensor_of(&rows, TAPML_F32, 3, rows_shape, rows_stride,
                                      is_slice ? (size_t)(heads * width) : 0);
    const tapml_tensor st = tensor_of(&state, TAPML_F32, 3, state_shape, state_stride, 0);
    const tapml_value values[] = {{.kind = TAPML_P_TENSOR_INOUT, .u.p = &st},
                                  in(&rt),
                                  {.kind = TAPML_P_I64, .u.i = position}};
    char name[64];

    for (int64_t t = 0; t < tokens; t++) {
        memcpy(state.data + (position + t) * state_stride[0],
               rows.data + (is_slice ? heads * width : 0) + t * pitch, (size_t)(heads * width) * 4);
    }
    (void)snprintf(name, sizeof(name), "%ld x %ld x %ld at %ld", (long)tokens, (long)heads,
                   (long)width, (long)position);
    check(&tapml_state_append, values, &state, name);
    free_words(&rows);
    free_words(&state);
}

Test(bits, state_append)
{
    static const int64_t tokens[] = {1, 2, 3, 5, 19, 33, 70};

    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        check_append(tokens[i % 7], 1 + i % 3, device_widths[i], i, i % 2);
        check_append(1, 2, device_widths[i], 89, (i + 1) % 2);
    }
}

// -- state_append into blocks ------------------------------------------------------------------

enum { BLOCK = 32, BLOCK_WORDS = 9, HALF_DIGITS = 11 };

static const tapml_span block_span = {.hdr = TAPML_HDR(tapml_span),
                                      .name = "blocks",
                                      .dtype = TAPML_U8,
                                      .block_bytes = BLOCK_WORDS * 4,
                                      .align = 16};
static const tapml_span *const block_spans[] = {&block_span};
static const tapml_encoding q8_rows = {TAPML_HDR(tapml_encoding), TAPML_ENCODING_Q8_ROWS, BLOCK, 1,
                                       block_spans};

// Values of a block: random ones, ties of quants, one that stands out, zeros, what is tiny, what is
// huge, and what is not finite.
static float block_value(size_t block, size_t i)
{
    const float random = (float)((i * 2654435761u + block * 40503u) % 2001) / 1000 - 1;

    switch (block % 8) {
    case 1:
        return i == 0 ? 127 : (float)(i % 2 == 0 ? i : -(double)i) + 0.5f; // The scale is 1.
    case 2:
        return i == 31 ? -300 : random;
    case 3:
        return i % 2 == 0 ? 0.0f : -0.0f;
    case 4:
        return random * 0x1p-101f;
    case 5:
        return random * 0x1p120f;
    case 6:
        return i == 7 ? INFINITY : random;
    case 7:
        return i == 30 ? NAN : random;
    default:
        return random;
    }
}

// As docs/encodings.md says, in doubles.
static double block_scale(const float *values)
{
    double largest = 0;
    int exponent = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        if (!isfinite(values[i])) {
            return NAN;
        }
        largest = fmax(largest, fabs((double)values[i]));
    }
    const double digits = frexp((double)(float)(largest * (double)(1.0f / 127)), &exponent);
    const double scale = ldexp(nearbyint(ldexp(digits, HALF_DIGITS)), exponent - HALF_DIGITS);

    return scale < 0x1p-100 ? 0 : scale;
}

static void expect_block(const float *values, uint32_t *words)
{
    const float scale = (float)block_scale(values);
    unsigned char quants[BLOCK] = {0};

    for (size_t i = 0; i < BLOCK && scale > 0; i++) {
        quants[i] = (unsigned char)(int)nearbyint((double)values[i] / (double)scale);
    }
    memcpy(words, &scale, sizeof(scale));
    words[0] = isnan(scale) ? 0x7fc00000 : words[0];
    memcpy(words + 1, quants, sizeof(quants));
}

static void
check_blocks(int64_t tokens, int64_t heads, int64_t width, int64_t position, int64_t gap)
{
    enum { CAPACITY = 12, FIRST = 8 }; // Words before the state.
    const int64_t blocks = heads * width / BLOCK, pitch = heads * (width + gap);
    const int64_t rows_shape[] = {tokens, heads, width}, rows_stride[] = {pitch, width + gap, 1};
    const int64_t state_shape[] = {CAPACITY, heads, width};
    struct words rows = make_words((size_t)(tokens * pitch + gap), 0, 2);
    struct words state = make_words((size_t)(FIRST + CAPACITY * blocks * BLOCK_WORDS + 4), 1, 0);
    const tapml_tensor rt = tensor_of(&rows, TAPML_F32, 3, rows_shape, rows_stride, (size_t)gap);
    tapml_tensor st = tensor_of(&state, TAPML_U8, 3, state_shape, NULL, FIRST * 4);
    const tapml_value values[] = {{.kind = TAPML_P_TENSOR_INOUT, .u.p = &st},
                                  in(&rt),
                                  {.kind = TAPML_P_I64, .u.i = position}};
    tapml_call call = {0};
    char name[64];

    st.encoding = &q8_rows;
    for (int64_t b = 0; b < tokens * blocks; b++) {
        const int64_t row = b * BLOCK / width, column = b * BLOCK % width;
        float block[BLOCK];

        for (size_t i = 0; i < BLOCK; i++) {
            block[i] = block_value((size_t)b, i);
        }
        memcpy(rows.data + gap + row / heads * pitch + row % heads * (width + gap) + column, block,
               sizeof(block));
        expect_block(block, state.data + FIRST + (position * blocks + b) * BLOCK_WORDS);
    }
    cr_assert_eq(plugin_table(device)->queue_write(plugin_queue(device), &call, rows.buffer, 0,
                                                   rows.data, (rows.count + 3) / 4 * 16),
                 TAPML_OK, "%s", call.message);
    (void)snprintf(name, sizeof(name), "blocks, %ld x %ld x %ld at %ld", (long)tokens, (long)heads,
                   (long)width, (long)position);
    check(&tapml_state_append, values, &state, name);
    free_words(&rows);
    free_words(&state);
}

Test(bits, state_append_into_blocks)
{
    check_blocks(1, 1, 32, 0, 0);
    check_blocks(8, 1, 32, 4, 4);
    check_blocks(3, 2, 96, 2, 0);
    check_blocks(5, 3, 64, 7, 8);
}

// -- gather_rows -------------------------------------------------------------------------------

static void check_gather(int64_t width, int64_t gap, size_t at)
{
    enum { T = 33, R = 7 };
    static const int32_t ids[] = {-1, 32, 0, 5, 5, 31, 16, 1};
    const int64_t xs[] = {width + gap, 1}, x_shape[] = {T, width}, y_shape[] = {R, width};
    const int64_t count[] = {R}, ys[] = {width + 2 * gap, 1};
    struct words x = make_words(at + (size_t)(T * xs[0]), 0, 3), rows = make_ids(ids, 8);
    struct words y = make_words((size_t)(R * ys[0]) + 1, 1, 0);
    const tapml_tensor xt = tensor_of(&x, TAPML_F32, 2, x_shape, xs, at);
    const tapml_tensor rt = tensor_of(&rows, TAPML_I32, 1, count, NULL, 1);
    const tapml_tensor yt = tensor_of(&y, TAPML_F32, 2, y_shape, ys, 1);
    const tapml_value values[] = {in(&xt), in(&rt), {.kind = TAPML_P_TENSOR_OUT, .u.p = &yt}};
    char name[64];

    for (int64_t r = 0; r < R; r++) {
        memcpy(y.data + 1 + r * ys[0], x.data + at + ids[r + 1] * xs[0], (size_t)width * 4);
    }
    (void)snprintf(name, sizeof(name), "width %ld", (long)width);
    check(&tapml_gather_rows, values, &y, name);
    free_words(&x);
    free_words(&rows);
    free_words(&y);
}

Test(bits, gather_rows)
{
    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        check_gather(device_widths[i], 0, 0);
        check_gather(device_widths[i], 3, 2);
    }
}

// -- embed -------------------------------------------------------------------------------------

// An element of two bytes as the f32 that has its value, bit by bit.
static uint32_t widen(uint32_t dtype, uint32_t half)
{
    const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u,
                   digits = half & 1023u;

    if (dtype == TAPML_BF16) {
        return half << 16;
    }
    if (exponent == 31) {
        return sign | 0x7f800000u | digits << 13;
    }
    if (exponent != 0) {
        return sign | (exponent + 112) << 23 | digits << 13;
    }
    const float value = (float)digits * 0x1p-24f;
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return sign | bits;
}

static uint32_t element_of(const struct words *words, uint32_t dtype, size_t e)
{
    return dtype == TAPML_F32 ? words->data[e]
                              : widen(dtype, words->data[e / 2] >> (e % 2 * 16) & 0xffffu);
}

enum { VOCABULARY = 50, IDS = 9 };

static const int32_t ids[] = {0, 49 - 3, 0, 5, 5, 31, 16, 24, 25};

// Poison on the device; on the host, what should be there after the call.
static struct words make_output(int64_t width, const struct words *table, uint32_t dtype, size_t at)
{
    struct words y = make_words((size_t)(IDS * (width + 1)) + 2, 1, 0);

    for (int64_t t = 0; t < IDS; t++) {
        for (int64_t i = 0; i < width; i++) {
            y.data[2 + t * (width + 1) + i] =
                element_of(table, dtype, at + (size_t)((ids[t] + 3) * width + i));
        }
    }
    return y;
}

// With `panel` rows in the first of two panels, which lie in one buffer here.
static void check_embed(int64_t width, uint32_t dtype, size_t at, int64_t panel)
{
    const int64_t shape[] = {VOCABULARY, width}, count[] = {IDS}, y_shape[] = {IDS, width};
    const int64_t panel_shape[] = {panel, width}, rest_shape[] = {VOCABULARY - panel, width};
    const int64_t y_stride[] = {width + 1, 1};
    struct words table = make_words(at + (size_t)(VOCABULARY * width) + 1, 0, 4);
    struct words words = make_ids(ids, IDS), y = make_output(width, &table, dtype, at);
    tapml_tensor tt = tensor_of(&table, dtype, 2, panel != 0 ? panel_shape : shape, NULL, at);
    const tapml_tensor rest =
        tensor_of(&table, dtype, 2, rest_shape, NULL, at + (size_t)(panel * width));
    const tapml_tensor it = tensor_of(&words, TAPML_I32, 1, count, NULL, 0);
    const tapml_tensor yt = tensor_of(&y, TAPML_F32, 2, y_shape, y_stride, 2);
    const tapml_value values[] = {in(&tt),
                                  in(&it),
                                  {.kind = TAPML_P_I64, .u.i = 3},
                                  {.kind = TAPML_P_TENSOR_OUT, .u.p = &yt}};
    char name[64];

    tt.next = panel != 0 ? &rest : NULL;
    (void)snprintf(name, sizeof(name), "width %ld dtype 0x%x at %zu panel %ld", (long)width, dtype,
                   at, (long)panel);
    check(&tapml_embed, values, &y, name);
    free_words(&table);
    free_words(&words);
    free_words(&y);
}

Test(bits, embed)
{
    static const uint32_t dtypes[] = {TAPML_F32, TAPML_BF16, TAPML_F16};

    for (int i = 0; i < DEVICE_WIDTH_COUNT; i++) {
        check_embed(device_widths[i], dtypes[i % 3], 0, 0);
        check_embed(device_widths[i], dtypes[(i + 1) % 3], 1, 0);
        check_embed(device_widths[i], dtypes[(i + 2) % 3], 3, 28);
    }
}

// Every f16 there is.
Test(bits, embed_every_f16)
{
    enum { COUNT = 65536 };
    static const int32_t first[] = {0};
    const int64_t shape[] = {1, COUNT}, one[] = {1};
    struct words table = {calloc(COUNT / 2 + 4, 4), COUNT / 2, NULL}, words = make_ids(first, 1);
    struct words y = make_words(COUNT, 1, 0);
    const tapml_tensor it = tensor_of(&words, TAPML_I32, 1, one, NULL, 0);
    const tapml_tensor yt = tensor_of(&y, TAPML_F32, 2, shape, NULL, 0);

    cr_assert_not_null(table.data);
    for (uint32_t i = 0; i < COUNT; i++) {
        table.data[i / 2] |= i << (i % 2 * 16);
        y.data[i] = widen(TAPML_F16, i);
    }
    table.buffer = new_buffer(table.data, table.count);
    const tapml_tensor tt = tensor_of(&table, TAPML_F16, 2, shape, NULL, 0);
    const tapml_value values[] = {in(&tt),
                                  in(&it),
                                  {.kind = TAPML_P_I64, .u.i = 0},
                                  {.kind = TAPML_P_TENSOR_OUT, .u.p = &yt}};

    check(&tapml_embed, values, &y, "every f16");
    free_words(&table);
    free_words(&words);
    free_words(&y);
}

// A number that is no row's: a device, which cannot refuse the call, takes the nearest row, and
// reads nothing else.
Test(bits, numbers_beyond_the_rows)
{
    enum { ROWS = 5, WIDTH = 3, COUNT = 4 };
    static const int32_t wild[COUNT] = {-7, INT32_MAX, INT32_MIN, ROWS};
    static const size_t nearest[COUNT] = {0, ROWS - 1, 0, ROWS - 1};
    const int64_t x_shape[] = {ROWS, WIDTH}, y_shape[] = {COUNT, WIDTH}, count[] = {COUNT};

    struct words x = make_words((size_t)ROWS * WIDTH, 0, 6), rows = make_ids(wild, COUNT);

    for (int is_embed = 0; is_embed < 2; is_embed++) {
        struct words y = make_words((size_t)COUNT * WIDTH, 1, 0);
        const tapml_tensor xt = tensor_of(&x, TAPML_F32, 2, x_shape, NULL, 0);
        const tapml_tensor rt = tensor_of(&rows, TAPML_I32, 1, count, NULL, 0);
        const tapml_tensor yt = tensor_of(&y, TAPML_F32, 2, y_shape, NULL, 0);
        const tapml_value out = {.kind = TAPML_P_TENSOR_OUT, .u.p = &yt};
        const tapml_value gather[] = {in(&xt), in(&rt), out};
        const tapml_value embed[] = {in(&xt), in(&rt), {.kind = TAPML_P_I64, .u.i = 2}, out};

        for (size_t r = 0; r < COUNT; r++) {
            const size_t row = is_embed && nearest[r] < 2 ? 2 : nearest[r]; // 0, behind the offset.

            memcpy(y.data + r * WIDTH, x.data + row * WIDTH, sizeof(uint32_t) * WIDTH);
        }
        check(is_embed ? &tapml_embed : &tapml_gather_rows, is_embed ? embed : gather, &y, "wild");
        free_words(&y);
    }
    free_words(&x);
    free_words(&rows);
}
