// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/space.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/transfer.h"

enum { BLOCK_GRAIN = 64 };

enum follows { FOLLOWS_UNKNOWN, FOLLOWS_YES, FOLLOWS_NO };

void space_set_init(struct space_set *set, struct place *const *places, uint32_t count)
{
    ASSERT(count <= SPACE_PLACES_MAX);
    *set = (struct space_set){
        .place_count = count, .current = SPACE_NO_PLACE, .failed = SPACE_NO_PLACE};
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(places[i]->backend);
        const struct backend_info *info = backend_info(places[i]->backend);
        const int is_host = info->is_host_memory && !activation_is_reduced(info->activation);
        set->places[i] = (struct space_place){
            .backend = places[i]->backend,
            .name = places[i]->settings.name,
            .weights = places[i]->weights,
            .space = is_host ? SPACE_HOST : SPACE_HOST + 1 + i,
            .activation = info->activation,
            .budget_bytes = is_host ? 0 : (uint64_t)places[i]->settings.budget_mib << 20,
        };
    }
}

void space_set_release(struct space_set *set)
{
    for (uint32_t i = 0; i < set->place_count; i++) {
        struct space_place *place = &set->places[i];
        for (; place->shared > 0; place->shared--) {
            backend_unshare(place->backend, shared_memory(set->memory, place->shared - 1));
        }
    }
    shared_destroy(set->memory);
    set->memory = NULL;
}

tapml_status space_explain(struct space_set *set, uint32_t place, tapml_status status)
{
    if (status == TAPML_OK) {
        return status;
    }
    set->failed = place;
    return status_explain(status, "on %s", set->places[place].name);
}

tapml_status space_wait(struct space_set *set, uint32_t place)
{
    struct space_place *own = &set->places[place];
    ASSERT(place < set->place_count && own->done <= own->written);
    const tapml_status status = backend_wait(own->backend);
    own->done = own->written; // Also where it fails: nothing is queued any more.
    own->is_busy = own->is_held = 0;
    return space_explain(set, place, status);
}

tapml_status space_wait_all(struct space_set *set)
{
    for (uint32_t i = 0; i < set->place_count; i++) {
        if (set->places[i].is_busy) {
            TAPML_TRY(space_wait(set, i));
        }
    }
    return TAPML_OK;
}

tapml_status space_signal(struct space_set *set, uint32_t place, struct space_point *out_point)
{
    struct space_place *own = &set->places[place];
    ASSERT(place < set->place_count);
    out_point->work = own->work;
    out_point->written = own->written;
    return space_explain(set, place, backend_signal(own->backend, &out_point->point));
}

tapml_status space_wait_for(struct space_set *set, uint32_t place, const struct space_point *point)
{
    struct space_place *own = &set->places[place];
    ASSERT(place < set->place_count);
    ASSERT(point->work <= own->work && point->written <= own->written); // It is of this place.
    const tapml_status status = backend_wait_for(own->backend, point->point);
    if (status != TAPML_OK) { // Nothing is queued any more.
        own->done = own->written;
        own->is_busy = own->is_held = 0;
        return space_explain(set, place, status);
    }
    own->done = point->written > own->done ? point->written : own->done;
    if (point->work == own->work) {
        own->is_busy = own->is_held = 0;
    }
    return TAPML_OK;
}

// As `space_follow`; TAPML_UNIMPLEMENTED where the queue cannot wait.
static tapml_status
follow(struct space_set *set, uint32_t place, uint32_t from, const struct space_point *point)
{
    struct space_place *own = &set->places[place], *other = &set->places[from];
    uint8_t *follows = &set->follows[place][from];
    if (*follows == FOLLOWS_NO) {
        return TAPML_UNIMPLEMENTED;
    }
    if (other->is_held) {
        other->is_held = 0;
        TAPML_TRY(space_explain(set, from, backend_flush(other->backend)));
    }
    const tapml_status status = backend_queue_wait(own->backend, point->point);
    *follows = status == TAPML_UNIMPLEMENTED ? FOLLOWS_NO : FOLLOWS_YES;
    if (status != TAPML_OK) {
        return status == TAPML_UNIMPLEMENTED ? status : space_explain(set, place, status);
    }
    if (point->written > set->followed[place][from]) {
        set->followed[place][from] = point->written;
    }
    own->is_busy = 1;
    return TAPML_OK;
}

tapml_status
space_follow(struct space_set *set, uint32_t place, uint32_t from, const struct space_point *point)
{
    ASSERT(place < set->place_count && from < set->place_count && place != from);
    ASSERT(point->work <= set->places[from].work); // It is of `from`.
    const tapml_status status = follow(set, place, from, point);
    return status == TAPML_UNIMPLEMENTED ? space_wait_for(set, from, point) : status;
}

tapml_status space_flush_others(struct space_set *set, uint32_t place)
{
    for (uint32_t i = 0; i < set->place_count; i++) {
        struct space_place *other = &set->places[i];
        if (i != place && other->is_held) {
            other->is_held = 0;
            TAPML_TRY(space_explain(set, i, backend_flush(other->backend)));
        }
    }
    return TAPML_OK;
}

tapml_status space_enter(struct space_set *set, uint32_t place)
{
    const uint32_t last = set->current;
    ASSERT(place < set->place_count || place == SPACE_NO_PLACE);
    if (last == place) {
        return TAPML_OK;
    }
    set->current = place;
    // Others see the same host memory, and must not see half of it.
    return last != SPACE_NO_PLACE && set->places[last].is_busy &&
                   set->places[last].space == SPACE_HOST
               ? space_wait(set, last)
               : TAPML_OK;
}

void space_note_call(struct space_set *set, uint32_t place)
{
    ASSERT(place < set->place_count);
    set->places[place].is_busy = set->places[place].is_held = 1;
    set->places[place].work++;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes > 0 ? (bytes - 1) / BLOCK_GRAIN + 1 : 1) * BLOCK_GRAIN;
}

void space_block_init(struct space_block *block, struct activation_bytes bytes)
{
    *block = (struct space_block){.memory = NULL};
    for (unsigned i = 0; i < ACTIVATION_COUNT; i++) {
        ASSERT(bytes.at[i] <= bytes.at[ACTIVATION_F32]);
        block->bytes.at[i] = round_up(bytes.at[i]);
    }
}

void space_free(struct space_set *set, struct space_block *block, uint32_t place)
{
    struct space_place *own = &set->places[place];
    if (block->buffers[place] && own->space != SPACE_HOST) {
        own->bytes -= space_bytes(set, block, place);
    }
    backend_buffer_free(own->backend, block->buffers[place]);
    block->buffers[place] = NULL;
}

void space_block_release(struct space_block *block, struct space_set *set)
{
    for (uint32_t i = 0; i < set->place_count; i++) {
        space_free(set, block, i);
    }
    if (block->span.memory) {
        shared_give_back(set->memory, &block->span);
    } else {
        alloc_free(block->memory);
    }
    alloc_free(block->casted);
    *block = (struct space_block){0};
}

static int is_lending(const struct space_set *set)
{
    for (uint32_t i = 0; i < set->place_count; i++) {
        const enum backend_borrowing borrowing = backend_info(set->places[i].backend)->borrowing;
        if (borrowing == BACKEND_BORROWS_SOURCES || borrowing == BACKEND_BORROWS_BUFFERS) {
            return 1;
        }
    }
    return 0;
}

// Lends every place the regions that it has not yet.
static tapml_status share(struct space_set *set)
{
    for (uint32_t i = 0; i < set->place_count; i++) {
        struct space_place *place = &set->places[i];
        for (; place->shared < shared_count(set->memory); place->shared++) {
            const struct backend_share loan = {
                .memory = shared_memory(set->memory, place->shared),
                .bytes = shared_bytes(set->memory, place->shared),
                .descriptor = shared_descriptor(set->memory, place->shared),
            };
            TAPML_TRY(space_explain(set, i, backend_share(place->backend, &loan)));
        }
    }
    return TAPML_OK;
}

static tapml_status take_shared(struct space_set *set, uint64_t bytes, struct shared_span *out_span)
{
    if (!set->memory) {
        TAPML_TRY(shared_create(SHARED_READ_ONLY, &set->memory));
    }
    TAPML_TRY(shared_take(set->memory, bytes, out_span));
    return share(set);
}

// What cannot be shared is ordinary memory, which is copied on its way to a worker.
static void *make_memory(struct space_set *set, struct space_block *block)
{
    if (is_lending(set) &&
        take_shared(set, block->bytes.at[ACTIVATION_F32], &block->span) == TAPML_OK) {
        return block->span.memory;
    }
    if (block->span.memory) {
        shared_give_back(set->memory, &block->span);
        block->span.memory = NULL;
    }
    return alloc_aligned(block->bytes.at[ACTIVATION_F32], BLOCK_GRAIN);
}

tapml_status space_memory(struct space_set *set, struct space_block *block, void **out_memory)
{
    if (!block->memory) {
        block->memory = make_memory(set, block);
    }
    if (!block->memory) {
        return status_no_memory();
    }
    *out_memory = block->memory;
    return TAPML_OK;
}

uint64_t space_bytes(const struct space_set *set, const struct space_block *block, uint32_t place)
{
    return block->bytes.at[set->places[place].activation];
}

tapml_status space_buffer(struct space_set *set,
                          struct space_block *block,
                          uint32_t place,
                          tapml_object **out_buffer)
{
    struct space_place *own = &set->places[place];
    tapml_object **buffer = &block->buffers[place];
    ASSERT(place < set->place_count);
    if (!*buffer && own->space == SPACE_HOST) {
        void *memory = NULL;
        TAPML_TRY(space_memory(set, block, &memory));
        TAPML_TRY(
            space_explain(set, place,
                          backend_buffer_wrap(own->backend, memory, block->bytes.at[ACTIVATION_F32],
                                              TAPML_ACCESS_READ | TAPML_ACCESS_WRITE, buffer)));
    } else if (!*buffer) {
        TAPML_TRY(space_explain(
            set, place, backend_buffer_new(own->backend, space_bytes(set, block, place), buffer)));
        own->bytes += space_bytes(set, block, place);
    }
    *out_buffer = *buffer;
    return TAPML_OK;
}

// Whether place `i` may still read the host memory of a block, as far as the host knows.
static int is_read(const struct space_set *set, const struct space_block *block, uint32_t i)
{
    return block->read_by[i] > set->places[i].done;
}

tapml_status space_claim(struct space_set *set, const struct space_block *block)
{
    for (uint32_t i = 0; i < set->place_count; i++) {
        if (is_read(set, block, i)) {
            TAPML_TRY(space_wait(set, i));
        }
    }
    return TAPML_OK;
}

// Lets what is queued at a place from now on wait until no other one reads the host memory of a
// block. Its own work is in order.
static tapml_status claim_at(struct space_set *set, const struct space_block *block, uint32_t place)
{
    for (uint32_t i = 0; i < set->place_count; i++) {
        if (i != place && is_read(set, block, i) && block->read_by[i] > set->followed[place][i]) {
            struct space_point point;
            TAPML_TRY(space_signal(set, i, &point));
            TAPML_TRY(space_follow(set, place, i, &point));
        }
    }
    return TAPML_OK;
}

// Whole grains around [begin, end); blocks end on one.
static void widen(uint64_t *begin, uint64_t *end)
{
    *begin -= *begin % TAPML_TRANSFER_GRAIN;
    *end += (TAPML_TRANSFER_GRAIN - *end % TAPML_TRANSFER_GRAIN) % TAPML_TRANSFER_GRAIN;
}

tapml_status space_upload(
    struct space_set *set, struct space_block *block, uint32_t place, uint64_t begin, uint64_t end)
{
    struct space_place *own = &set->places[place];
    ASSERT(own->space != SPACE_HOST && begin <= end && end <= block->bytes.at[ACTIVATION_F32]);
    tapml_object *buffer = NULL;
    void *memory = NULL;
    TAPML_TRY(space_memory(set, block, &memory));
    TAPML_TRY(space_buffer(set, block, place, &buffer));
    widen(&begin, &end);
    TAPML_TRY(space_explain(
        set, place,
        transfer_to(own->backend, buffer, begin, (unsigned char *)memory + begin, end - begin)));
    space_note_call(set, place);
    block->read_by[place] = ++own->written;
    return TAPML_OK;
}

tapml_status space_download(
    struct space_set *set, struct space_block *block, uint32_t place, uint64_t begin, uint64_t end)
{
    const struct space_place *own = &set->places[place];
    ASSERT(own->space != SPACE_HOST && begin <= end && end <= block->bytes.at[ACTIVATION_F32]);
    tapml_object *buffer = NULL;
    void *memory = NULL;
    TAPML_TRY(claim_at(set, block, place));
    TAPML_TRY(space_memory(set, block, &memory));
    TAPML_TRY(space_buffer(set, block, place, &buffer));
    widen(&begin, &end);
    TAPML_TRY(space_explain(
        set, place,
        transfer_from(own->backend, buffer, begin, (unsigned char *)memory + begin, end - begin)));
    space_note_call(set, place);
    return TAPML_OK;
}
