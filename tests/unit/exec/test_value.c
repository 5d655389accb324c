// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "exec/reduced.h"
#include "exec/value.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plain.h"
#include "harness/scratch.h"
#include "harness/sketch.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

enum { SOURCE, GPU, NPU, PLACES, WIDTH = 4, TOKENS = 2 };

static const struct affine_point largest = {.value = {8, 31, 8, 32}};
static const struct affine_point point = {.value = {TOKENS, 3, 1, 32}};

// x -> a -> b -> c, so that "b" takes the slot of "x"; and the state s.
struct fixture {
    struct backend *backends[PLACES];
    struct space_set spaces;
    struct sketch sketch;
    uint32_t x, a, b, c, s;
    struct value_set *set;
};

static void make_graph(struct fixture *fixture)
{
    struct sketch *sketch = &fixture->sketch;
    const struct affine rows = sketch_sum(0, 1);
    sketch_init(sketch);
    fixture->x = sketch_value(sketch, GRAPH_INPUT, "x", rows, WIDTH);
    fixture->a = sketch_value(sketch, GRAPH_COMPUTED, "a", rows, WIDTH);
    fixture->b = sketch_value(sketch, GRAPH_COMPUTED, "b", rows, WIDTH);
    fixture->c = sketch_value(sketch, GRAPH_COMPUTED, "c", rows, WIDTH);
    fixture->s = sketch_value(sketch, GRAPH_STATE, "s", sketch_sum(32, 0), WIDTH);
    sketch_op(sketch, &tapml_silu, "a", (const uint32_t[]){fixture->x, fixture->a});
    sketch_op(sketch, &tapml_silu, "b", (const uint32_t[]){fixture->a, fixture->b});
    sketch_op(sketch, &tapml_silu, "c", (const uint32_t[]){fixture->b, fixture->c});
    sketch_output(sketch, "y", fixture->c);
}

static void open_fixture(struct fixture *fixture)
{
    static const char *const names[] = {"source", "gpu", "npu"};
    memset(fixture, 0, sizeof(*fixture));
    fixture->backends[SOURCE] = plain_create();
    fixture->backends[GPU] = late_create(&(struct late_options){0});
    fixture->backends[NPU] = late_create(&(struct late_options){0});
    struct places places;
    space_set_init(&fixture->spaces, places_over(&places, fixture->backends, names, PLACES),
                   PLACES);
    make_graph(fixture);
    cr_assert_eq(
        value_set_create(&fixture->sketch.graph, &fixture->spaces, &largest, &fixture->set),
        TAPML_OK, "%s", status_message());
    value_set_begin(fixture->set);
    value_set_begin_call(fixture->set, &point);
}

static void close_fixture(struct fixture *fixture)
{
    cr_assert_eq(space_wait_all(&fixture->spaces), TAPML_OK);
    value_set_destroy(fixture->set);
    cr_expect_eq(late_counts(fixture->backends[GPU]).buffers_alive, 0);
    for (int i = 0; i < PLACES; i++) {
        backend_release(fixture->backends[i]);
    }
}

static uint32_t word_of(float number)
{
    uint32_t word = 0;
    memcpy(&word, &number, sizeof(word));
    return word;
}

static void write_input(struct fixture *fixture, uint32_t value, float number)
{
    void *memory = NULL;
    cr_assert_eq(value_input_memory(fixture->set, value, &memory), TAPML_OK);
    for (int i = 0; i < TOKENS * WIDTH; i++) {
        ((float *)memory)[i] = number;
    }
}

// What an op does that computes `value` at a place.
static void compute(struct fixture *fixture, uint32_t value, uint32_t place, float number)
{
    tapml_object *buffer = NULL;
    cr_assert_eq(space_enter(&fixture->spaces, place), TAPML_OK);
    cr_assert_eq(value_claim(fixture->set, value), TAPML_OK);
    cr_assert_eq(value_buffer(fixture->set, value, place, &buffer), TAPML_OK);
    cr_assert_eq(backend_fill(fixture->backends[place], buffer, 0, value_bytes(fixture->set, value),
                              word_of(number)),
                 TAPML_OK);
    space_note_call(&fixture->spaces, place);
}

static const float *bytes_at(struct fixture *fixture, uint32_t value, uint32_t place)
{
    tapml_object *buffer = NULL;
    cr_assert_eq(value_buffer(fixture->set, value, place, &buffer), TAPML_OK);
    return place == SOURCE ? plain_bytes(buffer) : late_bytes(buffer);
}

static const float *send_to(struct fixture *fixture, uint32_t value, uint32_t place)
{
    cr_assert_eq(value_send(fixture->set, value, place), TAPML_OK, "%s", status_message());
    return bytes_at(fixture, value, place);
}

// Ends the call: `value` is valid at `place` alone.
static void end_call(struct fixture *fixture, uint32_t value, uint32_t place)
{
    uint16_t valid[SKETCH_VALUES_MAX] = {0};
    valid[value] = (uint16_t)(1u << fixture->spaces.places[place].space);
    value_set_end_call(fixture->set, valid, NULL);
}

Test(value, goes_from_device_to_device_over_host_memory)
{
    struct fixture fixture;
    open_fixture(&fixture);
    cr_expect_eq(value_bytes(fixture.set, fixture.a), TOKENS * WIDTH * 4);
    compute(&fixture, fixture.a, GPU, 5);
    cr_assert_eq(value_receive(fixture.set, fixture.a, GPU), TAPML_OK);
    cr_expect_eq(late_counts(fixture.backends[GPU]).waits, 0, "it is queued");
    cr_assert_eq(space_wait(&fixture.spaces, GPU), TAPML_OK);
    const float *on_npu = send_to(&fixture, fixture.a, NPU);
    cr_expect_eq(late_counts(fixture.backends[NPU]).written_bytes, TOKENS * WIDTH * 4);
    cr_assert_eq(space_wait_all(&fixture.spaces), TAPML_OK);
    cr_expect_eq(on_npu[0], 5);
    cr_expect_eq(bytes_at(&fixture, fixture.a, SOURCE)[TOKENS * WIDTH - 1], 5);
    close_fixture(&fixture);
}

Test(value, is_asked_for_where_the_call_has_left_it)
{
    struct fixture fixture;
    const void *memory = NULL;
    open_fixture(&fixture);
    compute(&fixture, fixture.a, GPU, 5);
    end_call(&fixture, fixture.a, GPU);
    cr_assert_eq(value_memory(fixture.set, fixture.a, &memory), TAPML_OK);
    cr_expect_eq(*(const float *)memory, 5);
    cr_assert_eq(value_memory(fixture.set, fixture.a, &memory), TAPML_OK);
    cr_expect_eq(late_counts(fixture.backends[GPU]).reads, 1, "it is there already");
    // In the next call it is computed anew.
    value_set_begin_call(fixture.set, &point);
    compute(&fixture, fixture.a, NPU, 6);
    end_call(&fixture, fixture.a, NPU);
    cr_assert_eq(value_memory(fixture.set, fixture.a, &memory), TAPML_OK);
    cr_expect_eq(*(const float *)memory, 6);
    close_fixture(&fixture);
}

// "b" lies where "x" lay, which a device has yet to read.
Test(value, waits_before_its_slot_takes_the_next_one)
{
    struct fixture fixture;
    open_fixture(&fixture);
    write_input(&fixture, fixture.x, 3);
    const float *on_gpu = send_to(&fixture, fixture.x, GPU);
    compute(&fixture, fixture.b, SOURCE, 4);
    cr_assert_eq(space_wait(&fixture.spaces, GPU), TAPML_OK);
    cr_expect_eq(on_gpu[0], 3);
    cr_expect_eq(bytes_at(&fixture, fixture.b, SOURCE)[0], 4);
    close_fixture(&fixture);
}

// The same for the input of the next call.
Test(value, waits_before_an_input_is_written_again)
{
    struct fixture fixture;
    open_fixture(&fixture);
    write_input(&fixture, fixture.x, 3);
    const float *on_gpu = send_to(&fixture, fixture.x, GPU);
    value_set_begin_call(fixture.set, &point);
    write_input(&fixture, fixture.x, 8);
    cr_assert_eq(space_wait(&fixture.spaces, GPU), TAPML_OK);
    cr_expect_eq(on_gpu[0], 3);
    (void)send_to(&fixture, fixture.x, GPU);
    cr_assert_eq(space_wait(&fixture.spaces, GPU), TAPML_OK);
    cr_expect_eq(on_gpu[0], 8);
    close_fixture(&fixture);
}

Test(value, of_a_state_outlives_the_call)
{
    struct fixture fixture;
    tapml_object *buffer = NULL;
    const void *memory = NULL;
    open_fixture(&fixture);
    cr_assert_eq(space_enter(&fixture.spaces, GPU), TAPML_OK);
    cr_assert_eq(value_update_state(fixture.set, fixture.s, GPU), TAPML_OK);
    cr_assert_eq(value_buffer(fixture.set, fixture.s, GPU, &buffer), TAPML_OK);
    cr_assert_eq(backend_fill(fixture.backends[GPU], buffer, WIDTH * 4, WIDTH * 4, word_of(9)),
                 TAPML_OK);
    space_note_call(&fixture.spaces, GPU);
    value_note_rows(fixture.set, fixture.s, GPU, 1, 2);
    value_set_begin_call(fixture.set, &point);
    cr_assert_eq(value_memory(fixture.set, fixture.s, &memory), TAPML_OK);
    cr_expect_eq(((const float *)memory)[0], 0);
    cr_expect_eq(((const float *)memory)[WIDTH], 9);
    value_set_begin(fixture.set);
    cr_assert_eq(value_memory(fixture.set, fixture.s, &memory), TAPML_OK);
    cr_expect_eq(((const float *)memory)[WIDTH], 0);
    close_fixture(&fixture);
}

// A device has yet to read the state's host memory when an op there changes it.
Test(value, waits_before_a_state_is_changed_in_host_memory)
{
    struct fixture fixture;
    tapml_object *buffer = NULL;
    open_fixture(&fixture);
    for (int number = 1; number <= 2; number++) {
        cr_assert_eq(space_enter(&fixture.spaces, SOURCE), TAPML_OK);
        cr_assert_eq(value_update_state(fixture.set, fixture.s, SOURCE), TAPML_OK);
        cr_assert_eq(value_claim(fixture.set, fixture.s), TAPML_OK);
        cr_assert_eq(value_buffer(fixture.set, fixture.s, SOURCE, &buffer), TAPML_OK);
        ((float *)plain_bytes(buffer))[0] = (float)number;
        space_note_call(&fixture.spaces, SOURCE);
        value_note_rows(fixture.set, fixture.s, SOURCE, 0, 1);
        if (number == 1) {
            cr_assert_eq(space_enter(&fixture.spaces, GPU), TAPML_OK);
            cr_assert_eq(value_update_state(fixture.set, fixture.s, GPU), TAPML_OK);
            const float *on_gpu = bytes_at(&fixture, fixture.s, GPU);
            cr_expect_neq(on_gpu[0], 1, "it is late");
        }
    }
    cr_expect_eq(late_counts(fixture.backends[GPU]).waits, 1);
    close_fixture(&fixture);
}

// What the last call computed is no value of this one.
Test(value, that_no_call_has_left_anywhere_is_our_mistake, .signal = SIGABRT)
{
    struct fixture fixture;
    const void *memory = NULL;
    open_fixture(&fixture);
    compute(&fixture, fixture.a, GPU, 5);
    end_call(&fixture, fixture.a, GPU);
    value_set_begin_call(fixture.set, &point);
    (void)value_memory(fixture.set, fixture.a, &memory);
}

static tapml_status make_set(const struct graph *graph, struct space_set *spaces)
{
    struct value_set *set = NULL;
    TAPML_TRY(value_set_create(graph, spaces, &largest, &set));
    value_set_destroy(set);
    return TAPML_OK;
}

Test(value, survives_a_lack_of_memory)
{
    struct fixture fixture;
    open_fixture(&fixture);
    SCRATCH_SWEEP(make_set(&fixture.sketch.graph, &fixture.spaces));
    close_fixture(&fixture);
}

Test(value, is_rounded_on_its_way_to_a_reduced_place)
{
    struct fixture fixture;
    struct reduced *reduced = NULL;
    const void *memory = NULL;
    open_fixture(&fixture);
    cr_assert_eq(reduced_create(fixture.backends[GPU], ACTIVATION_F16, &reduced), TAPML_OK);
    fixture.spaces.places[GPU].backend = reduced_backend(reduced);
    fixture.spaces.places[GPU].activation = ACTIVATION_F16;
    cr_expect(value_marks(fixture.set)[fixture.x]);
    cr_expect_eq(value_buffer_bytes(fixture.set, fixture.x, SOURCE), 8 * WIDTH * sizeof(float));
    cr_expect_eq(value_buffer_bytes(fixture.set, fixture.x, GPU), 8 * WIDTH * sizeof(uint16_t));
    cr_expect_eq(value_buffer_bytes(fixture.set, fixture.s, GPU), 32 * WIDTH * sizeof(uint16_t));

    write_input(&fixture, fixture.x, 2049);
    cr_assert_eq(value_cast(fixture.set, fixture.x, GPU), TAPML_OK);
    (void)send_to(&fixture, fixture.x, GPU);
    cr_expect_eq(late_counts(fixture.backends[GPU]).written_bytes,
                 TOKENS * WIDTH * sizeof(uint16_t));
    compute(&fixture, fixture.a, GPU, 1.25f); // As words; two halves each.
    cr_assert_eq(value_receive(fixture.set, fixture.a, GPU), TAPML_OK);
    cr_assert_eq(space_wait(&fixture.spaces, GPU), TAPML_OK);
    cr_assert_eq(value_cast_back(fixture.set, fixture.a, GPU), TAPML_OK);
    cr_expect_eq(bytes_at(&fixture, fixture.a, SOURCE)[1], 1.90625f);
    end_call(&fixture, fixture.a, GPU);
    cr_assert_eq(value_memory(fixture.set, fixture.a, &memory), TAPML_OK);
    cr_expect_eq(((const float *)memory)[1], 1.90625f, "0x3fa0 is the upper half of 1.25f");
    cr_expect_eq(((const float *)memory)[0], 0);
    cr_expect_eq(bytes_at(&fixture, fixture.x, SOURCE)[0], 2049,
                 "what the source has stays as it is");
    close_fixture(&fixture);
    reduced_destroy(reduced);
}
