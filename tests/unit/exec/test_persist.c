// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/file.h"
#include "device/backend.h"
#include "exec/persist.h"
#include "harness/plain.h"
#include "harness/scratch.h"
#include "link/child.h"

#include <criterion/criterion.h>
#include <string.h>

// A real device whose process is said to be killed.
struct killed {
    struct backend_wrapper wrapper; // First.
    uint64_t kills, generation;
    int dies_at_once; // Whatever it does.
};

static uint64_t count_kills(const struct backend *backend)
{
    return ((const struct killed *)backend)->kills;
}

static uint64_t count_generation(const struct backend *backend)
{
    return ((const struct killed *)backend)->generation;
}

static tapml_status killed_wait(struct backend *backend)
{
    struct killed *killed = (struct killed *)backend;
    const tapml_status status = backend_wait(killed->wrapper.inner);
    killed->kills += killed->dies_at_once ? 1 : 0;
    return killed->dies_at_once ? status_fail(TAPML_INTERNAL, "killed") : status;
}

static struct killed *killed_open(struct backend_vt *vt)
{
    static struct killed killed;
    *vt = backend_forward_vt;
    vt->kills = count_kills;
    vt->generation = count_generation;
    vt->wait = killed_wait;
    killed = (struct killed){.wrapper = {.backend = {.vt = vt}, .inner = plain_create()}};
    return &killed;
}

static void killed_close(struct killed *killed)
{
    backend_release(killed->wrapper.inner);
}

// How often work is done that is killed the first `kills` times; its status.
static unsigned work(struct killed *killed, unsigned kills, tapml_status *out_status)
{
    struct persist persist;
    unsigned tries = 0;
    persist_begin(&persist, &killed->wrapper.backend);
    do {
        const int is_killed = tries++ < kills;
        killed->kills += is_killed ? 1 : 0;
        *out_status = is_killed ? status_fail(TAPML_INTERNAL, "npu: killed at silu") : TAPML_OK;
    } while (persist_again(&persist, out_status));
    return tries;
}

Test(persist, work_that_is_killed_is_done_again)
{
    struct backend_vt vt;
    struct killed *killed = killed_open(&vt);
    tapml_status status = TAPML_OK;
    cr_expect_eq(work(killed, 0, &status), 1);
    cr_expect_eq(work(killed, 2, &status), 3);
    cr_expect_eq(status, TAPML_OK);
    killed_close(killed);
}

Test(persist, work_that_is_killed_each_time_beside_what_lives_has_failed)
{
    struct backend_vt vt;
    struct killed *killed = killed_open(&vt);
    tapml_status status = TAPML_OK;
    cr_expect_eq(work(killed, PERSIST_TRIES, &status), PERSIST_TRIES);
    cr_expect_eq(status, TAPML_INTERNAL);
    cr_expect_str_eq(status_message(),
                     "npu: killed at silu, each of 3 times, while writes and reads live");
    killed_close(killed);
}

Test(persist, where_all_is_killed_the_device_is_lost)
{
    struct backend_vt vt;
    struct killed *killed = killed_open(&vt);
    tapml_status status = TAPML_OK;
    killed->dies_at_once = 1;
    cr_expect_eq(work(killed, PERSIST_TRIES, &status), PERSIST_TRIES);
    cr_expect_eq(status, TAPML_DEVICE_LOST);
    cr_expect(
        strstr(status_message(), "killed from outside, whatever it does: npu: killed at silu"));
    killed_close(killed);
}

Test(persist, other_failures_stand_and_lost_memory_does_not)
{
    struct backend_vt vt;
    struct killed *killed = killed_open(&vt);
    struct persist persist;
    tapml_status status = status_fail(TAPML_INTERNAL, "npu: SIGSEGV");
    persist_begin(&persist, &killed->wrapper.backend);
    cr_expect_not(persist_again(&persist, &status));
    cr_expect_eq(status, TAPML_INTERNAL);
    killed->kills++;
    status = TAPML_CANCELLED;
    cr_expect_not(persist_again(&persist, &status));
    status = TAPML_OK;
    persist_begin(&persist, &killed->wrapper.backend);
    killed->generation++; // Amidst of it.
    cr_expect(persist_again(&persist, &status));
    cr_expect_not(persist_again(&persist, &status));
    killed_close(killed);
}

Test(persist, work_stands_on_every_backend_that_was_added)
{
    struct backend_vt vt, other_vt;
    struct killed *killed = killed_open(&vt);
    struct killed other = *killed;
    struct persist persist;
    tapml_status status = status_fail(TAPML_INTERNAL, "npu: SIGSEGV");
    other_vt = vt;
    other.wrapper.backend.vt = &other_vt;
    persist_begin(&persist, &killed->wrapper.backend);
    persist_add(&persist, &other.wrapper.backend);
    cr_expect_not(persist_was_killed(&persist));
    cr_expect_not(persist_again(&persist, &status));
    other.kills++;
    cr_expect(persist_was_killed(&persist));
    cr_expect(persist_again(&persist, &status));
    cr_expect_not(persist_was_killed(&persist), "a try begins anew");
    other.generation++;
    status = TAPML_OK;
    cr_expect(persist_again(&persist, &status));
    cr_expect_not(persist_again(&persist, &status));
    killed_close(killed);
}

// How often a program is run that counts itself in a file, and what it ended with.
static size_t run_counting(const char *end, struct child_output *out_output)
{
    struct scratch scratch;
    char script[1024], *counted = NULL;
    size_t size = 0;
    scratch_make(&scratch);
    const char *path = scratch_text(&scratch, "count", "");
    (void)snprintf(script, sizeof(script), "printf x >>'%s'; %s", path, end);
    const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
    cr_assert_eq(persist_run(arguments, UINT64_C(20000000000), out_output), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(file_read(path, 64, &counted, &size), TAPML_OK);
    alloc_free(counted);
    alloc_free(out_output->text);
    scratch_remove(&scratch);
    return size;
}

Test(persist, a_program_that_is_killed_is_run_again)
{
    struct child_output output;
    cr_expect_eq(run_counting("kill -9 $$", &output), PERSIST_TRIES);
    cr_expect(output.was_killed);
    cr_expect_eq(run_counting("kill -11 $$", &output), 1u);
    cr_expect_not(output.was_killed);
    cr_expect_eq(run_counting("exit 0", &output), 1u);
    cr_expect_str_eq(output.ending, "");
}
