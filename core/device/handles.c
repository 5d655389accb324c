// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/handles.h"

#include "base/alloc.h"
#include "base/assert.h"

enum { CAPACITY_MIN = 256 };

void handles_release(struct handles *handles)
{
    alloc_free(handles->slots);
    *handles = (struct handles){0};
}

// Fibonacci hashing: the upper bits of the product depend on all of the address.
static size_t slot_of(const struct handles *handles, const tapml_object *object)
{
    const uint64_t product = (uint64_t)((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u;
    return (size_t)(product >> 32) & (handles->capacity - 1);
}

// The slot of a handle, or the free one where it would be.
static struct handle *probe(const struct handles *handles, const tapml_object *object)
{
    size_t at = slot_of(handles, object);
    while (handles->slots[at].object && handles->slots[at].object != object) {
        at = (at + 1) & (handles->capacity - 1);
    }
    return &handles->slots[at];
}

// Handles that were freed stay behind.
static tapml_status rehash(struct handles *handles, size_t capacity)
{
    struct handles larger = {.capacity = capacity, .alive = handles->alive, .made = handles->made};
    larger.slots = alloc_array(capacity, sizeof(*larger.slots));
    if (!larger.slots) {
        return status_no_memory();
    }
    for (size_t i = 0; i < handles->capacity; i++) {
        if (handles->slots[i].is_alive) {
            *probe(&larger, handles->slots[i].object) = handles->slots[i];
            larger.used++;
        }
    }
    ASSERT(larger.used == larger.alive);
    alloc_free(handles->slots);
    *handles = larger;
    return TAPML_OK;
}

tapml_status handles_reserve(struct handles *handles)
{
    if (handles->capacity > 0 && handles->used + 1 <= handles->capacity / 2) {
        return TAPML_OK;
    }
    size_t capacity = CAPACITY_MIN;
    while (capacity / 4 < handles->alive + 1) {
        capacity *= 2;
    }
    return rehash(handles, capacity);
}

void handles_add(struct handles *handles,
                 const tapml_object *object,
                 uint64_t bytes,
                 uint32_t access)
{
    ASSERT(handles->used < handles->capacity);
    struct handle *slot = probe(handles, object);
    ASSERT(!slot->is_alive); // A backend gives no buffer twice.
    handles->used += !slot->object;
    handles->alive++;
    *slot = (struct handle){object, bytes, ++handles->made, access, 1};
}

struct handle *handles_find(const struct handles *handles, const tapml_object *object)
{
    if (handles->capacity == 0 || !object) {
        return NULL;
    }
    struct handle *slot = probe(handles, object);
    return slot->object ? slot : NULL;
}

void handles_free(struct handles *handles, struct handle *handle)
{
    ASSERT(handle->is_alive && handles->alive > 0);
    handle->is_alive = 0;
    handles->alive--;
}
