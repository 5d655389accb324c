// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A bundle or a store that somebody has sent, as `show`, `report` and `replay` take it: the whole
// file is opened, read, reported, and its cases run on the reference.
#include "fuzz.h"

#include "reader.h"
#include "replayed.h"
#include "report/report_data.h"
#include "store/store.h"
#include "store/store_open.h"
#include "stores.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store *store = NULL;
    const char *path = stores_write(data, size);
    if (!fuzz_refused(store_open_to_read(path, &store))) {
        json_t *report = NULL;
        reader_read(store);
        if (!fuzz_refused(report_data_create(store, &report))) {
            FUZZ_CHECK(json_is_object(report));
            json_decref(report);
        }
        store_close(store);
    }
    if (!fuzz_refused(store_open(fuzz_path("a.tapmlrun"), 0, &store))) {
        replayed_judge(store);
        store_close(store);
    }
    return 0;
}
