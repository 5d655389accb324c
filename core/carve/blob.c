// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/blob.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <stdint.h>

void blob_keeper_init(struct blob_keeper *keeper)
{
    *keeper = (struct blob_keeper){.free = NULL};
    (void)pthread_mutex_init(&keeper->lock, NULL); // Cannot fail on Linux.
}

void blob_keeper_release(struct blob_keeper *keeper)
{
    ASSERT(keeper->alive == 0);
    while (keeper->free) {
        struct blob *blob = keeper->free;
        keeper->free = blob->next;
        alloc_free(blob);
    }
    (void)pthread_mutex_destroy(&keeper->lock);
}

// Takes a free blob of exactly this size out of the list, and counts the one that is created.
static struct blob *take(struct blob_keeper *keeper, size_t bytes)
{
    (void)pthread_mutex_lock(&keeper->lock);
    struct blob **link = &keeper->free;
    while (*link && (*link)->bytes != bytes) {
        link = &(*link)->next;
    }
    struct blob *blob = *link;
    if (blob) {
        *link = blob->next;
        keeper->free_bytes -= bytes;
    }
    keeper->alive++;
    (void)pthread_mutex_unlock(&keeper->lock);
    return blob;
}

// Returns whether the keeper holds the blob from now on.
static int give_back(struct blob_keeper *keeper, struct blob *blob)
{
    (void)pthread_mutex_lock(&keeper->lock);
    const int is_kept = blob && blob->bytes >= BLOB_KEPT_BYTES_MIN &&
                        blob->bytes <= BLOB_FREE_BYTES_MAX - keeper->free_bytes;
    if (is_kept) {
        blob->next = keeper->free;
        keeper->free = blob;
        keeper->free_bytes += blob->bytes;
    }
    ASSERT(keeper->alive > 0);
    keeper->alive--;
    (void)pthread_mutex_unlock(&keeper->lock);
    return is_kept;
}

struct blob *blob_create(struct blob_keeper *keeper, size_t bytes)
{
    struct blob *blob = take(keeper, bytes);
    if (!blob && bytes < SIZE_MAX - sizeof(*blob)) {
        blob = alloc_raw(sizeof(*blob) + bytes);
    }
    if (!blob) {
        (void)give_back(keeper, NULL);
        return NULL;
    }
    atomic_init(&blob->owners, 1);
    blob->bytes = bytes;
    blob->keeper = keeper;
    return blob;
}

struct blob *blob_ref(struct blob *blob)
{
    atomic_fetch_add_explicit(&blob->owners, 1, memory_order_relaxed);
    return blob;
}

int blob_is_shared(const struct blob *blob)
{
    return atomic_load_explicit(&blob->owners, memory_order_relaxed) > 1;
}

void blob_unref(struct blob *blob)
{
    if (blob && atomic_fetch_sub_explicit(&blob->owners, 1, memory_order_acq_rel) == 1 &&
        !give_back(blob->keeper, blob)) {
        alloc_free(blob);
    }
}
