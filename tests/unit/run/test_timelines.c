// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/events.h"
#include "harness/scratch.h"
#include "run/timelines.h"

#include <criterion/criterion.h>

static const struct options_spec specs[] = {TIMELINES_OPTIONS, {NULL, NULL, NULL}};

static tapml_status open_by(const char *option, const char *path, struct timelines *out_timelines)
{
    char *words[] = {(char *)(uintptr_t)option, (char *)(uintptr_t)path};
    struct options options;

    cr_assert_eq(options_parse(specs, option != NULL ? 2 : 0, words, &options), TAPML_OK);
    return timelines_open(&options, out_timelines);
}

Test(timelines, there_is_none_unless_it_is_asked_for)
{
    struct timelines timelines = {0};

    cr_assert_eq(open_by(NULL, NULL, &timelines), TAPML_OK);
    cr_expect_null(timelines.run);
    cr_expect_null(timelines.link);
    cr_expect_null(timeline_mine());
    cr_expect_eq(timelines_finish(&timelines), TAPML_OK);
    timelines_close(&timelines);
}

Test(timelines, the_thread_that_opens_one_is_drawn)
{
    struct timelines timelines = {0};
    struct scratch scratch;

    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "t.json");

    cr_assert_eq(open_by("--timeline", path, &timelines), TAPML_OK, "%s", status_message());
    cr_expect_not_null(timeline_mine());
    timeline_stage("carve");
    cr_expect_eq(timelines_finish(&timelines), TAPML_OK);
    cr_expect_null(timeline_mine());
    json_t *events = events_read(path);

    cr_expect_str_eq(events_text(events_find(events, "open"), "cat"), "stage");
    cr_expect_str_eq(events_text(events_find(events, "carve"), "cat"), "stage");
    json_decref(events);
    timelines_close(&timelines);
    scratch_remove(&scratch);
}

// That of the link does not draw what the thread does.
Test(timelines, the_link_has_one_of_its_own)
{
    struct timelines timelines = {0};
    struct scratch scratch;

    scratch_make(&scratch);
    cr_assert_eq(open_by("--trace-link", scratch_path(&scratch, "l.json"), &timelines), TAPML_OK);
    cr_expect_not_null(timelines.link);
    cr_expect_null(timelines.run);
    cr_expect_null(timeline_mine());
    timelines_close(&timelines);
    scratch_remove(&scratch);
}

Test(timelines, what_cannot_be_written_is_refused_by_its_option)
{
    struct timelines timelines = {0};

    cr_expect_eq(open_by("--timeline", "/nowhere/at/all.json", &timelines), TAPML_UNAVAILABLE);
    cr_expect(strncmp(status_message(), "--timeline: ", 12) == 0, "%s", status_message());
    cr_expect_eq(open_by("--trace-link", "/dev/null", &timelines), TAPML_INVALID);
    cr_expect(strncmp(status_message(), "--trace-link: ", 14) == 0, "%s", status_message());
    cr_expect_null(timeline_mine());
}

Test(timelines, a_process_beside_another_has_files_of_its_own)
{
    char *words[] = {"--trace-link=l.json", "--timeline", "t.json"};
    struct arena *arena = arena_create();
    struct options options;

    cr_assert_eq(options_parse(specs, 3, words, &options), TAPML_OK);
    cr_assert_eq(timelines_split(&options, "gpu", arena), TAPML_OK);
    cr_expect_str_eq(options_get(&options, "--timeline"), "t.json.gpu");
    cr_expect_str_eq(options_get(&options, "--trace-link"), "l.json.gpu");
    arena_destroy(arena);
}
