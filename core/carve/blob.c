// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/blob.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <stdint.h>

void blob_keeper_init(struct blob_keeper *keeper)
{
    *keeper = (struct blob_keeper){.newest = NULL};
    (void)pthread_mutex_init(&keeper->lock, NULL); // Cannot fail on Linux.
}

static void unlink_free(struct blob_keeper *keeper, struct blob *blob)
{
    *(blob->newer ? &blob->newer->older : &keeper->newest) = blob->older;
    *(blob->older ? &blob->older->newer : &keeper->oldest) = blob->newer;
    keeper->free_bytes -= blob->room_bytes;
}

static void link_newest(struct blob_keeper *keeper, struct blob *blob)
{
    blob->newer = NULL;
    blob->older = keeper->newest;
    *(blob->older ? &blob->older->newer : &keeper->oldest) = blob;
    keeper->newest = blob;
    keeper->free_bytes += blob->room_bytes;
}

static void free_oldest(struct blob_keeper *keeper)
{
    struct blob *blob = keeper->oldest;
    unlink_free(keeper, blob);
    alloc_free(blob);
}

void blob_keeper_release(struct blob_keeper *keeper)
{
    ASSERT(keeper->alive == 0);
    while (keeper->oldest) {
        free_oldest(keeper);
    }
    (void)pthread_mutex_destroy(&keeper->lock);
}

// Takes the newest free blob that fits out of the list, or NULL, and counts what is created.
static struct blob *take(struct blob_keeper *keeper, size_t bytes)
{
    (void)pthread_mutex_lock(&keeper->lock);
    struct blob *blob = bytes < BLOB_KEPT_BYTES_MIN / BLOB_ROOM_PARTS ? NULL : keeper->newest;
    while (blob && (blob->room_bytes < bytes || blob->room_bytes / BLOB_ROOM_PARTS > bytes)) {
        blob = blob->older;
    }
    if (blob) {
        unlink_free(keeper, blob);
    }
    keeper->alive++;
    (void)pthread_mutex_unlock(&keeper->lock);
    return blob;
}

// NULL: it was not created.
static void give_back(struct blob_keeper *keeper, struct blob *blob)
{
    const size_t room = blob ? blob->room_bytes : 0;
    const int is_kept = room >= BLOB_KEPT_BYTES_MIN && room <= BLOB_FREE_BYTES_MAX;
    (void)pthread_mutex_lock(&keeper->lock);
    ASSERT(keeper->alive > 0);
    keeper->alive--;
    while (is_kept && keeper->free_bytes > BLOB_FREE_BYTES_MAX - room) {
        free_oldest(keeper);
    }
    if (is_kept) {
        link_newest(keeper, blob);
    }
    (void)pthread_mutex_unlock(&keeper->lock);
    if (!is_kept) {
        alloc_free(blob);
    }
}

static struct blob *allocate(size_t bytes)
{
    struct blob *blob = bytes < SIZE_MAX - sizeof(*blob) ? alloc_raw(sizeof(*blob) + bytes) : NULL;
    if (blob) {
        blob->room_bytes = bytes;
    }
    return blob;
}

struct blob *blob_create(struct blob_keeper *keeper, size_t bytes)
{
    struct blob *blob = take(keeper, bytes);
    blob = blob ? blob : allocate(bytes);
    if (!blob) {
        give_back(keeper, NULL);
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
    if (blob && atomic_fetch_sub_explicit(&blob->owners, 1, memory_order_acq_rel) == 1) {
        give_back(blob->keeper, blob);
    }
}
