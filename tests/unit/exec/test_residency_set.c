// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/residency.h"
#include "exec/residency_set.h"
#include "harness/late.h"

#include <criterion/criterion.h>
#include <string.h>

// A panel of 20 bytes is written as two grains, with zeros behind it.
Test(residency_set, writes_whole_grains)
{
    static const unsigned char expected[64] = {[16] = 1, 2,  3,  4,  5,  6,  7,  8,  9,  10,
                                               11,       12, 13, 14, 15, 16, 17, 18, 19, 20};
    struct resident_panel panel = {.data = expected + 16, .bytes = 20};
    struct backend *late = late_create(&(struct late_options){0});
    struct residency *set = NULL;
    tapml_object *buffer = NULL;
    cr_assert_eq(residency_create(late, &set), TAPML_OK);
    cr_assert_eq(backend_buffer_new(late, sizeof(expected), &buffer), TAPML_OK);
    cr_assert_eq(backend_fill(late, buffer, 0, sizeof(expected), 0), TAPML_OK);
    cr_assert_eq(residency_set_write(set, &panel, &(struct residency_spot){buffer, 16, 0}),
                 TAPML_OK);
    cr_assert_eq(backend_wait(late), TAPML_OK);
    cr_expect_arr_eq(late_bytes(buffer), expected, sizeof(expected));
    cr_expect_eq(residency_set_write(set, &panel, &(struct residency_spot){buffer, 16, 1}),
                 TAPML_UNIMPLEMENTED);
    cr_expect_null(residency_set_file(set, expected, sizeof(expected)));
    backend_buffer_free(late, buffer);
    residency_destroy(set);
    backend_release(late);
}
