// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Memory that is kept from one use to the next, and grows if a use needs more. One thread.
#pragma once

#include "base/status.h"

#include <stdint.h>

// All zero to begin with.
struct room {
    void *memory;
    uint64_t size;
};

// At least `size` bytes with any contents, valid until the next call with this room or its release.
// TAPML_NO_MEMORY.
tapml_status room_need(struct room *room, uint64_t size, void **out_memory) STATUS_USED;
void room_release(struct room *room);
