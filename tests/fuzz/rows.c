// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include "base/arena.h"
#include "fuzz.h"
#include "store/content.h"
#include "store/list.h"
#include "store/row.h"
#include "store/store.h"
#include "store/store_open.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { COLUMNS_MAX = 24, TENSORS_MAX = 64, CONTENT_BYTES_MAX = 1 << 16 };

static const struct {
    const char *name;
    int column_count;
    const char *sql;
} tables[] = {
    {"fact", 2, "INSERT INTO metadata VALUES (?,?)"},
    {"prompt", 5, "INSERT INTO prompt VALUES (?,?,?,?,?,'r')"},
    {"tensor", 5, "INSERT INTO tensor VALUES (?,?,?,?,?)"},
    {"weight", 4, "INSERT INTO weight VALUES (?,?,?,?)"},
    {"case", 10, "INSERT INTO \"case\" VALUES (?,x'01',?,?,?,?,?,?,?,?,?,'r')"},
    {"argument", 19, "INSERT INTO argument VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"},
    {"page", 5, "INSERT INTO page VALUES (?,?,?,?,?)"},
    {"call", 9, "INSERT INTO call VALUES (?,?,?,?,?,?,?,?,?)"},
    {"statistic", 8, "INSERT INTO statistic VALUES (?,?,?,?,?,?,?,?)"},
    {"result", 8, "INSERT INTO result VALUES (?,?,?,?,?,?,'d','v','','q',?,?,'r')"},
    {"output_error", 15, "INSERT INTO output_error VALUES (?,?,?,?,?,?,?,?,?,NULL,?,?,?,?,?,?)"},
    {"element", 8, "INSERT INTO element VALUES (?,?,?,?,?,?,?,?)"},
    {"blame", 11, "INSERT INTO blame VALUES (?,?,?,?,?,?,?,?,?,?,?)"},
    {"timing", 5, "INSERT INTO timing VALUES (?,?,?,?,?)"},
    {"limit", 8, "INSERT INTO \"limit\" VALUES (?,?,?,?,?,?,?,?,'q')"},
    {"step", 9, "INSERT INTO step VALUES (?,?,?,?,?,?,?,?,?)"},
};

struct input {
    struct store *store;
    struct arena *arena;
    struct hash keys[TENSORS_MAX];
    size_t key_count;
};

static size_t parse_hex(char *text)
{
    size_t count = 0;
    for (const char *at = text; at[0] && at[1]; at += 2) {
        const char digits[3] = {at[0], at[1], '\0'};
        text[count++] = (char)strtoul(digits, NULL, 16);
    }
    return count;
}

// What stands behind the letter of a column.
static char *value_of(char *column)
{
    return column + (column[0] != '\0');
}

// The key of a tensor with the columns `columns`: of its bytes as they will be unpacked.
static struct hash key_of(const struct input *input, char **columns)
{
    int64_t shape[SHAPE_RANK_MAX];
    size_t rank = 0;
    int64_t count = 0;
    struct hash key = {0, input->key_count};
    const uint32_t dtype = dtype_find(value_of(columns[2]));
    char *data = arena_new(input->arena, CONTENT_BYTES_MAX);
    char *stored = arena_new(input->arena, strlen(columns[5]) + 1);
    FUZZ_CHECK(data && stored);
    memcpy(stored, columns[5], strlen(columns[5]));
    size_t size = stored[0] ? parse_hex(stored + 1) : 0;
    if (strcmp(columns[4], "tzstd") == 0) {
        size = ZSTD_decompress(data, CONTENT_BYTES_MAX, stored + 1, size);
    } else if (stored[0]) {
        data = stored + 1;
    }
    if (dtype != 0 && !ZSTD_isError(size) &&
        list_parse(value_of(columns[3]), shape, SHAPE_RANK_MAX, &rank) == TAPML_OK &&
        shape_count(shape, (uint32_t)rank, &count) == TAPML_OK &&
        (uint64_t)count == size / dtype_bytes(dtype)) {
        const struct content content = {dtype, (uint32_t)rank, shape};
        FUZZ_CHECK(content_key(&content, data, &key) == TAPML_OK);
    }
    return key;
}

static void put(const struct input *input, struct row *row, char *column)
{
    const size_t number = strtoul(value_of(column), NULL, 10);
    switch (column[0]) {
    case 'i':
        row_put_i64(row, strtoll(column + 1, NULL, 10));
        break;
    case 'd':
        row_put_f64(row, strtod(column + 1, NULL));
        break;
    case 't':
        row_put_text(row, column + 1);
        break;
    case 'x':
        row_put_bytes(row, column + 1, parse_hex(column + 1));
        break;
    case 'k':
        row_put_hash(row, input->keys[number < input->key_count ? number : 0]);
        break;
    default:
        row_put_null(row);
        break;
    }
}

static void add_row(struct input *input, size_t table, char **columns)
{
    struct row row;
    if (strcmp(tables[table].name, "tensor") == 0 && input->key_count < TENSORS_MAX) {
        input->keys[input->key_count] = key_of(input, columns);
        input->key_count++;
    }
    FUZZ_CHECK(row_begin(input->store, tables[table].sql, "adding a row", &row) == TAPML_OK);
    for (int i = 1; i <= tables[table].column_count; i++) {
        put(input, &row, columns[i]);
    }
    (void)fuzz_refused(row_run(&row)); // The schema refuses some.
}

static void add_line(struct input *input, char *line)
{
    static char empty[] = "";
    char *columns[COLUMNS_MAX];
    char *at = line;
    for (int i = 0; i < COLUMNS_MAX; i++) {
        columns[i] = at ? at : empty;
        at = at ? strchr(at, '\t') : NULL;
        if (at) {
            *at++ = '\0';
        }
    }
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        if (strcmp(tables[i].name, columns[0]) == 0) {
            add_row(input, i, columns);
        }
    }
}

void rows_add(struct store *store, const uint8_t *data, size_t size)
{
    struct input input = {.store = store, .arena = arena_create()};
    char *text = input.arena ? arena_new(input.arena, size + 1) : NULL;
    FUZZ_CHECK(text);
    if (size > 0) {
        memcpy(text, data, size);
    }
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end) {
            *end++ = '\0';
        }
        add_line(&input, line);
        line = end;
    }
    arena_destroy(input.arena);
}

struct store *rows_store(void)
{
    struct store *store = NULL;
    FUZZ_CHECK(store_open(":memory:", 1, &store) == TAPML_OK);
    FUZZ_CHECK(sqlite3_exec(store_connection(store),
                            "PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1;", NULL,
                            NULL, NULL) == SQLITE_OK);
    return store;
}
