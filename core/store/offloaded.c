// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/offloaded.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "store/row.h"

tapml_status offloaded_write(struct store *store, const struct offloaded_row *item)
{
    ASSERT(item->target);
    const uint64_t numbers[] = {item->cost.carving, item->cost.moves,   item->cost.replays,
                                item->cost.looks,   item->cost.search,  item->cost.repeats,
                                item->cost.proof,   item->cost.watched, item->cost.calibrating};
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT OR REPLACE INTO offload VALUES"
                        " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing an offload", &row));
    row_put_text(&row, item->target);
    row_put_i64(&row, item->finished_s);
    row_put_i64(&row, item->agrees);
    row_put_f64(&row, item->margin);
    row_put_text(&row, item->sentence);
    row_put_text(&row, item->unexplained);
    row_put_text(&row, item->plan);
    row_put_i64(&row, (int64_t)item->checks);
    row_put_i64(&row, (int64_t)item->proof_runs);
    row_put_f64(&row, item->proof_miss);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        row_put_i64(&row, (int64_t)numbers[i]);
    }
    return row_run(&row);
}

tapml_status offloaded_finish(struct store *store, const char *target)
{
    ASSERT(target);
    struct row row;
    TAPML_TRY(row_begin(store, "UPDATE offload SET finished_s = ? WHERE target = ?",
                        "writing an offload", &row));
    row_put_i64(&row, clock_wall_s());
    row_put_text(&row, target);
    return row_run(&row);
}

static tapml_status copy(struct row *row, struct arena *arena, struct offloaded_row *out_item)
{
    *out_item = (struct offloaded_row){
        .target = arena_text(arena, row_text(row, 0)),
        .finished_s = row_i64(row, 1),
        .agrees = row_i64(row, 2) != 0,
        .margin = row_f64(row, 3),
        .sentence = arena_text(arena, row_text(row, 4)),
        .unexplained = arena_text(arena, row_text(row, 5)),
        .plan = arena_text(arena, row_text(row, 6)),
        .checks = (uint64_t)row_i64(row, 7),
        .proof_runs = (uint64_t)row_i64(row, 8),
        .proof_miss = row_f64(row, 9),
        .cost = {.carving = (uint64_t)row_i64(row, 10),
                 .moves = (uint64_t)row_i64(row, 11),
                 .replays = (uint64_t)row_i64(row, 12),
                 .looks = (uint64_t)row_i64(row, 13),
                 .search = (uint64_t)row_i64(row, 14),
                 .repeats = (uint64_t)row_i64(row, 15),
                 .proof = (uint64_t)row_i64(row, 16),
                 .watched = (uint64_t)row_i64(row, 17),
                 .calibrating = (uint64_t)row_i64(row, 18)},
    };
    return out_item->target && out_item->sentence && out_item->unexplained && out_item->plan
               ? TAPML_OK
               : status_no_memory();
}

tapml_status offloaded_find(struct store *store,
                            const char *target,
                            struct arena *arena,
                            struct offloaded_row *out_item)
{
    ASSERT(target);
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT target, finished_s, agrees, margin, sentence, unexplained, plan,"
                        " checks, proof_runs, proof_miss, carving, moves, replays, looks, search,"
                        " repeats, proof, watched, calibrating FROM offload WHERE target = ?",
                        "reading an offload", &row));
    row_put_text(&row, target);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "the offload to '%s' has not ended", target);
    }
    const tapml_status status = copy(&row, arena, out_item);
    row_end(&row);
    return status;
}

tapml_status offloaded_forget(struct store *store, const char *target)
{
    ASSERT(target);
    return row_forget(store, "DELETE FROM offload WHERE target = ?", target);
}

uint64_t offloaded_localising(const struct offloaded_cost *cost)
{
    return cost->replays + cost->looks + cost->search + cost->repeats + cost->proof;
}
