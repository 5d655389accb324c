// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/extent.h"

#include <criterion/criterion.h>

static const int64_t shape[] = {3, 4}, stride[] = {8, 1};

static tapml_tensor make(const int64_t *extents, const int64_t *strides)
{
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                          .dtype = TAPML_F32,
                          .rank = 2,
                          .shape = extents,
                          .stride = strides,
                          .offset = 16};
}

Test(extent, ends_behind_the_last_element)
{
    tapml_tensor tensor = make(shape, NULL);
    uint64_t end = 0;
    cr_assert(extent_end(&tensor, &end));
    cr_expect_eq(end, 16 + 48);
    tensor.stride = stride;
    cr_assert(extent_end(&tensor, &end));
    cr_expect_eq(end, 16 + 4 * (2 * 8 + 3 + 1));
    tensor.rank = 0;
    cr_assert(extent_end(&tensor, &end));
    cr_expect_eq(end, 16 + 4, "one element");
    const int64_t empty[] = {3, 0};
    tensor = make(empty, NULL);
    cr_assert(extent_end(&tensor, &end));
    cr_expect_eq(end, 0);
}

Test(extent, refuses_numbers_that_make_no_sense)
{
    static const int64_t hostile[][2] = {
        {-1, 4}, {INT64_MAX, 4}, {1ll << 62, 1ll << 62}, {3, INT64_MIN}};
    uint64_t end = 0;
    for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
        tapml_tensor tensor = make(hostile[i], NULL);
        cr_expect_not(extent_end(&tensor, &end), "shape %zu", i);
        tensor = make(shape, hostile[i]);
        cr_expect_not(i != 2 && extent_end(&tensor, &end), "stride %zu", i);
    }
    tapml_tensor tensor = make(shape, NULL);
    tensor.offset = UINT64_MAX - 8;
    cr_expect_not(extent_end(&tensor, &end));
    tensor = make(shape, NULL);
    tensor.dtype = 0;
    cr_expect_not(extent_end(&tensor, &end));
    tensor = make(shape, NULL);
    tensor.rank = TAPML_MAX_RANK + 1;
    cr_expect_not(extent_end(&tensor, &end));
}
