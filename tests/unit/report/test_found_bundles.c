// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "report/found_bundles.h"
#include "run/recorded_on.h"
#include "store/bundle.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"

#include <criterion/redirect.h>
#include <jansson.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct bundle_search search;
static json_t *items;

static void begin(void)
{
    const struct bundle_metadata metadata[] = {{BUNDLE_METADATA_INSTANCE, "layers.0/silu"},
                                               {"model.name", "llama"}};
    const struct recorded_on phone = {"phone", "vulkan", "0",    "a card", "24.1",
                                      "q",     "2",      "3a01", "fail",   ""};
    struct cases_silu made;
    struct store *store = NULL;

    scratch_make(&scratch);
    cases_make_silu(&made, "layers.0/silu", 0);
    MUST(
        bundle_create(scratch_path(&scratch, "FAULT-1.tapmlrun"), &made.item, metadata, 2, &store));
    MUST(recorded_on_write(store, 0, &phone));
    MUST(recorded_on_write(store, 1, &phone));
    store_close(store);
    search = (struct bundle_search){.arena = arena_create()};
    MUST(bundle_search_add(&search, scratch.folder));
    MUST(found_bundles_make(&search, &items));
}

static void end(void)
{
    json_decref(items);
    bundle_search_release(&search);
    arena_destroy(search.arena);
    scratch_remove(&scratch);
}

TestSuite(found_bundles, .init = begin, .fini = end);

Test(found_bundles, have_all_values_of_their_tags)
{
    const json_t *item = json_array_get(items, 0);
    const json_t *tags = json_object_get(item, "tags");
    const json_t *recorded = json_object_get(item, "recorded");

    cr_assert_eq(json_array_size(items), 1);
    cr_assert_str_eq(json_string_value(json_object_get(item, "kind")), "case");
    cr_assert_eq(strlen(json_string_value(json_object_get(item, "id"))), 32);
    cr_assert_eq(json_integer_value(json_object_get(item, "cases")), 1);
    cr_assert_str_eq(json_string_value(json_array_get(json_object_get(tags, "op"), 0)),
                     "tapml.silu");
    cr_assert_null(json_object_get(tags, "id"), "said apart");
    cr_assert_null(json_object_get(tags, "target"), "of places");
    cr_assert_eq(json_array_size(recorded), 2);
    const json_t *verdict = json_object_get(json_array_get(recorded, 1), "verdict");

    cr_assert_str_eq(json_string_value(json_array_get(verdict, 0)), "fail");
}

Test(found_bundles, are_printed_in_a_line_each)
{
    char read[1024] = "";

    cr_redirect_stdout();
    found_bundles_print(items);
    (void)fflush(stdout);
    FILE *out = cr_get_redirected_stdout();
    const size_t size = fread(read, 1, sizeof(read) - 1, out);

    cr_assert_gt(size, 0);
    cr_assert_not_null(strstr(read, "recorded on"), "%s", read);
    cr_assert_not_null(strstr(read, "case       1 silu       fail +1 vulkan:0 +1 llama "), "%s",
                       read);
    cr_assert_not_null(strstr(read, "FAULT-1.tapmlrun\n"), "%s", read);
}
