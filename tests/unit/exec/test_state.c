// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/reduced.h"
#include "exec/state.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plain.h"
#include "tensor/encoding.h"

#include <criterion/criterion.h>
#include <string.h>

enum { SOURCE, GPU, NPU, PLACES, ROWS = 8, WIDTH = 4 };

static const struct affine_point point = {.value = {1, 0, 1, ROWS}};

struct fixture {
    struct backend *backends[PLACES];
    struct space_set spaces;
    struct state state;
    unsigned char source[1024]; // What the ops of this test write.
};

static struct graph_value state_value(uint32_t dtype, double initial)
{
    return (struct graph_value){
        .kind = GRAPH_STATE,
        .name = "k",
        .dtype = dtype,
        .rank = 2,
        .shape = {{.factor[AFFINE_CAPACITY] = 1}, {.constant = WIDTH}},
        .initial = initial,
    };
}

static void
open_marked(struct fixture *fixture, uint32_t dtype, double initial, activation_set mark)
{
    static const char *const names[] = {"source", "gpu", "npu"};
    const struct graph_value value = state_value(dtype, initial);
    memset(fixture, 0, sizeof(*fixture));
    fixture->backends[SOURCE] = plain_create();
    fixture->backends[GPU] = late_create(&(struct late_options){0});
    fixture->backends[NPU] = late_create(&(struct late_options){0});
    struct places places;
    space_set_init(&fixture->spaces, places_over(&places, fixture->backends, names, PLACES),
                   PLACES);
    cr_assert_eq(state_init(&fixture->state, &value, &point, mark), TAPML_OK, "%s",
                 status_message());
    state_begin(&fixture->state);
}

static void open_fixture(struct fixture *fixture, uint32_t dtype, double initial)
{
    open_marked(fixture, dtype, initial, 0);
}

static void close_fixture(struct fixture *fixture)
{
    cr_assert_eq(space_wait_all(&fixture->spaces), TAPML_OK);
    state_release(&fixture->state, &fixture->spaces);
    cr_expect_eq(late_counts(fixture->backends[GPU]).buffers_alive, 0);
    for (int i = 0; i < PLACES; i++) {
        backend_release(fixture->backends[i]);
    }
}

// What an op does that writes rows of a state at a place: f32, all of `number`.
static void
write_rows(struct fixture *fixture, uint32_t place, uint64_t begin, uint64_t end, float number)
{
    tapml_object *buffer = NULL;
    uint32_t word = 0;
    memcpy(&word, &number, sizeof(word));
    cr_assert_eq(space_enter(&fixture->spaces, place), TAPML_OK);
    cr_assert_eq(state_buffer(&fixture->state, &fixture->spaces, place, &buffer), TAPML_OK);
    const uint64_t row_bytes = fixture->state.row_bytes;
    if (begin < end) {
        cr_assert_eq(backend_fill(fixture->backends[place], buffer, begin * row_bytes,
                                  (end - begin) * row_bytes, word),
                     TAPML_OK);
    }
    space_note_call(&fixture->spaces, place);
    state_note_write(&fixture->state, &fixture->spaces, place, begin, end);
}

// The first number of each row, as a place sees it.
static void expect_rows(struct fixture *fixture, uint32_t place, const float *expected)
{
    tapml_object *buffer = NULL;
    cr_assert_eq(space_enter(&fixture->spaces, place), TAPML_OK);
    cr_assert_eq(state_buffer(&fixture->state, &fixture->spaces, place, &buffer), TAPML_OK);
    cr_assert_eq(space_wait(&fixture->spaces, place), TAPML_OK);
    const float *rows = place == SOURCE ? plain_bytes(buffer) : late_bytes(buffer);
    for (int i = 0; i < ROWS; i++) {
        cr_expect_eq(rows[i * WIDTH], expected[i], "row %d is %g, not %g", i,
                     (double)rows[i * WIDTH], (double)expected[i]);
    }
}

Test(state, begins_with_its_initial_value_everywhere)
{
    struct fixture fixture;
    const float low = -1e38f, expected[ROWS] = {low, low, low, low, low, low, low, low};
    open_fixture(&fixture, TAPML_F32, -1e38);
    expect_rows(&fixture, GPU, expected);
    expect_rows(&fixture, SOURCE, expected);
    cr_expect_eq(late_counts(fixture.backends[GPU]).writes, 0, "a device fills by itself");
    close_fixture(&fixture);
}

Test(state, moves_the_rows_that_changed_and_no_more)
{
    struct fixture fixture;
    open_fixture(&fixture, TAPML_F32, 0);
    write_rows(&fixture, GPU, 0, 3, 1);
    expect_rows(&fixture, SOURCE, (const float[ROWS]){1, 1, 1});
    cr_expect_eq(late_counts(fixture.backends[GPU]).read_bytes, 3 * WIDTH * 4);
    write_rows(&fixture, GPU, 3, 4, 2);
    expect_rows(&fixture, SOURCE, (const float[ROWS]){1, 1, 1, 2});
    cr_expect_eq(late_counts(fixture.backends[GPU]).read_bytes, 4 * WIDTH * 4);
    expect_rows(&fixture, SOURCE, (const float[ROWS]){1, 1, 1, 2});
    cr_expect_eq(late_counts(fixture.backends[GPU]).reads, 2, "nothing changed since");
    close_fixture(&fixture);
}

Test(state, goes_round_all_places)
{
    struct fixture fixture;
    open_fixture(&fixture, TAPML_F32, 0);
    write_rows(&fixture, SOURCE, 0, 2, 1);
    write_rows(&fixture, GPU, 2, 3, 2);
    write_rows(&fixture, NPU, 3, 5, 3);
    write_rows(&fixture, GPU, 5, 6, 4);
    write_rows(&fixture, SOURCE, 1, 2, 5);
    const float expected[ROWS] = {1, 5, 2, 3, 3, 4};
    expect_rows(&fixture, NPU, expected);
    expect_rows(&fixture, GPU, expected);
    expect_rows(&fixture, SOURCE, expected);
    close_fixture(&fixture);
}

// The upload of rows 0 to 2 is still to be done when they are written again.
Test(state, does_not_overwrite_what_a_device_has_yet_to_read)
{
    struct fixture fixture;
    tapml_object *buffer = NULL;
    open_fixture(&fixture, TAPML_F32, 0);
    write_rows(&fixture, SOURCE, 0, 2, 1);
    cr_assert_eq(state_buffer(&fixture.state, &fixture.spaces, GPU, &buffer), TAPML_OK);
    write_rows(&fixture, NPU, 0, 1, 7);
    expect_rows(&fixture, SOURCE, (const float[ROWS]){7, 1});
    cr_assert_eq(space_wait(&fixture.spaces, GPU), TAPML_OK);
    const float *rows = late_bytes(buffer);
    cr_expect_eq(rows[0], 1, "what was valid at the time of the upload");
    close_fixture(&fixture);
}

Test(state, begins_again)
{
    struct fixture fixture;
    open_fixture(&fixture, TAPML_F32, 0.5);
    write_rows(&fixture, GPU, 0, ROWS, 1);
    expect_rows(&fixture, SOURCE, (const float[ROWS]){1, 1, 1, 1, 1, 1, 1, 1});
    cr_assert_eq(space_wait_all(&fixture.spaces), TAPML_OK);
    state_begin(&fixture.state);
    const float expected[ROWS] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
    expect_rows(&fixture, SOURCE, expected);
    expect_rows(&fixture, GPU, expected);
    expect_rows(&fixture, NPU, expected);
    close_fixture(&fixture);
}

Test(state, of_no_row_written_moves_nothing)
{
    struct fixture fixture;
    open_fixture(&fixture, TAPML_F32, 0);
    write_rows(&fixture, GPU, 4, 4, 1);
    expect_rows(&fixture, SOURCE, (const float[ROWS]){0});
    cr_expect_eq(late_counts(fixture.backends[GPU]).reads, 0);
    close_fixture(&fixture);
}

// Eight bytes that differ cannot be filled with four.
Test(state, of_doubles_is_filled_over_host_memory)
{
    struct fixture fixture;
    tapml_object *buffer = NULL;
    open_fixture(&fixture, TAPML_F64, -1e38);
    cr_assert_eq(space_enter(&fixture.spaces, GPU), TAPML_OK);
    cr_assert_eq(state_buffer(&fixture.state, &fixture.spaces, GPU, &buffer), TAPML_OK);
    cr_assert_eq(space_wait_all(&fixture.spaces), TAPML_OK);
    const double *numbers = late_bytes(buffer);
    for (int i = 0; i < ROWS * WIDTH; i++) {
        cr_expect_eq(numbers[i], -1e38);
    }
    close_fixture(&fixture);
}

Test(state, of_halves_is_filled_two_at_a_time)
{
    struct fixture fixture;
    tapml_object *buffer = NULL;
    open_fixture(&fixture, TAPML_F16, 1);
    cr_assert_eq(state_buffer(&fixture.state, &fixture.spaces, GPU, &buffer), TAPML_OK);
    cr_assert_eq(space_wait_all(&fixture.spaces), TAPML_OK);
    const uint16_t *numbers = late_bytes(buffer);
    for (int i = 0; i < ROWS * WIDTH; i++) {
        cr_expect_eq(numbers[i], 0x3c00);
    }
    close_fixture(&fixture);
}

Test(state, must_not_change_its_shape)
{
    struct state state;
    struct graph_value value = state_value(TAPML_F32, 0);
    value.shape[1].factor[AFFINE_TOKENS] = 1;
    cr_expect_eq(state_init(&state, &value, &point, 0), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "state 'k' changes its shape from call to call in axis 1");
    value = state_value(TAPML_F32, 0);
    value.shape[1].constant = INT64_MAX / 4;
    cr_expect_eq(state_init(&state, &value, &point, 0), TAPML_INVALID);
}

Test(state, goes_to_a_reduced_place_and_back)
{
    struct fixture fixture;
    struct backend *gpu = late_create(&(struct late_options){0});
    struct reduced *reduced = NULL;
    tapml_object *buffer = NULL;
    static const uint16_t row[WIDTH] = {0x4200, 0x4200, 0x4200, 0x4200}; // Threes.
    open_marked(&fixture, TAPML_F32, 0.1, activation_bit(ACTIVATION_F16));
    cr_assert_eq(reduced_create(gpu, ACTIVATION_F16, &reduced), TAPML_OK);
    fixture.spaces.places[NPU].backend = reduced_backend(reduced);
    fixture.spaces.places[NPU].activation = ACTIVATION_F16;

    cr_assert_eq(space_enter(&fixture.spaces, NPU), TAPML_OK);
    cr_assert_eq(state_buffer(&fixture.state, &fixture.spaces, NPU, &buffer), TAPML_OK);
    cr_assert_eq(backend_write(gpu, buffer, 2 * sizeof(row), row, sizeof(row)), TAPML_OK);
    space_note_call(&fixture.spaces, NPU);
    state_note_write(&fixture.state, &fixture.spaces, NPU, 2, 3);
    cr_assert_eq(space_wait_all(&fixture.spaces), TAPML_OK);
    cr_expect_eq(((const uint16_t *)late_bytes(buffer))[0], 0x2e66, "the initial value, rounded");

    write_rows(&fixture, SOURCE, 5, 6, 2049);
    const float initial = 0.1f;
    expect_rows(&fixture, SOURCE,
                (const float[ROWS]){initial, initial, 3, initial, initial, 2049, initial, initial});
    cr_assert_eq(state_buffer(&fixture.state, &fixture.spaces, NPU, &buffer), TAPML_OK);
    cr_assert_eq(space_wait_all(&fixture.spaces), TAPML_OK);
    cr_expect_eq(((const uint16_t *)late_bytes(buffer))[5 * WIDTH], 0x6800, "2048");
    cr_expect_eq(((const uint16_t *)late_bytes(buffer))[2 * WIDTH], row[0]);
    cr_expect_eq(late_counts(gpu).written_bytes, 8 + WIDTH * sizeof(uint16_t), "one row");
    state_release(&fixture.state, &fixture.spaces);
    reduced_destroy(reduced);
    backend_release(gpu);
    fixture.spaces.places[NPU].backend = fixture.backends[NPU];
    close_fixture(&fixture);
}

// Rows of blocks are rows of bytes; a tensor of them ends on a multiple of 16.
Test(state, lies_in_blocks)
{
    static const int64_t values = 32;
    struct affine_point odd = point;
    struct graph_value value = state_value(TAPML_U8, 0);
    struct state state;
    value.encoding = encoding_find(TAPML_ENCODING_Q8_ROWS);
    value.shape[1].constant = values;
    odd.value[AFFINE_CAPACITY] = 5;
    cr_assert_eq(state_init(&state, &value, &odd, 0), TAPML_OK, "%s", status_message());
    cr_expect_eq(state.rows, 5);
    cr_expect_eq(state.row_bytes, 36);
    cr_expect_eq(state.block.bytes.at[ACTIVATION_F32], 192);
}
