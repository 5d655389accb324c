// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/sampling.h"

#include "base/arena.h"
#include "base/random.h"
#include "store/carved.h"
#include "store/result.h"
#include "store/watched.h"
#include "verify/verdicts.h"
#include "watch/trigger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Margins below this are of errors that are nearly none: they may move as they like.
static const double MARGIN_LEAST = 0.01;

// By which factor a margin is another one.
static double move_of(double before, double now)
{
    const double low = fmax(fmin(before, now), MARGIN_LEAST);
    const double high = fmax(fmax(before, now), MARGIN_LEAST);

    return isnan(before) || isnan(now) ? 1 : high / low;
}

static tapml_status replay_one(const struct verdict_options *options,
                               const struct verdict *known,
                               const struct watched_row *row,
                               struct arena *arena,
                               struct sampling_case *out_sample)
{
    struct verdict_options one = *options;
    struct verdict_list list = {0};

    one.ids = &known->case_id;
    one.id_count = 1;
    one.fresh = 1;
    one.choice = NULL;
    one.spend = NULL;
    *out_sample = (struct sampling_case){
        .key = row->key, .op = arena_text(arena, known->op_name), .drift = 1, .time_ratio = NAN};
    if (out_sample->op == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(verdicts_make(&one, &list));
    if (list.count == 1) {
        const struct verdict *now = &list.items[0];

        out_sample->drift = strcmp(verdict_name(now->kind), row->verdict) != 0
                                ? INFINITY
                                : move_of(row->margin, now->margin);
        if (row->time_ns > 0 && now->time_ns > 0) {
            out_sample->time_ratio = (double)now->time_ns / (double)row->time_ns;
        }
    }
    verdict_list_release(&list);
    return TAPML_OK;
}

// The fresh cases that somebody has watched, in an order that is drawn. Pairs of a verdict and its
// row.
struct candidates {
    const struct verdict **verdicts;
    const struct watched_row **rows;
    size_t count;
};

static tapml_status list_candidates(struct store *store,
                                    const char *target,
                                    const struct verdict_list *list,
                                    struct arena *arena,
                                    struct candidates *out_candidates)
{
    struct candidates found = {.verdicts =
                                   arena_array(arena, list->count + 1, sizeof(*found.verdicts)),
                               .rows = arena_array(arena, list->count + 1, sizeof(*found.rows))};
    struct watched_row *rows = NULL;
    size_t count = 0;

    if (found.verdicts == NULL || found.rows == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(watched_list(store, target, arena, &rows, &count));
    for (size_t i = 0; i < list->count; i++) {
        const struct verdict *verdict = &list->items[i];
        char key[CARVED_KEY];

        if (verdict->freshness != VERDICT_FRESH || verdict->kind == VERDICT_STALE) {
            continue;
        }
        TAPML_TRY(carved_find_key(store, verdict->case_id, key));
        const struct watched_row *row = watched_find(rows, count, key);

        if (row != NULL && row->stale_s == 0) {
            found.verdicts[found.count] = verdict;
            found.rows[found.count++] = row;
        }
    }
    *out_candidates = found;
    return TAPML_OK;
}

static void draw(struct candidates *candidates, size_t at, struct random *random)
{
    const size_t other = at + (size_t)random_below(random, candidates->count - at);
    const struct verdict *verdict = candidates->verdicts[at];
    const struct watched_row *row = candidates->rows[at];

    candidates->verdicts[at] = candidates->verdicts[other];
    candidates->rows[at] = candidates->rows[other];
    candidates->verdicts[other] = verdict;
    candidates->rows[other] = row;
}

static int by_number(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;

    return one < other ? -1 : one > other;
}

// The sum of an op's samples.
static tapml_status
sum_op(const struct sampling *sampling, struct arena *arena, struct sampling_op *io_op)
{
    double *ratios = arena_array(arena, sampling->replayed + 1, sizeof(*ratios));
    size_t known = 0;

    if (ratios == NULL) {
        return status_no_memory();
    }
    io_op->drift = 1;
    for (size_t i = 0; i < sampling->replayed; i++) {
        const struct sampling_case *sample = &sampling->cases[i];

        if (strcmp(sample->op, io_op->op) == 0) {
            io_op->drift = fmax(io_op->drift, sample->drift);
            if (!isnan(sample->time_ratio)) {
                ratios[known++] = sample->time_ratio;
            }
        }
    }
    if (known > 0) {
        qsort(ratios, known, sizeof(*ratios), by_number);
        io_op->performance = fabs(ratios[known / 2] - 1);
    }
    return TAPML_OK;
}

tapml_status sampling_sum(struct sampling *sampling, struct arena *arena)
{
    sampling->op_count = 0;
    sampling->ops = arena_array(arena, sampling->replayed + 1, sizeof(*sampling->ops));
    if (sampling->ops == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < sampling->replayed; i++) {
        const char *op = sampling->cases[i].op;
        size_t at = 0;

        while (at < sampling->op_count && strcmp(sampling->ops[at].op, op) != 0) {
            at++;
        }
        if (at == sampling->op_count) {
            sampling->ops[sampling->op_count].op = op;
            TAPML_TRY(sum_op(sampling, arena, &sampling->ops[sampling->op_count++]));
        }
    }
    return TAPML_OK;
}

static tapml_status run_samples(const struct verdict_options *options,
                                const struct verdict_list *list,
                                size_t count,
                                uint64_t seed,
                                struct arena *arena,
                                struct sampling *sampling)
{
    struct candidates candidates = {.count = 0};
    struct random random;

    TAPML_TRY(list_candidates(options->store, options->target, list, arena, &candidates));
    count = count < candidates.count ? count : candidates.count;
    sampling->cases = arena_array(arena, count + 1, sizeof(*sampling->cases));
    if (sampling->cases == NULL) {
        return status_no_memory();
    }
    random_init(&random, seed);
    for (size_t i = 0; i < count; i++) {
        draw(&candidates, i, &random);
        TAPML_TRY(replay_one(options, candidates.verdicts[i], candidates.rows[i], arena,
                             &sampling->cases[i]));
        sampling->replayed++;
    }
    return sampling_sum(sampling, arena);
}

tapml_status sampling_run(const struct verdict_options *options,
                          size_t count,
                          uint64_t seed,
                          struct arena *arena,
                          struct trigger_facts *io_facts,
                          struct sampling *out_sampling)
{
    struct verdict_list list = {0};
    struct sampling sampling = {.cases = NULL};

    TAPML_TRY(verdict_read(options->store, options->target, &list));
    const tapml_status status = run_samples(options, &list, count, seed, arena, &sampling);

    verdict_list_release(&list);
    TAPML_TRY(status);
    for (size_t i = 0; i < sampling.op_count; i++) {
        io_facts->drift = fmax(io_facts->drift, sampling.ops[i].drift);
        io_facts->performance = fmax(io_facts->performance, sampling.ops[i].performance);
    }
    *out_sampling = sampling;
    return TAPML_OK;
}

tapml_status sampling_forget(struct sampling *sampling,
                             struct store *store,
                             const char *target,
                             double drift,
                             double performance)
{
    for (size_t i = 0; i < sampling->op_count; i++) {
        struct sampling_op *op = &sampling->ops[i];

        op->is_moved = op->drift > drift || op->performance > performance;
        if (op->is_moved) {
            TAPML_TRY(result_forget_op(store, target, op->op));
        }
    }
    return TAPML_OK;
}
