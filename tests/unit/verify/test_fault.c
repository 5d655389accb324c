// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/calls.h"
#include "harness/late.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "tensor/convert.h"
#include "tensor/encoding.h"
#include "verify/fault.h"

#include <tapml/ops.h>

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct backend *backend;

static void begin(void)
{
    plugin_fixture_open(&plugins);
    backend = plugin_fixture_backend(&plugins, "reference:f32");
}

static void end(void)
{
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(fault, .init = begin, .fini = end, .timeout = 60);

static struct fault_rule rule(const char *words)
{
    struct fault_rule made = {.name = "fault.1",
                              .op = "*",
                              .instance = "*",
                              .words = words,
                              .from_call = 1,
                              .probability = 1,
                              .seed = 1};
    MUST(fault_rule_parse(&made));
    return made;
}

static struct fault *plant(struct backend *inner, const struct fault_rule *rules, size_t count)
{
    struct fault *fault = NULL;
    MUST(fault_create(inner, rules, count, &fault));
    return fault;
}

// y = silu(x) over [2, 8]; y is the columns 1 to 8 of a [2, 10] buffer of sevens.
enum { ROWS = 2, WIDTH = 8, STRIDE = 10, BYTES = ROWS * STRIDE * (int)sizeof(float) };

struct fixture {
    struct backend *backend;
    tapml_object *x, *y;
    int is_extra; // Calls are.
};

static void open_fixture(struct fixture *fixture, struct backend *on)
{
    float values[ROWS * WIDTH];
    for (int i = 0; i < ROWS * WIDTH; i++) {
        values[i] = 1 + 0.3f * (float)i;
    }
    fixture->backend = on;
    fixture->is_extra = 0;
    MUST(backend_buffer_new(on, sizeof(values), &fixture->x));
    MUST(backend_buffer_new(on, BYTES, &fixture->y));
    MUST(backend_write(on, fixture->x, 0, values, sizeof(values)));
    MUST(backend_wait(on));
}

static void close_fixture(struct fixture *fixture)
{
    backend_buffer_free(fixture->backend, fixture->x);
    backend_buffer_free(fixture->backend, fixture->y);
}

static tapml_status call_fixture(const struct fixture *fixture, const char *instance)
{
    static const int64_t shape[] = {ROWS, WIDTH};
    static const int64_t stride[] = {STRIDE, 1};
    const tapml_tensor x = {.hdr = TAPML_HDR(tapml_tensor),
                            .dtype = TAPML_F32,
                            .rank = 2,
                            .shape = shape,
                            .buffer = fixture->x};
    const tapml_tensor y = {.hdr = TAPML_HDR(tapml_tensor),
                            .dtype = TAPML_F32,
                            .rank = 2,
                            .shape = shape,
                            .stride = stride,
                            .offset = sizeof(float),
                            .buffer = fixture->y};
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &y}};
    return calls_make(fixture->backend, &(struct backend_call){.op = &tapml_silu,
                                                               .args = args,
                                                               .instance = instance,
                                                               .is_extra = fixture->is_extra});
}

// What a call leaves, gaps included, in `out`.
static void run_fixture(const struct fixture *fixture, const char *instance, float *out)
{
    float sevens[ROWS * STRIDE];
    for (int i = 0; i < ROWS * STRIDE; i++) {
        sevens[i] = 7;
    }
    MUST(backend_write(fixture->backend, fixture->y, 0, sevens, BYTES));
    MUST(call_fixture(fixture, instance));
    MUST(backend_read(fixture->backend, fixture->y, 0, out, BYTES));
    MUST(backend_wait(fixture->backend));
}

static int is_corrupted(const struct fixture *fixture, const char *instance)
{
    float found[ROWS * STRIDE];
    run_fixture(fixture, instance, found);
    return found[1] < 0;
}

// Element (row, column) after a fault, from the right ones.
typedef float expected_fn(float right[ROWS][WIDTH], int row, int column);

static float tail_dropped(float right[ROWS][WIDTH], int row, int column)
{
    return column < 6 ? right[row][column] : 7;
}

static float halves_swapped(float right[ROWS][WIDTH], int row, int column)
{
    return right[row][(column + 4) % WIDTH];
}

static float rows_shifted(float right[ROWS][WIDTH], int row, int column)
{
    return right[(row + 1) % ROWS][column];
}

static float row_zeroed(float right[ROWS][WIDTH], int row, int column)
{
    return row == 1 ? 0 : right[row][column];
}

static float scaled(float right[ROWS][WIDTH], int row, int column)
{
    return -1.5f * right[row][column];
}

static float rounded(float right[ROWS][WIDTH], int row, int column)
{
    return convert_f16_to_f32(convert_f32_to_f16(right[row][column]));
}

static float last_is_nan(float right[ROWS][WIDTH], int row, int column)
{
    return row == 1 && column == 7 ? NAN : right[row][column];
}

static float kept(float right[ROWS][WIDTH], int row, int column)
{
    return 7;
}

static const struct after {
    const char *words;
    expected_fn *expected;
} afters[] = {
    {"drop-tail", tail_dropped},  {"swap-halves", halves_swapped},
    {"shift-rows", rows_shifted}, {"zero-row", row_zeroed},
    {"scale -1.5", scaled},       {"round-f16", rounded},
    {"nan", last_is_nan},         {"skip-write", kept},
};

static void try_kind(struct backend *inner, const struct after *after)
{
    struct fixture clean;
    struct fixture fixture;
    float raw[ROWS * STRIDE];
    float found[ROWS * STRIDE];
    float right[ROWS][WIDTH];
    const struct fault_rule one = rule(after->words);
    struct fault *fault = plant(inner, &one, 1);

    open_fixture(&clean, inner);
    open_fixture(&fixture, fault_backend(fault));
    run_fixture(&clean, "s", raw);
    run_fixture(&fixture, "s", found);
    for (int i = 0; i < ROWS * WIDTH; i++) {
        right[i / WIDTH][i % WIDTH] = raw[i / WIDTH * STRIDE + 1 + i % WIDTH];
    }
    for (int i = 0; i < ROWS * STRIDE; i++) {
        const int column = i % STRIDE - 1;
        const int is_gap = column < 0 || column >= WIDTH;
        const float expected = is_gap ? 7 : after->expected(right, i / STRIDE, column);
        cr_expect(found[i] == expected || (isnan(found[i]) && isnan(expected)),
                  "%s: %d is %g, not %g", after->words, i, found[i], expected);
    }
    close_fixture(&clean);
    close_fixture(&fixture);
    fault_destroy(fault);
}

Test(fault, kinds_after_the_call_corrupt_the_view_and_nothing_else)
{
    for (size_t i = 0; i < sizeof(afters) / sizeof(*afters); i++) {
        try_kind(backend, &afters[i]);
    }
}

Test(fault, a_device_with_memory_of_its_own_is_corrupted_too)
{
    struct backend *late = late_create(&(struct late_options){.inner = backend});
    for (size_t i = 0; i < sizeof(afters) / sizeof(*afters); i++) {
        try_kind(late, &afters[i]);
    }
    backend_release(late);
}

Test(fault, several_are_done_in_their_order)
{
    struct fixture clean;
    struct fixture fixture;
    float right[ROWS * STRIDE];
    float found[ROWS * STRIDE];
    const struct fault_rule rules[] = {rule("scale 2"), rule("scale 0.5"), rule("zero-row"),
                                       rule("shift-rows")};
    struct fault *cancels = plant(backend, rules, 2);
    struct fault *both = plant(backend, rules + 2, 2);

    open_fixture(&clean, backend);
    run_fixture(&clean, "s", right);
    open_fixture(&fixture, fault_backend(cancels));
    run_fixture(&fixture, "s", found);
    cr_expect_arr_eq(found, right, BYTES);
    fixture.backend = fault_backend(both);
    run_fixture(&fixture, "s", found);
    cr_expect_eq(found[1], 0, "the zeroed row has moved to the first");
    cr_expect_eq(found[STRIDE + 1], right[1]);
    close_fixture(&fixture);
    close_fixture(&clean);
    fault_destroy(cancels);
    fault_destroy(both);
}

// -- States and numbers ------------------------------------------------------------------------

enum { CAPACITY = 8, HEADS = 2, HEAD = 3, STATE = CAPACITY * HEADS * HEAD };

// Appends `count` rows 1, 2, 3 ... at `position` to a state of sevens; gives the whole state.
static void append(struct backend *on, int64_t count, int64_t position, float *out_state)
{
    const int64_t shape[] = {CAPACITY, HEADS, HEAD};
    const int64_t rows_shape[] = {count, HEADS, HEAD};
    float values[STATE];
    tapml_tensor state = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 3, .shape = shape};
    tapml_tensor rows = state;
    rows.shape = rows_shape;
    for (int i = 0; i < STATE; i++) {
        values[i] = (float)i + 1;
        out_state[i] = 7;
    }
    MUST(backend_buffer_new(on, sizeof(values), &state.buffer));
    MUST(backend_buffer_new(on, sizeof(values), &rows.buffer));
    MUST(backend_write(on, state.buffer, 0, out_state, sizeof(values)));
    MUST(backend_write(on, rows.buffer, 0, values, sizeof(values)));
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_INOUT, .u.p = &state},
                                {.kind = TAPML_P_TENSOR_IN, .u.p = &rows},
                                {.kind = TAPML_P_I64, .u.i = position}};
    MUST(calls_make(
        on, &(struct backend_call){.op = &tapml_state_append, .args = args, .instance = "k"}));
    MUST(backend_read(on, state.buffer, 0, out_state, sizeof(values)));
    MUST(backend_wait(on));
    backend_buffer_free(on, rows.buffer);
    backend_buffer_free(on, state.buffer);
}

// Appends under a fault; the state must be sevens but for `expected`, `count` numbers at `at`.
static void expect_state(
    const char *words, int64_t rows, int64_t position, int at, const float *expected, int count)
{
    float state[STATE];
    const struct fault_rule one = rule(words);
    struct fault *fault = plant(backend, &one, 1);
    append(fault_backend(fault), rows, position, state);
    for (int i = 0; i < STATE; i++) {
        const float wanted = i >= at && i < at + count ? expected[i - at] : 7;
        cr_expect_eq(state[i], wanted, "%s: %d is %g, not %g", words, i, state[i], wanted);
    }
    fault_destroy(fault);
}

Test(fault, of_a_state_only_the_written_rows_are_corrupted)
{
    const int row = HEADS * HEAD;
    expect_state("skip-write", 2, 3, 0, NULL, 0);
    expect_state("shift-rows", 2, 3, 3 * row, (float[]){7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6}, 12);
    expect_state("shift-rows", 1, 3, 3 * row, (float[]){4, 5, 6, 1, 2, 3}, 6);
    expect_state("zero-row", 1, 3, 3 * row, (float[]){1, 2, 3, 0, 0, 0}, 6);
    expect_state("drop-tail", 1, 7, 7 * row, (float[]){1, 2, 7, 4, 5, 7}, 6);
}

Test(fault, numbers_change_within_their_domain)
{
    const int row = HEADS * HEAD;
    const float right[] = {1, 2, 3, 4, 5, 6};
    expect_state("argument position +1", 1, 3, 4 * row, right, row);
    expect_state("argument position -2", 1, 3, 1 * row, right, row);
    expect_state("argument position *2", 1, 3, 6 * row, right, row);
    expect_state("argument position =5", 1, 3, 5 * row, right, row);
    expect_state("argument position +1000", 1, 3, 7 * row, right, row);
    expect_state("argument position *-9", 1, 3, 0, right, row);
    expect_state("argument offset =5", 1, 3, 3 * row, right, row);
}

// -- When --------------------------------------------------------------------------------------

Test(fault, calls_are_counted_for_each_instance)
{
    struct fixture fixture;
    struct fault_rule one = rule("scale -1");
    one.op = "sil?";
    one.instance = "layers.[01]/*";
    one.from_call = 3;
    struct fault *fault = plant(backend, &one, 1);
    open_fixture(&fixture, fault_backend(fault));
    for (int i = 1; i <= 4; i++) {
        cr_expect_eq(is_corrupted(&fixture, "layers.0/silu"), i >= 3, "call %d", i);
        cr_expect_not(is_corrupted(&fixture, "layers.2/silu"));
    }
    cr_expect_not(is_corrupted(&fixture, "layers.1/silu"), "its first call");
    cr_expect_eq(fault_triggered(fault, 0), 2);
    close_fixture(&fixture);
    fault_destroy(fault);
}

Test(fault, extra_calls_are_corrupted_as_the_next_one_and_not_counted)
{
    struct fixture fixture;
    struct fault_rule one = rule("scale -1");
    one.from_call = 3;
    struct fault *fault = plant(backend, &one, 1);
    open_fixture(&fixture, fault_backend(fault));
    for (int i = 1; i <= 4; i++) {
        fixture.is_extra = 1;
        for (int extra = 0; extra < 5; extra++) {
            cr_expect_eq(is_corrupted(&fixture, "s"), i >= 3, "before call %d", i);
        }
        fixture.is_extra = 0;
        cr_expect_eq(is_corrupted(&fixture, "s"), i >= 3, "call %d", i);
    }
    close_fixture(&fixture);
    fault_destroy(fault);
}

// 200 calls as bits.
static unsigned throws(uint64_t seed, char out[201])
{
    struct fixture fixture;
    struct fault_rule one = rule("scale -1");
    unsigned count = 0;
    one.probability = 0.2;
    one.seed = seed;
    struct fault *fault = plant(backend, &one, 1);
    open_fixture(&fixture, fault_backend(fault));
    for (int i = 0; i < 200; i++) {
        const int corrupted = is_corrupted(&fixture, "s");
        out[i] = corrupted ? '1' : '0';
        count += (unsigned)corrupted;
    }
    out[200] = 0;
    close_fixture(&fixture);
    fault_destroy(fault);
    return count;
}

Test(fault, a_seed_gives_the_same_throws)
{
    char first[201];
    char again[201];
    char other[201];
    const unsigned count = throws(5, first);
    cr_expect(count > 20 && count < 60, "%u of 200", count);
    (void)throws(5, again);
    (void)throws(6, other);
    cr_expect_str_eq(first, again);
    cr_expect_str_neq(first, other);
}

static tapml_status make_and_call(void)
{
    struct fixture fixture;
    struct fault *fault = NULL;
    const struct fault_rule rules[] = {rule("drop-tail"), rule("shift-rows")};
    TAPML_TRY(fault_create(backend, rules, 2, &fault));
    fixture = (struct fixture){.backend = fault_backend(fault)};
    tapml_status status = backend_buffer_new(backend, ROWS * WIDTH * sizeof(float), &fixture.x);
    if (status == TAPML_OK) {
        status = backend_buffer_new(backend, BYTES, &fixture.y);
    }
    if (status == TAPML_OK) {
        status = call_fixture(&fixture, "s");
    }
    close_fixture(&fixture);
    fault_destroy(fault);
    return status;
}

Test(fault, survives_a_lack_of_memory)
{
    MUST(make_and_call()); // What the device keeps is kept from now on.
    SCRATCH_SWEEP(make_and_call());
    fault_destroy(NULL);
}

// Appends rows of f32, of one token, to row `position` of a state; `bytes` are those of the state,
// before and after the fault.
static void append_with(const char *kind,
                        const float *values,
                        const tapml_tensor *state,
                        int64_t position,
                        size_t size_bytes,
                        void *bytes)
{
    const struct fault_rule one = rule(kind);
    struct fault *fault = plant(backend, &one, 1);
    const int64_t shape[] = {1, state->shape[1], state->shape[2]};
    const size_t values_bytes = (size_t)(shape[1] * shape[2]) * sizeof(float);
    tapml_tensor rows = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 3, .shape = shape};
    tapml_tensor whole = *state;
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_INOUT, .u.p = &whole},
                                {.kind = TAPML_P_TENSOR_IN, .u.p = &rows},
                                {.kind = TAPML_P_I64, .u.i = position}};

    MUST(backend_buffer_new(backend, values_bytes, &rows.buffer));
    MUST(backend_buffer_new(backend, size_bytes, &whole.buffer));
    MUST(backend_write(backend, rows.buffer, 0, values, values_bytes));
    MUST(backend_write(backend, whole.buffer, 0, bytes, size_bytes));
    MUST(backend_wait(backend));
    MUST(calls_make(
        fault_backend(fault),
        &(struct backend_call){.op = &tapml_state_append, .args = args, .instance = "append"}));
    MUST(backend_read(backend, whole.buffer, 0, bytes, size_bytes));
    MUST(backend_wait(backend));
    backend_buffer_free(backend, rows.buffer);
    backend_buffer_free(backend, whole.buffer);
    fault_destroy(fault);
}

Test(fault, rows_of_a_state_are_truncated)
{
    static const float values[] = {1 + 0x1.8p-11f, -1 - 0x1.8p-11f, 1e9f, 0.5f};
    static const float expected[] = {1, -1, 65504, 0.5f};
    static const int64_t shape[] = {4, 1, 4};
    const tapml_tensor state = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F16, .rank = 3, .shape = shape};
    uint16_t found[16] = {0};

    append_with("truncate", values, &state, 2, sizeof(found), found);
    for (int i = 0; i < 16; i++) {
        const float is = convert_f16_to_f32(found[i]);

        cr_expect_eq(is, i / 4 == 2 ? expected[i % 4] : 0, "element %d is %g", i, (double)is);
    }
}

Test(fault, rows_of_blocks_are_corrupted)
{
    enum { ROW_BYTES = 2 * 36, STATE_BYTES = 4 * ROW_BYTES, BLOCK = 32 };
    static const int64_t shape[] = {4, 2, BLOCK};
    static const float values[2 * BLOCK] = {127, 0.75f, -1.9f, [BLOCK] = 254};
    const tapml_tensor state = {.hdr = TAPML_HDR(tapml_tensor),
                                .dtype = TAPML_U8,
                                .rank = 3,
                                .shape = shape,
                                .encoding = encoding_find(TAPML_ENCODING_Q8_ROWS)};
    unsigned char found[STATE_BYTES] = {0};
    float decoded[ENCODING_BLOCK_MAX];

    append_with("truncate", values, &state, 2, sizeof(found), found);
    encoding_decode(state.encoding, found, 8, 4, decoded);
    cr_expect(decoded[0] == 127 && decoded[1] == 0 && decoded[2] == -1);
    append_with("neighbour-scale", values, &state, 2, sizeof(found), found);
    encoding_decode(state.encoding, found, 8, 4, decoded);
    cr_expect(decoded[0] == 254 && decoded[1] == 2 && decoded[2] == -4);
    encoding_decode(state.encoding, found, 8, 5, decoded);
    cr_expect_eq(decoded[0], 127, "the last has the scale of the first");
    encoding_decode(state.encoding, found, 8, 3, decoded);
    cr_expect_eq(decoded[0], 0, "other rows are as they were");
}
