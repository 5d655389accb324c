// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "compiled.h"
#include "exec/step_count.h"

static struct step_count count(struct fixture *fixture, const uint8_t *places)
{
    const struct affine_point point = {.value = {2, 0, 2, CAPACITY}},
                              largest = {.value = {4, CAPACITY - 1, 4, CAPACITY}};
    struct program *program = NULL;
    struct step_count found;
    cr_assert_eq(compile(fixture, places, 0, &program), TAPML_OK, "%s", status_message());
    const struct step_count_options options = {.graph = &fixture->sketch.graph,
                                               .spaces = &fixture->spaces,
                                               .values = fixture->values,
                                               .program = program,
                                               .places = places,
                                               .point = &point,
                                               .largest = &largest};
    cr_assert_eq(step_count_make(&options, &found), TAPML_OK, "%s", status_message());
    program_destroy(program);
    return found;
}

Test(step_count, on_the_source_nothing_crosses)
{
    struct fixture fixture;
    open_fixture(&fixture);
    const struct step_count found = count(&fixture, (const uint8_t[]){0, 0, 0, 0});
    cr_expect_eq(step_count_moves(&found), 0u);
    cr_expect_eq(step_count_bytes(&found), 0u);
    cr_expect_eq(found.places[SOURCE].calls, 4u);
    cr_expect_eq(found.places[SOURCE].weights_bytes, 256u);
    cr_expect_gt(found.places[SOURCE].activations_bytes, 0u);
    cr_expect_eq(step_count_memory(&found.places[GPU]), 0u);
    close_fixture(&fixture);
}

// The product reads what the norm has computed, and its result goes back: 2 rows of 8 floats each.
Test(step_count, what_crosses_is_counted_at_the_device)
{
    struct fixture fixture;
    open_fixture(&fixture);
    const struct step_count found = count(&fixture, (const uint8_t[]){SOURCE, GPU, SOURCE, SOURCE});
    cr_expect_eq(found.places[GPU].moves_in, 1u);
    cr_expect_eq(found.places[GPU].moves_out, 1u);
    cr_expect_eq(found.places[GPU].bytes_in, 64u);
    cr_expect_eq(found.places[GPU].bytes_out, 64u);
    cr_expect_eq(found.places[GPU].weights_bytes, 256u);
    cr_expect_eq(found.places[GPU].activations_bytes, 2 * 128u, "two slots of four rows");
    cr_expect_eq(found.places[SOURCE].moves_in + found.places[SOURCE].moves_out, 0u);
    cr_expect_eq(found.places[SOURCE].weights_bytes, 0u);
    cr_expect_eq(step_count_moves(&found), 2u);
    close_fixture(&fixture);
}

Test(step_count, between_two_devices_values_cross_twice)
{
    struct fixture fixture;
    open_fixture(&fixture);
    const struct step_count found = count(&fixture, (const uint8_t[]){GPU, NPU, NPU, GPU});
    // x comes in; norm goes out and into the npu; act goes out and into the gpu. The host fetches y
    // if it is asked for.
    cr_expect_eq(found.places[GPU].moves_in, 2u);
    cr_expect_eq(found.places[GPU].moves_out, 1u);
    cr_expect_eq(found.places[NPU].moves_in, 1u);
    cr_expect_eq(found.places[NPU].moves_out, 1u);
    close_fixture(&fixture);
}
