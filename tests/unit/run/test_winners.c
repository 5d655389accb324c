// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "config/tuning_file.h"
#include "harness/scratch.h"
#include "run/winners.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct arena *arena;

static void begin(void)
{
    static const struct tuning_key key = {.component = "fast",
                                          .device = "0",
                                          .driver = "",
                                          .op = "tapml.silu",
                                          .digest = "0f",
                                          .shape_class = "n=8",
                                          .version = 1};
    static struct tuning_trial trial = {.values = "form=2", .time_ns = 5};
    const struct tuning_class item = {.key = key,
                                      .own = {.values = "form=1", .time_ns = 9},
                                      .trials = &trial,
                                      .count = 1,
                                      .winner = trial.values};

    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    cr_assert(tuning_file_save(&item));
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    scratch_remove(&scratch);
}

TestSuite(winners, .init = begin, .fini = end);

Test(winners, are_those_of_the_component)
{
    static const char *const names[] = {"fast", "fast:0", "org.example.x/fast:1"};
    struct tuned_settings found;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        MUST(winners_find(names[i], arena, &found));
        cr_assert_eq(found.count, 1, "%s", names[i]);
        cr_expect_str_eq(found.items[0].values, "form=2");
        cr_expect_not_null(found.items); // A place that has none was not asked.
    }
    MUST(winners_find("fas:fast", arena, &found));
    cr_expect_eq(found.count, 0);
    cr_expect_not_null(found.items);
}
