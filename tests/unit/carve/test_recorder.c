// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "carve/recorder.h"
#include "harness/calls.h"
#include "harness/late.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "store/case.h"
#include "store/prompt.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#include <tapml/ops.h>

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { VALUES_MAX = 4096, ARGS_MAX = 16 };

static const struct hash PROMPT = {.high = 1, .low = 2};

static struct scratch scratch;
static char path[2 * SCRATCH_PATH];
static struct plugin_fixture plugins;
static struct backend *inner;
static struct recorder *recorder;
static struct store *store;
static struct arena *arena;

static void make(struct backend *source, int keep_all, const struct checkpoint *checkpoint)
{
    const struct recorder_options options = {
        .inner = source, .store_path = path, .keep_all = keep_all, .checkpoint = checkpoint};
    MUST(recorder_create(&options, &recorder));
}

static void begin(void)
{
    scratch_make(&scratch);
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "a.tapmlrun"));
    plugin_fixture_open(&plugins);
    inner = plugin_fixture_backend(&plugins, "reference:f32");
    arena = arena_create();
    cr_assert_not_null(arena);
    recorder = NULL;
    store = NULL;
}

static void end(void)
{
    store_close(store);
    recorder_destroy(recorder);
    backend_release(inner);
    plugin_fixture_close(&plugins);
    arena_destroy(arena);
    scratch_remove(&scratch);
}

TestSuite(recorder, .init = begin, .fini = end, .timeout = 60);

// One argument of a call by hand: a tensor over a buffer of its own.
struct operand {
    tapml_tensor tensor;
    int64_t shape[TAPML_MAX_RANK];
    int64_t stride[TAPML_MAX_RANK];
    uint64_t base_bytes;
};

// A dense tensor over a new buffer with `values` in it; NULL: nothing is written.
static struct operand *
operand(uint32_t dtype, uint32_t rank, const int64_t *shape, const void *values)
{
    struct backend *backend = recorder_backend(recorder);
    struct operand *made = arena_new(arena, sizeof(*made));
    uint64_t count = 1;
    for (uint32_t i = rank; i > 0; i--) {
        made->shape[i - 1] = shape[i - 1];
        made->stride[i - 1] = (int64_t)count;
        count *= (uint64_t)shape[i - 1];
    }
    made->base_bytes = count * TAPML_DT_BYTES(dtype);
    made->tensor = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                  .dtype = dtype,
                                  .rank = rank,
                                  .shape = made->shape,
                                  .stride = made->stride};
    MUST(backend_buffer_new(backend, (made->base_bytes + 15) / 16 * 16, &made->tensor.buffer));
    if (values) {
        MUST(backend_write(backend, made->tensor.buffer, 0, values, made->base_bytes));
        MUST(backend_wait(backend));
    }
    return made;
}

static void drop(struct operand *made)
{
    backend_buffer_free(recorder_backend(recorder), made->tensor.buffer);
}

static tapml_value tensor_of(const tapml_op *op, uint32_t index, const struct operand *from)
{
    return (tapml_value){.kind = op->params[index]->kind, .u.p = &from->tensor};
}

static struct backend_origin origin_of(const char *name, const struct operand *from)
{
    return (struct backend_origin){.name = name, .base_bytes = from->base_bytes};
}

static tapml_status silu(const char *instance, const struct operand *x, const struct operand *y)
{
    const tapml_value args[] = {tensor_of(&tapml_silu, 0, x), tensor_of(&tapml_silu, 1, y)};
    const struct backend_origin origins[] = {origin_of("up", x), origin_of(instance, y)};
    const struct backend_call call = {
        .op = &tapml_silu, .args = args, .instance = instance, .origins = origins};
    return calls_make(recorder_backend(recorder), &call);
}

// A call of silu over [1, 4] with all values at `value`.
static void silu_of(const char *instance, float value)
{
    const int64_t shape[] = {1, 4};
    const float values[] = {value, value, value, value};
    struct operand *x = operand(TAPML_F32, 2, shape, values);
    struct operand *y = operand(TAPML_F32, 2, shape, NULL);
    MUST(silu(instance, x, y));
    drop(x);
    drop(y);
}

static void step(int64_t number)
{
    MUST(recorder_begin_step(recorder, PROMPT, number, number == 0 ? "prefill" : "decode", 1));
}

// Ends the recorder and opens what it wrote.
static void finish(void)
{
    MUST(recorder_finish(recorder));
    MUST(store_open(path, 0, &store));
}

static int64_t number_of(const char *sql)
{
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static struct carved_case load_only_case(void)
{
    int64_t *ids = NULL;
    size_t count = 0;
    struct carved_case item;
    MUST(stored_case_ids(store, &ids, &count));
    cr_assert_eq(count, 1);
    MUST(stored_case_load(store, ids[0], arena, &item));
    alloc_free(ids);
    return item;
}

// silu over the middle columns [2, 3] of a base [2, 5], y in the last columns of [2, 4].
static void record_strided_silu(struct backend *source)
{
    const int64_t x_shape[] = {2, 5};
    const int64_t y_shape[] = {2, 4};
    const float values[] = {9, -1, 0, 1, 9, 9, 2, -0.5f, 0.25f, 9};
    make(source, 0, NULL);
    step(0);
    struct operand *x = operand(TAPML_F32, 2, x_shape, values);
    struct operand *y = operand(TAPML_F32, 2, y_shape, NULL);
    x->shape[1] = y->shape[1] = 3;
    x->tensor.offset = y->tensor.offset = sizeof(float);
    MUST(silu("layers.0/mlp/silu", x, y));
    drop(x);
    drop(y);
    finish();
}

static void expect_strided_silu(void)
{
    const float inputs[] = {-1, 0, 1, 2, -0.5f, 0.25f};
    const struct carved_case item = load_only_case();
    const struct case_argument *x = &item.arguments[0];
    const struct case_argument *y = &item.arguments[1];
    cr_assert_str_eq(item.instance, "layers.0/mlp/silu");
    cr_assert_str_eq(item.op_name, "tapml.silu");
    cr_assert_eq(item.op_version, 1);
    cr_assert_str_eq(item.phase, "prefill");
    cr_assert_str_eq(item.shape_class, "x=[2,3]");
    cr_assert(hash_equal(item.prompt, PROMPT));
    cr_assert_eq(x->stride[0], 5);
    cr_assert_eq(x->offset_bytes, 4);
    cr_assert_eq(x->base_bytes, 40);
    cr_assert_str_eq(x->origin, "up");
    cr_assert_arr_eq(x->before, inputs, sizeof(inputs));
    cr_assert_eq(y->stride[0], 4);
    cr_assert_eq(y->base_bytes, 32);
    cr_assert_null(y->before);
    for (int i = 0; i < 6; i++) {
        const double expected = inputs[i] / (1 + exp(-(double)inputs[i]));
        cr_assert_float_eq(((const float *)y->after)[i], expected, 1e-6);
    }
}

Test(recorder, keeps_layout_and_contents)
{
    record_strided_silu(inner);
    expect_strided_silu();
    cr_assert_eq(number_of("SELECT kept FROM call"), 1);
    cr_assert_eq(number_of("SELECT time_ns > 0 FROM call"), 1);
    cr_assert_eq(number_of("SELECT count = 6 AND non_finite = 0 AND param = 'y' FROM statistic"),
                 1);
    cr_assert_eq(number_of("SELECT abs(largest - 1.7615942) < 1e-6 FROM statistic"), 1);
    cr_assert_eq(number_of("SELECT abs(least - 0.14054413) < 1e-6 FROM statistic"), 1);
    const struct recorder_counts counts = recorder_counts(recorder);
    cr_assert_eq(counts.calls, 1);
    cr_assert_eq(counts.kept, 1);
    cr_assert_eq(counts.bytes_seen, 48);
    cr_assert_eq(counts.bytes_kept, 48);
}

Test(recorder, reads_through_the_table_of_an_asynchronous_device)
{
    struct backend *late = late_create(&(struct late_options){.inner = inner});
    record_strided_silu(late);
    expect_strided_silu();
    recorder_destroy(recorder);
    recorder = NULL;
    cr_assert_eq(late_counts(late).buffers_alive, 0);
    backend_release(late);
}

Test(recorder, keeps_the_first_of_a_class_and_what_widens_the_range)
{
    make(inner, 0, NULL);
    step(0);
    silu_of("a", 1);
    step(1);
    silu_of("a", 1.5f); // Another phase.
    step(2);
    silu_of("a", 1.6f);
    step(3);
    silu_of("a", 8);
    step(4);
    silu_of("a", NAN);
    step(5);
    silu_of("a", NAN);
    silu_of("b", 1);
    finish();
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 7);
    cr_assert_eq(number_of("SELECT sum(kept) FROM call"), 5);
    cr_assert_eq(number_of("SELECT group_concat(step, '') = '01345' FROM \"case\""), 1);
    cr_assert_eq(number_of("SELECT count(*) FROM statistic WHERE non_finite = 4 AND kinds = 1"), 2);
    cr_assert_eq(recorder_counts(recorder).kept, 5);
    cr_assert_eq(recorder_counts(recorder).calls, 7);
}

// The input of the one case of `instance`.
static const float *input_of(const char *instance)
{
    int64_t *ids = NULL;
    size_t count = 0;
    const float *input = NULL;
    MUST(stored_case_ids(store, &ids, &count));
    for (size_t i = 0; i < count; i++) {
        struct carved_case item;
        MUST(stored_case_load(store, ids[i], arena, &item));
        input = strcmp(item.instance, instance) == 0 ? item.arguments[0].before : input;
    }
    alloc_free(ids);
    cr_assert_not_null(input);
    return input;
}

// silu over `x`, which `producer` is said to have computed.
static void silu_over(const char *instance, const char *producer, struct operand *x)
{
    const int64_t shape[] = {1, 4};
    struct operand *y = operand(TAPML_F32, 2, shape, NULL);
    const tapml_value args[] = {tensor_of(&tapml_silu, 0, x), tensor_of(&tapml_silu, 1, y)};
    const struct backend_origin origins[] = {origin_of(producer, x), origin_of(instance, y)};
    MUST(calls_make(recorder_backend(recorder), &(struct backend_call){.op = &tapml_silu,
                                                                       .args = args,
                                                                       .instance = instance,
                                                                       .origins = origins}));
    drop(y);
}

Test(recorder, what_one_op_wrote_the_next_one_reads_until_it_changes)
{
    const int64_t shape[] = {1, 4};
    const float values[] = {1, 2, 3, 4}, others[] = {5, 6, 7, 8};
    make(inner, 0, NULL);
    step(0);
    struct operand *x = operand(TAPML_F32, 2, shape, values);
    struct operand *y = operand(TAPML_F32, 2, shape, NULL);
    float computed[4];
    MUST(silu("a", x, y));
    MUST(backend_read(recorder_backend(recorder), y->tensor.buffer, 0, computed, sizeof(computed)));
    silu_over("b", "a", y);
    MUST(backend_write(recorder_backend(recorder), y->tensor.buffer, 0, others, sizeof(others)));
    silu_over("c", "a", y);
    MUST(silu("d", x, y)); // Another value in the same buffer.
    silu_over("e", "d", y);
    MUST(backend_fill(recorder_backend(recorder), y->tensor.buffer, 0, sizeof(others), 0));
    silu_over("f", "d", y);
    drop(x);
    drop(y);
    finish();
    cr_assert_arr_eq(input_of("b"), computed, sizeof(computed));
    cr_assert_arr_eq(input_of("c"), others, sizeof(others));
    cr_assert_arr_eq(input_of("e"), computed, sizeof(computed));
    cr_assert_eq(input_of("f")[0], 0);
}

Test(recorder, keeps_all_where_it_is_asked_to)
{
    make(inner, 1, NULL);
    for (int i = 0; i < 5; i++) {
        step(i);
        silu_of("a", 1);
    }
    finish();
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 5);
    cr_assert_eq(number_of("SELECT count(*) FROM tensor"), 2, "equal contents are kept once");
}

Test(recorder, goes_on_from_what_the_store_has)
{
    make(inner, 0, NULL);
    step(0);
    silu_of("a", 1);
    MUST(recorder_finish(recorder));
    recorder_destroy(recorder);
    make(inner, 0, NULL);
    step(0);
    silu_of("a", 1); // The step is repeated: its case stays.
    step(1);
    silu_of("a", 1);
    step(2);
    silu_of("a", 3);
    finish();
    cr_assert_eq(
        number_of("SELECT group_concat(step || ':' || kept, ' ') = '0:1 1:1 2:1' FROM call"), 1);
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 3);
}

Test(recorder, a_step_that_was_not_ended_never_was)
{
    make(inner, 0, NULL);
    step(0);
    silu_of("a", 1);
    step(1);
    silu_of("a", 1);
    recorder_destroy(recorder);
    recorder = NULL;
    MUST(store_open(path, 0, &store));
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 1);
}

Test(recorder, calls_outside_of_steps_pass_unseen)
{
    make(inner, 0, NULL);
    silu_of("a", 1);
    step(0);
    silu_of(NULL, 1);
    finish();
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 0);
    cr_assert_eq(recorder_counts(recorder).calls, 0);
}

Test(recorder, chunks_are_parts_of_a_step)
{
    make(inner, 1, NULL);
    step(0);
    silu_of("a", 1);
    silu_of("b", 1);
    silu_of("a", 1);
    step(1);
    silu_of("a", 1);
    finish();
    cr_assert_eq(number_of("SELECT group_concat(instance || step || part, ' ') = 'a00 b00 a01 a10'"
                           " FROM (SELECT * FROM \"case\" ORDER BY id)"),
                 1);
}

Test(recorder, written_states_keep_pages_before_and_after)
{
    enum { CAPACITY = 20, HEADS = 2, WIDTH = 4, ROW = HEADS * WIDTH };
    const int64_t state_shape[] = {CAPACITY, HEADS, WIDTH};
    const int64_t rows_shape[] = {2, HEADS, WIDTH};
    float before[CAPACITY * ROW];
    float rows[2 * ROW];
    for (int i = 0; i < CAPACITY * ROW; i++) {
        before[i] = (float)i;
    }
    for (int i = 0; i < 2 * ROW; i++) {
        rows[i] = -(float)i;
    }
    make(inner, 0, NULL);
    step(0);
    struct operand *state = operand(TAPML_F32, 3, state_shape, before);
    struct operand *from = operand(TAPML_F32, 3, rows_shape, rows);
    const tapml_op *op = &tapml_state_append;
    const tapml_value args[] = {
        tensor_of(op, 0, state), tensor_of(op, 1, from), {.kind = TAPML_P_I64, .u.i = 17}};
    const struct backend_origin origins[] = {origin_of("k", state), origin_of("rope", from), {0}};
    const struct backend_call call = {
        .op = op, .args = args, .instance = "k_append", .origins = origins};
    MUST(calls_make(recorder_backend(recorder), &call));
    drop(state);
    drop(from);
    finish();
    const struct carved_case item = load_only_case();
    const struct case_argument *kept = &item.arguments[0];
    cr_assert_eq(kept->region_begin, 17);
    cr_assert_eq(kept->region_end, 19);
    cr_assert_eq(kept->kept_begin, 16);
    cr_assert_eq(kept->kept_end, CAPACITY);
    cr_assert_arr_eq(kept->before, before + 16 * ROW, 4 * ROW * sizeof(float));
    memcpy(before + 17 * ROW, rows, sizeof(rows));
    cr_assert_arr_eq(kept->after, before + 16 * ROW, 4 * ROW * sizeof(float));
    cr_assert_eq(item.arguments[2].i, 17);
    cr_assert_eq(number_of("SELECT count FROM statistic"), 2 * ROW, "only what was written");
}

Test(recorder, read_states_keep_the_pages_that_are_read)
{
    enum { CAPACITY = 64, WIDTH = 4, POSITION = 17 };
    const int64_t state_shape[] = {CAPACITY, 1, WIDTH};
    const int64_t q_shape[] = {1, 1, WIDTH};
    float values[CAPACITY * WIDTH];
    for (int i = 0; i < CAPACITY * WIDTH; i++) {
        values[i] = (float)i * 0.01f;
    }
    make(inner, 0, NULL);
    step(0);
    const tapml_op *op = &tapml_attention;
    struct operand *state = operand(TAPML_F32, 3, state_shape, values);
    struct operand *q = operand(TAPML_F32, 3, q_shape, values);
    struct operand *y = operand(TAPML_F32, 3, q_shape, NULL);
    tapml_value args[ARGS_MAX] = {tensor_of(op, 0, q), tensor_of(op, 1, state),
                                  tensor_of(op, 2, state)};
    struct backend_origin origins[ARGS_MAX] = {origin_of("q", q), origin_of("k", state),
                                               origin_of("v", state)};
    for (uint32_t i = 6; i < op->n_params; i++) {
        args[i].kind = op->params[i]->kind;
    }
    args[6].u.i = POSITION;
    args[7].u.d = 0.5;
    args[8].u.i = 1;
    args[op->n_params - 1] = tensor_of(op, op->n_params - 1, y);
    origins[op->n_params - 1] = origin_of("attn", y);
    const struct backend_call call = {
        .op = op, .args = args, .instance = "attn", .origins = origins};
    MUST(calls_make(recorder_backend(recorder), &call));
    drop(state);
    drop(q);
    drop(y);
    finish();
    const struct carved_case item = load_only_case();
    cr_assert_str_eq(item.shape_class, "q=[1,1,4] k_state=[<=32,1,4] v_state=[<=32,1,4]");
    cr_assert_eq(item.arguments[1].region_end, POSITION + 1);
    cr_assert_eq(item.arguments[1].kept_end, 32);
    cr_assert_arr_eq(item.arguments[1].before, values, 32 * WIDTH * sizeof(float));
    cr_assert_null(item.arguments[1].after);
    cr_assert_eq(item.arguments[3].kind, TAPML_V_NONE);
    cr_assert_eq(item.arguments[7].d, 0.5);
    cr_assert_eq(number_of("SELECT count(*) FROM page"), 4);
}

// y = linear(x, w): w is a weight whose bytes lie at `data` under `name`.
static void record_linear(const char *instance, const char *name, const void *data)
{
    const int64_t x_shape[] = {1, 4};
    const int64_t w_shape[] = {2, 4};
    const int64_t y_shape[] = {1, 2};
    const float x_values[] = {1, 2, 3, 4};
    const tapml_op *op = &tapml_linear;
    struct operand *x = operand(TAPML_F32, 2, x_shape, x_values);
    struct operand *w = operand(TAPML_F32, 2, w_shape, data);
    struct operand *y = operand(TAPML_F32, 2, y_shape, NULL);
    const tapml_value args[] = {tensor_of(op, 0, x),
                                tensor_of(op, 1, w),
                                {.kind = TAPML_V_NONE},
                                {.kind = TAPML_P_I64},
                                tensor_of(op, 4, y)};
    struct backend_origin origins[] = {
        origin_of("x", x), origin_of(name, w), {0}, {0}, origin_of(instance, y)};
    origins[1].data = data;
    const struct backend_call call = {
        .op = op, .args = args, .instance = instance, .origins = origins};
    MUST(calls_make(recorder_backend(recorder), &call));
    drop(x);
    drop(w);
    drop(y);
}

Test(recorder, weights_are_kept_by_name)
{
    static const float W[] = {1, 0, 0, 0, 0, 0, 0, 1};
    make(inner, 1, NULL);
    step(0);
    record_linear("a", "w", W);
    step(1);
    record_linear("a", "w", W);
    finish();
    cr_assert_eq(number_of("SELECT count(*) FROM weight WHERE name = 'w' AND byte_count = 32"), 1);
    cr_assert_eq(number_of("SELECT count(*) FROM argument WHERE param = 'w' AND before IS NULL"
                           " AND origin = 'w'"),
                 2);
    cr_assert_eq(number_of("SELECT count(*) FROM tensor WHERE shape = '[2,4]' OR shape = '[8]'"),
                 0);
    cr_assert_eq(recorder_counts(recorder).bytes_seen, 2 * (16 + 8), "weights do not count");
}

Test(recorder, weights_that_are_not_the_checkpoints_are_kept_with_the_case)
{
    static const float W[] = {1, 0, 0, 0, 0, 0, 0, 1};
    struct checkpoint *checkpoint = NULL;
    MUST(safetensors_open(scratch_source("models/tiny"), &checkpoint));
    const struct checkpoint_tensor *named = checkpoint_at(checkpoint, 0);
    make(inner, 1, checkpoint);
    step(0);
    record_linear("a", named->name, W); // Its name, other bytes: folded.
    record_linear("b", "constant", W);
    finish();
    cr_assert_eq(number_of("SELECT count(*) FROM weight"), 0);
    cr_assert_eq(
        number_of("SELECT count(*) FROM argument JOIN tensor ON key = before WHERE param = 'w'"),
        2);
    cr_assert_eq(number_of("SELECT count(*) FROM tensor WHERE shape = '[8]'"), 1);
    checkpoint_close(checkpoint);
}

Test(recorder, prompts_end_with_their_last_step)
{
    const int32_t ids[] = {5, 17};
    const int32_t greedy[] = {3};
    const struct carved_prompt prompt = {
        .index = 6, .text = "hi", .ids = ids, .id_count = 2, .greedy = greedy, .greedy_count = 1};
    make(inner, 0, NULL);
    step(0);
    silu_of("a", 1);
    MUST(recorder_end_prompt(recorder, &prompt));
    finish();
    cr_assert(prompt_is_carved(store, PROMPT));
    cr_assert_eq(
        number_of("SELECT position = 6 AND text = 'hi' AND ids = '[5,17]' AND greedy = '[3]'"
                  " FROM prompt"),
        1);
}

Test(recorder, a_failing_call_fails_and_leaves_no_line)
{
    const int64_t shape[] = {1, 4};
    const int64_t other[] = {1, 5};
    make(inner, 0, NULL);
    step(0);
    struct operand *x = operand(TAPML_F32, 2, shape, NULL);
    struct operand *y = operand(TAPML_F32, 2, other, NULL);
    cr_assert_neq(silu("a", x, y), TAPML_OK);
    drop(x);
    drop(y);
    silu_of("a", 1);
    finish();
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 1);
}

// One token that takes the second of two experts, whose weights are [1, 4]; `second` is the shape
// of that one.
static tapml_status mix(const int64_t *second)
{
    static const int64_t X[] = {1, 1, 4}, INDEX[] = {1, 1}, W[] = {1, 4}, Y[] = {1, 1, 1};
    static const float x_values[] = {1, 2, 3, 4}, w0[] = {9, 9, 9, 9}, w1[] = {1, 0, 0, 0.5f};
    static const int32_t chosen = 1;
    struct operand *x = operand(TAPML_F32, 3, X, x_values);
    struct operand *indices = operand(TAPML_I32, 2, INDEX, &chosen);
    struct operand *w[] = {operand(TAPML_F32, 2, W, w0), operand(TAPML_F32, 2, second, w1)};
    struct operand *y = operand(TAPML_F32, 3, Y, NULL);
    const tapml_tensor *const list[] = {&w[0]->tensor, &w[1]->tensor};
    const tapml_value args[] = {tensor_of(&tapml_linear_experts, 0, x),
                                tensor_of(&tapml_linear_experts, 1, indices),
                                {.kind = TAPML_P_TENSORS_IN, .count = 2, .u.p = list},
                                {.kind = TAPML_V_NONE},
                                {.kind = TAPML_P_I64, .u.i = 0},
                                tensor_of(&tapml_linear_experts, 5, y)};
    const struct backend_origin origins[] = {
        origin_of("x", x), origin_of("route", indices), {0}, {0}, {0}, origin_of("mix", y)};
    const struct backend_call call = {
        .op = &tapml_linear_experts, .args = args, .instance = "mix", .origins = origins};
    const tapml_status status = calls_make(recorder_backend(recorder), &call);

    drop(x);
    drop(indices);
    drop(w[0]);
    drop(w[1]);
    drop(y);
    return status;
}

Test(recorder, a_list_of_tensors_is_kept_as_a_stack)
{
    static const int64_t W[] = {1, 4};
    static const float stack[] = {9, 9, 9, 9, 1, 0, 0, 0.5f};

    make(inner, 0, NULL);
    step(0);
    MUST(mix(W));
    finish();

    const struct carved_case item = load_only_case();
    const struct case_argument *w = &item.arguments[TAPML_LINEAR_EXPERTS_W];

    cr_assert_eq(w->kind, TAPML_P_TENSORS_IN);
    cr_assert_eq(w->rank, 3);
    cr_assert_eq(w->shape[0], 2);
    cr_assert_eq(w->shape[2], 4);
    cr_assert_eq(w->content_bytes, sizeof(stack));
    cr_assert_eq(memcmp(w->before, stack, sizeof(stack)), 0);
    cr_assert_eq(*(const float *)item.arguments[TAPML_LINEAR_EXPERTS_Y].after, 3);

    // And back: two tensors behind each other.
    tapml_value *values = NULL;

    MUST(case_values(&item, arena, &values));
    cr_assert_eq(values[TAPML_LINEAR_EXPERTS_W].count, 2);

    const tapml_tensor *const *list = values[TAPML_LINEAR_EXPERTS_W].u.p;

    cr_assert_eq(list[1]->rank, 2);
    cr_assert_eq(list[1]->offset, 4 * sizeof(float));
}

Test(recorder, tensors_of_a_list_are_alike)
{
    static const int64_t OTHER[] = {2, 2};

    make(inner, 0, NULL);
    step(0);
    cr_assert_neq(mix(OTHER), TAPML_OK);
}

Test(recorder, a_failure_of_the_writer_comes_out_at_the_next_step)
{
    sqlite3 *other = NULL;
    make(inner, 0, NULL);
    cr_assert_eq(sqlite3_open(path, &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "DROP TABLE statistic", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_close(other), SQLITE_OK);
    step(0);
    silu_of("a", 1);
    tapml_status status = TAPML_OK;
    for (int i = 1; status == TAPML_OK && i < 1000; i++) {
        status = recorder_begin_step(recorder, PROMPT, i, "decode", 1);
        usleep(1000);
    }
    cr_assert_neq(status, TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "statistic"), "%s", status_message());
    cr_assert_neq(recorder_finish(recorder), TAPML_OK);
}

Test(recorder, forwards_what_it_does_not_watch)
{
    make(inner, 0, NULL);
    struct backend *backend = recorder_backend(recorder);
    cr_assert_str_eq(backend_info(backend)->component, "reference");
    cr_assert(backend_has_op(backend, &tapml_silu));
    MUST(backend_wait(backend));
}
