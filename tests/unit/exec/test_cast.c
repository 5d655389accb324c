// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/cast.h"
#include "exec/reduced.h"
#include "harness/late.h"
#include "harness/places.h"
#include "harness/plain.h"
#include "harness/schemas.h"
#include "harness/sketch.h"
#include "tensor/convert.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

// A source, and two places of f16: one on host memory, one on a device.
enum { SOURCE, HALF, GPU, PLACES, COUNT = 16, BYTES = COUNT * sizeof(float) };

static const activation_set F16 = 1u << ACTIVATION_F16;

struct fixture {
    struct backend *inner[PLACES];
    struct reduced *reduced[PLACES];
    struct space_set set;
    struct space_block block;
    float *values;
};

static void open_fixture(struct fixture *fixture)
{
    static const char *const names[] = {"source", "half", "gpu"};
    struct backend *backends[PLACES];
    void *memory = NULL;
    memset(fixture, 0, sizeof(*fixture));
    fixture->inner[SOURCE] = plain_create();
    fixture->inner[HALF] = plain_create();
    fixture->inner[GPU] = late_create(&(struct late_options){0});
    backends[SOURCE] = fixture->inner[SOURCE];
    for (int i = HALF; i < PLACES; i++) {
        cr_assert_eq(reduced_create(fixture->inner[i], ACTIVATION_F16, &fixture->reduced[i]),
                     TAPML_OK);
        backends[i] = reduced_backend(fixture->reduced[i]);
    }
    struct places places;
    space_set_init(&fixture->set, places_over(&places, backends, names, PLACES), PLACES);
    space_block_init(&fixture->block, activation_bytes(BYTES, F16));
    cr_assert_eq(space_memory(&fixture->set, &fixture->block, &memory), TAPML_OK);
    fixture->values = memory;
    for (int i = 0; i < COUNT; i++) {
        fixture->values[i] = (float)(i + 1);
    }
}

static void close_fixture(struct fixture *fixture)
{
    cr_assert_eq(space_wait_all(&fixture->set), TAPML_OK);
    space_block_release(&fixture->block, &fixture->set);
    space_set_release(&fixture->set);
    cr_expect_eq(late_counts(fixture->inner[GPU]).buffers_alive, 0);
    for (int i = 0; i < PLACES; i++) {
        reduced_destroy(fixture->reduced[i]);
        backend_release(fixture->inner[i]);
    }
}

// Uploads the values [begin, end), and lets the device do it.
static void upload(struct fixture *fixture, uint32_t place, activation_set mark, int begin, int end)
{
    cr_assert_eq(cast_upload(&fixture->set, &fixture->block, place, mark,
                             (uint64_t)begin * sizeof(float), (uint64_t)end * sizeof(float)),
                 TAPML_OK);
    cr_assert_eq(space_wait(&fixture->set, place), TAPML_OK);
}

static void
download(struct fixture *fixture, uint32_t place, activation_set mark, int begin, int end)
{
    cr_assert_eq(cast_download(&fixture->set, &fixture->block, place, mark,
                               (uint64_t)begin * sizeof(float), (uint64_t)end * sizeof(float)),
                 TAPML_OK);
    cr_assert_eq(space_wait(&fixture->set, place), TAPML_OK);
}

static float half_at(const struct fixture *fixture, uint32_t place, int index)
{
    const tapml_object *buffer = fixture->block.buffers[place];
    const uint16_t *halves = place == GPU ? late_bytes(buffer) : plain_bytes(buffer);
    return convert_f16_to_f32(halves[index]);
}

Test(cast, shares_no_memory_and_has_buffers_of_half_the_size)
{
    struct fixture fixture;
    tapml_object *buffer = NULL;
    open_fixture(&fixture);
    cr_expect_eq(fixture.set.places[SOURCE].space, SPACE_HOST);
    cr_expect_neq(fixture.set.places[HALF].space, SPACE_HOST);
    cr_assert_eq(space_buffer(&fixture.set, &fixture.block, HALF, &buffer), TAPML_OK);
    cr_expect_neq(plain_bytes(buffer), fixture.block.memory);
    cr_expect_eq(space_bytes(&fixture.set, &fixture.block, SOURCE), BYTES);
    cr_expect_eq(space_bytes(&fixture.set, &fixture.block, GPU), 64, "32 bytes, in whole groups");
    close_fixture(&fixture);
}

Test(cast, rounds_to_nearest_even_and_widens_exactly)
{
    static const float in[] = {2049, 2051, 0.1f, -65504, 65520, -1e38f, 1e-9f, 0x1p-24f};
    static const float out[] = {2048, 2052, 0x1.998p-4f, -65504, INFINITY, -INFINITY, 0, 0x1p-24f};
    enum { NUMBERS = sizeof(in) / sizeof(*in) };
    for (uint32_t place = HALF; place < PLACES; place++) {
        struct fixture fixture;
        open_fixture(&fixture);
        memcpy(fixture.values, in, sizeof(in));
        fixture.values[NUMBERS] = NAN;
        upload(&fixture, place, F16, 0, COUNT);
        memset(fixture.values, 0, BYTES);
        download(&fixture, place, F16, 0, COUNT);
        cr_expect_arr_eq(fixture.values, out, sizeof(out));
        cr_expect(isnan(fixture.values[NUMBERS]));
        cr_expect_eq(fixture.values[COUNT - 1], COUNT);
        close_fixture(&fixture);
    }
}

Test(cast, moves_a_range_that_begins_and_ends_within_a_grain)
{
    struct fixture fixture;
    open_fixture(&fixture);
    upload(&fixture, GPU, F16, 0, COUNT);
    for (int i = 3; i < 6; i++) {
        fixture.values[i] = (float)(100 + i);
    }
    upload(&fixture, GPU, F16, 3, 6);
    cr_expect_eq(late_counts(fixture.inner[GPU]).written_bytes, BYTES / 2 + 4 * sizeof(uint16_t));
    cr_expect_eq(half_at(&fixture, GPU, 2), 3);
    cr_expect_eq(half_at(&fixture, GPU, 3), 103);
    cr_expect_eq(half_at(&fixture, GPU, 5), 105);
    cr_expect_eq(half_at(&fixture, GPU, 6), 7);
    memset(fixture.values, 0, BYTES);
    download(&fixture, GPU, F16, 3, 6);
    cr_expect_eq(fixture.values[2], 0, "what was not asked for stays");
    cr_expect_eq(fixture.values[3], 103);
    cr_expect_eq(fixture.values[5], 105);
    cr_expect_eq(fixture.values[6], 0);
    close_fixture(&fixture);
}

// The device reads as late as it may: whoever does not wait corrupts what it reads.
Test(cast, waits_before_what_is_on_its_way_is_overwritten)
{
    struct fixture fixture;
    open_fixture(&fixture);
    for (int turn = 0; turn < 2; turn++) {
        fixture.values[0] = (float)turn;
        cr_assert_eq(cast_upload(&fixture.set, &fixture.block, GPU, F16, 0, BYTES), TAPML_OK);
        cr_expect_eq(late_counts(fixture.inner[GPU]).waits, (uint64_t)turn);
    }
    fixture.values[0] = 7;
    cr_assert_eq(space_wait(&fixture.set, GPU), TAPML_OK);
    cr_expect_eq(half_at(&fixture, GPU, 0), 1);
    close_fixture(&fixture);
}

Test(cast, passes_on_what_has_no_mark)
{
    struct fixture fixture;
    open_fixture(&fixture);
    space_block_release(&fixture.block, &fixture.set);
    space_block_init(&fixture.block, activation_bytes(BYTES, 0));
    void *memory = NULL;
    cr_assert_eq(space_memory(&fixture.set, &fixture.block, &memory), TAPML_OK);
    fixture.values = memory;
    fixture.values[1] = 0.1f;
    upload(&fixture, GPU, 0, 0, COUNT);
    fixture.values[1] = 0;
    download(&fixture, GPU, 0, 0, COUNT);
    cr_expect_eq(fixture.values[1], 0.1f);
    cr_expect_null(fixture.block.casted);
    close_fixture(&fixture);
}

// y = rope(x, cos, sin), z = silu(a view of y), t = embed(weight, ids).
Test(cast, marks_what_no_op_takes_as_f32_alone)
{
    struct sketch sketch;
    activation_set marks[SKETCH_VALUES_MAX];
    const struct affine rows = sketch_sum(0, 1);
    sketch_init(&sketch);
    const uint32_t x = sketch_value(&sketch, GRAPH_INPUT, "x", rows, 8);
    const uint32_t cos_ = sketch_value(&sketch, GRAPH_INPUT, "cos", rows, 4);
    const uint32_t sin_ = sketch_value(&sketch, GRAPH_INPUT, "sin", rows, 4);
    const uint32_t y = sketch_value(&sketch, GRAPH_COMPUTED, "y", rows, 8);
    const uint32_t view = sketch_columns(&sketch, y, 2, 6);
    const uint32_t z = sketch_value(&sketch, GRAPH_COMPUTED, "z", rows, 4);
    const uint32_t weight = sketch_value(&sketch, GRAPH_WEIGHT, "w", sketch_sum(9, 0), 8);
    const uint32_t ids = sketch_value(&sketch, GRAPH_INPUT, "ids", rows, 0);
    const uint32_t t = sketch_value(&sketch, GRAPH_COMPUTED, "t", rows, 8);
    sketch.values[ids].dtype = TAPML_I32;
    sketch_op(&sketch, &tapml_rope, "y", (const uint32_t[]){x, cos_, sin_, y});
    sketch_op(&sketch, &tapml_silu, "z", (const uint32_t[]){view, z});
    sketch_op(&sketch, &tapml_embed, "t", (const uint32_t[]){weight, ids, t});
    cast_mark(&sketch.graph, marks);
    cr_expect(marks[x] && marks[y] && marks[view] && marks[z] && marks[t]);
    cr_expect_not(marks[cos_] || marks[sin_], "tables of angles are f32 alone");
    cr_expect_not(marks[weight] || marks[ids]);
}

Test(cast, knows_what_a_schema_takes)
{
    cr_expect(compiled_takes(schema_of(&tapml_silu), 0, TAPML_F16));
    cr_expect(compiled_takes(schema_of(&tapml_silu), 1, TAPML_F16), "of the type of x");
    cr_expect_not(compiled_takes(schema_of(&tapml_rope), 1, TAPML_F16));
    cr_expect_not(compiled_takes(schema_of(&tapml_embed), 1, TAPML_F16));
    cr_expect_not(compiled_takes(schema_of(&tapml_silu), 0, TAPML_BF16), "no schema takes it yet");
}
