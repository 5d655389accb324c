// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Contents with several owners: the cases that wait to be written, and the fetcher, since one op
// reads what another op wrote.
//
// References may be taken and dropped in any thread; one thread writes the bytes, before it shares
// them.
#pragma once

#include <stdatomic.h>
#include <stddef.h>

struct blob {
    atomic_uint owners;
    size_t bytes;
    _Alignas(max_align_t) unsigned char data[];
};

// A blob of undefined bytes with one owner, or NULL: no memory.
struct blob *blob_create(size_t bytes);

// One more owner. Returns `blob`.
struct blob *blob_ref(struct blob *blob);

// Whether it has more than one owner.
int blob_is_shared(const struct blob *blob);

// Drops an owner; without owners the blob is freed. NULL is allowed. [any]
void blob_unref(struct blob *blob);
