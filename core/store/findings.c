// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/findings.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/row.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The fact that says when they were written.
static void key_of(const char *target, char *out_key, size_t size)
{
    (void)snprintf(out_key, size, "target.%s.finished", target);
}

enum { KEY_TEXT = 128 };

static tapml_status
write_item(struct store *store, const char *target, const struct finding *finding)
{
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT OR REPLACE INTO finding VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing findings", &row));
    row_put_text(&row, target);
    row_put_text(&row, finding->instance);
    row_put_text(&row, finding->kind);
    row_put_f64(&row, finding->margin);
    row_put_text(&row, finding->reason);
    row_put_i64(&row, finding->evidence);
    row_put_i64(&row, (int64_t)finding->tried);
    row_put_i64(&row, (int64_t)finding->failed);
    return row_run(&row);
}

static tapml_status
write_time(struct store *store, const char *target, const struct finding_time *time)
{
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT OR REPLACE INTO timing VALUES (?, ?, ?, ?, ?)",
                        "writing times", &row));
    row_put_text(&row, target);
    row_put_text(&row, time->op);
    row_put_i64(&row, (int64_t)time->calls);
    row_put_i64(&row, (int64_t)time->launches);
    row_put_i64(&row, (int64_t)time->time_ns);
    return row_run(&row);
}

static tapml_status
write_all(struct store *store, const char *target, const struct findings *findings)
{
    char key[KEY_TEXT];
    char now[32];
    TAPML_TRY(findings_forget(store, target));
    for (size_t i = 0; i < findings->count; i++) {
        TAPML_TRY(write_item(store, target, &findings->items[i]));
    }
    for (size_t i = 0; i < findings->time_count; i++) {
        TAPML_TRY(write_time(store, target, &findings->times[i]));
    }
    key_of(target, key, sizeof(key));
    (void)snprintf(now, sizeof(now), "%" PRId64, clock_wall_s());
    return store_set_fact(store, key, now);
}

tapml_status
findings_write(struct store *store, const char *target, const struct findings *findings)
{
    TAPML_TRY(store_begin(store));
    tapml_status status = write_all(store, target, findings);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static tapml_status count_rows(struct store *store,
                               const char *sql,
                               const char *target,
                               struct arena *arena,
                               size_t item_bytes,
                               void **out_items)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, sql, "counting findings", &row));
    row_put_text(&row, target);
    TAPML_TRY(row_next(&row, &has));
    *out_items = arena_array(arena, (size_t)row_i64(&row, 0) + 1, item_bytes);
    row_end(&row);
    return *out_items ? TAPML_OK : status_no_memory();
}

static tapml_status
read_items(struct store *store, const char *target, struct arena *arena, struct findings *findings)
{
    struct row row;
    int has = 0;
    void *items = NULL;
    TAPML_TRY(count_rows(store, "SELECT count(*) FROM finding WHERE target = ?", target, arena,
                         sizeof(*findings->items), &items));
    findings->items = items;
    TAPML_TRY(
        row_begin(store,
                  "SELECT instance, kind, margin, reason, evidence, tried, failed FROM finding"
                  " WHERE target = ? ORDER BY instance",
                  "reading findings", &row));
    row_put_text(&row, target);
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        struct finding *finding = &findings->items[findings->count++];
        *finding = (struct finding){.instance = arena_text(arena, row_text(&row, 0)),
                                    .kind = arena_text(arena, row_text(&row, 1)),
                                    .margin = row_f64(&row, 2),
                                    .reason = arena_text(arena, row_text(&row, 3)),
                                    .evidence = row_i64(&row, 4),
                                    .tried = (uint64_t)row_i64(&row, 5),
                                    .failed = (uint64_t)row_i64(&row, 6)};
        if (!finding->instance || !finding->kind || !finding->reason) {
            row_end(&row);
            return status_no_memory();
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}

static tapml_status
read_times(struct store *store, const char *target, struct arena *arena, struct findings *findings)
{
    struct row row;
    int has = 0;
    void *times = NULL;
    TAPML_TRY(count_rows(store, "SELECT count(*) FROM timing WHERE target = ?", target, arena,
                         sizeof(*findings->times), &times));
    findings->times = times;
    TAPML_TRY(row_begin(store,
                        "SELECT op, calls, launches, time_ns FROM timing WHERE target = ?"
                        " ORDER BY op",
                        "reading times", &row));
    row_put_text(&row, target);
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        struct finding_time *time = &findings->times[findings->time_count++];
        *time = (struct finding_time){.op = arena_text(arena, row_text(&row, 0)),
                                      .calls = (uint64_t)row_i64(&row, 1),
                                      .launches = (uint64_t)row_i64(&row, 2),
                                      .time_ns = (uint64_t)row_i64(&row, 3)};
        if (!time->op) {
            row_end(&row);
            return status_no_memory();
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}

tapml_status findings_read(struct store *store,
                           const char *target,
                           struct arena *arena,
                           struct findings *out_findings)
{
    char key[KEY_TEXT];
    struct findings findings = {.count = 0};
    key_of(target, key, sizeof(key));
    const char *finished = store_fact(store, key);
    if (!finished || *finished == '\0') {
        return status_fail(TAPML_NOT_FOUND, "the offload to '%s' has not ended", target);
    }
    TAPML_TRY(text_parse_i64(finished, &findings.finished_s));
    TAPML_TRY(read_items(store, target, arena, &findings));
    TAPML_TRY(read_times(store, target, arena, &findings));
    *out_findings = findings;
    return TAPML_OK;
}

const struct finding *findings_find(const struct findings *findings, const char *instance)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (strcmp(findings->items[i].instance, instance) == 0) {
            return &findings->items[i];
        }
    }
    return NULL;
}

const struct finding_time *findings_time(const struct findings *findings, const char *op)
{
    for (size_t i = 0; i < findings->time_count; i++) {
        if (strcmp(findings->times[i].op, op) == 0) {
            return &findings->times[i];
        }
    }
    return NULL;
}

static tapml_status forget(struct store *store, const char *sql, const char *key)
{
    struct row row;
    TAPML_TRY(row_begin(store, sql, "forgetting findings", &row));
    row_put_text(&row, key);
    return row_run(&row);
}

tapml_status findings_forget(struct store *store, const char *target)
{
    char key[KEY_TEXT];
    key_of(target, key, sizeof(key));
    TAPML_TRY(forget(store, "DELETE FROM metadata WHERE name = ?", key));
    TAPML_TRY(forget(store, "DELETE FROM finding WHERE target = ?", target));
    return forget(store, "DELETE FROM timing WHERE target = ?", target);
}
