// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/room.h"

#include "base/alloc.h"

tapml_status room_need(struct room *room, uint64_t size, void **out_memory)
{
    if (!room->memory || room->size < size) {
        alloc_free(room->memory);
        room->memory = alloc_new(size);
        room->size = room->memory ? size : 0;
    }
    *out_memory = room->memory;
    return room->memory ? TAPML_OK : status_no_memory();
}

void room_release(struct room *room)
{
    alloc_free(room->memory);
    *room = (struct room){0};
}
