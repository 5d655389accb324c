// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/slice.h"

#include <criterion/criterion.h>
#include <string.h>

static const int64_t shape[] = {2, 6, 10};

static void expect(const char *text, const int64_t begin[3], const int64_t end[3])
{
    struct slice slice;
    cr_assert_eq(slice_parse(text, shape, 3, &slice), TAPML_OK, "%s: %s", text ? text : "NULL",
                 status_message());
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(slice.begin[i], begin[i], "%s, axis %d", text, i);
        cr_expect_eq(slice.end[i], end[i], "%s, axis %d", text, i);
    }
}

Test(slice, indices_and_ranges_are_read)
{
    expect(NULL, (int64_t[]){0, 0, 0}, (int64_t[]){2, 6, 10});
    expect("", (int64_t[]){0, 0, 0}, (int64_t[]){2, 6, 10});
    expect("1", (int64_t[]){1, 0, 0}, (int64_t[]){2, 6, 10});
    expect("0, 2:5, :", (int64_t[]){0, 2, 0}, (int64_t[]){1, 5, 10});
    expect(":,:3,-2:", (int64_t[]){0, 0, 8}, (int64_t[]){2, 3, 10});
    expect("-1 , 4: , 3:99", (int64_t[]){1, 4, 3}, (int64_t[]){2, 6, 10});
}

Test(slice, what_is_wrong_is_said_with_the_shape)
{
    static const char *const wrong[] = {"2",   "-3",   "0,7",   "x",       "0 1", "0,",
                                        ",",   "1:0",  "::2",   "0,0,0,0", "0;1", "99:1000",
                                        "1.5", "0,,1", "0,6:9", "1:1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct slice slice;
        const tapml_status status = slice_parse(wrong[i], shape, 3, &slice);
        // A comma at the end leaves the other axes out.
        if (strcmp(wrong[i], "0,") == 0) {
            cr_expect_eq(status, TAPML_OK);
            continue;
        }
        cr_expect_eq(status, TAPML_INVALID, "%s", wrong[i]);
        cr_expect_not_null(strstr(status_message(), "shape [2, 6, 10]"), "%s", status_message());
    }
}

Test(slice, elements_are_where_they_lie)
{
    struct slice slice;
    int64_t indices[TAPML_MAX_RANK];
    cr_assert_eq(slice_parse("1,2:4,5:", shape, 3, &slice), TAPML_OK);
    cr_assert_eq(slice_count(&slice), 10u);
    cr_expect_eq(slice_at(&slice, shape, 0, indices), 1u * 60 + 2 * 10 + 5);
    cr_expect_eq(slice_at(&slice, shape, 6, indices), 1u * 60 + 3 * 10 + 6);
    cr_expect_eq(indices[0], 1);
    cr_expect_eq(indices[1], 3);
    cr_expect_eq(indices[2], 6);
}

Test(slice, a_scalar_has_one_element)
{
    struct slice slice;
    int64_t indices[TAPML_MAX_RANK];
    cr_assert_eq(slice_parse(NULL, NULL, 0, &slice), TAPML_OK);
    cr_expect_eq(slice_count(&slice), 1u);
    cr_expect_eq(slice_at(&slice, NULL, 0, indices), 0u);
    cr_expect_eq(slice_parse("0", NULL, 0, &slice), TAPML_INVALID);
}
