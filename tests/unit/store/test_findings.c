// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/findings.h"
#include "store/store.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct arena *arena;

static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(findings, .init = begin, .fini = end);

static struct finding items[] = {
    {.instance = "b",
     .kind = "alone",
     .margin = 1e5,
     .reason = "y[0] is 1",
     .evidence = 2,
     .tried = 9,
     .failed = 4},
    {.instance = "a", .kind = "refused", .margin = NAN, .reason = "no such op"},
};
static struct finding_time times[] = {{.op = "x.op", .calls = 3, .launches = 6, .time_ns = 700}};
static const struct findings all = {.items = items, .count = 2, .times = times, .time_count = 1};

Test(findings, are_read_as_they_were_written)
{
    struct findings found;
    MUST(findings_write(store, "gpu", &all));
    MUST(findings_read(store, "gpu", arena, &found));
    cr_assert_gt(found.finished_s, 0);
    cr_assert_eq(found.count, 2);
    cr_assert_str_eq(found.items[0].instance, "a");
    cr_assert(isnan(found.items[0].margin));
    const struct finding *b = findings_find(&found, "b");
    cr_assert_not_null(b);
    cr_assert_str_eq(b->kind, "alone");
    cr_assert_str_eq(b->reason, "y[0] is 1");
    cr_assert_eq(b->margin, 1e5);
    cr_assert_eq(b->evidence, 2);
    cr_assert_eq(b->tried, 9);
    cr_assert_eq(b->failed, 4);
    cr_assert_null(findings_find(&found, "c"));
    cr_assert_eq(findings_time(&found, "x.op")->launches, 6);
    cr_assert_eq(findings_time(&found, "x.op")->time_ns, 700);
    cr_assert_null(findings_time(&found, "y.op"));
}

Test(findings, of_a_target_are_its_own_and_replace_earlier_ones)
{
    struct findings found;
    MUST(findings_write(store, "gpu", &all));
    MUST(findings_write(store, "other", &(struct findings){.items = items, .count = 1}));
    MUST(findings_write(store, "gpu", &(struct findings){.items = items + 1, .count = 1}));
    MUST(findings_read(store, "gpu", arena, &found));
    cr_assert_eq(found.count, 1);
    cr_assert_eq(found.time_count, 0);
    MUST(findings_forget(store, "gpu"));
    cr_assert_eq(findings_read(store, "gpu", arena, &found), TAPML_NOT_FOUND);
    MUST(findings_read(store, "other", arena, &found));
    cr_assert_eq(found.count, 1);
}

Test(findings, there_are_none_before_the_end)
{
    struct findings found;
    cr_assert_eq(findings_read(store, "gpu", arena, &found), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "gpu"));
    struct finding wrong = {.instance = "a", .kind = "nonsense", .reason = ""};
    cr_assert_neq(findings_write(store, "gpu", &(struct findings){.items = &wrong, .count = 1}),
                  TAPML_OK);
    cr_assert_eq(findings_read(store, "gpu", arena, &found), TAPML_NOT_FOUND,
                 "half of them were written");
}
