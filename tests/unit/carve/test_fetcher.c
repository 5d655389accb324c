// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "carve/fetcher.h"
#include "harness/late.h"
#include "harness/plugin_fixture.h"
#include "store/case.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { ROWS = 4, COLUMNS = 5, VALUES = ROWS * COLUMNS };

static struct plugin_fixture plugins;
static struct backend *inner, *late;
static struct fetcher under_test;
static float values[VALUES];

// A tensor [4, 5] of f32 in a buffer of its own.
static tapml_tensor tensor;
static tapml_value value;
static struct case_argument argument;
static struct fetch_from from;

static void open_over(struct backend *backend)
{
    fetcher_init(&under_test, backend);
    tensor = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2};
    MUST(backend_buffer_new(backend, sizeof(values), &tensor.buffer));
    MUST(backend_write(backend, tensor.buffer, 0, values, sizeof(values)));
    value = (tapml_value){.kind = TAPML_P_TENSOR_IN, .u.p = &tensor};
    argument = (struct case_argument){.name = "x",
                                      .kind = TAPML_P_TENSOR_IN,
                                      .dtype = TAPML_F32,
                                      .rank = 2,
                                      .shape = {ROWS, COLUMNS},
                                      .stride = {COLUMNS, 1},
                                      .base_bytes = sizeof(values),
                                      .content_bytes = sizeof(values)};
    from = (struct fetch_from){.argument = &argument, .value = &value, .name = "a"};
}

static void begin(void)
{
    plugin_fixture_open(&plugins);
    inner = plugin_fixture_backend(&plugins, "reference:f32");
    late = late_create(&(struct late_options){.inner = inner});
    for (int i = 0; i < VALUES; i++) {
        values[i] = (float)i;
    }
}

static void end(void)
{
    backend_buffer_free(under_test.backend, tensor.buffer);
    fetcher_release(&under_test);
    backend_release(late);
    backend_release(inner);
    plugin_fixture_close(&plugins);
}

TestSuite(fetcher, .init = begin, .fini = end, .timeout = 60);

static struct blob *fetch(void)
{
    struct blob *blob = NULL;
    MUST(fetcher_end(&under_test, fetcher_begin(&under_test, &from, &blob)));
    cr_assert_not_null(blob);
    cr_assert_eq(blob->bytes, argument.content_bytes);
    return blob;
}

// Columns 1 to 3 of all rows.
static void take_columns(void)
{
    argument.shape[1] = 3;
    argument.offset_bytes = sizeof(float);
    argument.content_bytes = ROWS * 3 * sizeof(float);
}

static void expect_columns(const struct blob *blob)
{
    float found[ROWS][3];
    memcpy(found, blob->data, sizeof(found));
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < 3; column++) {
            cr_assert_eq(found[row][column], values[row * COLUMNS + column + 1]);
        }
    }
}

static void expect_dense_and_strided(void)
{
    struct blob *whole = fetch();
    cr_assert_arr_eq(whole->data, values, sizeof(values));
    blob_unref(whole);
    take_columns();
    struct blob *part = fetch();
    expect_columns(part);
    blob_unref(part);
}

Test(fetcher, reads_memory_of_the_host)
{
    open_over(inner);
    expect_dense_and_strided();
}

Test(fetcher, reads_an_asynchronous_device)
{
    open_over(late);
    expect_dense_and_strided();
}

Test(fetcher, shows_dense_contents_where_they_lie)
{
    const void *data = NULL;
    open_over(inner);
    MUST(fetcher_map(&under_test, &from, &data));
    cr_assert_not_null(data);
    cr_assert_arr_eq(data, values, sizeof(values));
    fetcher_unmap(&under_test, &from);
    take_columns();
    MUST(fetcher_map(&under_test, &from, &data));
    cr_assert_null(data, "not dense");
}

Test(fetcher, shows_nothing_of_a_device)
{
    const void *data = values;
    open_over(late);
    MUST(fetcher_map(&under_test, &from, &data));
    cr_assert_null(data);
}

Test(fetcher, what_a_case_has_is_shared_until_it_changes)
{
    open_over(inner);
    struct blob *first = fetch();
    MUST(fetcher_note(&under_test, &from, first));
    struct blob *again = fetch();
    cr_assert_eq(again, first);
    blob_unref(again);

    // Other words for the same bytes share them too; another value in the same place does not.
    argument.rank = 1;
    argument.shape[0] = VALUES;
    argument.stride[0] = 1;
    again = fetch();
    cr_assert_eq(again, first);
    blob_unref(again);
    from.name = "b";
    struct blob *other = fetch();
    cr_assert_neq(other, first);
    blob_unref(other);
    from.name = "a";

    fetcher_forget(&under_test, (const tapml_object *)values); // Not its buffer.
    again = fetch();
    cr_assert_eq(again, first);
    blob_unref(again);

    values[0] = 77;
    fetcher_forget(&under_test, tensor.buffer);
    MUST(backend_write(inner, tensor.buffer, 0, values, sizeof(values)));
    other = fetch();
    cr_assert_neq(other, first);
    cr_assert_arr_eq(other->data, values, sizeof(values));
    blob_unref(other);
    blob_unref(first);
}

Test(fetcher, parts_and_strided_contents_are_not_shared)
{
    open_over(inner);
    struct blob *whole = fetch();
    MUST(fetcher_note(&under_test, &from, whole));
    take_columns();
    struct blob *part = fetch();
    expect_columns(part);
    MUST(fetcher_note(&under_test, &from, part));
    struct blob *again = fetch();
    cr_assert_neq(again, part);
    expect_columns(again);
    blob_unref(again);
    blob_unref(part);
    blob_unref(whole);
}

Test(fetcher, notes_go_with_the_fetcher)
{
    open_over(inner);
    const size_t live = alloc_live();
    struct blob *blob = fetch();
    MUST(fetcher_note(&under_test, &from, blob));
    blob_unref(blob);
    fetcher_release(&under_test);
    cr_assert_eq(alloc_live(), live);
    fetcher_init(&under_test, inner);
}
