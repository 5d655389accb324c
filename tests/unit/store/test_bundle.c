// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "store/bundle.h"
#include "store/case.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct arena *arena;
static struct cases_norm made;
static char path[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "FAULT-1.tapmlrun"));
    arena = arena_create();
    cr_assert_not_null(arena);
    cases_make_norm(&made, "layers.0/norm", 0);
    made.arguments[1].before = made.weight;
}

static void end(void)
{
    arena_destroy(arena);
    scratch_remove(&scratch);
}

TestSuite(bundle, .init = begin, .fini = end);

static void write_bundle(void)
{
    const struct bundle_metadata metadata[] = {{BUNDLE_METADATA_INSTANCE, "layers.0/norm"},
                                               {BUNDLE_METADATA_REASON, NULL}};
    struct store *store = NULL;
    MUST(bundle_create(path, &made.item, metadata, 2, &store));
    store_close(store);
}

static tapml_status load(struct carved_case *out_case)
{
    struct store *store = NULL;
    TAPML_TRY(store_open(path, 0, &store));
    const tapml_status status = stored_case_load(store, 1, arena, out_case);
    store_close(store);
    return status;
}

Test(bundle, carries_its_weights)
{
    struct carved_case again;
    write_bundle();
    MUST(load(&again));
    cr_assert_str_eq(again.instance, "layers.0/norm");
    cr_assert_arr_eq(again.arguments[1].before, made.weight, sizeof(made.weight));
    cr_assert_arr_eq(again.arguments[4].after, made.y, sizeof(made.y));
    cr_assert(!file_exists(scratch_path(&scratch, "FAULT-1.tapmlrun-wal")), "it is one file");
}

Test(bundle, one_of_a_driver_has_no_case)
{
    const struct bundle_metadata metadata[] = {{BUNDLE_METADATA_INSTANCE, "driver"},
                                               {BUNDLE_METADATA_CHECK, "fill"}};
    struct store *store = NULL;
    int64_t *ids = NULL;
    size_t count = 1;
    MUST(bundle_create(path, NULL, metadata, 2, &store));
    cr_assert(bundle_is(store));
    cr_assert_str_eq(metadata_get(store, BUNDLE_METADATA_CHECK), "fill");
    MUST(stored_case_ids(store, &ids, &count));
    cr_assert_eq(count, 0);
    alloc_free(ids);
    store_close(store);
}

Test(bundle, says_what_it_is)
{
    struct store *store = NULL;
    write_bundle();
    MUST(store_open(path, 0, &store));
    cr_assert(bundle_is(store));
    cr_assert_str_eq(metadata_get(store, BUNDLE_METADATA_INSTANCE), "layers.0/norm");
    cr_assert_null(metadata_get(store, BUNDLE_METADATA_REASON), "left out");
    store_close(store);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    cr_assert(!bundle_is(store));
    store_close(store);
}

Test(bundle, replaces_what_was_there)
{
    struct carved_case again;
    scratch_text(&scratch, "FAULT-1.tapmlrun", "no store");
    scratch_text(&scratch, "FAULT-1.tapmlrun-wal", "of another one");
    write_bundle();
    made.item.instance = "other";
    write_bundle();
    MUST(load(&again));
    cr_assert_str_eq(again.instance, "other");
    struct store *store = NULL;
    int64_t *ids = NULL;
    size_t count = 0;
    MUST(store_open(path, 0, &store));
    MUST(stored_case_ids(store, &ids, &count));
    cr_assert_eq(count, 1);
    alloc_free(ids);
    store_close(store);
}

Test(bundle, a_weight_by_name_is_refused)
{
    struct store *store = NULL;
    made.arguments[1].before = NULL;
    cr_assert_eq(bundle_create(path, &made.item, NULL, 0, &store), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "norm.weight"));
    cr_assert(!file_exists(path));
}

Test(bundle, one_that_cannot_be_written_is_not_left)
{
    struct store *store = NULL;
    made.arguments[0].base_bytes = 4; // Its view lies outside.
    cr_assert_eq(bundle_create(path, &made.item, NULL, 0, &store), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "base value"), "%s", status_message());
    cr_assert(!file_exists(path));
}

Test(bundle, a_folder_that_is_not_there_is_reported)
{
    struct store *store = NULL;
    cr_assert_neq(
        bundle_create(scratch_path(&scratch, "none/FAULT-1.tapmlrun"), &made.item, NULL, 0, &store),
        TAPML_OK);
}

Test(bundle, weights_come_from_the_checkpoint)
{
    struct checkpoint *checkpoint = NULL;
    struct carved_case whole;
    MUST(safetensors_open(scratch_source("models/tiny"), &checkpoint));
    const struct checkpoint_tensor *weight = checkpoint_at(checkpoint, 0);
    struct case_argument *argument = &made.arguments[1];
    argument->before = NULL;
    cr_assert_eq(bundle_inline(checkpoint, &made.item, arena, &whole), TAPML_INVALID, "no such");
    cr_assert_eq(bundle_inline(NULL, &made.item, arena, &whole), TAPML_INVALID, "none at all");
    argument->origin = weight->name;
    cr_assert_eq(bundle_inline(checkpoint, &made.item, arena, &whole), TAPML_INVALID, "size");
    argument->dtype = weight->tensor.dtype;
    argument->base_bytes = weight->bytes;
    MUST(bundle_inline(checkpoint, &made.item, arena, &whole));
    cr_assert_eq(whole.arguments[1].before, weight->data);
    cr_assert_eq(whole.arguments[1].content_bytes, weight->bytes);
    cr_assert_null(argument->before, "the case itself stays");
    cr_assert_eq(whole.arguments[0].before, made.x);
    checkpoint_close(checkpoint);
}

// Executes a statement on the file behind the store's back.
static void damage(const char *sql)
{
    sqlite3 *connection = NULL;
    cr_assert_eq(sqlite3_open(path, &connection), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(connection, sql, NULL, NULL, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(connection));
    sqlite3_close(connection);
}

Test(bundle, damage_is_found)
{
    static const char *const SQL[] = {
        "UPDATE tensor SET bytes = zeroblob(length(bytes))",
        "UPDATE tensor SET bytes = x'00'",
        "DELETE FROM tensor",
        "UPDATE argument SET base_bytes = 4 WHERE position = 1",
        "UPDATE argument SET base_bytes = -1 WHERE position = 1",
        "UPDATE argument SET base_bytes = 9223372036854775807 WHERE position = 1",
        "UPDATE argument SET offset_bytes = 4 WHERE position = 1",
        "UPDATE argument SET shape = '[9223372036854775807,2]' WHERE position = 0",
        "UPDATE argument SET shape = '[1,2,3,4,5,6,7]' WHERE position = 0",
        "UPDATE argument SET stride = '[-3,1]' WHERE position = 0",
        "UPDATE argument SET dtype = 'f31' WHERE position = 1",
        "UPDATE argument SET kind = 'inout' WHERE position = 0",
        "DELETE FROM argument WHERE position = 2",
        "UPDATE \"case\" SET prompt = ''",
        "CREATE VIEW metadata2 AS SELECT * FROM metadata",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 5",
    };
    for (size_t i = 0; i < sizeof(SQL) / sizeof(*SQL); i++) {
        struct carved_case again;
        write_bundle();
        MUST(load(&again));
        damage(SQL[i]);
        cr_assert_neq(load(&again), TAPML_OK, "%s", SQL[i]);
    }
}

Test(bundle, a_torn_file_gives_no_other_case)
{
    char *data = NULL;
    size_t size = 0;
    write_bundle();
    MUST(file_read(path, SIZE_MAX / 2, &data, &size));
    for (size_t kept = 0; kept < size; kept += 1 + size / 61) {
        struct carved_case again;
        (void)scratch_write(&scratch, "FAULT-1.tapmlrun", data, kept);
        if (load(&again) == TAPML_OK) { // What is missing belongs to no case.
            cr_assert_gt(kept, size / 2);
            cr_assert_arr_eq(again.arguments[1].before, made.weight, sizeof(made.weight));
            cr_assert_arr_eq(again.arguments[4].after, made.y, sizeof(made.y));
        }
    }
    alloc_free(data);
}

// When and where it was written is not in it.
Test(bundle, the_same_rows_are_the_same_bytes)
{
    char *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;
    write_bundle();
    MUST(file_read(path, 1 << 24, &first, &first_size));
    write_bundle();
    MUST(file_read(path, 1 << 24, &second, &second_size));
    cr_assert_eq(first_size, second_size);
    cr_assert_arr_eq(first, second, first_size);
    alloc_free(first);
    alloc_free(second);
}

static tapml_status refuse(void *user, struct store *store)
{
    MUST(metadata_set(store, "a", "b"));
    return status_fail(TAPML_NOT_FOUND, "%s", (const char *)user);
}

Test(bundle, what_cannot_be_filled_leaves_what_was_there)
{
    struct carved_case again;
    char words[] = "nothing to fill it with";
    write_bundle();
    cr_assert_eq(bundle_write(path, refuse, words), TAPML_NOT_FOUND);
    cr_assert_str_eq(status_message(), words);
    cr_assert_not(file_exists(scratch_path(&scratch, "FAULT-1.tapmlrun.part")));
    cr_assert_eq(load(&again), TAPML_OK, "%s", status_message());
}

static struct store *open_bundle(void)
{
    struct store *store = NULL;
    MUST(store_open(path, 0, &store));
    return store;
}

Test(bundle, has_an_id_that_results_do_not_change)
{
    char first[HASH_TEXT], second[HASH_TEXT];
    write_bundle();
    struct store *store = open_bundle();
    MUST(bundle_id(store, first));
    MUST(metadata_set(store, "limits.factor", "8"));
    MUST(bundle_id(store, second));
    cr_assert_str_eq(first, second);
    MUST(metadata_set(store, BUNDLE_METADATA_REASON, "other"));
    MUST(bundle_id(store, second));
    cr_assert_str_neq(first, second);
    store_close(store);
    write_bundle();
    store = open_bundle();
    MUST(bundle_id(store, second));
    cr_assert_str_eq(first, second);
    store_close(store);
}

static tapml_status note_word(void *user, const char *word, uint64_t cases)
{
    char *words = user;
    cr_assert_eq(cases, 1);
    strncat(words, word, 40);
    strncat(words, ";", 2);
    return TAPML_OK;
}

Test(bundle, words_of_its_cases_are_visited)
{
    char words[512] = "";
    write_bundle();
    struct store *store = open_bundle();
    for (int what = 0; what < BUNDLE_WORDS; what++) {
        MUST(bundle_visit(store, (enum bundle_word)what, note_word, words));
    }
    cr_assert_not_null(strstr(words, "tapml.rms_norm;layers.0/norm;"), "%s", words);
    cr_assert_not_null(strstr(words, ";f32;"), "%s", words);
    store_close(store);
}
