// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/case_key.h"

#include "base/hash.h"
#include "store/case.h"
#include "store/row.h"

#include <string.h>

// Of each part of a case the columns that count, in an order that rows alone decide.
static const char CALL[] = "SELECT op, version FROM \"case\" WHERE id = ?";
static const char ARGUMENTS[] =
    "SELECT position, param, kind, effects, i, d, dtype, shape, stride, offset_bytes, base_bytes,"
    " region_begin, region_end, kept_begin, kept_end,"
    " iif(before IS NULL AND effects LIKE '%weight%',"
    "   (SELECT key FROM weight WHERE name = origin), before), after"
    " FROM argument WHERE case_id = ? ORDER BY position";
static const char PAGES[] = "SELECT position, moment, page, key FROM page WHERE case_id = ?"
                            " ORDER BY position, moment, page";
static const char *const PARTS[] = {CALL, ARGUMENTS, PAGES};

static const char DOING[] = "computing the key of a case";

static void add_number(struct hash_state *state, uint64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(number >> (8 * i));
    }
    hash_add(state, bytes, sizeof(bytes));
}

// A column as its type, its size and its bytes, so that no two rows read the same.
static void add_column(struct hash_state *state, struct row *row, int column)
{
    const enum row_type type = row_type(row, column);
    const unsigned char tag = (unsigned char)type;
    uint64_t bytes = 0;
    uint64_t bits = 0;
    hash_add(state, &tag, 1);
    switch (type) {
    case ROW_NULL:
        return;
    case ROW_INTEGER:
        add_number(state, (uint64_t)row_i64(row, column));
        return;
    case ROW_REAL: {
        const double value = row_f64(row, column);
        memcpy(&bits, &value, sizeof(bits));
        add_number(state, bits);
        return;
    }
    case ROW_TEXT:
    case ROW_BYTES: {
        const void *data = row_bytes(row, column, &bytes);
        add_number(state, bytes);
        hash_add(state, data ? data : "", bytes);
    }
    }
}

static tapml_status
add_part(struct store *store, int64_t case_id, const char *sql, struct hash_state *state)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, sql, DOING, &row));
    row_put_i64(&row, case_id);
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        for (int i = 0; i < row_columns(&row); i++) {
            add_column(state, &row, i);
        }
        TAPML_TRY(row_next(&row, &has));
    }
    add_number(state, 0); // The end of a part.
    return TAPML_OK;
}

static tapml_status compute(struct store *store, int64_t case_id, struct hash *out_hash)
{
    struct hash_state *state = hash_begin();
    if (!state) {
        return status_no_memory();
    }
    tapml_status status = TAPML_OK;
    for (size_t i = 0; status == TAPML_OK && i < sizeof(PARTS) / sizeof(*PARTS); i++) {
        status = add_part(store, case_id, PARTS[i], state);
    }
    *out_hash = hash_end(state); // Frees the state too.
    return status;
}

tapml_status case_key_write(struct store *store, int64_t case_id)
{
    unsigned char key[CASE_KEY_BYTES] = {CASE_KEY_XXH3};
    struct hash hash = {0, 0};
    struct row row;
    TAPML_TRY(compute(store, case_id, &hash));
    row_print_hash(hash, key + 1);
    TAPML_TRY(row_begin(store, "UPDATE \"case\" SET key = ? WHERE id = ?", DOING, &row));
    row_put_bytes(&row, key, sizeof(key));
    row_put_i64(&row, case_id);
    return row_run(&row);
}

tapml_status case_key_write_all(struct store *store)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, "SELECT id FROM \"case\"", DOING, &row));
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        const tapml_status status = case_key_write(store, row_i64(&row, 0));
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}
