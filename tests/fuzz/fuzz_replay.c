// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// verify/verdicts, verify/calibrator and verify/replay: the cases of a stranger's bundle on the
// reference, given row by row. Kernels trust what they are given, so all that is wrong must be seen
// before.
#include "fuzz.h"

#include "replayed.h"
#include "rows.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store *store = rows_store();
    rows_add(store, data, size);
    replayed_judge(store);
    store_close(store);
    return 0;
}
