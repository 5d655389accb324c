// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/stored_case.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/stages.h"
#include "store/argument.h"
#include "store/case.h"
#include "store/case_key.h"
#include "store/prompt.h"
#include "store/row.h"
#include "store/run_id.h"
#include "store/store.h"

enum { ARGUMENTS_MAX = 256 };

static tapml_status
insert_case(struct store *store, const struct carved_case *item, const char *hash)
{
    const char *run = NULL;
    struct row row;
    TAPML_TRY(run_id(store, &run));
    TAPML_TRY(row_begin(store,
                        "INSERT INTO \"case\" (key, instance, op, version, phase, shape_class,"
                        " prompt, step, part, tokens, run)"
                        " VALUES (x'', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing a case", &row));
    row_put_text(&row, item->instance);
    row_put_text(&row, item->op_name);
    row_put_i64(&row, item->op_version);
    row_put_text(&row, item->phase);
    row_put_text(&row, item->shape_class);
    row_put_text(&row, hash);
    row_put_i64(&row, item->step);
    row_put_i64(&row, item->part);
    row_put_i64(&row, item->tokens);
    row_put_text(&row, run);
    return row_run(&row);
}

static tapml_status
delete_old(struct store *store, const struct carved_case *item, const char *hash)
{
    struct row row;
    TAPML_TRY(row_begin(store,
                        "DELETE FROM \"case\""
                        " WHERE instance = ? AND prompt = ? AND step = ? AND part = ?",
                        "replacing a case", &row));
    row_put_text(&row, item->instance);
    row_put_text(&row, hash);
    row_put_i64(&row, item->step);
    row_put_i64(&row, item->part);
    return row_run(&row);
}

tapml_status stored_case_add(struct store *store, const struct carved_case *item)
{
    char hash[HASH_TEXT];
    hash_text(item->prompt, hash);
    TAPML_TRY(prompt_begin(store, item->prompt));
    TAPML_TRY(delete_old(store, item, hash));
    TAPML_TRY(insert_case(store, item, hash));
    const int64_t id = sqlite3_last_insert_rowid(store_connection(store));
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const tapml_status status = argument_write(store, id, i, &item->arguments[i]);
        if (status != TAPML_OK) {
            return status_explain(status, "while writing a case of '%s'", item->instance);
        }
    }
    return case_key_write(store, id);
}

// Appends the ids that `row` has to the array.
static tapml_status read_ids(struct row *row, int64_t **ids, size_t *count)
{
    size_t capacity = 0;
    int has = 0;
    TAPML_TRY(row_next(row, &has));
    while (has) {
        void *grown = *ids;
        if (!alloc_grow(&grown, &capacity, *count, sizeof(**ids))) {
            row_end(row);
            return status_no_memory();
        }
        *ids = grown;
        (*ids)[(*count)++] = row_i64(row, 0);
        TAPML_TRY(row_next(row, &has));
    }
    return TAPML_OK;
}

tapml_status stored_case_ids(struct store *store, int64_t **out_ids, size_t *out_count)
{
    struct row row;
    int64_t *ids = NULL;
    size_t count = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT id FROM \"case\" LEFT JOIN prompt ON hash = prompt"
                        " ORDER BY position IS NULL, position, id",
                        "listing cases", &row));
    const tapml_status status = read_ids(&row, &ids, &count);
    if (status != TAPML_OK) {
        alloc_free(ids);
        return status;
    }
    *out_ids = ids;
    *out_count = count;
    return TAPML_OK;
}

// Names are shown to people, and may become names of files.
static int is_plain(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return 0;
        }
    }
    return 1;
}

static tapml_status parse_case(struct row *row, struct arena *arena, struct carved_case *item)
{
    item->instance = arena_text(arena, row_text(row, 0));
    item->op_name = arena_text(arena, row_text(row, 1));
    item->op_version = (uint32_t)row_i64(row, 2);
    item->phase = arena_text(arena, row_text(row, 3));
    item->shape_class = arena_text(arena, row_text(row, 4));
    item->step = row_i64(row, 6);
    item->part = row_i64(row, 7);
    item->tokens = row_i64(row, 8);
    const int64_t count = row_i64(row, 9);
    if (!item->instance || !item->op_name || !item->phase || !item->shape_class) {
        return status_no_memory();
    }
    if (!is_plain(item->instance) || !is_plain(item->op_name) || !is_plain(item->phase) ||
        !is_plain(item->shape_class)) {
        return status_fail(TAPML_INVALID, "its names have control characters");
    }
    if (!hash_parse(row_text(row, 5), &item->prompt) || count > ARGUMENTS_MAX) {
        return status_fail(TAPML_INVALID, "its prompt or its number of arguments is wrong");
    }
    item->argument_count = (uint32_t)count;
    item->arguments = arena_array(arena, (size_t)count, sizeof(*item->arguments));
    return item->arguments ? TAPML_OK : status_no_memory();
}

static tapml_status
read_case(struct store *store, int64_t id, struct arena *arena, struct carved_case *item)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT instance, op, version, phase, shape_class, prompt, step, part,"
                        " tokens, (SELECT count(*) FROM argument WHERE case_id = \"case\".id)"
                        " FROM \"case\" WHERE id = ?",
                        "reading a case", &row));
    row_put_i64(&row, id);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "there is no such case");
    }
    item->id = id;
    const tapml_status status = parse_case(&row, arena, item);
    row_end(&row);
    TAPML_TRY(status);
    for (uint32_t i = 0; i < item->argument_count; i++) {
        TAPML_TRY(argument_read(store, id, i, arena, &item->arguments[i]));
    }
    return TAPML_OK;
}

tapml_status
stored_case_load(struct store *store, int64_t id, struct arena *arena, struct carved_case *out_case)
{
    struct carved_case item = {0};
    const enum stages_kind before = stages_enter(STAGES_READ);
    const tapml_status status = read_case(store, id, arena, &item);
    stages_return(before, 0);
    if (status != TAPML_OK) {
        return status_explain(status, "store '%s', case %lld", store_path(store), (long long)id);
    }
    *out_case = item;
    return TAPML_OK;
}
