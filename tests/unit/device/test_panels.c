// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/panels.h"

#include <criterion/criterion.h>

static tapml_object objects[3];
static struct handles handles;

static const tapml_param read_param = {
    .hdr = TAPML_HDR(tapml_param), .name = "x", .kind = TAPML_P_TENSOR_IN};
static const tapml_param written_param = {
    .hdr = TAPML_HDR(tapml_param), .name = "y", .kind = TAPML_P_TENSOR_OUT};
static const tapml_param state_param = {.hdr = TAPML_HDR(tapml_param),
                                        .name = "state",
                                        .kind = TAPML_P_TENSOR_INOUT,
                                        .effects = TAPML_E_STATE_WRITE};

// A buffer of 64 bytes, one that is only read, and one that is gone.
static void begin(void)
{
    static const uint32_t access[] = {TAPML_ACCESS_READ | TAPML_ACCESS_WRITE, TAPML_ACCESS_READ,
                                      TAPML_ACCESS_READ | TAPML_ACCESS_WRITE};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(handles_reserve(&handles), TAPML_OK);
        handles_add(&handles, &objects[i], 64, access[i]);
    }
    handles_free(&handles, handles_find(&handles, &objects[2]));
}

static void end(void)
{
    handles_release(&handles);
}

TestSuite(panels, .init = begin, .fini = end);

static const int64_t shape[] = {2, 4}, larger[] = {3, 8};

static tapml_tensor panel_of(tapml_object *buffer, uint64_t offset)
{
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                          .buffer = buffer,
                          .dtype = TAPML_F32,
                          .rank = 2,
                          .shape = shape,
                          .offset = offset};
}

Test(panels, parameters_that_a_call_writes)
{
    cr_expect_not(panels_are_written(&read_param));
    cr_expect(panels_are_written(&written_param));
    cr_expect(panels_are_written(&state_param));
}

Test(panels, lie_inside_of_a_buffer_that_is_alive)
{
    tapml_tensor panel = panel_of(&objects[0], 32);
    cr_expect_null(panels_find_wrong(&handles, &read_param, &panel));
    cr_expect_null(panels_find_wrong(&handles, &written_param, &panel));
    panel.offset = 36; // Ends four bytes behind it.
    cr_expect_eq(panels_find_wrong(&handles, &read_param, &panel), &panel);
    panel.offset = UINT64_MAX - 3;
    cr_expect_eq(panels_find_wrong(&handles, &read_param, &panel), &panel);
    panel.offset = 2; // Not a whole element.
    cr_expect_eq(panels_find_wrong(&handles, &read_param, &panel), &panel);
    panel.offset = 0;
    panel.shape = larger;
    cr_expect_eq(panels_find_wrong(&handles, &read_param, &panel), &panel);
    panel = panel_of(&objects[2], 0);
    cr_expect_eq(panels_find_wrong(&handles, &read_param, &panel), &panel);
    panel.buffer = NULL;
    cr_expect_eq(panels_find_wrong(&handles, &read_param, &panel), &panel);
}

Test(panels, are_not_written_where_memory_is_only_read)
{
    const tapml_tensor panel = panel_of(&objects[1], 0);
    cr_expect_null(panels_find_wrong(&handles, &read_param, &panel));
    cr_expect_eq(panels_find_wrong(&handles, &written_param, &panel), &panel);
}

Test(panels, are_looked_at_to_the_last)
{
    tapml_tensor last = panel_of(&objects[0], 32), first = panel_of(&objects[0], 0);
    first.next = &last;
    cr_expect_null(panels_find_wrong(&handles, &written_param, &first));
    last.buffer = &objects[1];
    cr_expect_eq(panels_find_wrong(&handles, &written_param, &first), &last);
}
