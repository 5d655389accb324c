// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "harness/far_machine.h"
#include "remote/reach.h"

#include <poll.h>

static const uint64_t second_ns = 1000000000;
static struct far_machine machine;
static struct reach *reach;
static struct stream *stream;

static void setup(void)
{
    far_machine_open(&machine);
    PAIRED_MUST(stream_create(&stream));
}

static void teardown(void)
{
    stream_destroy(stream);
    reach_destroy(reach);
    reach_destroy(NULL);
    far_machine_close(&machine);
}

TestSuite(reach, .init = setup, .fini = teardown, .timeout = 60);

static tapml_status create(uint64_t patience_ns)
{
    return reach_create(
        &(struct reach_options){.url = machine.dials ? NULL : machine.url,
                                .listen = machine.dials ? machine.listen : NULL,
                                .folder = machine.paired.sides[PAIRED_HOST].scratch.folder,
                                .patience_ns = patience_ns},
        &reach);
}

// Until there is something else to say.
static enum reach_state try(void)
{
    enum reach_state state = REACH_NOT_YET;

    while ((state = reach_try(reach, stream)) == REACH_NOT_YET) {
        (void)poll(NULL, 0, 10);
    }
    return state;
}

Test(reach, finds_a_machine_that_is_there)
{
    far_machine_start(&machine);
    PAIRED_MUST(create(60 * second_ns));
    cr_assert_str_eq(reach_where(reach), machine.url);
    cr_assert_eq(try(), REACH_THERE);
    cr_assert(stream_is_attached(stream));
    stream_detach(stream);
    cr_assert_eq(try(), REACH_THERE, "the same session goes on");
    far_machine_stop(&machine);
    far_machine_start(&machine);
    stream_detach(stream);
    cr_assert_eq(try(), REACH_BEGAN_ANEW);
    reach_forget_session(reach);
    stream_destroy(stream);
    PAIRED_MUST(stream_create(&stream));
    cr_assert_eq(try(), REACH_THERE);
}

Test(reach, finds_one_that_dials)
{
    far_machine_turn(&machine);
    far_machine_start(&machine);
    PAIRED_MUST(create(60 * second_ns));
    cr_assert_eq(try(), REACH_THERE);
}

Test(reach, gives_up_in_a_sentence_and_waits_anew)
{
    far_machine_turn(&machine);
    PAIRED_MUST(create(second_ns / 5));
    for (int i = 0; i < 2; i++) {
        const uint64_t begin_ns = clock_now_ns();

        cr_assert_eq(try(), REACH_LOST);
        cr_assert_geq(clock_now_ns() - begin_ns, second_ns / 5);
        cr_assert_eq(strncmp(status_message(), "was out of reach for ", 21), 0, "%s",
                     status_message());
        cr_assert_not_null(strstr(status_message(), "no worker has dialled 127.0.0.1:"), "%s",
                           status_message());
    }
}

Test(reach, refuses_a_machine_that_is_not_paired)
{
    far_machine_start(&machine);
    PAIRED_MUST(peers_remove(machine.paired.sides[PAIRED_HOST].scratch.folder, "worker"));
    PAIRED_MUST(create(second_ns));
    cr_assert_eq(try(), REACH_REFUSED);
    cr_assert_not_null(strstr(status_message(), "is not paired"), "%s", status_message());
}

Test(reach, needs_an_address_and_survives_a_lack_of_memory)
{
    (void)snprintf(machine.url, sizeof(machine.url), "box");
    cr_assert_eq(create(second_ns), TAPML_INVALID);
    cr_assert_null(reach);
    (void)snprintf(machine.url, sizeof(machine.url), "tapml://127.0.0.1:1");
    SCRATCH_SWEEP(create(second_ns));
}
