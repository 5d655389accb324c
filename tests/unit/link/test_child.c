// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/clock.h"
#include "harness/scratch.h"
#include "link/child.h"
#include "link/message.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t SECOND_NS = 1000000000;

static struct child_output run(const char *script, uint64_t timeout_ns)
{
    const char *const arguments[] = {"/bin/sh", "-c", script, NULL};
    struct child_output output;
    cr_assert_eq(child_run(arguments, timeout_ns, &output), TAPML_OK, "%s", status_message());
    return output;
}

Test(child, gives_output_and_ending_apart)
{
    struct child_output output = run("echo out; echo words >&2", 20 * SECOND_NS);
    cr_assert_str_eq(output.text, "out\n");
    cr_assert_str_eq(output.last_words, "words");
    cr_assert_str_eq(output.ending, "");
    alloc_free(output.text);
    output = run("exit 7", 20 * SECOND_NS);
    cr_assert_str_eq(output.ending, "ended with exit status 7");
    alloc_free(output.text);
    output = run("kill -ABRT $$", 20 * SECOND_NS);
    cr_assert_str_eq(output.ending, "was killed by SIGABRT");
    alloc_free(output.text);
}

Test(child, ends_one_that_takes_too_long_with_all_that_it_started)
{
    char word[64], script[256];
    (void)snprintf(word, sizeof(word), "7%d", (int)getpid());
    (void)snprintf(script, sizeof(script), "sleep %s & sleep %s", word, word);
    const uint64_t begin_ns = clock_now_ns();
    struct child_output output = run(script, SECOND_NS / 5);
    cr_assert_str_eq(output.ending, "did not end within 0.2 s");
    cr_assert_lt(clock_now_ns() - begin_ns, 10 * SECOND_NS);
    alloc_free(output.text);
    (void)snprintf(script, sizeof(script),
                   "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | "
                   "grep -c 'sleep %s'",
                   word);
    output = run(script, 20 * SECOND_NS);
    // The shell that counts has the words in its own command line.
    cr_assert(atoi(output.text) <= 1, "%s", output.text);
    alloc_free(output.text);
}

Test(child, inherits_no_descriptor_and_no_signal)
{
    const int open_one = open("/dev/null", O_RDONLY);
    cr_assert_geq(open_one, 0);
    cr_assert_neq(dup2(open_one, 40), -1);
    (void)signal(SIGTERM, SIG_IGN);
    struct child_output output = run("for i in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$i ] && echo "
                                     "$i; done; [ -e /proc/$$/fd/40 ] && echo 40; kill -TERM $$",
                                     20 * SECOND_NS);
    cr_assert_null(strstr(output.text, "40"), "%s", output.text);
    cr_assert_str_eq(output.ending, "was killed by SIGTERM");
    alloc_free(output.text);
}

Test(child, keeps_the_last_lines_alone)
{
    struct child_output output =
        run("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i + 1)); done", 60 * SECOND_NS);
    cr_assert_not_null(strstr(output.last_words, "line 2998 | line 2999"), "%s", output.last_words);
    cr_assert_null(strstr(output.last_words, "line 2900 "));
    alloc_free(output.text);
}

Test(child, says_what_cannot_be_started)
{
    const char *const arguments[] = {"/nowhere/at-all", NULL};
    struct child_output output;
    cr_assert_eq(child_run(arguments, SECOND_NS, &output), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "/nowhere/at-all"));
}

static struct channel *open_worker(uint64_t memory_bytes)
{
    struct channel *channel = NULL;
    char program[1024];
    (void)snprintf(program, sizeof(program), "%s/tapml-worker", getenv("TAPML_TEST_BUILD"));
    cr_assert_eq(child_create(&(struct child_options){.program = program,
                                                      .memory_bytes = memory_bytes,
                                                      .is_silent = 1},
                              &channel),
                 TAPML_OK);
    cr_assert_eq(channel_start(channel), TAPML_OK, "%s", status_message());
    return channel;
}

// A message that is answered whatever a worker is told.
static void ask(struct channel *channel)
{
    struct wire_writer writer = MESSAGE_WRITER;
    wire_begin(&writer, MESSAGE_OPEN, 5);
    message_put_settings(&writer, NULL, 0);
    wire_end(&writer);
    cr_assert_eq(channel_send(channel, writer.data, writer.size, -1), TAPML_OK);
    wire_writer_release(&writer);
}

Test(child, asks_a_worker_and_starts_it_again)
{
    struct channel *channel = open_worker(0);
    struct wire_frame frame;
    for (int turn = 0; turn < 2; turn++) {
        ask(channel);
        cr_assert_eq(channel_receive(channel, 30 * SECOND_NS, &frame), TAPML_OK, "%s",
                     status_message());
        cr_assert_eq(frame.verb, MESSAGE_REPLY);
        cr_assert_eq(frame.number, 5);
        cr_assert_eq(channel_receive(channel, 1000, &frame), TAPML_DEADLINE);
        channel_stop(channel);
        cr_assert_eq(channel_receive(channel, SECOND_NS, &frame), TAPML_UNAVAILABLE);
        cr_assert_eq(channel_start(channel), TAPML_OK);
    }
    channel_release(channel);
}

Test(child, reports_the_words_of_a_worker_that_ended)
{
    struct channel *channel = open_worker(0);
    struct wire_frame frame;
    unsigned char other[WIRE_HEADER_BYTES] = {'T', 'A', 'P', 'L', 4};
    cr_assert_eq(channel_send(channel, other, sizeof(other), -1), TAPML_OK);
    cr_assert_eq(channel_receive(channel, 30 * SECOND_NS, &frame), TAPML_UNAVAILABLE);
    cr_assert_str_eq(status_message(), "ended with exit status 2");
    cr_assert_not_null(strstr(channel_last_words(channel), "speaks version 4 of the wire"), "%s",
                       channel_last_words(channel));
    channel_release(channel);
}

// The other way round: a program that speaks another version of the wire.
Test(child, refuses_a_worker_of_another_version)
{
    struct scratch scratch;
    struct channel *channel = NULL;
    struct wire_frame frame;
    scratch_make(&scratch);
    const char *program = scratch_text(
        &scratch, "worker",
        "#!/bin/sh\nprintf 'TAPL\\004\\000\\100\\000\\001\\000\\000\\000\\000\\000\\000\\000' >&3\n"
        "exec sleep 60\n");
    cr_assert_eq(chmod(program, 0700), 0);
    cr_assert_eq(
        child_create(&(struct child_options){.program = program, .is_silent = 1}, &channel),
        TAPML_OK);
    cr_assert_eq(channel_start(channel), TAPML_OK, "%s", status_message());
    cr_assert_eq(channel_receive(channel, 30 * SECOND_NS, &frame), TAPML_UNAVAILABLE);
    cr_assert_str_eq(status_message(),
                     "cannot be understood: it speaks version 4 of the wire, this "
                     "side speaks version 3");
    channel_release(channel);
    scratch_remove(&scratch);
}

Test(child, ends_a_worker_that_takes_too_much_memory)
{
    struct channel *channel = open_worker(4096);
    struct wire_frame frame;
    cr_assert_eq(channel_receive(channel, 30 * SECOND_NS, &frame), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "of memory, may take 0, and was ended"), "%s",
                       status_message());
    channel_release(channel);
}
