// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/short_setup.h"
#include "run/observed.h"

#include <tapml/ops.h>

enum { ROWS = 2, WIDTH = 3, STRIDE = 4, FLOATS = 10, SILU_X = 0, SILU_Y = 1 };

// A call of silu whose output is a view: rows of three values, four apart, behind the first one.
struct sight {
    struct short_setup run;
    struct backend *backend;
    struct arena *arena;
    struct fetcher fetcher;
    tapml_object *buffers[2];
    int64_t shape[2], stride[2];
    tapml_tensor x, y;
    tapml_value args[2];
    struct backend_call call;
    struct observed observed;
};

static void sight_open(struct sight *sight)
{
    float values[FLOATS];

    for (int i = 0; i < FLOATS; i++) {
        values[i] = (float)i;
    }
    *sight = (struct sight){.shape = {ROWS, WIDTH}, .stride = {STRIDE, 1}};
    short_setup_open(&sight->run);
    sight->backend = sight->run.setup.places[0]->backend;
    sight->arena = arena_create();
    fetcher_init(&sight->fetcher, sight->backend);
    for (int i = 0; i < 2; i++) {
        SHORT_MUST(backend_buffer_new(sight->backend, sizeof(values), &sight->buffers[i]));
        SHORT_MUST(backend_write(sight->backend, sight->buffers[i], 0, values, sizeof(values)));
    }
    SHORT_MUST(backend_wait(sight->backend));
    sight->x = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                              .dtype = TAPML_F32,
                              .rank = 2,
                              .shape = sight->shape,
                              .buffer = sight->buffers[0]};
    sight->y = sight->x;
    sight->y.stride = sight->stride;
    sight->y.offset = sizeof(float);
    sight->y.buffer = sight->buffers[1];
    sight->args[SILU_X] = (tapml_value){.kind = TAPML_P_TENSOR_IN, .u.p = &sight->x};
    sight->args[SILU_Y] = (tapml_value){.kind = TAPML_P_TENSOR_OUT, .u.p = &sight->y};
    sight->call =
        (struct backend_call){.op = &tapml_silu, .args = sight->args, .instance = "layers.0/act"};
    SHORT_MUST(observed_make(&sight->call, "source", "reference:f32", &sight->fetcher, sight->arena,
                             &sight->observed));
}

static void sight_close(struct sight *sight)
{
    fetcher_release(&sight->fetcher);
    for (int i = 0; i < 2; i++) {
        backend_buffer_free(sight->backend, sight->buffers[i]);
    }
    arena_destroy(sight->arena);
    short_setup_close(&sight->run);
}

Test(observed, it_describes_a_call_without_buffers)
{
    struct sight sight;

    sight_open(&sight);
    const tapml_observed *table = &sight.observed.table;
    const tapml_tensor *y = table->args[SILU_Y].u.p;

    cr_assert_str_eq(table->place, "source");
    cr_assert_str_eq(table->instance, "layers.0/act");
    cr_assert_eq(table->op, &tapml_silu);
    cr_assert_eq(table->n_args, 2u);
    cr_assert_null(y->buffer);
    cr_assert_eq(y->shape[1], WIDTH);
    cr_assert_eq(y->stride[0], STRIDE);
    sight_close(&sight);
}

Test(observed, a_view_is_written_and_read_as_dense_values)
{
    static const float values[ROWS * WIDTH] = {-1, -2, -3, -4, -5, -6};
    static const float whole[FLOATS] = {0, -1, -2, -3, 4, -4, -5, -6, 8, 9};
    struct sight sight;
    float found[FLOATS] = {0};
    uint64_t bytes = 0;

    sight_open(&sight);
    const tapml_observed *table = &sight.observed.table;

    observed_turn(&sight.observed, 1, 1);
    SHORT_MUST(table->size(table, NULL, SILU_Y, 0, &bytes));
    cr_assert_eq(bytes, sizeof(values));
    SHORT_MUST(table->write(table, NULL, SILU_Y, values, bytes));
    SHORT_MUST(observed_check(&sight.observed, 1));
    cr_assert_eq(observed_check(&sight.observed, 0), TAPML_INVALID);
    observed_turn(&sight.observed, 0, 1);
    SHORT_MUST(table->read(table, NULL, SILU_Y, 0, found, bytes));
    cr_assert_arr_eq(found, values, sizeof(values));
    SHORT_MUST(backend_read(sight.backend, sight.buffers[1], 0, found, sizeof(found)));
    SHORT_MUST(backend_wait(sight.backend));
    cr_assert_arr_eq(found, whole, sizeof(whole), "what lies between the rows stays");
    sight_close(&sight);
}

// A plain tensor of 16 bits has bytes that are no whole grain.
Test(observed, odd_halves_are_written)
{
    static const uint16_t values[3] = {0x3c00, 0x4000, 0x4200};
    struct sight sight;
    int64_t shape[] = {3};
    uint16_t found[4] = {0};

    sight_open(&sight);
    sight.y = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                             .dtype = TAPML_F16,
                             .rank = 1,
                             .shape = shape,
                             .offset = 2,
                             .buffer = sight.buffers[1]};
    observed_turn(&sight.observed, 0, 1);
    const tapml_observed *table = &sight.observed.table;

    SHORT_MUST(table->write(table, NULL, SILU_Y, values, sizeof(values)));
    SHORT_MUST(backend_read(sight.backend, sight.buffers[1], 0, found, sizeof(found)));
    SHORT_MUST(backend_wait(sight.backend));
    cr_assert_eq(found[0], 0); // Of the 0.0f that was there.
    cr_assert_arr_eq(found + 1, values, sizeof(values));
    sight_close(&sight);
}

Test(observed, what_is_not_there_is_refused)
{
    struct sight sight;
    float values[ROWS * WIDTH] = {0};
    uint64_t bytes = 0;

    sight_open(&sight);
    const tapml_observed *table = &sight.observed.table;

    observed_turn(&sight.observed, 1, 1);
    cr_assert_eq(table->size(table, NULL, 2, 0, &bytes), TAPML_INVALID);
    cr_assert_eq(table->size(table, NULL, SILU_X, 1, &bytes), TAPML_INVALID);
    cr_assert_eq(table->read(table, NULL, SILU_X, 0, values, sizeof(values) - 4), TAPML_INVALID);
    cr_assert_eq(table->read(table, NULL, SILU_Y, 0, values, sizeof(values)), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "no values before the call"));
    cr_assert_eq(table->write(table, NULL, SILU_X, values, sizeof(values)), TAPML_INVALID);
    cr_assert_eq(observed_check(&sight.observed, 1), TAPML_INVALID, "nothing is written");
    SHORT_MUST(observed_check(&sight.observed, 0));
    observed_turn(&sight.observed, 1, 0);
    cr_assert_eq(table->write(table, NULL, SILU_Y, values, sizeof(values)), TAPML_PRECONDITION);
    cr_assert_eq(observed_check(&sight.observed, 1), TAPML_INVALID, "it does not replace");
    sight_close(&sight);
}

static tapml_status fail_to_wait(struct backend *backend)
{
    (void)backend;
    return status_fail(TAPML_INTERNAL, "the queued work is wrong");
}

// What a device has queued fails when an observer waits for it: no failure of the observer.
Test(observed, a_failure_of_the_device_is_kept)
{
    struct sight sight;
    float values[ROWS * WIDTH];
    struct backend_vt vt = backend_forward_vt;

    sight_open(&sight);
    vt.wait = fail_to_wait;
    struct backend_wrapper broken = {.backend = {.vt = &vt}, .inner = sight.backend};

    fetcher_release(&sight.fetcher);
    fetcher_init(&sight.fetcher, &broken.backend);
    const tapml_observed *table = &sight.observed.table;

    cr_assert_eq(table->read(table, NULL, SILU_X, 0, values, 4), TAPML_INVALID);
    cr_assert_eq(sight.observed.failure, TAPML_OK, "that was the observer's");
    cr_assert_eq(table->read(table, NULL, SILU_X, 0, values, sizeof(values)), TAPML_INTERNAL);
    cr_assert_eq(sight.observed.failure, TAPML_INTERNAL);
    cr_assert_str_eq(sight.observed.message, "the queued work is wrong");
    sight_close(&sight);
}
