// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "exec/reduced.h"
#include "harness/cases.h"
#include "harness/late.h"
#include "harness/plugin_fixture.h"
#include "harness/schemas.h"
#include "harness/scratch.h"
#include "model/safetensors.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "verify/replay.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct backend *backend;
static struct replay *replay;

static void begin(void)
{
    plugin_fixture_open(&plugins);
    backend = plugin_fixture_backend(&plugins, "reference:f64");
    MUST(replay_create(backend, NULL, &replay));
}

static void end(void)
{
    replay_destroy(replay);
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(replay, .init = begin, .fini = end, .timeout = 60);

static void expect_near(const struct replay_output *output, const char *param)
{
    cr_assert_str_eq(output->param, param);
    cr_assert_not(output->wrote_outside);
    const float *expected = output->expected;
    const float *computed = output->computed;
    for (size_t i = 0; i < output->rows * output->width; i++) {
        cr_assert_float_eq(computed[i], expected[i], 1e-6, "%zu: %g %g", i, computed[i],
                           expected[i]);
    }
}

Test(replay, what_memory_cannot_hold_is_skipped)
{
    struct cases_silu made;
    struct replay_result result;
    cases_make_silu(&made, "s", 0);
    alloc_set_memory_bytes(64);
    MUST(replay_run(replay, &made.item, schema_of(&tapml_silu), 0, &result));
    alloc_set_memory_bytes(0);
    cr_assert_eq(result.outcome, REPLAY_SKIPPED);
    cr_assert_not_null(strstr(result.reason, "more than a quarter of the 64 of this machine"), "%s",
                       result.reason);
}

Test(replay, strided_inputs)
{
    struct cases_silu made;
    struct replay_result result;
    cases_make_silu(&made, "s", 0);
    MUST(replay_run(replay, &made.item, schema_of(&tapml_silu), 0, &result));
    cr_assert_eq(result.outcome, REPLAY_RAN);
    cr_assert_eq(result.output_count, 1);
    cr_assert_eq(result.outputs[0].rows, CASES_ROWS);
    cr_assert_eq(result.outputs[0].width, CASES_WIDTH);
    expect_near(&result.outputs[0], "y");
    cr_expect_eq(result.time_ns, 0, "it was not asked for");
    cr_assert_eq(replay_executions(replay), 1);
}

Test(replay, timed_runs_twice)
{
    struct cases_silu made;
    struct replay_result result;
    cases_make_silu(&made, "s", 0);
    MUST(replay_run(replay, &made.item, schema_of(&tapml_silu), 1, &result));
    cr_assert_gt(result.time_ns, 0);
    cr_assert_eq(replay_executions(replay), 2);
    expect_near(&result.outputs[0], "y");
}

Test(replay, written_states_are_compared_where_they_are_kept)
{
    struct cases_append made;
    struct replay_result result;
    cases_make_append(&made, "k", 0);
    MUST(replay_run(replay, &made.item, schema_of(&tapml_state_append), 1, &result));
    cr_assert_eq(result.output_count, 1);
    cr_assert_eq(result.outputs[0].rows, 32 * CASES_HEADS);
    cr_assert_eq(result.outputs[0].width, CASES_HEAD);
    expect_near(&result.outputs[0], "state");
    cr_assert_arr_eq(result.outputs[0].computed, made.after, sizeof(made.after));
}

Test(replay, weights_of_the_case)
{
    struct cases_norm made;
    struct replay_result result;
    cases_make_norm(&made, "n", 0);
    made.arguments[1].before = made.weight;
    MUST(replay_run(replay, &made.item, schema_of(&tapml_rms_norm), 0, &result));
    expect_near(&result.outputs[0], "y");
}

Test(replay, a_weight_without_a_checkpoint_is_named)
{
    struct cases_norm made;
    struct replay_result result;
    cases_make_norm(&made, "n", 0);
    cr_assert_eq(replay_run(replay, &made.item, schema_of(&tapml_rms_norm), 0, &result),
                 TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'norm.weight'"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "n: "), "%s", status_message());
}

// A case of rms_norm with the last norm of the embedded model.
static void
make_model_norm(struct cases_norm *made, const struct checkpoint_tensor *weight, float *values)
{
    enum { ROWS = 2 };
    cases_make_norm(made, "norm", 0);
    const int64_t width = weight->tensor.shape[0];
    for (int64_t i = 0; i < ROWS * width; i++) {
        values[i] = (float)((i % 7) - 3);
    }
    for (int i = 0; i < 5; i += 4) {
        made->arguments[i].shape[1] = width;
        made->arguments[i].stride[0] = width;
        made->arguments[i].base_bytes = (uint64_t)(ROWS * width) * sizeof(float);
        made->arguments[i].content_bytes = made->arguments[i].base_bytes;
    }
    made->arguments[0].before = values;
    made->arguments[4].after = values;
    made->arguments[1].origin = weight->name;
    made->arguments[1].dtype = weight->tensor.dtype;
    made->arguments[1].shape[0] = width;
    made->arguments[1].base_bytes = weight->bytes;
    made->arguments[1].content_bytes = weight->bytes;
}

Test(replay, weights_of_the_checkpoint)
{
    static float values[4096];
    struct cases_norm made;
    struct replay *other = NULL;
    struct replay_result result;
    struct checkpoint *checkpoint = NULL;
    MUST(safetensors_open(scratch_source("models/tiny"), &checkpoint));
    const struct checkpoint_tensor *weight = checkpoint_find(checkpoint, "model.norm.weight");
    cr_assert_not_null(weight);
    make_model_norm(&made, weight, values);
    MUST(replay_create(backend, checkpoint, &other));
    MUST(replay_run(other, &made.item, schema_of(&tapml_rms_norm), 0, &result));
    const float *computed = result.outputs[0].computed;
    double square = 0;
    const int64_t width = weight->tensor.shape[0];
    for (int64_t i = 0; i < width; i++) {
        square += pow(values[i], 2);
    }
    for (int64_t i = 0; i < width; i++) {
        double scale = 0;
        const size_t bytes = dtype_bytes(weight->tensor.dtype);
        convert_to_f64(weight->tensor.dtype, (const char *)weight->data + (size_t)i * bytes, 1,
                       &scale);
        const double expected = values[i] / sqrt(square / (double)width + 1e-5) * scale;
        cr_assert_float_eq(computed[i], expected, 1e-5);
    }
    made.arguments[1].origin = "no.such.weight";
    cr_assert_eq(replay_run(other, &made.item, schema_of(&tapml_rms_norm), 0, &result),
                 TAPML_INVALID);
    made.arguments[1].origin = "model.embed_tokens.weight";
    cr_assert_eq(replay_run(other, &made.item, schema_of(&tapml_rms_norm), 0, &result),
                 TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "bytes"), "%s", status_message());
    replay_destroy(other);
    checkpoint_close(checkpoint);
}

// What a wrong kernel does to the buffer of its output, and what it sees in that of an input.
struct corrupting {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    int64_t offset; // Where one word of the output's buffer is overwritten; -1: nowhere.
    uint32_t peek_param;
    uint64_t peek_offset;
    uint32_t peeked; // The word there before the call.
    tapml_status fails;
};

static uint32_t peek(const struct corrupting *corrupting, const struct backend_call *call)
{
    const tapml_tensor *tensor = call->args[corrupting->peek_param].u.p;
    uint32_t word = 0;
    MUST(backend_read(corrupting->wrapper.inner, tensor->buffer,
                      GUARD_BUFFER_REDZONE_BYTES + corrupting->peek_offset, &word, sizeof(word)));
    MUST(backend_wait(corrupting->wrapper.inner));
    return word;
}

static tapml_status corruptor_call(struct backend *self, const struct backend_call *call)
{
    static const uint32_t WORD = 0x3f800000;
    struct corrupting *corrupting = (struct corrupting *)self;
    corrupting->peeked = peek(corrupting, call);
    if (corrupting->fails != TAPML_OK) {
        return status_fail(corrupting->fails, "told to fail");
    }
    TAPML_TRY(backend_call(corrupting->wrapper.inner, call));
    const tapml_tensor *last = call->args[call->op->n_params - 1].u.p;
    if (call->op == &tapml_state_append) {
        last = call->args[0].u.p;
    }
    if (corrupting->offset < 0) {
        return TAPML_OK;
    }
    TAPML_TRY(backend_write(corrupting->wrapper.inner, last->buffer,
                            GUARD_BUFFER_REDZONE_BYTES + (uint64_t)corrupting->offset, &WORD,
                            sizeof(WORD)));
    return backend_wait(corrupting->wrapper.inner);
}

static void corruptor(struct corrupting *corrupting, int64_t offset)
{
    *corrupting = (struct corrupting){.vt = backend_forward_vt, .offset = offset};
    corrupting->vt.call = corruptor_call;
    corrupting->wrapper.backend.vt = &corrupting->vt;
    corrupting->wrapper.inner = backend;
}

static int writes_outside(const struct carved_case *item, const tapml_op *op, int64_t offset)
{
    struct corrupting corrupting;
    struct replay *other = NULL;
    struct replay_result result;
    corruptor(&corrupting, offset);
    MUST(replay_create(&corrupting.wrapper.backend, NULL, &other));
    MUST(replay_run(other, item, schema_of(op), 0, &result));
    const int is_outside = result.outputs[0].wrote_outside;
    replay_destroy(other);
    return is_outside;
}

Test(replay, writes_around_the_view_are_seen)
{
    struct cases_silu made;
    cases_make_silu(&made, "s", 0);
    struct case_argument *y = &made.arguments[1];
    y->stride[0] = 5;
    y->offset_bytes = 4;
    y->base_bytes = 40;
    cr_assert_not(writes_outside(&made.item, &tapml_silu, -1));
    cr_assert(writes_outside(&made.item, &tapml_silu, 0), "before the view");
    cr_assert_not(writes_outside(&made.item, &tapml_silu, 4), "in its first row");
    cr_assert(writes_outside(&made.item, &tapml_silu, 16), "between its rows");
    cr_assert_not(writes_outside(&made.item, &tapml_silu, 24), "in its second row");
    cr_assert(writes_outside(&made.item, &tapml_silu, 36), "behind it in the base value");
    cr_assert(writes_outside(&made.item, &tapml_silu, 40), "behind the base value");
    cr_assert(writes_outside(&made.item, &tapml_silu, 100), "in the redzone");
}

Test(replay, writes_around_the_region_are_seen)
{
    enum { ROW = CASES_HEADS * CASES_HEAD * sizeof(float) };
    struct cases_append made;
    cases_make_append(&made, "k", 0);
    cr_assert_not(writes_outside(&made.item, &tapml_state_append, -1));
    cr_assert(writes_outside(&made.item, &tapml_state_append, 3 * ROW), "a row that is kept");
    cr_assert_not(writes_outside(&made.item, &tapml_state_append, 16 * ROW), "a row to write");
    cr_assert(writes_outside(&made.item, &tapml_state_append, 32 * ROW), "a row that is not kept");
    cr_assert(writes_outside(&made.item, &tapml_state_append, 39 * ROW), "the last row");
    cr_assert(writes_outside(&made.item, &tapml_state_append, 40 * ROW), "behind the state");
}

// A driver that writes one byte as another, where a buffer holds a state.
static tapml_status write_wrong(struct backend *self,
                                tapml_object *buffer,
                                uint64_t offset_bytes,
                                const void *data,
                                uint64_t size)
{
    enum { ROWS_BYTES = 40 * CASES_HEADS * CASES_HEAD * sizeof(float) };
    struct corrupting *corrupting = (struct corrupting *)self;
    static const uint32_t WORD = 0x3f800000;
    TAPML_TRY(backend_write(corrupting->wrapper.inner, buffer, offset_bytes, data, size));
    TAPML_TRY(backend_wait(corrupting->wrapper.inner));
    return size < ROWS_BYTES ? TAPML_OK
                             : backend_write(corrupting->wrapper.inner, buffer,
                                             offset_bytes + 3 * sizeof(WORD), &WORD, sizeof(WORD));
}

Test(replay, a_state_that_was_wrong_before_judges_no_operator)
{
    struct cases_append made;
    struct corrupting corrupting;
    struct replay *other = NULL;
    struct replay_result result;
    cases_make_append(&made, "k", 0);
    corruptor(&corrupting, -1);
    corrupting.vt.write = write_wrong;
    MUST(replay_create(&corrupting.wrapper.backend, NULL, &other));
    MUST(replay_run(other, &made.item, schema_of(&tapml_state_append), 0, &result));
    cr_expect_eq(result.outcome, REPLAY_SKIPPED);
    cr_expect_str_eq(result.reason,
                     "before the call state 'state' was not what had been written to it");
    replay_destroy(other);
}

Test(replay, outputs_begin_as_poison)
{
    struct cases_silu made;
    struct corrupting corrupting;
    struct replay *other = NULL;
    struct replay_result result;
    cases_make_silu(&made, "s", 0);
    corruptor(&corrupting, -1);
    corrupting.peek_param = 1;
    MUST(replay_create(&corrupting.wrapper.backend, NULL, &other));
    for (int i = 0; i < 2; i++) { // The second time in a buffer that was used.
        MUST(replay_run(other, &made.item, schema_of(&tapml_silu), 0, &result));
        cr_assert_eq(corrupting.peeked, GUARD_BUFFER_UNWRITTEN);
    }
    corrupting.peek_param = 0;
    MUST(replay_run(other, &made.item, schema_of(&tapml_silu), 0, &result));
    cr_assert_eq(corrupting.peeked, REPLAY_POISON, "the gap before a strided input");
    corrupting.peek_offset = 4;
    MUST(replay_run(other, &made.item, schema_of(&tapml_silu), 0, &result));
    cr_assert_eq(corrupting.peeked, 0xbf000000, "its first value, -0.5");
    replay_destroy(other);
}

Test(replay, goes_on_after_queued_work_failed)
{
    struct cases_silu made;
    struct replay_result result;
    struct replay *other = NULL;
    struct backend *late = late_create(&(struct late_options){.inner = backend, .fails = "s"});
    cases_make_silu(&made, "s", 0);
    MUST(replay_create(late, NULL, &other));
    cr_assert_neq(replay_run(other, &made.item, schema_of(&tapml_silu), 0, &result), TAPML_OK);
    made.item.instance = "t";
    MUST(replay_run(other, &made.item, schema_of(&tapml_silu), 0, &result));
    expect_near(&result.outputs[0], "y");
    replay_destroy(other);
    cr_assert_eq(late_counts(late).buffers_alive, 0);
    backend_release(late);
}

// attention over rows 0 .. 17 of a state whose pages hold 32.
static void attention_case(struct carved_case *item, struct case_argument *arguments, float *values)
{
    enum { CAPACITY = 40, WIDTH = 4, POSITION = 17, KEPT = 32 };
    static const uint32_t TENSORS[] = {0, 1, 2};
    for (uint32_t i = 0; i < tapml_attention.n_params; i++) {
        const tapml_param *param = tapml_attention.params[i];
        arguments[i] = (struct case_argument){.name = param->name,
                                              .kind = param->kind,
                                              .effects = param->effects,
                                              .dtype = TAPML_F32,
                                              .rank = 3,
                                              .origin = "x",
                                              .shape = {1, 1, WIDTH},
                                              .stride = {WIDTH, WIDTH, 1},
                                              .base_bytes = WIDTH * sizeof(float),
                                              .content_bytes = WIDTH * sizeof(float)};
    }
    for (int i = 0; i < 3; i++) {
        arguments[TENSORS[i]].before = values;
    }
    for (int i = 1; i < 3; i++) {
        arguments[i].shape[0] = CAPACITY;
        arguments[i].base_bytes = CAPACITY * WIDTH * sizeof(float);
        arguments[i].content_bytes = KEPT * WIDTH * sizeof(float);
        arguments[i].region_end = POSITION + 1;
        arguments[i].kept_end = KEPT;
    }
    for (int i = 3; i < 6; i++) {
        arguments[i].kind = TAPML_V_NONE;
    }
    arguments[6].i = POSITION;
    arguments[7].d = 0.5;
    arguments[13].after = values;
    *item = (struct carved_case){.instance = "attn",
                                 .op_name = "tapml.attention",
                                 .op_version = 1,
                                 .arguments = arguments,
                                 .argument_count = tapml_attention.n_params};
}

Test(replay, rows_beyond_the_region_are_poison)
{
    enum { ROW = 4 * sizeof(float) };
    float values[32 * 4];
    struct case_argument arguments[16];
    struct carved_case item;
    struct corrupting corrupting;
    struct replay *other = NULL;
    struct replay_result result;
    for (int i = 0; i < 32 * 4; i++) {
        values[i] = 1;
    }
    attention_case(&item, arguments, values);
    corruptor(&corrupting, -1);
    corrupting.peek_param = 1;
    MUST(replay_create(&corrupting.wrapper.backend, NULL, &other));
    for (uint64_t row = 0; row < 40; row++) {
        corrupting.peek_offset = row * ROW;
        MUST(replay_run(other, &item, schema_of(&tapml_attention), 0, &result));
        const uint32_t expected = row < 18 ? 0x3f800000 : REPLAY_POISON;
        cr_expect_eq(corrupting.peeked, expected, "row %d", (int)row);
        cr_expect_float_eq(((const float *)result.outputs[0].computed)[0], 1, 1e-6);
    }
    replay_destroy(other);
}

Test(replay, a_region_that_is_not_the_calls_is_refused)
{
    float values[32 * 4] = {0};
    struct case_argument arguments[16];
    struct carved_case item;
    struct replay_result result;
    attention_case(&item, arguments, values);
    arguments[1].region_end = 16;
    cr_assert_eq(replay_run(replay, &item, schema_of(&tapml_attention), 0, &result), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'k_state'"), "%s", status_message());
}

Test(replay, an_op_that_the_backend_lacks_is_unsupported)
{
    struct cases_silu made;
    struct replay_result result;
    struct replay *other = NULL;
    struct backend *late = late_create(&(struct late_options){
        .inner = backend, .lacks = "tapml.silu", .refuses = "tapml.rms_norm"});
    cases_make_silu(&made, "s", 0);
    MUST(replay_create(late, NULL, &other));
    MUST(replay_run(other, &made.item, schema_of(&tapml_silu), 0, &result));
    cr_assert_eq(result.outcome, REPLAY_UNSUPPORTED);
    cr_assert_str_eq(result.reason, "has no op 'tapml.silu'");
    struct cases_norm norm;
    cases_make_norm(&norm, "n", 0);
    norm.arguments[1].before = norm.weight;
    MUST(replay_run(other, &norm.item, schema_of(&tapml_rms_norm), 0, &result));
    cr_assert_eq(result.outcome, REPLAY_UNSUPPORTED);
    cr_assert_str_eq(result.reason, "too late for that");
    cr_assert_eq(replay_executions(other), 0);
    replay_destroy(other);
    backend_release(late);
}

Test(replay, a_failure_names_the_instance)
{
    struct cases_silu made;
    struct corrupting corrupting;
    struct replay *other = NULL;
    struct replay_result result;
    cases_make_silu(&made, "layers.3/mlp/silu", 0);
    corruptor(&corrupting, -1);
    corrupting.fails = TAPML_DEVICE_LOST;
    MUST(replay_create(&corrupting.wrapper.backend, NULL, &other));
    cr_assert_eq(replay_run(other, &made.item, schema_of(&tapml_silu), 0, &result),
                 TAPML_DEVICE_LOST);
    cr_assert_str_eq(status_message(), "layers.3/mlp/silu: told to fail");
    corrupting.fails = TAPML_OK;
    MUST(replay_run(other, &made.item, schema_of(&tapml_silu), 0, &result));
    replay_destroy(other);
}

Test(replay, numbers_that_choose_rows_are_checked)
{
    const int64_t table_shape[] = {4, 3};
    const float table[12] = {0};
    int32_t ids[2] = {0, 3};
    float y[6] = {0};
    struct case_argument arguments[4] = {
        {.dtype = TAPML_F32, .rank = 2, .before = table, .base_bytes = 48, .content_bytes = 48},
        {.dtype = TAPML_I32, .rank = 1, .before = ids, .base_bytes = 8, .content_bytes = 8},
        {.i = 0},
        {.dtype = TAPML_F32, .rank = 2, .after = y, .base_bytes = 24, .content_bytes = 24},
    };
    for (uint32_t i = 0; i < 4; i++) {
        arguments[i].name = tapml_embed.params[i]->name;
        arguments[i].kind = tapml_embed.params[i]->kind;
        arguments[i].effects = tapml_embed.params[i]->effects;
        arguments[i].origin = "";
        arguments[i].shape[0] = i == 0 ? table_shape[0] : 2;
        arguments[i].shape[1] = 3;
        arguments[i].stride[0] = i == 1 ? 1 : 3;
        arguments[i].stride[1] = 1;
    }
    const struct carved_case item = {.instance = "embed",
                                     .op_name = "tapml.embed",
                                     .op_version = 1,
                                     .arguments = arguments,
                                     .argument_count = 4};
    struct replay_result result;
    MUST(replay_run(replay, &item, schema_of(&tapml_embed), 0, &result));
    ids[1] = 4;
    cr_assert_eq(replay_run(replay, &item, schema_of(&tapml_embed), 0, &result), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'ids'"), "%s", status_message());
    ids[1] = -1;
    cr_assert_eq(replay_run(replay, &item, schema_of(&tapml_embed), 0, &result), TAPML_INVALID);
    ids[1] = 3;
    arguments[2].i = 1;
    cr_assert_eq(replay_run(replay, &item, schema_of(&tapml_embed), 0, &result), TAPML_INVALID);
    ids[0] = ids[1] = 2;
    arguments[2].i = -3;
    cr_assert_eq(replay_run(replay, &item, schema_of(&tapml_embed), 0, &result), TAPML_INVALID);
}

Test(replay, a_case_of_another_op_is_refused)
{
    struct cases_silu made;
    struct replay_result result;
    cases_make_silu(&made, "s", 0);
    cr_assert_eq(replay_run(replay, &made.item, schema_of(&tapml_rms_norm), 0, &result),
                 TAPML_INVALID);
    made.arguments[1].shape[1] = 2;
    made.arguments[1].content_bytes = 16;
    cr_assert_eq(replay_run(replay, &made.item, schema_of(&tapml_silu), 0, &result), TAPML_INVALID);
    made.arguments[0].rank = 9;
    cr_assert_eq(replay_run(replay, &made.item, schema_of(&tapml_silu), 0, &result), TAPML_INVALID);
}

Test(replay, asynchronous_devices_and_buffers_are_reused)
{
    struct cases_silu silu;
    struct cases_append append;
    struct replay *other = NULL;
    struct replay_result result;
    struct backend *late = late_create(&(struct late_options){.inner = backend});
    MUST(replay_create(late, NULL, &other));
    uint64_t alive = 0;
    for (int i = 0; i < 20; i++) {
        cases_make_silu(&silu, "s", i);
        cases_make_append(&append, "k", i);
        MUST(replay_run(other, &silu.item, schema_of(&tapml_silu), 1, &result));
        expect_near(&result.outputs[0], "y");
        MUST(replay_run(other, &append.item, schema_of(&tapml_state_append), 0, &result));
        expect_near(&result.outputs[0], "state");
        cr_assert(i == 0 || late_counts(late).buffers_alive == alive, "nothing new is made");
        alive = late_counts(late).buffers_alive;
    }
    replay_destroy(other);
    cr_assert_eq(late_counts(late).buffers_alive, 0);
    backend_release(late);
}

Test(replay, a_base_value_beyond_the_devices_buffers_is_unsupported)
{
    struct cases_append made;
    struct replay *other = NULL;
    struct replay_result result;
    struct backend *late = late_create(&(struct late_options){
        .inner = backend, .buffer_bytes_max = 512 + 2 * GUARD_BUFFER_REDZONE_BYTES});
    cases_make_append(&made, "k", 0);
    MUST(replay_create(late, NULL, &other));
    MUST(replay_run(other, &made.item, schema_of(&tapml_state_append), 0, &result));
    cr_assert_eq(result.outcome, REPLAY_UNSUPPORTED);
    cr_assert_not_null(strstr(result.reason, "at most 512"), "%s", result.reason);
    replay_destroy(other);
    backend_release(late);
}

static tapml_status replay_once(const struct carved_case *item)
{
    struct replay *other = NULL;
    struct replay_result result;
    TAPML_TRY(replay_create(backend, NULL, &other));
    const tapml_status status = replay_run(other, item, schema_of(&tapml_silu), 1, &result);
    replay_destroy(other);
    return status;
}

Test(replay, survives_a_lack_of_memory)
{
    struct cases_silu made;
    cases_make_silu(&made, "s", 0);
    MUST(replay_once(&made.item));
    SCRATCH_SWEEP(replay_once(&made.item));
}

// -- Backends of reduced precision ---------------------------------------------------------------

static struct reduced *open_reduced(struct backend *inner, struct replay **out_replay)
{
    struct reduced *reduced = NULL;
    MUST(reduced_create(inner, ACTIVATION_F16, &reduced));
    MUST(replay_create(reduced_backend(reduced), NULL, out_replay));
    return reduced;
}

Test(replay, a_reduced_backend_computes_in_f16_what_is_compared_in_f32)
{
    struct cases_silu made;
    struct replay_result result;
    struct replay *own = NULL;
    struct reduced *reduced = open_reduced(backend, &own);
    int is_rounded = 0;
    cases_make_silu(&made, "s", 0);
    MUST(replay_run(own, &made.item, schema_of(&tapml_silu), 1, &result));
    cr_assert_eq(result.outcome, REPLAY_RAN);
    cr_assert_eq(result.outputs[0].dtype, TAPML_F32);
    cr_assert_eq(result.outputs[0].expected, made.y);
    const float *computed = result.outputs[0].computed;
    for (size_t i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        cr_expect_float_eq(computed[i], made.y[i], fabsf(made.y[i]) * 0x1p-9f);
        cr_expect_eq(computed[i], convert_f16_to_f32(convert_f32_to_f16(computed[i])));
        is_rounded |= computed[i] != made.y[i];
    }
    cr_expect(is_rounded);
    replay_destroy(own);
    reduced_destroy(reduced);
}

Test(replay, a_reduced_backend_is_exact_but_for_the_rounding)
{
    struct cases_append made;
    struct replay_result result;
    struct replay *own = NULL;
    struct reduced *reduced = open_reduced(backend, &own);
    cases_make_append(&made, "k", 0);
    made.rows[1] = made.after[(CASE_PAGE_ROWS - 1) * CASES_HEADS * CASES_HEAD + 1] = 0.1f;
    MUST(replay_run(own, &made.item, schema_of(&tapml_state_append), 0, &result));
    cr_assert_eq(result.outcome, REPLAY_RAN, "%s", result.reason);
    cr_expect_arr_eq(result.outputs[0].computed, result.outputs[0].expected, sizeof(made.after));
    replay_destroy(own);
    reduced_destroy(reduced);
}

Test(replay, a_reduced_backend_is_no_excuse_for_a_case_that_is_none)
{
    struct cases_silu made;
    struct replay_result result;
    struct replay *own = NULL;
    struct reduced *reduced = open_reduced(backend, &own);
    cases_make_silu(&made, "s", 0);
    made.arguments[0].content_bytes -= 4;
    cr_expect_eq(replay_run(own, &made.item, schema_of(&tapml_silu), 0, &result), TAPML_INVALID);
    cr_expect_eq(replay_run(own, &made.item, schema_of(&tapml_mul), 0, &result), TAPML_INVALID);
    replay_destroy(own);
    reduced_destroy(reduced);
}
