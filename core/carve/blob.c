// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/blob.h"

#include "base/alloc.h"

#include <stdint.h>

struct blob *blob_create(size_t bytes)
{
    struct blob *blob = bytes < SIZE_MAX - sizeof(*blob) ? alloc_raw(sizeof(*blob) + bytes) : NULL;
    if (blob) {
        atomic_init(&blob->owners, 1);
        blob->bytes = bytes;
    }
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
        alloc_free(blob);
    }
}
