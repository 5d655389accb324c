// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Memory spaces: where one span of bytes can lie while a graph runs over several backends.
//
// Space 0 is host memory, which all host-memory backends share through buffers that wrap it; every
// other backend has a space of its own. Bytes move between spaces over host memory. The set knows
// the current place: before another place is entered, the work of host-memory backends is waited
// for, so that others never see half of what they write.
//
// One thread, that of the backends, whose failures are returned with the name of the place;
// TAPML_NO_MEMORY. Sizes and offsets are bytes.
#pragma once

#include "base/shared.h"
#include "base/status.h"
#include "device/backend.h"
#include "exec/place.h"

struct ring;

enum {
    SPACE_PLACES_MAX = 8,
    SPACE_HOST = 0,
    SPACE_COUNT_MAX = SPACE_PLACES_MAX + 1,
    SPACE_NO_PLACE = SPACE_PLACES_MAX // The host itself, in place of a place.
};

// A place (exec/place), as far as memory is concerned.
struct space_place {
    struct backend *backend;   // Borrowed.
    const char *name;          // Borrowed.
    struct residency *weights; // On its device. Borrowed; NULL only if no weights are used.
    uint32_t space;
    enum activation activation; // Of its backend (exec/cast).
    int is_busy;                // Work was queued since the last wait.
    int is_held;                // Work was queued since the last flush: it may not have started.
    uint64_t work;              // Calls of `space_note_call` so far.
    uint64_t written;           // Writes from host memory that were queued so far.
    uint64_t done;              // How many of these are known to be done.
    uint32_t shared;            // Regions of the set's memory that are shared with it.
    uint64_t bytes;             // Of the buffers of blocks, where its memory is its own.
    uint64_t budget_bytes;      // For these and the weights (exec/allowance); 0: any.
    struct ring *ring;          // Through which its weights go (exec/ring). Borrowed; or NULL.
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
    uint32_t failed;  // The place whose backend failed last; SPACE_NO_PLACE: none has.

    // Whether the queue of a place waits for points of another one; which of that one's writes it
    // has waited for.
    uint8_t follows[SPACE_PLACES_MAX][SPACE_PLACES_MAX];
    uint64_t followed[SPACE_PLACES_MAX][SPACE_PLACES_MAX];

    // Host memory of the blocks if a place is behind a link, whose far side reads it there.
    struct shared *memory; // NULL until it is needed.
};

// A span of bytes. Its memory in each space is allocated when it is first needed; its contents are
// undefined then.
struct space_block {
    struct activation_bytes bytes; // At places of each dtype; whole groups of 64.
    void *memory;                  // In host memory, on a multiple of 64; or NULL.
    struct shared_span span;       // In the set's memory; its `memory` is NULL if not there.
    void *casted; // Values in a reduced dtype, on their way to or from a place; or NULL.
    tapml_object *buffers[SPACE_PLACES_MAX];

    // For each place, the number of its last write that reads `memory` or `casted`.
    uint64_t read_by[SPACE_PLACES_MAX];
};

// Makes a set over open places, the first is the source. `places` is read by this call only; the
// backends, names and weights outlive the set.
void space_set_init(struct space_set *set, struct place *const *places, uint32_t count);

// Unshares and frees all memory. Called after a wait and after the blocks were released.
void space_set_release(struct space_set *set);

// Makes `place` (or SPACE_NO_PLACE) the current one, and waits for a host-memory place that was
// current before if that has work.
tapml_status space_enter(struct space_set *set, uint32_t place) STATUS_USED;

// A failure of the backend of `place`, which is noted as `failed`, with the name of the place.
// Gives `status` back.
tapml_status space_explain(struct space_set *set, uint32_t place, tapml_status status);

// Notes that work was queued at `place`.
void space_note_call(struct space_set *set, uint32_t place);

// Waits until all queued work is done: of one place, of all places.
tapml_status space_wait(struct space_set *set, uint32_t place) STATUS_USED;
tapml_status space_wait_all(struct space_set *set) STATUS_USED;

// Marks the end of the work that is queued at a place; waits until such a point of the same place
// is reached.
tapml_status
space_signal(struct space_set *set, uint32_t place, struct space_point *out_point) STATUS_USED;
tapml_status
space_wait_for(struct space_set *set, uint32_t place, const struct space_point *point) STATUS_USED;

// Makes work that is queued at `place` from now on start after a point of `from`. The host waits
// where the queues of these two places cannot.
tapml_status space_follow(struct space_set *set,
                          uint32_t place,
                          uint32_t from,
                          const struct space_point *point) STATUS_USED;

// Before a call at `place` (SPACE_NO_PLACE: before anything else that takes time): submits the
// queued work of the other places. Waiting for a place also submits its queued work.
tapml_status space_flush_others(struct space_set *set, uint32_t place) STATUS_USED;

// Makes a block of `bytes`, rounded up, without memory. It is released with the set that it was
// used with, after a wait.
void space_block_init(struct space_block *block, struct activation_bytes bytes);
void space_block_release(struct space_block *block, struct space_set *set);

// The host memory of a block, allocated if it has none.
tapml_status
space_memory(struct space_set *set, struct space_block *block, void **out_memory) STATUS_USED;

// The size of a block's buffer at a place.
uint64_t space_bytes(const struct space_set *set, const struct space_block *block, uint32_t place);

// The buffer of a block at a place, allocated if there is none. The block owns it.
tapml_status space_buffer(struct space_set *set,
                          struct space_block *block,
                          uint32_t place,
                          tapml_object **out_buffer) STATUS_USED;

// Frees the buffer of a block at a place with memory of its own, which no queued work uses.
void space_free(struct space_set *set, struct space_block *block, uint32_t place);

// Waits until no place reads a block's memory in this process any more, so that the host can
// overwrite it. What `space_download` overwrites the queue of the place waits for, if it can.
tapml_status space_claim(struct space_set *set, const struct space_block *block) STATUS_USED;

// Copies [begin, end) from host memory to a device's place, and back; both ends are widened to
// whole grains. The copy is queued, and done after a wait for the place. Values in a reduced dtype
// are copied by exec/cast.
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
