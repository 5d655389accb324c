// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Contents with several owners: the cases that wait to be written, and the fetcher, since one op
// reads what another op wrote.
//
// The memory of large blobs is reused: new memory from the system costs more than the copy that
// fills it. A keeper holds what is free, and the oldest of it makes room for the newest.
//
// References may be taken and dropped in any thread; one thread creates blobs and writes the bytes,
// before it shares them.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

// Blobs from this size on are kept: smaller blocks come from the heap without the system.
enum { BLOB_KEPT_BYTES_MIN = 64 << 10 };

// The most bytes of free blobs that a keeper holds.
enum { BLOB_FREE_BYTES_MAX = 256 << 20 };

// A free blob serves one of at least this part of its room.
enum { BLOB_ROOM_PARTS = 2 };

struct blob {
    atomic_uint owners;
    size_t bytes;
    size_t room_bytes; // Of `data`.
    struct blob_keeper *keeper;
    struct blob *older, *newer; // Of the free ones.
    _Alignas(max_align_t) unsigned char data[];
};

struct blob_keeper {
    pthread_mutex_t lock;         // Of what follows.
    struct blob *oldest, *newest; // Of the free blobs; the newest is most likely in the caches.
    size_t free_bytes;            // Their room.
    size_t alive;                 // Blobs that have owners.
};

// Makes a keeper without blobs. `blob_keeper_release` frees its memory; no blob has owners then.
void blob_keeper_init(struct blob_keeper *keeper);
void blob_keeper_release(struct blob_keeper *keeper);

// A blob of `bytes` undefined bytes with one owner, or NULL: no memory.
struct blob *blob_create(struct blob_keeper *keeper, size_t bytes);

// One more owner. Returns `blob`.
struct blob *blob_ref(struct blob *blob);

// Whether it has more than one owner.
int blob_is_shared(const struct blob *blob);

// Drops an owner; without owners the blob goes back to its keeper. NULL is allowed. [any]
void blob_unref(struct blob *blob);
