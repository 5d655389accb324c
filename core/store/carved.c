// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/carved.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"
#include "store/row_list.h"

#include <stdio.h>

tapml_status carved_count(struct store *store, struct carved_counts *out_counts)
{
    int64_t prompts = 0, calls = 0, time_ns = 0, cases = 0, instances = 0;
    TAPML_TRY(
        row_count(store, "SELECT count(*) FROM prompt WHERE position IS NOT NULL", NULL, &prompts));
    TAPML_TRY(row_count(store, "SELECT count(*) FROM call", NULL, &calls));
    TAPML_TRY(row_count(store, "SELECT total(time_ns) FROM call", NULL, &time_ns));
    TAPML_TRY(row_count(store, "SELECT count(*) FROM \"case\"", NULL, &cases));
    TAPML_TRY(row_count(store, "SELECT count(DISTINCT instance) FROM \"case\"", NULL, &instances));
    *out_counts = (struct carved_counts){(uint64_t)prompts, (uint64_t)calls, (uint64_t)time_ns,
                                         (uint64_t)cases, (uint64_t)instances};
    return TAPML_OK;
}

tapml_status carved_find_origin(struct store *store,
                                int64_t case_id,
                                struct carved_origin *out_origin,
                                int *out_has)
{
    struct row row;
    TAPML_TRY(row_begin(store,
                        "SELECT prompt.position, step, tokens FROM \"case\""
                        " JOIN prompt ON prompt.hash = \"case\".prompt WHERE id = ?",
                        "reading where a case was seen", &row));
    row_put_i64(&row, case_id);
    TAPML_TRY(row_next(&row, out_has));
    if (*out_has) {
        *out_origin = (struct carved_origin){(uint64_t)row_i64(&row, 0), (uint64_t)row_i64(&row, 1),
                                             (uint64_t)row_i64(&row, 2)};
        row_end(&row);
    }
    return TAPML_OK;
}

tapml_status carved_find_key(struct store *store, int64_t case_id, char *out_key)
{
    struct row row;
    int has = 0;
    *out_key = '\0';
    TAPML_TRY(row_begin(store, "SELECT lower(hex(key)) FROM \"case\" WHERE id = ?",
                        "reading the key of a case", &row));
    row_put_i64(&row, case_id);
    TAPML_TRY(row_next(&row, &has));
    if (has) {
        (void)snprintf(out_key, CARVED_KEY, "%s", row_text(&row, 0)); // Cut if it is too long.
        row_end(&row);
    }
    return TAPML_OK;
}

struct carved_visit {
    carved_visit_fn visit;
    void *user;
};

static tapml_status visit_pair(void *user, struct row *row)
{
    const struct carved_visit *visit = user;
    return visit->visit(visit->user, row_text(row, 0), (uint64_t)row_i64(row, 1));
}

tapml_status carved_visit_times(struct store *store, carved_visit_fn visit, void *user)
{
    return row_each(store,
                    "SELECT op, total(call.time_ns) FROM \"case\""
                    " JOIN call USING (instance, prompt, step, part) GROUP BY op",
                    NULL, visit_pair, &(struct carved_visit){visit, user});
}

tapml_status carved_visit_weights(struct store *store, carved_visit_fn visit, void *user)
{
    return row_each(store,
                    "SELECT dtype, sum(byte_count) FROM weight GROUP BY dtype ORDER BY dtype", NULL,
                    visit_pair, &(struct carved_visit){visit, user});
}

tapml_status carved_list_op(
    struct store *store, const char *op, struct arena *arena, int64_t **out_ids, size_t *out_count)
{
    ASSERT(op);
    return row_list_ids(store, "SELECT id FROM \"case\" WHERE op = ? ORDER BY id", op, arena,
                        out_ids, out_count);
}

tapml_status carved_list_weight(struct store *store,
                                const char *weight,
                                struct arena *arena,
                                int64_t **out_ids,
                                size_t *out_count)
{
    ASSERT(weight);
    return row_list_ids(store,
                        "SELECT DISTINCT case_id FROM argument WHERE origin = ? ORDER BY case_id",
                        weight, arena, out_ids, out_count);
}

static int take_instance(struct arena *arena, struct row *row, void *out_item)
{
    struct carved_instance *item = out_item;
    *item = (struct carved_instance){.instance = arena_text(arena, row_text(row, 0)),
                                     .op = arena_text(arena, row_text(row, 1)),
                                     .version = (uint32_t)row_i64(row, 2)};
    return item->instance && item->op;
}

tapml_status carved_list_instances(struct store *store,
                                   struct arena *arena,
                                   struct carved_instance **out_items,
                                   size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(
        row_list_read(store,
                      &(struct row_list){.sql = "SELECT instance, op, version,"
                                                "  min(coalesce(position, 0) * 4294967296 + id)"
                                                " FROM \"case\" LEFT JOIN prompt ON hash = prompt"
                                                " GROUP BY instance ORDER BY 4",
                                         .key = NULL,
                                         .item_bytes = sizeof(**out_items),
                                         .take = take_instance},
                      arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

// Arguments, pages, results and statistics go with their cases and calls. Limits have grown with
// the cases.
tapml_status carved_forget(struct store *store)
{
    TAPML_TRY(row_forget(store, "DELETE FROM \"case\"", NULL));
    TAPML_TRY(row_forget(store, "DELETE FROM call", NULL));
    TAPML_TRY(row_forget(store, "DELETE FROM prompt", NULL));
    TAPML_TRY(row_forget(store, "DELETE FROM tensor", NULL));
    return row_forget(store, "DELETE FROM \"limit\"", NULL);
}
