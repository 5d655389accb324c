// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/handles.h"

#include <criterion/criterion.h>

enum { COUNT = 5000 };

static tapml_object objects[COUNT];

static void add(struct handles *handles, int index)
{
    cr_assert_eq(handles_reserve(handles), TAPML_OK);
    handles_add(handles, &objects[index], (uint64_t)index, 1);
}

Test(handles, are_found_alive_and_freed)
{
    struct handles handles = {0};
    cr_expect_null(handles_find(&handles, &objects[0]), "an empty table");
    for (int i = 0; i < COUNT; i++) {
        add(&handles, i);
    }
    for (int i = 0; i < COUNT; i += 2) {
        handles_free(&handles, handles_find(&handles, &objects[i]));
    }
    cr_expect_eq(handles.alive, COUNT / 2);
    for (int i = 0; i < COUNT; i++) {
        const struct handle *handle = handles_find(&handles, &objects[i]);
        cr_assert_not_null(handle);
        cr_expect_eq(handle->is_alive, i % 2);
        cr_expect_eq(handle->bytes, (uint64_t)i);
        cr_expect_eq(handle->number, (uint32_t)i + 1);
    }
    cr_expect_null(handles_find(&handles, NULL));
    handles_release(&handles);
    cr_expect_eq(handles.capacity, 0);
}

Test(handles, of_an_address_taken_again_are_the_new_one)
{
    struct handles handles = {0};
    for (int i = 0; i < COUNT; i++) { // The table does not grow with what was freed.
        add(&handles, i % 4);
        const struct handle *handle = handles_find(&handles, &objects[i % 4]);
        cr_assert(handle && handle->is_alive);
        cr_expect_eq(handle->number, (uint32_t)i + 1);
        handles_free(&handles, handles_find(&handles, &objects[i % 4]));
    }
    cr_expect_eq(handles.capacity, 256);
    handles_release(&handles);
}
