// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/run_id.h"

#include "base/assert.h"
#include "base/clock.h"
#include "store/row.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HOST_NAME_TEXT = 256 };

tapml_status run_id(struct store *store, const char **out_id)
{
    struct store_memory *memory = store_memory(store);
    char machine[HOST_NAME_TEXT] = "";
    struct row row;
    int has = 0;
    *out_id = memory->run;
    if (memory->run[0] != '\0') {
        return TAPML_OK;
    }
    (void)gethostname(machine, sizeof(machine) - 1); // Empty if there is none.
    TAPML_TRY(row_begin(store,
                        "INSERT INTO run VALUES (lower(hex(randomblob(16))), ?, ?, ?) RETURNING id",
                        "noting the run", &row));
    row_put_text(&row, TAPML_VERSION);
    row_put_text(&row, machine);
    row_put_i64(&row, clock_wall_s());
    TAPML_TRY(row_next(&row, &has));
    ASSERT(has); // The row that was inserted.
    (void)snprintf(memory->run, sizeof(memory->run), "%s", row_text(&row, 0));
    row_end(&row);
    ASSERT(strlen(memory->run) == HASH_TEXT - 1);
    return TAPML_OK;
}

int run_id_is_made(struct store *store)
{
    return store_memory(store)->run[0] != '\0';
}

tapml_status run_id_make_same(struct store *store)
{
    struct store_memory *memory = store_memory(store);
    struct row row;
    ASSERT(memory->run[0] == '\0');
    memset(memory->run, '0', HASH_TEXT - 1);
    memory->run[HASH_TEXT - 1] = '\0';
    TAPML_TRY(row_begin(store, "INSERT INTO run VALUES (?, ?, '', 0) ON CONFLICT (id) DO NOTHING",
                        "noting the run", &row));
    row_put_text(&row, memory->run);
    row_put_text(&row, TAPML_VERSION);
    return row_run(&row);
}
