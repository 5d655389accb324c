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

// An array with a header of our choice, as the length of version 1.0 says it.
static size_t make(char *out, const char *dictionary, const void *data, size_t size)
{
    const size_t length = strlen(dictionary);

    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(length & 0xff);
    out[9] = (char)(length >> 8);
    memcpy(out + 10, dictionary, length);
    memcpy(out + 10 + length, data, size);
    return 10 + length + size;
}

Test(npy, what_was_written_is_read_again)
{
    static const int64_t shape[] = {2, 3};
    static const float values[] = {1, 2, 3, 4, 5, 6};
    struct scratch scratch;
    struct npy_array array;
    char found[512];

    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "x.npy");

    cr_assert_eq(npy_write(path, TAPML_F32, shape, 2, values), TAPML_OK);
    const size_t bytes = read_back(path, found, sizeof(found));

    cr_assert_eq(npy_read("x", found, bytes, &array), TAPML_OK, "%s", status_message());
    cr_expect(array.dtype == TAPML_F32 && array.rank == 2 && array.shape[1] == 3);
    cr_expect_eq(array.bytes, sizeof(values));
    cr_expect_arr_eq(array.data, values, sizeof(values));
    cr_expect_eq(npy_read("x", found, bytes - 1, &array), TAPML_INVALID);
    scratch_remove(&scratch);
}

Test(npy, columns_become_rows)
{
    static const char columns[] = {1, 4, 2, 5, 3, 6}, rows[] = {1, 2, 3, 4, 5, 6};
    struct npy_array array;
    char found[256], copied[6];
    const size_t bytes =
        make(found, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", columns, 6);

    cr_assert_eq(npy_read("x", found, bytes, &array), TAPML_OK, "%s", status_message());
    npy_copy(&array, copied);
    cr_expect_arr_eq(copied, rows, 6);
}

Test(npy, headers_that_lie_are_refused)
{
    static const char *const wrong[] = {
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape':",
        "{'descr': '<f4', 'fortran_order': False, 'shape': )",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,4)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
    };
    struct npy_array array;
    char found[256];

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const size_t bytes = make(found, wrong[i], "abcd", 4);

        cr_expect_eq(npy_read("x", found, bytes, &array), TAPML_INVALID, "%s", wrong[i]);
        cr_expect_eq(npy_read("x", found, 9, &array), TAPML_INVALID);
    }
    const size_t bytes =
        make(found, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "abcdefgh", 8);

    cr_assert_eq(npy_read("x", found, bytes, &array), TAPML_OK);
    cr_expect_eq(array.dtype, 0u, "a type that is no dtype");
    cr_expect_eq(npy_read("x", "nothing of the kind", 19, &array), TAPML_INVALID);
}

Test(npy, what_is_written_of_bf16_is_read_as_such)
{
    static const uint16_t values[] = {0x3f80, 0x4000};
    static const int64_t shape[] = {2};
    struct npy_array array;
    struct scratch scratch;
    char found[512];

    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "x.npy");

    cr_assert_eq(npy_write(path, TAPML_BF16, shape, 1, values), TAPML_OK);
    const size_t bytes = read_back(path, found, sizeof(found));

    cr_assert_eq(npy_read("x", found, bytes, &array), TAPML_OK, "%s", status_message());
    cr_expect_eq(array.dtype, TAPML_BF16);
    cr_expect_arr_eq(array.data, values, sizeof(values));
    char *type = memmem(found, bytes, "<u2", 3);

    cr_assert_not_null(type);
    memcpy(type, "|V2", 3);
    cr_assert_eq(npy_read("x", found, bytes, &array), TAPML_OK, "%s", status_message());
    cr_expect_eq(array.dtype, TAPML_BF16);
    memcpy(type, "<i2", 3);
    cr_assert_eq(npy_read("x", found, bytes, &array), TAPML_OK, "%s", status_message());
    cr_expect_eq(array.dtype, 0);
    scratch_remove(&scratch);
}
