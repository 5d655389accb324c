// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/regret.h"

#include "base/arena.h"
#include "choose/choice.h"
#include "store/watched.h"

#include <string.h>

static const double CASE_S = 0.01, SECOND_NS = 1e9;

struct op_regret {
    const char *op;
    int64_t judged, turns, since_s; // 0: nothing of it is stale.
};

static struct op_regret *find_op(struct op_regret *ops, size_t *io_count, const char *op)
{
    for (size_t i = 0; i < *io_count; i++) {
        if (strcmp(ops[i].op, op) == 0) {
            return &ops[i];
        }
    }
    ops[*io_count] = (struct op_regret){.op = op};
    return &ops[(*io_count)++];
}

static void add_row(const struct watched_row *row, struct op_regret *op)
{
    op->judged += row->judged;
    op->turns += row->turns;
    if (row->stale_s > 0 && (op->since_s == 0 || row->stale_s < op->since_s)) {
        op->since_s = row->stale_s;
    }
}

static tapml_status add_regret(struct store *store,
                               const char *target,
                               int64_t now_s,
                               struct arena *arena,
                               struct regret *io_regret)
{
    struct watched_row *rows = NULL;
    size_t count = 0, op_count = 0;

    TAPML_TRY(watched_list(store, target, arena, &rows, &count));
    struct op_regret *ops = arena_array(arena, count + 1, sizeof(*ops));

    if (ops == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        add_row(&rows[i], find_op(ops, &op_count, rows[i].op));
    }
    for (size_t i = 0; i < op_count; i++) {
        const double risk = (double)(ops[i].turns + 1) / (double)(ops[i].judged + 2);

        io_regret->regret_s += ops[i].since_s > 0 && now_s > ops[i].since_s
                                   ? risk * (double)(now_s - ops[i].since_s)
                                   : 0;
    }
    return TAPML_OK;
}

static tapml_status
add_cost(struct store *store, const char *target, struct arena *arena, struct regret *io_regret)
{
    struct case_choice choice;

    TAPML_TRY(choice_make(
        store, &(struct choice_options){.settings = {.order = CHOICE_CARVED}, .target = target},
        arena, &choice));
    for (size_t i = 0; i < choice.count; i++) {
        if (!choice.cases[i].has_result) {
            io_regret->cost_s += choice.has_times ? choice.times.times_ns[i] / SECOND_NS : CASE_S;
        }
    }
    return TAPML_OK;
}

tapml_status
regret_add(struct store *store, const char *target, int64_t now_s, struct regret *io_regret)
{
    struct arena *arena = arena_create();

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = add_regret(store, target, now_s, arena, io_regret);

    if (status == TAPML_OK) {
        status = add_cost(store, target, arena, io_regret);
    }
    arena_destroy(arena);
    return status;
}
