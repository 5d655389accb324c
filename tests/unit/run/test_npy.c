// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/scratch.h"
#include "run/npy.h"

#include <criterion/criterion.h>
#include <string.h>

static size_t read_back(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "rb");

    cr_assert_not_null(file);
    const size_t bytes = fread(out, 1, size, file);

    (void)fclose(file);
    return bytes;
}

Test(npy, an_array_has_its_header_and_its_bytes)
{
    static const char expected[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,3), }";
    static const int64_t shape[] = {2, 3};
    static const float values[] = {1, 2, 3, 4, 5, 6};
    struct scratch scratch;
    char found[512];

    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "x.npy");

    cr_assert_eq(npy_write(path, TAPML_F32, shape, 2, values), TAPML_OK, "%s", status_message());
    const size_t bytes = read_back(path, found, sizeof(found));

    cr_assert_eq(bytes, 128 + sizeof(values));
    cr_expect_arr_eq(found, "\x93NUMPY\x01\x00\x76\x00", 10);
    cr_expect_arr_eq(found + 10, expected, sizeof(expected) - 1);
    cr_expect_eq(found[127], '\n');
    cr_expect_arr_eq(found + 128, values, sizeof(values));
    scratch_remove(&scratch);
}

Test(npy, a_row_and_a_scalar_are_written_as_numpy_does)
{
    static const int64_t shape[] = {1};
    static const int32_t value = 7;
    struct scratch scratch;
    char found[512];

    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "x.npy");

    cr_assert_eq(npy_write(path, TAPML_I32, shape, 1, &value), TAPML_OK);
    (void)read_back(path, found, sizeof(found));
    cr_expect_not_null(memmem(found, 128, "'shape': (1,), }", 16));
    cr_assert_eq(npy_write(path, TAPML_I32, NULL, 0, &value), TAPML_OK);
    (void)read_back(path, found, sizeof(found));
    cr_expect_not_null(memmem(found, 128, "'shape': (), }", 14));
    cr_expect_eq(npy_write(path, 12345, NULL, 0, &value), TAPML_INVALID);
    scratch_remove(&scratch);
}
