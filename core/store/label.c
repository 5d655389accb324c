// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/label.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/case.h"
#include "store/row.h"

tapml_status
label_read(struct store *store, int64_t id, struct arena *arena, struct carved_case *out_case)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT instance, op, phase, shape_class, version FROM \"case\""
                        " WHERE id = ?",
                        "reading a case", &row));
    row_put_i64(&row, id);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "there is no case %lld", (long long)id);
    }
    *out_case = (struct carved_case){.id = id,
                                     .instance = arena_text(arena, row_text(&row, 0)),
                                     .op_name = arena_text(arena, row_text(&row, 1)),
                                     .phase = arena_text(arena, row_text(&row, 2)),
                                     .shape_class = arena_text(arena, row_text(&row, 3)),
                                     .op_version = (uint32_t)row_i64(&row, 4)};
    row_end(&row);
    return out_case->instance && out_case->op_name && out_case->phase && out_case->shape_class
               ? TAPML_OK
               : status_no_memory();
}

tapml_status
label_find(struct store *store, const struct carved_case *item, int64_t *out_id, int *out_has)
{
    ASSERT(item->instance);
    struct row row;
    char prompt[HASH_TEXT];
    hash_text(item->prompt, prompt);
    TAPML_TRY(row_begin(store,
                        "SELECT id FROM \"case\""
                        " WHERE instance = ? AND prompt = ? AND step = ? AND part = ?",
                        "looking up a case", &row));
    row_put_text(&row, item->instance);
    row_put_text(&row, prompt);
    row_put_i64(&row, item->step);
    row_put_i64(&row, item->part);
    TAPML_TRY(row_next(&row, out_has));
    if (*out_has) {
        *out_id = row_i64(&row, 0);
        row_end(&row);
    }
    return TAPML_OK;
}

struct label_visit {
    label_visit_fn visit;
    void *user;
};

static tapml_status visit_instance(void *user, struct row *row)
{
    const struct label_visit *visit = user;
    return visit->visit(visit->user, row_text(row, 0), row_text(row, 1));
}

tapml_status label_visit_instances(struct store *store, label_visit_fn visit, void *user)
{
    return row_each(store, "SELECT DISTINCT op, instance FROM \"case\"", NULL, visit_instance,
                    &(struct label_visit){visit, user});
}
