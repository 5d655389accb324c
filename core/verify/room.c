// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/room.h"

#include "base/alloc.h"

tapml_status room_need(struct room *room, uint64_t size, void **out_memory)
{
    if (!room->memory || room->size < size) {
        // By half at least, so that sizes that grow step by step cost little.
        const uint64_t more = room->size + room->size / 2;
        const uint64_t wanted = size > more ? size : more;
        alloc_free(room->memory);
        room->memory = alloc_raw(wanted);
        room->size = room->memory ? wanted : 0;
    }
    *out_memory = room->memory;
    return room->memory ? TAPML_OK : status_no_memory();
}

void room_release(struct room *room)
{
    alloc_free(room->memory);
    *room = (struct room){0};
}
