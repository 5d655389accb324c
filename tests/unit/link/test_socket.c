// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/message.h"
#include "link/socket.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static struct socket_inbox inbox;

static void setup(void)
{
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
}

static void teardown(void)
{
    socket_inbox_release(&inbox);
    close(ends[0]);
    close(ends[1]);
}

TestSuite(socket, .init = setup, .fini = teardown);

static struct wire_writer frame_of(uint16_t verb, const char *text)
{
    struct wire_writer writer = MESSAGE_WRITER;
    wire_begin(&writer, verb, 1);
    wire_put_text(&writer, text);
    wire_end(&writer);
    return writer;
}

static struct wire_frame next(void)
{
    struct wire_frame frame;
    enum wire_result result = WIRE_MORE;
    while ((result = socket_next(&inbox, &frame)) == WIRE_MORE) {
        cr_assert_eq(socket_receive(ends[1], &inbox), TAPML_OK, "%s", status_message());
    }
    cr_assert_eq(result, WIRE_FRAME);
    return frame;
}

Test(socket, carries_frames_in_pieces_and_together)
{
    struct wire_writer one = frame_of(1, "one"), two = frame_of(2, "two");
    cr_assert_eq(socket_send(ends[0], one.data, 5, -1), TAPML_OK);
    cr_assert_eq(socket_receive(ends[1], &inbox), TAPML_OK);
    cr_assert_eq(socket_next(&inbox, &(struct wire_frame){0}), WIRE_MORE);
    cr_assert_eq(socket_send(ends[0], one.data + 5, one.size - 5, -1), TAPML_OK);
    cr_assert_eq(socket_send(ends[0], two.data, two.size, -1), TAPML_OK);
    cr_assert_eq(next().verb, 1);
    cr_assert_eq(next().verb, 2);
    wire_writer_release(&one);
    wire_writer_release(&two);
}

Test(socket, carries_descriptors_in_order)
{
    int pipes[2][2];
    struct wire_writer frame = frame_of(1, "with a pipe");
    char letter = 0;
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(pipe(pipes[i]), 0);
        cr_assert_eq(socket_send(ends[0], frame.data, frame.size, pipes[i][0]), TAPML_OK);
        cr_assert_eq(write(pipes[i][1], i == 0 ? "a" : "b", 1), 1);
    }
    for (int i = 0; i < 2; i++) {
        (void)next();
        const int descriptor = socket_take_descriptor(&inbox);
        cr_assert_geq(descriptor, 0);
        cr_assert_eq(read(descriptor, &letter, 1), 1);
        cr_assert_eq(letter, i == 0 ? 'a' : 'b');
        close(descriptor);
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
    cr_assert_eq(socket_take_descriptor(&inbox), -1);
    wire_writer_release(&frame);
}

Test(socket, says_that_the_other_side_is_gone)
{
    struct wire_writer frame = frame_of(1, "nobody hears it");
    close(ends[1]);
    cr_assert_eq(socket_send(ends[0], frame.data, frame.size, -1), TAPML_UNAVAILABLE);
    cr_assert_eq(socket_receive(ends[0], &inbox), TAPML_UNAVAILABLE);
    ends[1] = dup(ends[0]);
    wire_writer_release(&frame);
}
