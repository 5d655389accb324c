// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/prompt.h"

#include "base/assert.h"
#include "base/text.h"
#include "store/list.h"
#include "store/row.h"
#include "store/row_list.h"
#include "store/run_id.h"
#include "store/store.h"

tapml_status prompt_begin(struct store *store, struct hash prompt)
{
    struct store_memory *memory = store_memory(store);
    char hash[HASH_TEXT];
    const char *run = NULL;
    struct row row;
    if (memory->has_prompt && hash_equal(memory->prompt, prompt)) {
        return TAPML_OK;
    }
    hash_text(prompt, hash);
    TAPML_TRY(run_id(store, &run));
    TAPML_TRY(row_begin(store,
                        "INSERT INTO prompt (hash, run) VALUES (?, ?)"
                        " ON CONFLICT (hash) DO NOTHING",
                        "writing a prompt", &row));
    row_put_text(&row, hash);
    row_put_text(&row, run);
    TAPML_TRY(row_run(&row));
    memory->prompt = prompt;
    memory->has_prompt = 1;
    return TAPML_OK;
}

static tapml_status
write_prompt(struct store *store, const struct carved_prompt *prompt, const struct text *lists)
{
    char hash[HASH_TEXT];
    const char *run = NULL;
    struct row row;
    hash_text(prompt->hash, hash);
    TAPML_TRY(text_status(&lists[0]));
    TAPML_TRY(text_status(&lists[1]));
    TAPML_TRY(run_id(store, &run));
    TAPML_TRY(row_begin(store,
                        "INSERT INTO prompt VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE"
                        " SET position = excluded.position, text = excluded.text,"
                        " ids = excluded.ids, greedy = excluded.greedy",
                        "writing a prompt", &row));
    row_put_text(&row, hash);
    row_put_i64(&row, prompt->index);
    row_put_text(&row, prompt->text);
    row_put_text(&row, lists[0].data);
    row_put_text(&row, lists[1].data);
    row_put_text(&row, run);
    return row_run(&row);
}

tapml_status prompt_add(struct store *store, const struct carved_prompt *prompt)
{
    struct text lists[2];
    ASSERT(prompt->id_count >= 0 && prompt->greedy_count >= 0);
    text_init(&lists[0]);
    text_init(&lists[1]);
    list_print_i32(&lists[0], prompt->ids, (size_t)prompt->id_count);
    list_print_i32(&lists[1], prompt->greedy, (size_t)prompt->greedy_count);
    const tapml_status status = write_prompt(store, prompt, lists);
    text_release(&lists[0]);
    text_release(&lists[1]);
    return status;
}

// The greedy ids as text in `row`, which has ended where the prompt was not carved to its end.
static tapml_status
find_prompt(struct store *store, struct hash prompt, struct row *row, int *out_has)
{
    char hash[HASH_TEXT];
    hash_text(prompt, hash);
    TAPML_TRY(row_begin(store, "SELECT greedy FROM prompt WHERE hash = ? AND greedy IS NOT NULL",
                        "reading a prompt", row));
    row_put_text(row, hash);
    return row_next(row, out_has);
}

int prompt_is_carved(struct store *store, struct hash prompt)
{
    struct row row;
    int has = 0;
    const tapml_status status = find_prompt(store, prompt, &row, &has);
    if (status == TAPML_OK && has) {
        row_end(&row);
    }
    return status == TAPML_OK && has;
}

tapml_status
prompt_greedy(struct store *store, struct hash prompt, int32_t **out_ids, int64_t *out_count)
{
    struct row row;
    int has = 0;
    TAPML_TRY(find_prompt(store, prompt, &row, &has));
    if (!has) {
        char hash[HASH_TEXT];
        hash_text(prompt, hash);
        return status_fail(TAPML_NOT_FOUND, "store '%s' has no carved prompt '%s'",
                           store_path(store), hash);
    }
    size_t count = 0;
    const tapml_status status = list_parse_i32(row_text(&row, 0), out_ids, &count);
    row_end(&row);
    if (status == TAPML_OK) {
        *out_count = (int64_t)count;
    }
    return status;
}

int64_t prompt_index(struct store *store, struct hash prompt)
{
    char hash[HASH_TEXT];
    struct row row;
    int has = 0;
    hash_text(prompt, hash);
    if (row_begin(store, "SELECT position FROM prompt WHERE hash = ? AND greedy IS NOT NULL",
                  "reading a prompt", &row) != TAPML_OK) {
        return -1;
    }
    row_put_text(&row, hash);
    if (row_next(&row, &has) != TAPML_OK || !has) {
        return -1;
    }
    const int64_t index = row_is_null(&row, 0) ? -1 : row_i64(&row, 0);
    row_end(&row);
    return index;
}

static int take_hash(struct arena *arena, struct row *row, void *out_item)
{
    (void)arena;
    (void)hash_parse(row_text(row, 0), out_item); // What is no hash is that of no prompt.
    return 1;
}

tapml_status prompt_list_carved(struct store *store,
                                struct arena *arena,
                                struct hash **out_prompts,
                                size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(
        row_list_read(store,
                      &(struct row_list){.sql = "SELECT hash FROM prompt WHERE greedy IS NOT NULL"
                                                " ORDER BY position, hash",
                                         .item_bytes = sizeof(**out_prompts),
                                         .take = take_hash},
                      arena, &items, out_count));
    *out_prompts = items;
    return TAPML_OK;
}
