// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/calls.h"
#include "harness/late.h"
#include "harness/memory_corruptor.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "verify/guard.h"

#include <tapml/ops.h>

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum {
    ROWS = 2,
    WIDTH = 3,
    GAP = 2,
    STATE_ROWS = 8,
    TABLE_ROWS = 6000,
    SMALL_ROWS = 4,
    ROW_BYTES = 12
};

static struct plugin_fixture plugins;
static struct backend *reference;
static struct backend *corruptor;
static struct guard *guard;
static struct backend *backend; // The guard's, around the corruptor's, around the reference.

static void begin(void)
{
    plugin_fixture_open(&plugins);
    reference = plugin_fixture_backend(&plugins, "reference");
    corruptor = memory_corruptor_create(reference);
    MUST(guard_create(corruptor, &guard));
    backend = guard_backend(guard);
}

static void end(void)
{
    guard_destroy(guard);
    backend_release(corruptor);
    backend_release(reference);
    plugin_fixture_close(&plugins);
}

TestSuite(guard, .init = begin, .fini = end, .timeout = 60);

// A call of an op with buffers of its own.
struct call_fixture {
    tapml_tensor tensors[3];
    tapml_value args[5];
    struct backend_call call;
};

static const int64_t SHAPE[] = {ROWS, WIDTH};
static const int64_t SPREAD[] = {WIDTH + GAP, 1};
static const int64_t STATE[] = {STATE_ROWS, 1, WIDTH};
static const int64_t NEW_ROWS[] = {ROWS, 1, WIDTH};

static tapml_status make_tensor(
    tapml_tensor *tensor, uint32_t dtype, const int64_t *shape, uint32_t rank, uint64_t elements)
{
    static const float HALVES[TABLE_ROWS * WIDTH] = {0.5f, -0.5f, 0.5f, -0.5f};
    *tensor = (tapml_tensor){
        .hdr = TAPML_HDR(tapml_tensor), .dtype = dtype, .rank = rank, .shape = shape};
    TAPML_TRY(backend_buffer_new(backend, elements * sizeof(float), &tensor->buffer));
    return backend_write(backend, tensor->buffer, 0, HALVES, elements * sizeof(float));
}

static void set_tensor(struct call_fixture *fixture, uint32_t param, const tapml_tensor *tensor)
{
    fixture->args[param].kind = fixture->call.op->params[param]->kind;
    fixture->args[param].u.p = tensor;
}

static void start(struct call_fixture *fixture, const tapml_op *op, const char *instance)
{
    *fixture =
        (struct call_fixture){.call = {.op = op, .args = fixture->args, .instance = instance}};
}

// y = silu(x), x dense; y as the first columns of a wider buffer where `is_spread`.
static tapml_status make_silu(struct call_fixture *fixture, int is_spread)
{
    start(fixture, &tapml_silu, "layers.3/mlp/silu");
    TAPML_TRY(make_tensor(&fixture->tensors[0], TAPML_F32, SHAPE, 2, (uint64_t)ROWS * WIDTH));
    TAPML_TRY(make_tensor(&fixture->tensors[1], TAPML_F32, SHAPE, 2,
                          (uint64_t)ROWS * (WIDTH + (is_spread ? GAP : 0))));
    fixture->tensors[1].stride = is_spread ? SPREAD : NULL;
    set_tensor(fixture, 0, &fixture->tensors[0]);
    set_tensor(fixture, 1, &fixture->tensors[1]);
    return TAPML_OK;
}

// Rows 3 and 4 of a state.
static void make_append(struct call_fixture *fixture)
{
    start(fixture, &tapml_state_append, "layers.0/attn/k_append");
    MUST(make_tensor(&fixture->tensors[0], TAPML_F32, STATE, 3, (uint64_t)STATE_ROWS * WIDTH));
    MUST(make_tensor(&fixture->tensors[1], TAPML_F32, NEW_ROWS, 3, (uint64_t)ROWS * WIDTH));
    set_tensor(fixture, 0, &fixture->tensors[0]);
    set_tensor(fixture, 1, &fixture->tensors[1]);
    fixture->args[2] = (tapml_value){.kind = TAPML_P_I64, .u.i = 3};
}

// The first rows of a table.
static void make_embed(struct call_fixture *fixture, int64_t *table_shape)
{
    static const int32_t IDS[ROWS] = {0, 1};
    static const int64_t IDS_SHAPE[] = {ROWS};
    start(fixture, &tapml_embed, "embed");
    MUST(make_tensor(&fixture->tensors[0], TAPML_F32, table_shape, 2,
                     (uint64_t)table_shape[0] * WIDTH));
    MUST(make_tensor(&fixture->tensors[1], TAPML_I32, IDS_SHAPE, 1, ROWS));
    MUST(backend_write(backend, fixture->tensors[1].buffer, 0, IDS, sizeof(IDS)));
    MUST(make_tensor(&fixture->tensors[2], TAPML_F32, SHAPE, 2, (uint64_t)ROWS * WIDTH));
    set_tensor(fixture, 0, &fixture->tensors[0]);
    set_tensor(fixture, 1, &fixture->tensors[1]);
    fixture->args[2] = (tapml_value){.kind = TAPML_P_I64};
    set_tensor(fixture, 3, &fixture->tensors[2]);
}

static void finish(struct call_fixture *fixture)
{
    for (int i = 0; i < 3; i++) {
        backend_buffer_free(backend, fixture->tensors[i].buffer);
    }
}

static void
corrupt_memory(enum memory_corruptor_act act, uint32_t param, int64_t offset, uint32_t size)
{
    memory_corruptor_set(corruptor,
                         &(struct memory_corruptor_options){act, param, offset, size, NULL, NULL});
}

// The call fails with this finding of the guard, and with op and instance in the sentence.
static void
expect(const struct call_fixture *fixture, enum guard_kind kind, uint32_t param, const char *what)
{
    const tapml_status status = calls_make(backend, &fixture->call);
    cr_assert_eq(status, TAPML_INTERNAL, "%s: %d", what, (int)status);
    const struct guard_violation *violation = guard_violation(guard);
    cr_expect_str_eq(violation->what, what);
    cr_expect_eq(violation->kind, kind);
    cr_expect_eq(violation->param, param);
    cr_expect_not_null(strstr(status_message(), what), "%s", status_message());
    cr_expect_not_null(strstr(status_message(), fixture->call.op->name), "%s", status_message());
    cr_expect_not_null(strstr(status_message(), fixture->call.instance), "%s", status_message());
}

static void expect_clean(const struct call_fixture *fixture)
{
    MUST(calls_make(backend, &fixture->call));
    cr_assert_eq(guard_violation(guard)->kind, GUARD_CLEAN);
}

Test(guard, innocent_calls_pass)
{
    struct call_fixture silu, append;
    float y[ROWS * (WIDTH + GAP)];
    MUST(make_silu(&silu, 1));
    make_append(&append);
    for (int i = 0; i < 3; i++) {
        expect_clean(&silu);
        expect_clean(&append);
    }
    MUST(backend_read(backend, silu.tensors[1].buffer, 0, y, sizeof(y)));
    MUST(backend_wait(backend));
    cr_assert_float_eq(y[0], 0.5 / (1 + exp(-0.5)), 1e-6);
    cr_assert_eq(y[WIDTH], -0.5f, "the gap is as it was");
    cr_assert_gt(guard_time_ns(guard), 0);
    guard_measure(guard, 0);
    expect_clean(&silu);
    cr_expect_eq(guard_time_ns(guard), 0);
    finish(&silu);
    finish(&append);
}

Test(guard, new_buffers_are_poison)
{
    tapml_object *buffer = NULL;
    uint32_t words[4];
    MUST(backend_buffer_new(backend, sizeof(words), &buffer));
    MUST(backend_read(backend, buffer, 0, words, sizeof(words)));
    MUST(backend_wait(backend));
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(words[i], GUARD_BUFFER_POISON);
    }
    backend_buffer_free(backend, buffer);
}

Test(guard, a_write_around_a_buffer_is_caught)
{
    struct call_fixture fixture;
    MUST(make_silu(&fixture, 0));
    for (int i = 0; i < 2; i++) { // The second time in a redzone that was mended.
        corrupt_memory(MEMORY_CORRUPTOR_WRITES, 1, (int64_t)ROWS * ROW_BYTES, 4);
        expect(&fixture, GUARD_OUTSIDE, 1,
               "redzone after 'y' was written, at byte 0 behind its buffer");
        corrupt_memory(MEMORY_CORRUPTOR_WRITES, 1, -4, 4);
        expect(&fixture, GUARD_OUTSIDE, 1,
               "redzone before 'y' was written, 4 bytes before its buffer");
    }
    corrupt_memory(MEMORY_CORRUPTOR_NONE, 0, 0, 0);
    expect_clean(&fixture);
    finish(&fixture);
}

Test(guard, a_write_far_behind_and_far_before_a_buffer_is_caught)
{
    struct call_fixture fixture;
    MUST(make_silu(&fixture, 0));
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 1, (int64_t)ROWS * ROW_BYTES + 1200, 4);
    expect(&fixture, GUARD_OUTSIDE, 1,
           "redzone after 'y' was written, at byte 1200 behind its buffer");
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 1, -4096, 4);
    expect(&fixture, GUARD_OUTSIDE, 1,
           "redzone before 'y' was written, 4096 bytes before its buffer");
    corrupt_memory(MEMORY_CORRUPTOR_NONE, 0, 0, 0);
    expect_clean(&fixture);
    finish(&fixture);
}

// As by a call that writes where no redzone of its own buffers is.
static void corrupt_buffer(tapml_object *buffer)
{
    memory_corruptor_set(corruptor, &(struct memory_corruptor_options){
                                        .act = MEMORY_CORRUPTOR_WRITES,
                                        .offset_bytes = GUARD_BUFFER_REDZONE_BYTES + 8,
                                        .size_bytes = 4,
                                        .buffer = guard_buffer_own(buffer)->inner});
}

Test(guard, a_write_into_a_buffer_of_nobody_is_caught)
{
    struct call_fixture fixture;
    tapml_object *before = NULL, *behind = NULL, *far = NULL;
    MUST(backend_buffer_new(backend, 64, &before));
    MUST(make_silu(&fixture, 0));
    MUST(backend_buffer_new(backend, 2 << 20, &far)); // Too large to be read after each call.
    MUST(backend_buffer_new(backend, 40, &behind));
    expect_clean(&fixture); // The guard has seen them from here on.
    corrupt_buffer(behind);
    expect(&fixture, GUARD_OUTSIDE, 1,
           "a buffer of 40 bytes was written that is no argument of the call");
    corrupt_memory(MEMORY_CORRUPTOR_NONE, 0, 0, 0);
    expect_clean(&fixture); // Told once, and seen anew.
    corrupt_buffer(before);
    expect(&fixture, GUARD_OUTSIDE, 1,
           "a buffer of 64 bytes was written that is no argument of the call");
    corrupt_buffer(far);
    expect_clean(&fixture);
    backend_buffer_free(backend, before);
    backend_buffer_free(backend, far);
    finish(&fixture);
    backend_buffer_free(backend, behind);
}

Test(guard, what_others_write_into_a_bystander_is_no_fault)
{
    static const float ONE = 1;
    struct call_fixture fixture;
    tapml_object *bystander = NULL, *wrapped = NULL;
    float memory[4] = {0};
    MUST(make_silu(&fixture, 0));
    MUST(backend_buffer_new(backend, 64, &bystander));
    MUST(backend_buffer_wrap(backend, memory, sizeof(memory), TAPML_ACCESS_READ, &wrapped));
    expect_clean(&fixture);
    MUST(backend_write(backend, bystander, 4, &ONE, sizeof(ONE)));
    memory[0] = ONE;
    expect_clean(&fixture);
    MUST(backend_fill(backend, bystander, 0, 64, 0));
    expect_clean(&fixture);
    corrupt_buffer(bystander);
    guard_watch(guard, 0); // What an unchecked call does is not laid on the next one.
    MUST(calls_make(backend, &fixture.call));
    guard_watch(guard, 1);
    corrupt_memory(MEMORY_CORRUPTOR_NONE, 0, 0, 0);
    expect_clean(&fixture);
    backend_buffer_free(backend, bystander);
    backend_buffer_free(backend, wrapped);
    finish(&fixture);
}

Test(guard, an_unwritten_part_is_caught)
{
    struct call_fixture fixture;
    MUST(make_silu(&fixture, 0));
    corrupt_memory(MEMORY_CORRUPTOR_LEAVES, 1, 16, 8);
    expect(&fixture, GUARD_UNWRITTEN, 1, "'y' was not written from element 4, poison is left");
    finish(&fixture);
    MUST(make_silu(&fixture, 1));
    corrupt_memory(MEMORY_CORRUPTOR_LEAVES, 1, 28, 4);
    expect(&fixture, GUARD_UNWRITTEN, 1, "'y' was not written from element 5, poison is left");
    corrupt_memory(MEMORY_CORRUPTOR_LEAVES, 1, 12, 8);
    expect_clean(&fixture);
    finish(&fixture);
}

// What an op copies from its input is not its fault, though it looks as if it had written nothing.
Test(guard, poison_that_comes_in_is_no_fault)
{
    struct call_fixture fixture;
    uint32_t poison[ROWS * WIDTH];
    MUST(make_silu(&fixture, 0));
    fixture.call.op = &tapml_copy;
    guard_buffer_poison(poison, sizeof(poison));
    MUST(backend_write(backend, fixture.tensors[0].buffer, 0, poison, sizeof(poison)));
    expect_clean(&fixture);
    corrupt_memory(MEMORY_CORRUPTOR_LEAVES, 1, 16, 8);
    expect(&fixture, GUARD_UNWRITTEN, 1, "'y' was not written from element 4, poison is left");
    finish(&fixture);
}

Test(guard, a_write_into_a_gap_is_caught)
{
    struct call_fixture fixture;
    MUST(make_silu(&fixture, 1));
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 1, 12, 4);
    expect(&fixture, GUARD_OUTSIDE, 1,
           "byte 12 of the buffer of 'y' was written, outside of its view");
    finish(&fixture);
}

Test(guard, a_changed_input_is_caught)
{
    struct call_fixture fixture;
    MUST(make_silu(&fixture, 0));
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 0, 20, 4);
    expect(&fixture, GUARD_OUTSIDE, 0, "input 'x' changed at element 5");
    expect_clean(&fixture); // The ones are there already.
    finish(&fixture);
}

Test(guard, a_row_outside_the_region_is_caught)
{
    struct call_fixture fixture;
    make_append(&fixture);
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 0, (int64_t)5 * ROW_BYTES, 4);
    expect(&fixture, GUARD_OUTSIDE, 0,
           "row 5 of state 'state' was written, outside of rows 3 .. 4");
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 0, (int64_t)2 * ROW_BYTES + 8, 4);
    expect(&fixture, GUARD_OUTSIDE, 0,
           "row 2 of state 'state' was written, outside of rows 3 .. 4");
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 0, (int64_t)3 * ROW_BYTES, 24);
    expect_clean(&fixture); // Wrong numbers in the right rows are not the guard's.
    finish(&fixture);
}

Test(guard, a_small_weight_is_checked_at_every_call)
{
    struct call_fixture fixture;
    int64_t shape[] = {4, WIDTH};
    make_embed(&fixture, shape);
    expect_clean(&fixture);
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 0, 40, 4);
    expect(&fixture, GUARD_OUTSIDE, 0,
           "weight 'table' changed, in this call or in one before that used it");
    cr_assert(guard_violation(guard)->is_weight);
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 0, 48, 4);
    expect(&fixture, GUARD_OUTSIDE, 0,
           "redzone after 'table' was written, at byte 0 behind its buffer");
    corrupt_memory(MEMORY_CORRUPTOR_NONE, 0, 0, 0);
    expect_clean(&fixture);
    MUST(backend_fill(backend, fixture.tensors[0].buffer, 0, 48, 0));
    expect_clean(&fixture); // The host may change it.
    tapml_object *other = NULL;
    float zeros[] = {1, 1};
    MUST(backend_buffer_new(backend, 16, &other));
    MUST(backend_copy(backend, &(struct backend_copy){fixture.tensors[0].buffer, other, 0, 8, 8}));
    MUST(backend_read(backend, other, 8, zeros, sizeof(zeros)));
    MUST(backend_wait(backend));
    cr_assert(zeros[0] == 0 && zeros[1] == 0);
    MUST(backend_fill(backend, other, 0, 16, 1));
    MUST(backend_copy(backend, &(struct backend_copy){other, fixture.tensors[0].buffer, 0, 8, 8}));
    expect_clean(&fixture); // So is a copy.
    backend_buffer_free(backend, other);
    finish(&fixture);
}

Test(guard, a_large_weight_is_checked_now_and_then)
{
    struct call_fixture fixture;
    int64_t shape[] = {TABLE_ROWS, WIDTH};
    make_embed(&fixture, shape);
    expect_clean(&fixture);
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 0, 40, 4);
    for (int i = 1; i < 16; i++) {
        expect_clean(&fixture);
    }
    expect(&fixture, GUARD_OUTSIDE, 0,
           "weight 'table' changed, in this call or in one before that used it");
    finish(&fixture);
}

Test(guard, does_not_look_where_it_is_asked)
{
    struct call_fixture fixture;
    MUST(make_silu(&fixture, 0));
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 0, 20, 4);
    guard_watch(guard, 0);
    expect_clean(&fixture);
    guard_watch(guard, 1);
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 0, 16, 4);
    expect(&fixture, GUARD_OUTSIDE, 0, "input 'x' changed at element 4");
    finish(&fixture);
}

Test(guard, shows_what_it_found)
{
    struct call_fixture fixture, other;
    int64_t table_shape[] = {TABLE_ROWS, WIDTH};
    float y[ROWS * (WIDTH + GAP)];
    MUST(make_silu(&fixture, 1));
    make_embed(&other, table_shape);
    cr_expect_null(guard_found(guard, fixture.tensors[1].buffer), "nothing was called");
    expect_clean(&fixture);
    MUST(backend_read(backend, fixture.tensors[1].buffer, 0, y, sizeof(y)));
    MUST(backend_wait(backend));
    cr_assert_not_null(guard_found(guard, fixture.tensors[1].buffer));
    cr_expect_arr_eq(guard_found(guard, fixture.tensors[1].buffer), y, sizeof(y));
    cr_expect_null(guard_found(guard, other.tensors[2].buffer), "the call does not use it");
    expect_clean(&other);
    cr_expect_not_null(guard_found(guard, other.tensors[2].buffer));
    cr_expect_null(guard_found(guard, other.tensors[0].buffer), "a weight");
    guard_watch(guard, 0);
    expect_clean(&fixture);
    cr_expect_null(guard_found(guard, fixture.tensors[1].buffer), "it did not look");
    finish(&fixture);
    finish(&other);
}

// One round for what was there before, the call and what is there after it, a small weight among
// it; one more for what is between the rows of an output.
Test(guard, waits_once_more_for_the_time)
{
    struct backend *device = late_create(&(struct late_options){.inner = reference});
    struct guard *other = NULL;
    struct call_fixture fixture;
    MUST(guard_create(device, &other));
    struct backend *const shown = backend;
    backend = guard_backend(other);
    MUST(make_silu(&fixture, 0));
    MUST(backend_wait(backend));
    for (int is_measuring = 0; is_measuring < 2; is_measuring++) {
        const uint64_t before = late_counts(device).waits;
        guard_measure(other, is_measuring);
        MUST(calls_make(backend, &fixture.call));
        cr_expect_eq(late_counts(device).waits - before, is_measuring ? 3 : 1);
        cr_expect_eq(guard_time_ns(other) > 0, is_measuring);
    }
    finish(&fixture);
    MUST(make_silu(&fixture, 1));
    guard_measure(other, 0);
    MUST(backend_wait(backend));
    const uint64_t first = late_counts(device).waits;
    MUST(calls_make(backend, &fixture.call));
    cr_expect_eq(late_counts(device).waits - first, 2);
    finish(&fixture);
    make_embed(&fixture, (int64_t[]){SMALL_ROWS, WIDTH});
    MUST(calls_make(backend, &fixture.call));
    const uint64_t before = late_counts(device).waits;
    MUST(calls_make(backend, &fixture.call));
    cr_expect_eq(late_counts(device).waits - before, 1);
    finish(&fixture);
    backend = shown;
    guard_destroy(other);
    backend_release(device);
}

Test(guard, wrapped_memory_has_no_redzones)
{
    struct call_fixture fixture;
    float y[8] = {0};
    MUST(make_silu(&fixture, 0));
    backend_buffer_free(backend, fixture.tensors[1].buffer);
    MUST(backend_buffer_wrap(backend, y, sizeof(y), TAPML_ACCESS_READ | TAPML_ACCESS_WRITE,
                             &fixture.tensors[1].buffer));
    expect_clean(&fixture);
    cr_assert_float_eq(y[0], 0.5 / (1 + exp(-0.5)), 1e-6);
    corrupt_memory(MEMORY_CORRUPTOR_WRITES, 1, 24, 4);
    expect(&fixture, GUARD_OUTSIDE, 1,
           "byte 24 of the buffer of 'y' was written, outside of its view");
    finish(&fixture);
}

Test(guard, what_is_beyond_a_buffer_is_refused)
{
    struct call_fixture fixture;
    float word = 0;
    MUST(make_silu(&fixture, 0));
    tapml_object *buffer = fixture.tensors[1].buffer;
    cr_assert_eq(backend_write(backend, buffer, 24, &word, 4), TAPML_INVALID);
    cr_assert_eq(backend_read(backend, buffer, 28, &word, 4), TAPML_INVALID);
    cr_assert_eq(backend_fill(backend, buffer, 20, 8, 0), TAPML_INVALID);
    fixture.tensors[1].offset = 4;
    cr_assert_eq(calls_make(backend, &fixture.call), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'y'"), "%s", status_message());
    finish(&fixture);
}

Test(guard, allocates_nothing_once_it_knows_an_op)
{
    struct call_fixture fixture;
    MUST(make_silu(&fixture, 0));
    expect_clean(&fixture);
    const size_t made = alloc_made();
    expect_clean(&fixture);
    cr_assert_eq(alloc_made(), made);
    finish(&fixture);
}

Test(guard, errors_of_queued_work_and_limits_pass_through)
{
    struct call_fixture fixture;
    struct backend *kept = backend;
    struct guard *other = NULL;
    struct backend *late = late_create(&(struct late_options){
        .inner = reference, .fails = "layers.3/mlp/silu", .buffer_bytes_max = 1 << 16});
    MUST(guard_create(late, &other));
    backend = guard_backend(other);
    cr_assert_eq(backend_info(backend)->buffer_bytes_max,
                 (1 << 16) - 2 * GUARD_BUFFER_REDZONE_BYTES);
    MUST(make_silu(&fixture, 1));
    cr_assert_eq(calls_make(backend, &fixture.call), TAPML_INTERNAL);
    cr_assert_str_eq(status_message(), "layers.3/mlp/silu: as it was told");
    cr_assert_eq(guard_violation(other)->kind, GUARD_CLEAN, "that is no fault of memory");
    fixture.call.instance = "another";
    MUST(calls_make(backend, &fixture.call));
    finish(&fixture);
    cr_assert_eq(late_counts(late).buffers_alive, 0);
    guard_destroy(other);
    backend_release(late);
    backend = kept;
}

static tapml_status call_once(void)
{
    struct call_fixture fixture;
    struct guard *other = NULL;
    struct backend *kept = backend;
    TAPML_TRY(guard_create(reference, &other));
    backend = guard_backend(other);
    tapml_status status = make_silu(&fixture, 1);
    if (status == TAPML_OK) {
        status = calls_make(backend, &fixture.call);
    }
    finish(&fixture);
    guard_destroy(other);
    backend = kept;
    return status;
}

Test(guard, survives_a_lack_of_memory)
{
    MUST(call_once());
    SCRATCH_SWEEP(call_once());
}
