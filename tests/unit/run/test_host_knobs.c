// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/run_file.h"
#include "harness/scratch.h"
#include "run/host_knobs.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())
#define WHOLE                                                                                      \
    "[run]\ndir = a\nprompts = b\n[model]\npath = c\n[source]\nbackend = reference\n"              \
    "[target.gpu]\nbackend = x\n"

static struct scratch scratch;
static struct run_config config;
static struct arena *arena;
static struct host_knobs knobs;

static void begin(void)
{
    scratch_make(&scratch);
    arena = arena_create();
}

static void end(void)
{
    run_config_release(&config);
    arena_destroy(arena);
    scratch_remove(&scratch);
}

TestSuite(host_knobs, .init = begin, .fini = end);

static void find(const char *ini, size_t processors)
{
    MUST(run_file_load(scratch_text(&scratch, "run.ini", ini), &config));
    MUST(host_knobs_find(&config, processors, arena, &knobs));
}

// The values of a knob, "0 1 2", with "*" behind the file's own; "" where there is none.
static const char *values_of(const char *name)
{
    static struct text text;

    text_release(&text);
    text_init(&text);
    for (uint32_t i = 0; i < knobs.space.count; i++) {
        const struct knob *knob = &knobs.space.knobs[i];

        for (uint32_t k = 0; strcmp(knob->name, name) == 0 && k < knob->count; k++) {
            text_format(&text, "%s%d%s", k > 0 ? " " : "", (int)knob->values[k],
                        k == knob->chosen ? "*" : "");
        }
    }
    return text.data != NULL ? text.data : "";
}

Test(host_knobs, each_key_is_one_with_the_value_of_the_file)
{
    find(WHOLE "[check]\nahead = 3\n", 4);
    cr_expect_str_eq(values_of("cache"), "0* 32 256");
    cr_expect_str_eq(values_of("ahead"), "0 1 2 3* 4 8");
    cr_expect_str_eq(values_of("workers"), "1* 2 4");
    cr_expect_eq(knobs.space.count, 3);
    cr_expect_eq(knobs.space.legal_count, 3 * 6 * 3);
}

Test(host_knobs, a_key_that_nothing_is_about_is_none)
{
    find("[run]\ndir = a\n[source]\nstore = x.tapmlrun\n"
         "[target.gpu]\nbackend = x\nisolation = never\n",
         4);
    cr_expect_str_eq(values_of("workers"), "");
    cr_expect_str_eq(values_of("ahead"), "");
    cr_expect_str_eq(values_of("cache"), "0* 32 256");
}

Test(host_knobs, of_one_processor_no_process_more_is_made)
{
    find(WHOLE, 1);
    cr_expect_str_eq(values_of("workers"), "");
}

Test(host_knobs, rings_and_pools_of_targets_have_their_own)
{
    find(WHOLE "ring = 50%\nslots = 3\n"
               "[target.npu]\nbackend = y\nring = auto\npool = farm\nshare = split\n"
               "[pool.farm]\nprocesses = 2\n",
         2);
    cr_expect_str_eq(values_of("slots"), "0 2 3* 4 6");
    cr_expect_str_eq(values_of("slots_2"), "0* 2 3 4 6");
    cr_expect_str_eq(values_of("processes_2"), "1 2*");
}

Test(host_knobs, a_combination_is_edits_of_the_file)
{
    struct ini_edit *edits = NULL;
    uint32_t places[TAPML_TUNING_KNOBS_MAX] = {1, 2, 0};

    find(WHOLE, 2);
    MUST(host_knobs_edits(&knobs, knobs_number(&knobs.space, places), arena, &edits));
    cr_expect_str_eq(edits[0].section, "run");
    cr_expect_str_eq(edits[0].key, "cache");
    cr_expect_str_eq(edits[0].value, "32");
    cr_expect_str_eq(edits[1].section, "check");
    cr_expect_str_eq(edits[1].value, "2");
    cr_expect_str_eq(edits[2].section, "source");
    cr_expect_str_eq(edits[2].value, "1");
}

Test(host_knobs, the_class_is_what_the_file_says)
{
    char first[TAPML_TUNING_CLASS_BYTES];

    find(WHOLE, 2);
    memcpy(first, knobs.space.shape_class, sizeof(first));
    run_config_release(&config);
    find("; a comment\n" WHOLE, 2);
    cr_expect_str_eq(knobs.space.shape_class, first);
    run_config_release(&config);
    find(WHOLE "[check]\nahead = 3\n", 2);
    cr_expect_str_neq(knobs.space.shape_class, first);
}
