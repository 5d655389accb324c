// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/stage_times.h"

#include "base/arena.h"
#include "base/pool.h"
#include "exec/place.h"
#include "store/page_cache.h"
#include "store/stage.h"
#include "store/store.h"

#include <string.h>

enum { OWN_FACTS = 3, ROWS_MAX = STAGES_PHASES_MAX * STAGES_KINDS + STAGES_FACTS_MAX + OWN_FACTS };

// Rows on their way to the store.
struct rows {
    struct stage_row items[ROWS_MAX];
    size_t count;
};

// -- Rows ----------------------------------------------------------------------------------------

static void add_times(struct rows *rows, const struct stages *stages)
{
    for (size_t i = 0; i < stages->phase_count; i++) {
        const struct stages_phase *phase = &stages->phases[i];
        for (int kind = 0; kind < STAGES_KINDS; kind++) {
            const struct stages_count *count = &phase->counts[kind];
            if (count->wall_ns > 0 || count->visits > 0) {
                rows->items[rows->count++] =
                    (struct stage_row){.phase = phase->name,
                                       .stage = stages_name((enum stages_kind)kind),
                                       .visits = count->visits,
                                       .bytes = count->bytes,
                                       .wall_ns = count->wall_ns,
                                       .waiting_ns = count->waiting_ns};
            }
        }
    }
}

static void add_fact(struct rows *rows, const char *name, uint64_t visits, uint64_t bytes)
{
    if (visits > 0 || bytes > 0) {
        rows->items[rows->count++] = (struct stage_row){
            .phase = STAGE_PIPELINE, .stage = name, .visits = visits, .bytes = bytes};
    }
}

static void add_facts(struct rows *rows, const struct stages *stages)
{
    for (size_t i = 0; i < stages->fact_count; i++) {
        const struct stages_fact *fact = &stages->facts[i];
        rows->items[rows->count++] = (struct stage_row){.phase = STAGE_PIPELINE,
                                                        .stage = fact->name,
                                                        .visits = fact->count.visits,
                                                        .bytes = fact->count.bytes,
                                                        .wall_ns = fact->count.wall_ns};
    }
}

static tapml_status write(struct store *store, const char *target, const struct rows *rows)
{
    TAPML_TRY(store_begin(store));
    tapml_status status = stage_write(store, target, rows->items, rows->count);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

tapml_status stage_times_write(struct store *store,
                               const struct place_settings *target,
                               const struct stages *stages)
{
    enum { MIB = 20 };
    const struct place_isolation *isolation = &target->isolation;
    const int is_isolated =
        place_isolation_is_far(isolation) || isolation->mode == PLACE_ISOLATION_ALWAYS;
    struct rows rows = {.count = 0};
    if (stages_fact(stages, "cases").visits == 0) {
        return TAPML_OK;
    }
    add_times(&rows, stages);
    add_facts(&rows, stages);
    add_fact(&rows, "isolated", (uint64_t)is_isolated, 0);
    add_fact(&rows, "budget", 0, (uint64_t)target->budget_mib << MIB);
    return write(store, target->name, &rows);
}

static int has_carved(const struct stages *stages)
{
    for (size_t i = 0; i < stages->phase_count; i++) {
        if (strcmp(stages->phases[i].name, "carve") == 0) {
            return stages->phases[i].counts[STAGES_SOURCE].visits > 0;
        }
    }
    return 0;
}

static tapml_status has_rows(struct store *store, int *out_has)
{
    struct stage_row *found = NULL;
    size_t count = 0;
    struct arena *arena = arena_create();
    const tapml_status status =
        arena ? stage_list(store, STAGE_RUN, arena, &found, &count) : status_no_memory();
    arena_destroy(arena);
    *out_has = count > 0;
    return status;
}

tapml_status stage_times_write_run(struct store *store,
                                   const struct stages *stages,
                                   const struct pool *pool,
                                   size_t side)
{
    struct rows rows = {.count = 0};
    int has = 0;
    TAPML_TRY(has_rows(store, &has));
    if (has && !has_carved(stages)) {
        return TAPML_OK;
    }
    add_times(&rows, stages);
    add_fact(&rows, "store", 0, page_cache_all(store));
    add_fact(&rows, "processors", pool_width(pool), 0);
    add_fact(&rows, "side by side", side, 0);
    return write(store, STAGE_RUN, &rows);
}
