// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/share.h"

#include "base/alloc.h"

void share_list_release(struct share_list *list)
{
    alloc_free(list->shares);
    *list = (struct share_list){0};
}

// The share that begins at `memory`; NULL for a free place.
static struct share *search(const struct share_list *list, const void *memory)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->shares[i].given.memory == memory) {
            return &list->shares[i];
        }
    }
    return NULL;
}

tapml_status share_add(struct share_list *list, const struct backend_share *given)
{
    struct share *share = search(list, given->memory);
    if (!given->memory || given->bytes == 0 || (share && share->given.bytes != given->bytes)) {
        return status_fail(TAPML_INVALID, "memory of %llu bytes cannot be shared",
                           (unsigned long long)given->bytes);
    }
    if (share) {
        share->users++;
        return TAPML_OK;
    }
    share = search(list, NULL);
    if (!share) {
        if (!alloc_grow((void **)&list->shares, &list->capacity, list->count, sizeof(*share))) {
            return status_no_memory();
        }
        share = &list->shares[list->count++];
    }
    *share = (struct share){.given = *given, .users = 1};
    return TAPML_OK;
}

struct share *share_remove(struct share_list *list, const void *memory)
{
    struct share *share = memory ? search(list, memory) : NULL;
    return share && --share->users == 0 ? share : NULL;
}

struct share *share_find(const struct share_list *list, const void *memory, uint64_t bytes)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct backend_share *given = &list->shares[i].given;
        const uint64_t offset = (uintptr_t)memory - (uintptr_t)given->memory; // Wraps below it.
        if (offset < given->bytes && bytes <= given->bytes - offset) {
            return &list->shares[i];
        }
    }
    return NULL;
}

void share_forget_sent(struct share_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        list->shares[i].is_sent = 0;
    }
}
