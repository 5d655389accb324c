// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/loopback.h"

#include "base/alloc.h"
#include "link/client.h"
#include "link/far_side.h"
#include "link/serve.h"

#include <unistd.h>

struct loopback {
    struct channel channel; // First.
    struct server *server;
    struct backend *inner;
    struct catalogue *catalogue;
    struct wire_writer replies;
    size_t taken; // Bytes of them.
};

static struct loopback *own(struct channel *channel)
{
    return (struct loopback *)channel;
}

static tapml_status open_inner(void *user,
                               const struct message_setting *settings,
                               size_t count,
                               struct backend **out_backend,
                               struct catalogue **out_catalogue)
{
    const struct loopback *loopback = user;
    *out_backend = loopback->inner;
    *out_catalogue = loopback->catalogue;
    return TAPML_OK;
}

static void loopback_release(struct channel *channel)
{
    struct loopback *loopback = own(channel);
    serve_destroy(loopback->server);
    wire_writer_release(&loopback->replies);
    alloc_free(loopback);
}

static tapml_status loopback_start(struct channel *channel)
{
    return serve_create(&(struct serve_options){.open = open_inner, .user = channel},
                        &own(channel)->server);
}

static tapml_status
loopback_send(struct channel *channel, const void *bytes, size_t size, int descriptor)
{
    struct loopback *loopback = own(channel);
    const unsigned char *at = bytes;
    struct wire_frame frame = {0};
    if (loopback->taken == loopback->replies.size) {
        loopback->taken = loopback->replies.size = 0;
    }
    for (; size > 0 && wire_read(at, size, &frame) == WIRE_FRAME;
         at += wire_frame_bytes(&frame), size -= wire_frame_bytes(&frame)) {
        TAPML_TRY(serve_frame(loopback->server, &frame, descriptor < 0 ? -1 : dup(descriptor),
                              &loopback->replies));
        descriptor = -1;
    }
    return size == 0 ? TAPML_OK : status_fail(TAPML_INTERNAL, "was sent no whole frame");
}

static tapml_status
loopback_receive(struct channel *channel, uint64_t timeout_ns, struct wire_frame *out_frame)
{
    struct loopback *loopback = own(channel);
    const size_t left = loopback->replies.size - loopback->taken;
    if (left == 0 ||
        wire_read(loopback->replies.data + loopback->taken, left, out_frame) != WIRE_FRAME) {
        return status_fail(TAPML_INTERNAL, "did not answer");
    }
    loopback->taken += wire_frame_bytes(out_frame);
    return TAPML_OK;
}

static void loopback_stop(struct channel *channel)
{
    // There is no other process to end.
}

static const char *loopback_last_words(struct channel *channel)
{
    return "";
}

static const struct channel_vt loopback_vt = {
    .release = loopback_release,
    .start = loopback_start,
    .send = loopback_send,
    .receive = loopback_receive,
    .stop = loopback_stop,
    .last_words = loopback_last_words,
};

tapml_status loopback_create(struct backend *inner,
                             struct catalogue *catalogue,
                             struct arena *arena,
                             struct backend **out_backend)
{
    struct loopback *loopback = alloc_new(sizeof(*loopback));
    if (!loopback) {
        return status_no_memory();
    }
    loopback->channel.vt = &loopback_vt;
    loopback->replies = MESSAGE_WRITER;
    loopback->inner = inner;
    loopback->catalogue = catalogue;
    return client_create(&(struct far_side_options){.channel = &loopback->channel,
                                                    .catalogue = catalogue,
                                                    .arena = arena},
                         out_backend);
}
