// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the buffers of another machine should hold: what was written to them, and what was read of
// them last. Calls change buffers without a word, so this is what a read may well give, and no more
// than that. Buffers that are too large, or for which there is no room, have no shadow. One thread.
#pragma once

#include "remote/mirror.h"

#include <tapml/wire/wire.h>

enum {
    SHADOW_BUFFER_BYTES_MAX = 1 << 24, // Of one,
    SHADOW_BYTES_MAX = 1 << 28         // and of all.
};

// Zeroed to begin with. By the number of the buffer.
struct shadow {
    struct shadow_buffer {
        unsigned char *bytes; // NULL: it has no shadow.
        uint64_t size;
        uint64_t changes; // How often something was written.
    } * buffers;
    size_t count, capacity;
    uint64_t bytes; // Of all.
};

void shadow_release(struct shadow *shadow);

// Follows a message of this side: a buffer is made or freed, written, filled, or copied to. Written
// bytes lie in `mirror`.
void shadow_follow(struct shadow *shadow,
                   const struct mirror *mirror,
                   const struct wire_frame *frame);

// A part of a buffer.
struct shadow_part {
    uint32_t buffer;
    uint64_t offset, bytes;
};

// What it should hold; NULL where that is not known. Lives until the next message.
const unsigned char *shadow_find(const struct shadow *shadow, const struct shadow_part *part);

// How often something was written to a buffer; 0 where it has no shadow.
uint64_t shadow_changes(const struct shadow *shadow, uint32_t buffer);

// What was read, unless something was written since there were `changes`.
void shadow_learn(struct shadow *shadow,
                  const struct shadow_part *part,
                  const void *found,
                  uint64_t changes);
