// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Memory spaces: where one span of bytes can lie while a graph runs over several backends.
//
// Space 0 is host memory, which all host-memory backends share through buffers that wrap it; every
// other backend has a space of its own. Bytes move between spaces over host memory. The set knows
// which backend the session works with now: the place that comes next finds the work of host-memory
// backends done.
#pragma once

#include "base/shared.h"
#include "base/status.h"
#include "device/backend.h"
#include "exec/place.h"

enum {
    SPACE_PLACES_MAX = 8,
    SPACE_HOST = 0,
    SPACE_COUNT_MAX = SPACE_PLACES_MAX + 1,
    SPACE_NOBODY = SPACE_PLACES_MAX // The host itself, in place of a place.
};

// A place (exec/place), as far as memory is concerned.
struct space_place {
    struct backend *backend;   // Borrowed.
    const char *name;          // Borrowed.
    struct residency *weights; // On its device. Borrowed; NULL only if no weights are used.
    uint32_t space;
    enum activation activation; // Of its backend (exec/cast).
    int is_busy;                // Called since it was last waited for,
    int is_held;                // and since it was last told to begin: it may hold the work back.
    uint64_t work;              // What was given to it so far, by calls of `space_note_call`.
    uint64_t written;           // Writes from host memory so far,
    uint64_t done;              // and how many of them are known to be done.
    uint32_t shared;            // Regions of the set's memory that are shared with it.
};

// A moment in the work of a place.
struct space_point {
    struct backend_point point;
    uint64_t work, written; // Of the place, at that moment.
};

struct space_set {
    struct space_place places[SPACE_PLACES_MAX];
    uint32_t place_count;
    uint32_t current; // The place that was entered last.

    // Where host memory of blocks lies if a place is behind a link, which then reads it there.
    struct shared *memory; // NULL until it is needed.
};

// A span of bytes. Its memory in each space is made when it is first asked for, and undefined.
struct space_block {
    struct activation_bytes bytes; // At places of each dtype; whole groups of 64.
    void *memory;                  // In host memory, on a multiple of 64; or NULL.
    struct shared_span span;       // Of the set's memory; its `memory` is NULL where there is none.
    void *casted; // What places of a reduced dtype are sent and send, on its way; or NULL.
    tapml_object *buffers[SPACE_PLACES_MAX];

    // For each place, the number of its last write that reads `memory` or `casted`.
    uint64_t read_by[SPACE_PLACES_MAX];
};

// Over open places, the first of which is the source. The places themselves are needed no longer
// than this call; their backends, names and weights are.
void space_set_init(struct space_set *set, struct place *const *places, uint32_t count);

// Unshares all memory. After a wait, and when the blocks are released.
void space_set_release(struct space_set *set);

// Makes `place` (or SPACE_NOBODY) the one that works next.
tapml_status space_enter(struct space_set *set, uint32_t place) STATUS_USED;

// Notes that work was given to `place`.
void space_note_call(struct space_set *set, uint32_t place);

// Waits for one place, for all.
tapml_status space_wait(struct space_set *set, uint32_t place) STATUS_USED;
tapml_status space_wait_all(struct space_set *set) STATUS_USED;

// Marks the end of what was given to a place, and waits for such a point of it.
tapml_status
space_signal(struct space_set *set, uint32_t place, struct space_point *out_point) STATUS_USED;
tapml_status
space_wait_for(struct space_set *set, uint32_t place, const struct space_point *point) STATUS_USED;

// Lets what is given to `place` later begin behind a point of `from`, without a wait of the host.
// TAPML_UNIMPLEMENTED where those two cannot, ever.
tapml_status space_follow(struct space_set *set,
                          uint32_t place,
                          uint32_t from,
                          const struct space_point *point) STATUS_USED;

// Before a call at `place` (SPACE_NOBODY: before anything else that takes time): hands over what
// the other places hold back. Waiting for a place also submits its queued work.
tapml_status space_flush_others(struct space_set *set, uint32_t place) STATUS_USED;

// `bytes` are rounded up. The block is released with the set it was used with, after a wait.
void space_block_init(struct space_block *block, struct activation_bytes bytes);
void space_block_release(struct space_block *block, struct space_set *set);

// Host memory of a block.
tapml_status
space_memory(struct space_set *set, struct space_block *block, void **out_memory) STATUS_USED;

// Bytes of the buffer of a block at a place.
uint64_t space_bytes(const struct space_set *set, const struct space_block *block, uint32_t place);

// The buffer that stands for a block at a place.
tapml_status space_buffer(struct space_set *set,
                          struct space_block *block,
                          uint32_t place,
                          tapml_object **out_buffer) STATUS_USED;

// Waits until no place reads a block's memory in this process any more, so that it can be
// overwritten.
tapml_status space_claim(struct space_set *set, const struct space_block *block) STATUS_USED;

// Copies [begin, end) from host memory to a device's place, and back; both ends are widened to
// whole grains. It is done when the place is waited for. What a place has in a reduced
// dtype goes by exec/cast.
tapml_status space_upload(struct space_set *set,
                          struct space_block *block,
                          uint32_t place,
                          uint64_t begin,
                          uint64_t end) STATUS_USED;
tapml_status space_download(struct space_set *set,
                            struct space_block *block,
                            uint32_t place,
                            uint64_t begin,
                            uint64_t end) STATUS_USED;
