// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Memory that other processes can see: regions of anonymous files, cut into spans by first fit. A
// region takes memory as it is touched, not as it is made, and gives that of large spans back.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct shared;

enum { SHARED_ALIGN = 64 };

// What others can do with the memory. This process always writes it, and none makes it shorter.
enum shared_access { SHARED_WRITABLE, SHARED_READ_ONLY };

struct shared_span {
    uint32_t region;
    uint64_t offset; // In the region, a multiple of SHARED_ALIGN.
    uint64_t bytes;  // As they were asked for.
    unsigned char *memory;
};

// Regions of SHARED_READ_ONLY cannot be written by their descriptors: a process that gets one only
// reads.
tapml_status shared_create(enum shared_access access, struct shared **out_shared) STATUS_USED;
void shared_destroy(struct shared *shared);

// A span of `bytes` with any contents.
tapml_status
shared_take(struct shared *shared, uint64_t bytes, struct shared_span *out_span) STATUS_USED;
void shared_give_back(struct shared *shared, const struct shared_span *span);

// The regions so far, numbered from 0: only more of them come.
uint32_t shared_count(const struct shared *shared);
uint64_t shared_bytes(const struct shared *shared, uint32_t region);
unsigned char *shared_memory(const struct shared *shared, uint32_t region);
int shared_descriptor(const struct shared *shared, uint32_t region); // Of the set, which closes it.
