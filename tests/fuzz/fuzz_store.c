// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// carve/store and carve/row: a whole file that a stranger calls a store.
#include "fuzz.h"

#include "carve/store.h"
#include "reader.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store *store = NULL;
    fuzz_begin();
    (void)unlink(fuzz_path("a.tapmlrun-wal")); // Of the input before, where it was damaged.
    (void)unlink(fuzz_path("a.tapmlrun-shm"));
    fuzz_write("a.tapmlrun", data, size);
    if (!fuzz_refused(store_open(fuzz_path("a.tapmlrun"), 0, &store))) {
        reader_read(store);
        store_close(store);
    }
    fuzz_end();
    return 0;
}
