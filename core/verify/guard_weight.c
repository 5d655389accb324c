// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/guard_weight.h"

#include <string.h>

enum { WEIGHT_CALLS = 16, HASH_PIECE_BYTES = 1 << 20 };

static void hash_piece(const void *piece, uint64_t size, struct hash *hash)
{
    const struct hash chain[] = {*hash, hash_bytes(piece, size)};
    *hash = hash_bytes(chain, sizeof(chain));
}

// A chain over pieces, so that a large weight needs little room.
static tapml_status hash_buffer(struct backend *inner,
                                struct room *room,
                                const struct guard_buffer *buffer,
                                struct hash *out_hash)
{
    struct hash hash = {0};
    void *piece = NULL;
    TAPML_TRY(room_need(room, HASH_PIECE_BYTES, &piece));
    for (uint64_t at = 0; at < guard_buffer_readable_bytes(buffer); at += HASH_PIECE_BYTES) {
        const uint64_t rest = guard_buffer_readable_bytes(buffer) - at;
        const uint64_t size = rest < HASH_PIECE_BYTES ? rest : HASH_PIECE_BYTES;
        TAPML_TRY(backend_read(inner, buffer->inner, at, piece, size));
        TAPML_TRY(backend_wait(inner));
        hash_piece(piece, size, &hash);
    }
    *out_hash = hash;
    return TAPML_OK;
}

tapml_status
guard_weight_begin(struct backend *inner, struct room *room, struct guarded_watch *watch)
{
    struct guard_buffer *buffer = watch->buffer;
    if (!buffer->is_hashed) {
        TAPML_TRY(hash_buffer(inner, room, buffer, &buffer->hash));
        buffer->is_hashed = 1;
        buffer->uses = 0;
    }
    watch->held = buffer->hash;
    return TAPML_OK;
}

// What of a weight's buffer has changed: a redzone, or the weight.
static tapml_status describe_change(struct backend *inner,
                                    const struct guarded_call *guarded,
                                    const struct guarded_use *use,
                                    struct guard_violation *out_violation)
{
    const struct guard_buffer *buffer = use->buffer;
    const uint64_t behind = buffer->redzone + buffer->size;
    uint32_t zones[2][GUARD_BUFFER_REDZONE_BYTES / sizeof(uint32_t)];
    memcpy(zones, buffer->zones, sizeof(zones));
    if (buffer->redzone > 0) {
        TAPML_TRY(backend_read(inner, buffer->inner, 0, zones[0], buffer->redzone));
        TAPML_TRY(backend_read(inner, buffer->inner, behind, zones[1], buffer->redzone));
        TAPML_TRY(backend_wait(inner));
    }
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t at = guard_buffer_difference(zones[i], buffer->zones[i], sizeof(zones[i]));
        if (at < sizeof(zones[i])) {
            guard_violation_outside(out_violation, guarded, use, i * behind + at);
            return TAPML_OK;
        }
    }
    guard_violation_weight(out_violation, guarded, use);
    return TAPML_OK;
}

tapml_status
guard_weight_read(struct backend *inner, struct room *room, struct guarded_watch *watch)
{
    watch->is_due = watch->buffer->uses++ % WEIGHT_CALLS == 0 && !watch->after;
    return watch->is_due ? hash_buffer(inner, room, watch->buffer, &watch->found) : TAPML_OK;
}

tapml_status guard_weight_check(struct backend *inner,
                                const struct guarded_call *guarded,
                                const struct guarded_watch *watch,
                                struct guard_violation *out_violation)
{
    struct guard_buffer *buffer = watch->buffer;
    struct hash now = watch->found;
    if (!watch->is_due && !watch->after) {
        return TAPML_OK;
    }
    if (watch->after) {
        now = (struct hash){0};
        hash_piece(watch->after, guard_buffer_readable_bytes(buffer), &now);
    }
    if (hash_equal(now, watch->held)) {
        return TAPML_OK;
    }
    buffer->is_hashed = 0; // It is reported once.
    return describe_change(inner, guarded, watch->use, out_violation);
}
