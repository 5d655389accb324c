// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "base/file.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "run/bundle_search.h"
#include "store/bundle.h"
#include "store/store.h"
#include "store/store_open.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct bundle_search search;

static void make_bundle(const char *name, const char *instance)
{
    const struct bundle_metadata metadata[] = {{BUNDLE_METADATA_INSTANCE, instance}};
    struct cases_silu made;
    struct store *store = NULL;

    cases_make_silu(&made, instance, 0);
    MUST(bundle_create(scratch_path(&scratch, name), &made.item, metadata, 1, &store));
    store_close(store);
}

// Two bundles, a copy of one of them, and what is none.
static void begin(void)
{
    struct store *store = NULL;

    scratch_make(&scratch);
    MUST(file_make_folder(scratch_path(&scratch, "runs/b/deep")));
    MUST(file_make_folder(scratch_path(&scratch, "runs/.hidden")));
    make_bundle("runs/FAULT-2.tapmlrun", "layers.1/silu");
    make_bundle("runs/b/FAULT-1.tapmlrun", "layers.0/silu");
    make_bundle("runs/b/deep/copy.tapmlrun", "layers.0/silu");
    make_bundle("runs/.hidden/FAULT-1.tapmlrun", "layers.7/silu");
    MUST(store_open(scratch_path(&scratch, "runs/run.tapmlrun"), 1, &store));
    store_close(store);
    scratch_text(&scratch, "runs/notes.txt", "no store");
    search = (struct bundle_search){.arena = arena_create()};
    cr_assert_eq(setenv(BUNDLE_SEARCH_VARIABLE, scratch.folder, 1), 0);
}

static void end(void)
{
    bundle_search_release(&search);
    arena_destroy(search.arena);
    scratch_remove(&scratch);
}

TestSuite(bundle_search, .init = begin, .fini = end);

static const char *name_at(size_t index)
{
    return search.items[index].path + strlen(scratch.folder) + strlen("/runs/");
}

Test(bundle_search, a_folder_stands_for_all_below_it_in_the_order_of_names)
{
    MUST(bundle_search_add(&search, scratch_path(&scratch, "runs")));
    cr_assert_eq(search.count, 3);
    cr_assert_str_eq(name_at(0), "FAULT-2.tapmlrun");
    cr_assert_str_eq(name_at(1), "b/FAULT-1.tapmlrun");
    cr_assert_str_eq(name_at(2), "b/deep/copy.tapmlrun");
    cr_assert_str_eq(search.items[1].tags.id, search.items[2].tags.id);
    cr_assert_str_neq(search.items[0].tags.id, search.items[1].tags.id);
    cr_assert_eq(search.unreadable, 0);
}

Test(bundle_search, conditions_choose)
{
    const struct bundle_condition condition = {.key = "instance", .value = "layers.1/*"};

    search.conditions = &condition;
    search.condition_count = 1;
    MUST(bundle_search_add_all(&search));
    cr_assert_eq(search.count, 1);
    cr_assert_str_eq(name_at(0), "FAULT-2.tapmlrun");
}

Test(bundle_search, what_cannot_be_read_is_counted_in_a_folder_and_refused_by_name)
{
    scratch_text(&scratch, "runs/damaged.tapmlrun", "a letter, no store");
    MUST(bundle_search_add(&search, scratch_path(&scratch, "runs")));
    cr_assert_eq(search.count, 3);
    cr_assert_eq(search.unreadable, 1);
    cr_assert_eq(bundle_search_add(&search, scratch_path(&scratch, "runs/damaged.tapmlrun")),
                 TAPML_INVALID);
    cr_assert_eq(bundle_search_add(&search, scratch_path(&scratch, "runs/run.tapmlrun")),
                 TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "expected a bundle or a pack"));
    cr_assert_eq(bundle_search_add(&search, scratch_path(&scratch, "none")), TAPML_NOT_FOUND);
}

Test(bundle_search, a_link_is_not_followed)
{
    char link[2 * SCRATCH_PATH];

    (void)snprintf(link, sizeof(link), "%s", scratch_path(&scratch, "runs/b/round"));
    cr_assert_eq(symlink(scratch_path(&scratch, "runs"), link), 0);
    MUST(bundle_search_add(&search, scratch_path(&scratch, "runs")));
    cr_assert_eq(search.count, 3);
}

Test(bundle_search, the_variable_names_folders_that_need_not_be_there)
{
    char list[4 * SCRATCH_PATH];

    (void)snprintf(list, sizeof(list), "%s/none::%s/runs/b:", scratch.folder, scratch.folder);
    cr_assert_eq(setenv(BUNDLE_SEARCH_VARIABLE, list, 1), 0);
    MUST(bundle_search_add_all(&search));
    cr_assert_eq(search.count, 2);
}

Test(bundle_search, an_id_is_found_wherever_its_copies_lie)
{
    const char *path = NULL;
    char id[HASH_TEXT];

    MUST(bundle_search_add(&search, scratch_path(&scratch, "runs/b/deep")));
    (void)snprintf(id, sizeof(id), "%.10s", search.items[0].tags.id);
    bundle_search_release(&search);
    MUST(bundle_search_find(&search, id, &path));
    cr_assert_not_null(strstr(path, "runs/b/FAULT-1.tapmlrun"));
    bundle_search_release(&search);
    cr_assert_eq(bundle_search_find(&search, "00000000", &path), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "no bundle or pack of this id"));
    bundle_search_release(&search);
    cr_assert_eq(bundle_search_find(&search, "", &path), TAPML_INVALID, "all begin so");
    cr_assert_not_null(strstr(status_message(), "begins the ids of"));
}

Test(bundle_search, ids_have_eight_digits_at_least)
{
    cr_assert(bundle_search_is_id("0123abcd"));
    cr_assert_not(bundle_search_is_id("0123abc"));
    cr_assert_not(bundle_search_is_id("0123abcD"));
    cr_assert_not(bundle_search_is_id("run.tapmlrun"));
    cr_assert_not(bundle_search_is_id("00000000000000000000000000000000a"));
}
