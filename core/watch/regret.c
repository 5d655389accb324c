// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/regret.h"

#include "base/arena.h"
#include "choose/choice.h"
#include "store/carved.h"
#include "store/watched.h"

#include <math.h>
#include <string.h>

static const double SECOND_NS = 1e9;

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

double regret_risk(int64_t judged, int64_t turns)
{
    return (double)(turns + 1) / (double)(judged + 2);
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
        const double risk = regret_risk(ops[i].judged, ops[i].turns);

        io_regret->regret_s += ops[i].since_s > 0 && now_s > ops[i].since_s
                                   ? risk * (double)(now_s - ops[i].since_s)
                                   : 0;
    }
    return TAPML_OK;
}

// What is stale of a choice; of which some cases are new, and have no past that says anything.
static tapml_status add_cost(struct store *store,
                             const struct choice_options *options,
                             struct arena *arena,
                             struct regret *io_regret)
{
    struct watched_row *rows = NULL;
    struct case_choice choice;
    size_t count = 0;

    TAPML_TRY(watched_list(store, options->target, arena, &rows, &count));
    TAPML_TRY(choice_make(store, options, arena, &choice));
    for (size_t i = 0; i < choice.chosen; i++) {
        const uint32_t index = choice.order[i];
        char key[CARVED_KEY];

        if (choice.cases[index].has_result) {
            continue;
        }
        TAPML_TRY(carved_find_key(store, choice.cases[index].id, key));
        io_regret->cost_s +=
            choice.has_times ? choice.times.times_ns[index] / SECOND_NS : REGRET_CASE_S;
        if (watched_find(rows, count, key) == NULL) {
            io_regret->regret_s = INFINITY;
        }
    }
    return TAPML_OK;
}

tapml_status regret_add(struct store *store,
                        const char *target,
                        const struct case_budget *chosen,
                        int64_t now_s,
                        struct regret *io_regret)
{
    struct arena *arena = arena_create();

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = add_regret(store, target, now_s, arena, io_regret);

    if (status == TAPML_OK) {
        status =
            add_cost(store,
                     &(struct choice_options){
                         .settings = {.budget = *chosen, .order = CHOICE_CARVED}, .target = target},
                     arena, io_regret);
    }
    arena_destroy(arena);
    return status;
}
