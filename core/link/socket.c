// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/socket.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

// An answer or the next question is often near: to sleep and to be woken takes longer than to look
// for it so long.
enum { PIECE_BYTES = 1 << 16, LOOK_NS = 8000 };

// Room for descriptors, aligned as its header wants it.
union control {
    struct cmsghdr header;
    unsigned char bytes[CMSG_SPACE(sizeof(int) * SOCKET_DESCRIPTORS_MAX)];
};

static tapml_status gone(void)
{
    return status_fail(TAPML_UNAVAILABLE, "the other side is gone");
}

tapml_status socket_send(int socket, const void *bytes, size_t size, int descriptor)
{
    const unsigned char *at = bytes;
    while (size > 0) {
        // The interface of iovec has one pointer for both directions; this one only reads.
        struct iovec piece = {(void *)(uintptr_t)at, size};
        union control control = {0};
        struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
        if (descriptor >= 0) {
            message.msg_control = &control;
            message.msg_controllen = CMSG_SPACE(sizeof(int));
            struct cmsghdr *header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(sizeof(int));
            memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
        }
        const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return gone();
        }
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
            descriptor = -1;
        }
    }
    return TAPML_OK;
}

void socket_set_timeout(int socket, int timeout_ms)
{
    const struct timeval limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
    const int failed = setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ASSERT(!failed); // It is a socket, and the time makes sense.
}

void socket_inbox_release(struct socket_inbox *inbox)
{
    for (size_t i = 0; i < inbox->descriptor_count; i++) {
        close(inbox->descriptors[i]);
    }
    alloc_free(inbox->data);
    *inbox = (struct socket_inbox){0};
}

static tapml_status make_room(struct socket_inbox *inbox)
{
    if (inbox->data) {
        memmove(inbox->data, inbox->data + inbox->begin, inbox->end - inbox->begin);
    }
    inbox->end -= inbox->begin;
    inbox->begin = 0;
    if (inbox->capacity - inbox->end >= PIECE_BYTES) {
        return TAPML_OK;
    }
    const size_t capacity = 2 * (inbox->end + PIECE_BYTES);
    unsigned char *data = alloc_new(capacity);
    if (!data) {
        return status_no_memory();
    }
    if (inbox->data) {
        memcpy(data, inbox->data, inbox->end);
    }
    alloc_free(inbox->data);
    inbox->data = data;
    inbox->capacity = capacity;
    return TAPML_OK;
}

static void take_descriptors(struct socket_inbox *inbox, struct msghdr *message)
{
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header;
         header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int descriptor = -1;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            if (inbox->descriptor_count < SOCKET_DESCRIPTORS_MAX) {
                inbox->descriptors[inbox->descriptor_count++] = descriptor;
            } else {
                close(descriptor);
            }
        }
    }
}

tapml_status socket_receive(int socket, struct socket_inbox *inbox)
{
    union control control;
    TAPML_TRY(make_room(inbox));
    const uint64_t begin_ns = clock_now_ns();
    int flags = MSG_CMSG_CLOEXEC | MSG_DONTWAIT;
    for (;;) {
        struct iovec piece = {inbox->data + inbox->end, inbox->capacity - inbox->end};
        struct msghdr message = {.msg_iov = &piece,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof(control)};
        const ssize_t received = recvmsg(socket, &message, flags);
        if (received < 0 && errno == EAGAIN && (flags & MSG_DONTWAIT) != 0) {
            flags &= clock_now_ns() - begin_ns > LOOK_NS ? ~MSG_DONTWAIT : ~0;
            continue;
        }
        if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return TAPML_DEADLINE;
        }
        if (received == 0 || (received < 0 && errno != EINTR)) {
            return gone();
        }
        if (received > 0) {
            take_descriptors(inbox, &message);
            inbox->end += (size_t)received;
            return TAPML_OK;
        }
    }
}

enum wire_result socket_next(struct socket_inbox *inbox, struct wire_frame *out_frame)
{
    if (inbox->begin == inbox->end) {
        return WIRE_MORE;
    }
    const enum wire_result result =
        wire_read(inbox->data + inbox->begin, inbox->end - inbox->begin, out_frame);
    if (result == WIRE_FRAME) {
        inbox->begin += wire_frame_bytes(out_frame);
    }
    return result;
}

int socket_take_descriptor(struct socket_inbox *inbox)
{
    if (inbox->descriptor_count == 0) {
        return -1;
    }
    const int descriptor = inbox->descriptors[0];
    inbox->descriptor_count--;
    memmove(inbox->descriptors, inbox->descriptors + 1,
            inbox->descriptor_count * sizeof(inbox->descriptors[0]));
    return descriptor;
}
