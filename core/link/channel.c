// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/channel.h"

void channel_release(struct channel *channel)
{
    channel->vt->release(channel);
}

tapml_status channel_start(struct channel *channel)
{
    return channel->vt->start(channel);
}

tapml_status channel_send(struct channel *channel, const void *bytes, size_t size, int descriptor)
{
    return channel->vt->send(channel, bytes, size, descriptor);
}

tapml_status
channel_receive(struct channel *channel, uint64_t timeout_ns, struct wire_frame *out_frame)
{
    return channel->vt->receive(channel, timeout_ns, out_frame);
}

void channel_stop(struct channel *channel)
{
    channel->vt->stop(channel);
}

const char *channel_last_words(struct channel *channel)
{
    return channel->vt->last_words(channel);
}

int channel_was_killed(const struct channel *channel)
{
    return channel->vt->was_killed != NULL && channel->vt->was_killed(channel);
}
