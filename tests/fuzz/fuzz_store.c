// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// store/store, store/pages and store/schema: a whole file that a stranger calls a store.
#include "fuzz.h"

#include "reader.h"
#include "store/store.h"
#include "store/store_open.h"
#include "stores.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store *store = NULL;
    fuzz_begin();
    const char *path = stores_write(data, size);
    if (!fuzz_refused(store_open_to_read(path, &store))) {
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
