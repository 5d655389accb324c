// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/clock.h"
#include "base/timeline.h"
#include "harness/events.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct timeline *open_timeline(struct scratch *scratch, struct timeline_track **out_track)
{
    struct timeline *timeline = NULL;

    scratch_make(scratch);
    cr_assert_eq(timeline_create(scratch_path(scratch, "t.json"), &timeline), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(timeline_track(timeline, "host", "stages", out_track), TAPML_OK);
    return timeline;
}

static json_t *read_events(struct scratch *scratch)
{
    return events_read(scratch_path(scratch, "t.json"));
}

Test(timeline, is_whole_without_an_event)
{
    struct scratch scratch;
    struct timeline *timeline = NULL;

    scratch_make(&scratch);
    cr_assert_eq(timeline_create(scratch_path(&scratch, "t.json"), &timeline), TAPML_OK);
    json_t *events = read_events(&scratch);

    cr_expect_eq(json_array_size(events), 0);
    json_decref(events);
    cr_expect_eq(timeline_finish(timeline), TAPML_OK);
    timeline_destroy(timeline);
    timeline_destroy(NULL);
    scratch_remove(&scratch);
}

Test(timeline, spans_have_times_names_and_bytes)
{
    struct scratch scratch;
    struct timeline_track *track = NULL;
    struct timeline *timeline = open_timeline(&scratch, &track);
    const uint64_t begin_ns = timeline_begin(track);

    timeline_put(track, begin_ns, begin_ns + 1234567,
                 &(struct timeline_span){.kind = "transfer",
                                         .name = "a \"name\"",
                                         .detail = "layers.0\n",
                                         .bytes = 17,
                                         .whole = 170});
    timeline_count(track, "bytes", 99);
    timeline_count_bytes(track, "op", &(struct timeline_bytes){5, 50, 20});
    cr_assert_eq(timeline_finish(timeline), TAPML_OK);
    json_t *events = read_events(&scratch);
    const json_t *span = events_find(events, "a \"name\"");

    cr_expect_str_eq(events_text(span, "ph"), "X");
    cr_expect_str_eq(events_text(span, "cat"), "transfer");
    cr_expect_float_eq(events_number(span, "dur"), 1234.567, 1e-9);
    cr_expect_geq(events_number(span, "ts"), 0);
    cr_expect_str_eq(events_text(json_object_get(span, "args"), "detail"), "layers.0\n");
    cr_expect_eq(events_argument(span, "bytes"), 17);
    cr_expect_eq(events_argument(span, "both_ways"), 170);
    cr_expect_eq(events_argument(events_find(events, "bytes"), "value"), 99);
    cr_expect_eq(events_argument(events_find(events, "op"), "bytes"), 5);
    cr_expect_eq(events_argument(events_find(events, "op"), "both_ways"), 50);
    cr_expect_eq(events_argument(events_find(events, "op"), "values_both_ways"), 20);
    json_decref(events);
    timeline_destroy(timeline);
    scratch_remove(&scratch);
}

Test(timeline, tracks_are_numbered_in_their_order)
{
    static const char *const wanted[] = {"host", "stages", "writer", "gpu", "host"};
    struct scratch scratch;
    struct timeline_track *track = NULL, *same = NULL;
    struct timeline *timeline = open_timeline(&scratch, &track);
    size_t at = 0;

    timeline_enter(track);
    cr_expect_eq(timeline_mine(), track);
    cr_expect_not_null(timeline_beside("writer"));
    cr_assert_eq(timeline_track(timeline, "gpu", "host", &track), TAPML_OK);
    cr_assert_eq(timeline_track(timeline, "gpu", "host", &same), TAPML_OK);
    cr_expect_eq(track, same);
    timeline_enter(NULL);
    cr_expect_null(timeline_beside("writer"));
    cr_assert_eq(timeline_finish(timeline), TAPML_OK);
    json_t *events = read_events(&scratch);

    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *name = events_text(json_object_get(event, "args"), "name");

        if (*name != '\0') {
            cr_assert_lt(at, 5);
            cr_expect_str_eq(name, wanted[at++]);
        }
    }
    cr_expect_eq(at, 5);
    json_decref(events);
    timeline_destroy(timeline);
    scratch_remove(&scratch);
}

Test(timeline, has_so_many_tracks_and_no_more)
{
    struct scratch scratch;
    struct timeline_track *track = NULL;
    struct timeline *timeline = open_timeline(&scratch, &track);

    for (int i = 1; i <= TIMELINE_TRACKS_MAX; i++) {
        char name[16];

        snprintf(name, sizeof(name), "%d", i);
        cr_assert_eq(timeline_track(timeline, "host", name, &track),
                     i < TIMELINE_TRACKS_MAX ? TAPML_OK : TAPML_INVALID);
    }
    timeline_destroy(timeline);
    scratch_remove(&scratch);
}

enum { PUT = 5 * TIMELINE_RING };

static void *put_many(void *user)
{
    for (int i = 0; i < PUT; i++) {
        timeline_end(user, timeline_begin(user),
                     &(struct timeline_span){.kind = "call", .name = "op"});
    }
    return NULL;
}

// More than the rings hold, of two threads.
Test(timeline, leaves_nothing_out_and_allocates_nothing_for_it)
{
    struct scratch scratch;
    struct timeline_track *tracks[2] = {NULL};
    struct timeline *timeline = open_timeline(&scratch, &tracks[0]);
    pthread_t thread;

    cr_assert_eq(timeline_track(timeline, "host", "other", &tracks[1]), TAPML_OK);
    cr_assert_eq(pthread_create(&thread, NULL, put_many, tracks[1]), 0);
    put_many(tracks[0]);
    pthread_join(thread, NULL);
    cr_assert_eq(timeline_finish(timeline), TAPML_OK);
    json_t *events = read_events(&scratch);

    cr_expect_eq(events_count(events, "X", "op"), 2 * PUT);
    put_many(tracks[0]); // Dropped.
    json_decref(events);
    timeline_destroy(timeline);
    scratch_remove(&scratch);
}

// A stage ends where the next one begins, and is around what is done in it.
Test(timeline, stages_follow_each_other)
{
    struct scratch scratch;
    struct timeline_track *track = NULL;
    struct timeline *timeline = open_timeline(&scratch, &track);

    timeline_stage("nobody's");
    timeline_enter(track);
    timeline_stage("carve");
    timeline_end(track, timeline_begin(track), &(struct timeline_span){.kind = "a", .name = "b"});
    timeline_stage("replay");
    timeline_stage(NULL);
    timeline_stage(NULL);
    timeline_enter(NULL);
    cr_assert_eq(timeline_finish(timeline), TAPML_OK);
    json_t *events = read_events(&scratch);

    cr_expect_eq(events_count(events, "X", NULL), 3);
    const json_t *carve = events_find(events, "carve"), *inner = events_find(events, "b");
    const double begin = events_number(carve, "ts");
    const double end = begin + events_number(carve, "dur");
    const double inner_begin = events_number(inner, "ts");

    cr_expect(begin <= inner_begin && inner_begin + events_number(inner, "dur") <= end + 1e-3);
    cr_expect_str_eq(events_text(events_find(events, "replay"), "cat"), "stage");
    json_decref(events);
    timeline_destroy(timeline);
    scratch_remove(&scratch);
}

// What is settled is in the file, and what comes later is not.
Test(timeline, a_program_that_ends_at_once_leaves_it_whole)
{
    struct scratch scratch;

    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "t.json");
    const pid_t child = fork();

    if (child == 0) {
        struct timeline *timeline = NULL;
        struct timeline_track *track = NULL;

        if (timeline_create(path, &timeline) != TAPML_OK ||
            timeline_track(timeline, "host", "stages", &track) != TAPML_OK) {
            _exit(1);
        }
        put_many(track);
        timeline_settle();
        put_many(track);
        _exit(0);
    }
    int how = 1;

    cr_assert_eq(waitpid(child, &how, 0), child);
    cr_assert_eq(how, 0);
    json_t *events = read_events(&scratch);

    cr_expect_eq(events_count(events, "X", "op"), PUT);
    json_decref(events);
    scratch_remove(&scratch);
}

Test(timeline, without_a_track_nothing_is_done)
{
    struct timeline_track *track = NULL;

    cr_assert_eq(timeline_track(NULL, "host", "stages", &track), TAPML_OK);
    cr_expect_null(track);
    const size_t made = alloc_made();

    cr_expect_eq(timeline_begin(NULL), 0);
    timeline_end(NULL, 0, &(struct timeline_span){.kind = "a", .name = "b"});
    timeline_put(NULL, 1, 2, &(struct timeline_span){.kind = "a", .name = "b"});
    timeline_count(NULL, "a", 1);
    timeline_stage("a");
    timeline_settle();
    cr_expect_eq(alloc_made(), made);
}

Test(timeline, a_file_that_cannot_be_is_refused)
{
    struct timeline *timeline = NULL;

    cr_expect_eq(timeline_create("/nowhere/at/all.json", &timeline), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "/nowhere/at/all.json"));
    cr_expect_eq(timeline_create("/dev/null", &timeline), TAPML_INVALID);
}

// The file keeps what there was room for, and is whole.
Test(timeline, a_file_that_gets_too_large_is_told_at_the_end)
{
    const struct rlimit limit = {100000, 100000};
    struct scratch scratch;
    struct timeline_track *track = NULL;
    struct timeline *timeline = open_timeline(&scratch, &track);

    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    put_many(track);
    cr_expect_eq(timeline_finish(timeline), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "t.json"), "%s", status_message());
    json_t *events = read_events(&scratch);

    cr_expect_lt(events_count(events, "X", "op"), PUT);
    json_decref(events);
    timeline_destroy(timeline);
    scratch_remove(&scratch);
}
