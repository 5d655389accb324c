// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "run/pack.h"
#include "run/setup.h"
#include "store/limit.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/weight.h"

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct setup setup;
static struct arena *arena;
static char path[2 * SCRATCH_PATH];
static struct cases_silu silu;
static struct cases_norm norm;

// Two cases of a store: silu has id 1, and norm, whose weight is known by name, id 2.
static void begin(void)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    const struct limit_row limit = {.op = "tapml.silu",
                                    .version = 1,
                                    .shape_class = "",
                                    .param = "y",
                                    .calibration = "reference",
                                    .oracle = "d",
                                    .ulp = 4};
    struct options options;

    scratch_make(&scratch);
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "pack.tapmlrun"));
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    cases_make_silu(&silu, "layers.0/silu", 0);
    cases_make_norm(&norm, "layers.0/norm", 0);
    MUST(store_begin(store));
    MUST(weight_add(store, "norm.weight", TAPML_F32, norm.weight, sizeof(norm.weight)));
    MUST(stored_case_add(store, &silu.item));
    MUST(stored_case_add(store, &norm.item));
    struct limit_row of_silu = limit;

    of_silu.shape_class = silu.item.shape_class;
    MUST(limit_write(store, &of_silu));
    of_silu.shape_class = "x=[9,9]";
    MUST(limit_write(store, &of_silu));
    MUST(metadata_set(store, "source", "reference"));
    MUST(metadata_set(store, "model.path", "/nowhere"));
    MUST(store_commit(store));
    MUST(options_parse(specs, 0, NULL, &options));
    MUST(setup_open(NULL, &options, NULL, &setup));
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    setup_close(&setup);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(pack, .init = begin, .fini = end);

static tapml_status pack(const int64_t *ids, size_t count, int redacts, struct pack_counts *out)
{
    return pack_write(path,
                      &(struct pack_options){.registry = setup.registry,
                                             .store = store,
                                             .ids = ids,
                                             .count = count,
                                             .where = "here",
                                             .redacts = redacts},
                      out);
}

Test(pack, has_the_cases_and_their_limits)
{
    struct store *packed = NULL;
    struct pack_counts counts;
    struct carved_case again;
    struct limit_row *limits = NULL;
    size_t count = 0;

    MUST(pack((const int64_t[]){1}, 1, 0, &counts));
    cr_assert_eq(counts.cases, 1);
    MUST(store_open_to_read(path, &packed));
    MUST(stored_case_load(packed, 1, arena, &again));
    cr_assert_str_eq(again.instance, "layers.0/silu");
    cr_assert(hash_equal(again.prompt, silu.item.prompt));
    MUST(limit_list(packed, arena, &limits, &count));
    cr_assert_eq(count, 1, "the other one is of another class");
    cr_assert_eq(limits[0].ulp, 4);
    cr_assert_str_eq(metadata_get(packed, PACK_METADATA_WHERE), "here");
    cr_assert_str_eq(metadata_get(packed, "source"), "reference");
    cr_assert_null(metadata_get(packed, "model.path"), "a folder of this machine");
    cr_assert_null(metadata_get(packed, PACK_METADATA_REDACTED));
    store_close(packed);
}

Test(pack, a_weight_that_is_not_at_hand_is_named)
{
    struct pack_counts counts;

    cr_assert_eq(pack((const int64_t[]){2}, 1, 0, &counts), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "weight 'norm.weight', which is not in it"));
    cr_assert_not(file_exists(path));
    MUST(weight_inline(store, "norm.weight", norm.weight, sizeof(norm.weight)));
    MUST(pack((const int64_t[]){2, 1}, 2, 0, &counts));
    cr_assert_eq(counts.cases, 2);
}

Test(pack, redacted_prompts_are_numbers)
{
    struct store *packed = NULL;
    struct pack_counts counts;
    struct carved_case again;

    MUST(pack((const int64_t[]){1}, 1, 1, &counts));
    MUST(store_open_to_read(path, &packed));
    MUST(stored_case_load(packed, 1, arena, &again));
    cr_assert(hash_equal(again.prompt, (struct hash){.low = 1}));
    cr_assert_str_eq(metadata_get(packed, PACK_METADATA_REDACTED), "prompts");
    store_close(packed);
}

// Integers from outside of the model may be tokens; rows that are wanted are none, nor are those
// that an op has computed from other numbers.
Test(pack, redaction_leaves_out_what_may_have_tokens)
{
    static const struct {
        const char *origin;
        int stays;
    } rows[] = {{"input_ids", 0}, {"rows", 1}, {"layers.0/silu", 1}, {"somewhere", 0}};
    static const int32_t ids[CASES_ROWS * CASES_WIDTH] = {7, 8, 9, 10, 11, 12};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cases_silu made;
        struct pack_counts counts;

        cases_make_silu(&made, "layers.9/other", (int64_t)i);
        made.item.op_name = "org.example.unknown";
        made.arguments[0].dtype = TAPML_I32;
        made.arguments[0].before = ids;
        made.arguments[0].origin = rows[i].origin;
        MUST(store_begin(store));
        MUST(stored_case_add(store, &made.item));
        MUST(store_commit(store));
        MUST(pack((const int64_t[]){1, 3 + (int64_t)i}, 2, 1, &counts));
        cr_expect_eq(counts.left_out, rows[i].stays ? 0 : 1, "'%s'", rows[i].origin);
        cr_expect_eq(counts.cases, rows[i].stays ? 2 : 1, "'%s'", rows[i].origin);
        MUST(pack((const int64_t[]){3 + (int64_t)i}, 1, 0, &counts));
        cr_expect_eq(counts.left_out, 0);
    }
}

Test(pack, nothing_is_no_pack)
{
    struct pack_counts counts;

    cr_assert_eq(pack((const int64_t[]){77}, 1, 0, &counts), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "no case is chosen by 'here'"));
    cr_assert_not(file_exists(path));
}
