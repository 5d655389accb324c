// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// store/store, store/argument and store/content: rows of a store that a stranger wrote.
#include "fuzz.h"

#include "reader.h"
#include "rows.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct store *store; // For all inputs: each is taken back.
    if (!store) {
        store = rows_store();
    }
    FUZZ_CHECK(store_begin(store) == TAPML_OK);
    rows_add(store, data, size);
    reader_read(store);
    store_rollback(store);
    return 0;
}
