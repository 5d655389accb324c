// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "carve/foreign_call.h"
#include "carve/foreign_store.h"
#include "harness/schemas.h"
#include "harness/scratch.h"
#include "schema/catalogue.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct scratch scratch;
static struct catalogue *catalogue;
static struct foreign_store *store;
static const char *path;

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void begin(void)
{
    scratch_make(&scratch);
    path = scratch_path(&scratch, "x.tapmlrun");
    MUST(catalogue_create(&catalogue));
    MUST(catalogue_add(catalogue, &tapml_silu, "test", NULL));
    MUST(foreign_store_open(path, "a model", "a test", catalogue, &store));
}

static void end(void)
{
    foreign_store_close(store);
    store = NULL;
    catalogue_destroy(catalogue);
    scratch_remove(&scratch);
}

TestSuite(foreign_store, .init = begin, .fini = end);

static int64_t part; // Of the calls that are added.

// A call of silu with two rows of two elements.
static tapml_status add(const char *instance, uint32_t version, const float *x, const float *y)
{
    static const int64_t shape[] = {2, 2};
    struct foreign_tensor tensor = {.dtype = TAPML_F32, .rank = 2, .shape = shape, .data = x};
    struct foreign_call *call = NULL;

    TAPML_TRY(foreign_store_begin(store, "tapml.silu", version, instance, &call));
    MUST(foreign_call_give(call, 0, FOREIGN_BEFORE, &tensor, NULL));
    tensor.data = y;
    MUST(foreign_call_give(call, 1, FOREIGN_AFTER, &tensor, NULL));
    const struct foreign_store_call added = {.call = call,
                                             .op = "tapml.silu",
                                             .version = version,
                                             .instance = instance,
                                             .prompt = "a prompt",
                                             .part = part};
    const tapml_status status = foreign_store_add(store, &added);

    foreign_call_destroy(call);
    return status;
}

static const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {9, 10, 11, 12};

Test(foreign_store, calls_become_cases_in_their_order_with_origins)
{
    struct arena *arena = arena_create();
    struct carved_case item;
    int64_t *ids = NULL;
    size_t count = 0;

    MUST(add("first", 1, a, b));
    MUST(add("second", 1, b, c));
    MUST(add("third", 0, c, a));
    MUST(foreign_store_commit(store));
    foreign_store_close(store);
    store = NULL;
    struct store *read = NULL;

    MUST(store_open_to_read(path, &read));
    cr_assert_str_eq(metadata_get(read, "model.name"), "a model");
    cr_assert_str_eq(metadata_get(read, "source"), "a test");
    MUST(stored_case_ids(read, &ids, &count));
    cr_assert_eq(count, 3u);
    MUST(stored_case_load(read, ids[1], arena, &item));
    cr_assert_str_eq(item.instance, "second");
    cr_assert_str_eq(item.arguments[0].origin, "first");
    MUST(stored_case_load(read, ids[2], arena, &item));
    cr_assert_str_eq(item.op_name, "opaque.tapml.silu");
    alloc_free(ids);
    store_close(read);
    arena_destroy(arena);
}

Test(foreign_store, what_was_not_committed_is_not_there)
{
    struct store *read = NULL;
    int64_t *ids = NULL;
    size_t count = 1;

    MUST(add("first", 1, a, b));
    foreign_store_close(store);
    store = NULL;
    MUST(store_open_to_read(path, &read));
    MUST(stored_case_ids(read, &ids, &count));
    cr_assert_eq(count, 0u);
    store_close(read);
}

Test(foreign_store, another_model_and_unknown_names_are_refused)
{
    struct foreign_store *other = NULL;

    cr_assert_eq(foreign_store_open(path, "another", "a test", catalogue, &other),
                 TAPML_PRECONDITION);
    cr_assert_eq(add("with blanks ", 1, a, b), TAPML_INVALID);
    cr_assert_eq(add("x", 9, a, b), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "no operator 'tapml.silu' of version 9"));
    cr_assert_eq(foreign_store_describe(store, "colour", "red"), TAPML_INVALID);
    MUST(foreign_store_describe(store, "device", "a device"));
    MUST(foreign_store_weights_in(store, "a folder"));
    MUST(foreign_store_commit(store));
}

static size_t count_cases(void)
{
    struct store *read = NULL;
    int64_t *ids = NULL;
    size_t count = 0;

    MUST(store_open_to_read(path, &read));
    MUST(stored_case_ids(read, &ids, &count));
    alloc_free(ids);
    store_close(read);
    return count;
}

// What an earlier program has kept is known: the same calls add nothing, wider ones do.
Test(foreign_store, one_that_is_opened_again_keeps_what_is_new)
{
    static const float wide[] = {1, 2, 3, 400};

    MUST(add("first", 1, a, b));
    MUST(foreign_store_commit(store));
    foreign_store_close(store);
    MUST(foreign_store_open(path, "a model", "a test", catalogue, &store));
    part = 1;
    MUST(add("first", 1, b, b));
    MUST(foreign_store_commit(store));
    cr_assert_eq(count_cases(), 1u);
    part = 2;
    MUST(add("second", 1, a, b));
    MUST(add("first", 1, a, wide));
    MUST(foreign_store_commit(store));
    cr_assert_eq(count_cases(), 3u);
}
