// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Contents that several owners share: the cases that wait to be written, and the recorder, which
// knows that what one op has written another one reads.
//
// References may be taken and dropped in any thread; the bytes are written by one thread, before
// they are shared.
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

// One owner less; the last one takes it away. NULL is allowed. [any]
void blob_unref(struct blob *blob);
