// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// store/store, store/pages and store/schema: a whole file that a stranger calls a store. The
// checksums of its pages are made right first, as a stranger would, unless byte 72 of the header,
// which SQLite leaves alone, is not 0.
#include "fuzz.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "reader.h"
#include "store/pages.h"
#include "store/store.h"
#include "store/store_open.h"

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

static void write_store(const uint8_t *data, size_t size)
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store *store = NULL;
    fuzz_begin();
    write_store(data, size);
    if (!fuzz_refused(store_open_to_read(fuzz_path("a.tapmlrun"), &store))) {
        reader_read(store);
        store_close(store);
    }
    if (!fuzz_refused(store_open(fuzz_path("a.tapmlrun"), 0, &store))) {
        reader_read(store);
        store_close(store);
    }
    fuzz_end();
    return 0;
}
