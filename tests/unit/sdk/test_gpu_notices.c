// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu_notebook.h"

#include <criterion/criterion.h>

// A timeline of a notebook, on which three values are signalled.
struct fixture {
    struct gpu_notebook notebook;
    tapml_object *timeline;
};

static struct fixture fixture;

static void open_fixture(void)
{
    tapml_call call = {0};

    fixture = (struct fixture){.timeline = NULL};
    cr_assert_eq(gpu_notebook_open(&fixture.notebook, &call), TAPML_OK, "%s", call.message);
    const tapml_backend *table = fixture.notebook.table;
    cr_assert_eq(table->timeline_new(fixture.notebook.device, &call, 0, &fixture.timeline),
                 TAPML_OK);
    for (uint64_t value = 1; value <= 3; value++) {
        cr_assert_eq(table->queue_signal(fixture.notebook.queue, &call,
                                         (tapml_point){fixture.timeline, value}),
                     TAPML_OK);
    }
}

static void release_timeline(void)
{
    fixture.timeline->vt->release(fixture.timeline);
    fixture.timeline = NULL;
}

static void close_fixture(void)
{
    if (fixture.timeline != NULL) {
        release_timeline();
    }
    gpu_notebook_close(&fixture.notebook);
}

TestSuite(gpu_notices, .init = open_fixture, .fini = close_fixture);

struct notice {
    int calls;
    tapml_status status;
};

static void note(void *user, tapml_status status)
{
    struct notice *notice = user;

    notice->calls++;
    notice->status = status;
}

static tapml_status notify(uint64_t value, struct notice *notice)
{
    tapml_call call = {0};

    return fixture.notebook.table->timeline_notify(fixture.timeline, &call, value, note, notice);
}

static tapml_status wait_for(uint64_t value)
{
    tapml_call call = {0};

    return fixture.notebook.table->timeline_wait(fixture.timeline, &call, value, UINT64_MAX);
}

static void expect_called(const struct notice *notice, tapml_status status)
{
    cr_expect_eq(notice->calls, 1, "%d calls", notice->calls);
    cr_expect_eq(notice->status, status);
}

// What the driver gives in time is the moment; a wait calls nothing twice.
Test(gpu_notices, the_driver_gives_them)
{
    struct notice notices[2] = {{0}};

    cr_assert_eq(notify(1, &notices[0]), TAPML_OK);
    cr_assert_eq(notify(2, &notices[1]), TAPML_OK);
    gpu_notice_give(fixture.notebook.notices[0], TAPML_OK);
    expect_called(&notices[0], TAPML_OK);
    cr_expect_eq(notices[1].calls, 0);
    gpu_notice_give(fixture.notebook.notices[1], TAPML_INTERNAL);
    cr_assert_eq(wait_for(3), TAPML_OK);
    expect_called(&notices[0], TAPML_OK);
    expect_called(&notices[1], TAPML_INTERNAL);
}

// A driver that is late is not waited for for ever, and finds that nothing is left to do.
Test(gpu_notices, a_wait_comes_before_a_late_driver)
{
    struct notice notice = {0}, reached = {0};

    cr_assert_eq(notify(2, &notice), TAPML_OK);
    cr_assert_eq(wait_for(2), TAPML_OK);
    expect_called(&notice, TAPML_OK);
    cr_assert_eq(notify(1, &reached), TAPML_OK);
    expect_called(&reached, TAPML_OK);
    release_timeline();
    gpu_notice_give(fixture.notebook.notices[0], TAPML_OK);
    expect_called(&notice, TAPML_OK);
    cr_expect_eq(fixture.notebook.notice_count, 1, "what is reached needs no driver");
}

// What fails is over for all that wait, and nothing can be asked for any more.
Test(gpu_notices, a_failure_ends_them)
{
    struct notice notices[2] = {{0}}, later = {0};

    cr_assert_eq(notify(1, &notices[0]), TAPML_OK);
    cr_assert_eq(notify(3, &notices[1]), TAPML_OK);
    fixture.notebook.wait_status = TAPML_INTERNAL;
    cr_assert_eq(wait_for(1), TAPML_INTERNAL);
    expect_called(&notices[0], TAPML_INTERNAL);
    expect_called(&notices[1], TAPML_INTERNAL);
    cr_expect_eq(notify(3, &later), TAPML_INTERNAL);
    gpu_notice_give(fixture.notebook.notices[0], TAPML_OK);
    gpu_notice_give(fixture.notebook.notices[1], TAPML_OK);
    expect_called(&notices[0], TAPML_INTERNAL);
    cr_expect_eq(later.calls, 0);
}

// A timeline that is released waits for what it has promised.
Test(gpu_notices, a_release_ends_them)
{
    for (int fails = 0; fails < 2; fails++) {
        struct notice notice = {0};

        cr_assert_eq(notify(3, &notice), TAPML_OK);
        fixture.notebook.wait_status = fails ? TAPML_DEVICE_LOST : TAPML_OK;
        release_timeline();
        expect_called(&notice, fails ? TAPML_DEVICE_LOST : TAPML_OK);
        gpu_notice_give(fixture.notebook.notices[0], TAPML_OK);
        expect_called(&notice, fails ? TAPML_DEVICE_LOST : TAPML_OK);
        gpu_notebook_close(&fixture.notebook);
        open_fixture();
    }
}

// What the driver refuses is not called, and not kept.
Test(gpu_notices, a_driver_can_refuse)
{
    struct notice notice = {0};

    fixture.notebook.notify_status = TAPML_UNIMPLEMENTED;
    cr_expect_eq(notify(1, &notice), TAPML_UNIMPLEMENTED);
    cr_assert_eq(wait_for(3), TAPML_OK);
    cr_expect_eq(notice.calls, 0);
}
