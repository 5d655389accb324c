// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

#include <jansson.h>
#include <string.h>

static struct scratch scratch;
static char *ini;

#define FAULT "[fault.1]\ntarget = other\nop = silu\nkind = scale 1.5\n"

// Four looks: the first one, a fault, a remark, and the end of the fault.
static void begin(void)
{
    static const char *const extras[] = {"", FAULT, FAULT "# a remark\n", ""};

    scratch_make(&scratch);
    for (size_t i = 0; i < sizeof(extras) / sizeof(*extras); i++) {
        free(ini);
        ini = strdup(short_run_write(&scratch, extras[i]));
        struct printed printed = PRINTED(command_watch_main, "--config", ini, "--once");

        printed_release(&printed);
    }
}

static void end(void)
{
    free(ini);
    scratch_remove(&scratch);
}

TestSuite(watch_simulate, .init = begin, .fini = end, .timeout = 110);

static json_int_t number_of(const json_t *document, size_t policy, const char *key)
{
    return json_integer_value(
        json_object_get(json_array_get(json_object_get(document, "policies"), policy), key));
}

Test(watch_simulate, the_recorded_triggers_find_what_was_found)
{
    struct printed made =
        PRINTED(command_watch_main, "--simulate", "--config", ini, "--triggers", "identity",
                "--budget", "all", "--budget", "1", "--interval", "100000", "--json");
    json_t *document = json_loads(made.out, 0, NULL);

    cr_assert_not_null(document, "%s%s", made.out, made.err);
    cr_expect_eq(json_integer_value(json_object_get(document, "looks")), 4);
    cr_expect_eq(json_integer_value(json_object_get(document, "regressions")), 1);
    cr_assert_eq(json_array_size(json_object_get(document, "policies")), 4);
    cr_expect_eq(number_of(document, 0, "replays"), 4 * 121, "everything at each look");
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(number_of(document, i, "found"), 1);
        cr_expect_eq(number_of(document, i, "unknown_replays"), 0);
    }
    cr_expect_lt(number_of(document, 1, "replays"), 2 * 121);
    cr_expect_eq(number_of(document, 1, "replays"), number_of(document, 2, "replays"));
    cr_expect_eq(number_of(document, 3, "replays"), 4);
    cr_expect_eq(number_of(document, 3, "unordered_replays"), 0);
    json_decref(document);
    printed_release(&made);
    char *folder = strdup(scratch_path(&scratch, "run"));

    printed_expect(PRINTED(command_watch_main, "--simulate", folder), OUTCOME_OK, "4 looks in ");
    free(folder);
}

Test(watch_simulate, wrong_words_are_refused)
{
    printed_expect(PRINTED(command_watch_main, "--simulate"), OUTCOME_USAGE,
                   "nothing to simulate: give --config FILE, or the folder of a run");
    printed_expect(PRINTED(command_watch_main, "--simulate", "--config", ini, "--once"),
                   OUTCOME_USAGE, "--once is for a watch without --simulate");
    printed_expect(PRINTED(command_watch_main, "--config", ini, "--json"), OUTCOME_USAGE,
                   "--json is for a watch with --simulate");
    printed_expect(PRINTED(command_watch_main, "--simulate", "--config", ini, "--triggers", "drif"),
                   OUTCOME_USAGE, "--triggers: expected triggers");
    printed_expect(PRINTED(command_watch_main, "--simulate", "--config", ini, "--ensemble", "most"),
                   OUTCOME_USAGE, "--ensemble is 'most', expected one of: any majority");
    printed_expect(PRINTED(command_watch_main, "--simulate", "--config", ini, "--budget", "0"),
                   OUTCOME_USAGE, "--budget: budget is '0'");
    printed_expect(PRINTED(command_watch_main, "--simulate", "/nowhere"), OUTCOME_USAGE,
                   "/nowhere");
}
