// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "stores.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "fuzz.h"
#include "store/pages.h"

#include <string.h>
#include <unistd.h>

enum { HEADER_BYTES = 100, SIZE_AT = 16, RESERVED_AT = 20, KEPT_AT = 72, PAGE_BYTES_MIN = 512 };

// As store/pages writes them.
static void put_sums(uint8_t *data, size_t size)
{
    size_t page_bytes = size < HEADER_BYTES ? 0 : (size_t)data[SIZE_AT] << 8 | data[SIZE_AT + 1];
    page_bytes = page_bytes == 1 ? 65536 : page_bytes;
    if (page_bytes < PAGE_BYTES_MIN || data[RESERVED_AT] != PAGES_SUM_BYTES || data[KEPT_AT] != 0) {
        return;
    }
    for (size_t at = 0; at + page_bytes <= size; at += page_bytes) {
        uint8_t *sum_at = data + at + page_bytes - PAGES_SUM_BYTES;
        const struct hash hash = hash_bytes(data + at, page_bytes - PAGES_SUM_BYTES);
        const uint64_t sum = hash.low + (at / page_bytes + 1) * 0x9e3779b97f4a7c15u;
        for (int i = 0; i < PAGES_SUM_BYTES; i++) {
            sum_at[i] = (uint8_t)(sum >> (8 * i));
        }
    }
}

const char *stores_write(const uint8_t *data, size_t size)
{
    uint8_t *copy = alloc_new(size);
    FUZZ_CHECK(copy);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    put_sums(copy, size);
    (void)unlink(fuzz_path("a.tapmlrun-wal")); // Of the input before, where it was damaged.
    (void)unlink(fuzz_path("a.tapmlrun-shm"));
    fuzz_write("a.tapmlrun", copy, size);
    alloc_free(copy);
    return fuzz_path("a.tapmlrun");
}
