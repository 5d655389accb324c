// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/query_verdicts.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "store/target.h"
#include "verify/verdict.h"

#include <math.h>
#include <string.h>

// A row of the view.
struct query_verdict {
    const char *run, *target;
    const struct verdict *verdict;
    const struct output_error *worst; // The errors of the worst output; NULL: nothing was compared.
};

typedef void (*query_verdict_fn)(const struct query_verdict *item, struct query_value *out);

#define GET(name_, value_)                                                                         \
    static void get_##name_(const struct query_verdict *item, struct query_value *out)             \
    {                                                                                              \
        *out = value_;                                                                             \
    }
#define WORST(member_) query_real(item->worst != NULL ? item->worst->member_ : NAN)

GET(run, query_text(item->run))
GET(target, query_text(item->target))
GET(case_id, query_integer(item->verdict->case_id))
GET(instance, query_text(item->verdict->instance))
GET(op, query_text(item->verdict->op_name))
GET(version, query_integer(item->verdict->op_version))
GET(phase, query_text(item->verdict->phase))
GET(shape_class, query_text(item->verdict->shape_class))
GET(verdict, query_text(verdict_name(item->verdict->kind)))
GET(freshness, query_text(verdict_freshness_name(item->verdict->freshness)))
GET(measured, query_text(verdict_name(item->verdict->measured_kind)))
GET(stale_limits, query_integer(item->verdict->has_stale_limits))
GET(margin, query_real(item->verdict->margin))
GET(output, query_text(item->verdict->output))
GET(reason, query_text(item->verdict->reason))
GET(ulp, WORST(ulp))
GET(nmse, WORST(nmse))
GET(row_error, WORST(row_error))
GET(cosine, WORST(cosine))
GET(time_ns, query_integer((int64_t)item->verdict->time_ns))
GET(implementation, query_text(item->verdict->result->maker.implementation))
GET(ran_on, query_text(item->verdict->result->maker.device))
GET(ran_driver, query_text(item->verdict->result->maker.driver))
GET(ran_options, query_text(item->verdict->result->maker.options))
GET(oracle, query_text(item->verdict->result->maker.oracle))

// The columns of the view, and what gives their values: lists of the same order.
#define COLUMNS(COLUMN)                                                                            \
    COLUMN(run, "the folder of the run, as it was given")                                          \
    COLUMN(target, "its name in the run")                                                          \
    COLUMN(case_id, "the number of the case in its store")                                         \
    COLUMN(instance, "where in the graph")                                                         \
    COLUMN(op, "the operator")                                                                     \
    COLUMN(version, "of the operator")                                                             \
    COLUMN(phase, "prefill or decode")                                                             \
    COLUMN(shape_class, "the shapes of the inputs")                                                \
    COLUMN(verdict, "pass, fail, error, unsupported, skipped or stale")                            \
    COLUMN(freshness, "fresh, stale, or inherited from a case with the same key")                  \
    COLUMN(measured, "the verdict that was measured, be it stale")                                 \
    COLUMN(stale_limits, "1: another oracle gave the limits than would now")                       \
    COLUMN(margin, "observed / limit of the worst output; NULL if nothing was compared")           \
    COLUMN(output, "the worst output")                                                             \
    COLUMN(reason, "a sentence for all but a pass")                                                \
    COLUMN(ulp, "of the worst output: the largest difference, in units in the last place")         \
    COLUMN(nmse, "of the worst output: sum of (a - b)^2 / sum of b^2")                             \
    COLUMN(row_error, "of the worst output: of its worst row")                                     \
    COLUMN(cosine, "of the worst output: of the angle between both")                               \
    COLUMN(time_ns, "of the call on the target")                                                   \
    COLUMN(implementation, "what computed it: plugin and digest of the code")                      \
    COLUMN(ran_on, "component and device that computed it")                                        \
    COLUMN(ran_driver, "name of that device, and its driver")                                      \
    COLUMN(ran_options, "settings that changed numbers")                                           \
    COLUMN(oracle, "a digest of what gave the limits; empty for an exact operator")

#define DESCRIBE(name_, about_) {#name_, NULL, about_},
#define GETTER(name_, about_)   get_##name_,

static const struct query_column columns[] = {COLUMNS(DESCRIBE)};
static const query_verdict_fn getters[] = {COLUMNS(GETTER)};

const struct query_view query_verdicts_view = {
    .name = "verdicts",
    .about = "what became of each kept case on each target",
    .columns = columns,
    .count = sizeof(columns) / sizeof(*columns),
};

static void get(const void *item, size_t column, struct query_value *out_value)
{
    getters[column](item, out_value);
}

static const struct output_error *find_worst(const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->error_count; i++) {
        if (strcmp(verdict->errors[i].param, verdict->output) == 0) {
            return &verdict->errors[i];
        }
    }
    return NULL;
}

static tapml_status add_list(struct query_rows *rows,
                             const struct verdict_list *list,
                             const struct query_verdict *names)
{
    struct query_verdict *items = alloc_array(list->count + 1, sizeof(*items));

    if (items == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < list->count; i++) {
        items[i] = *names;
        items[i].verdict = &list->items[i];
        items[i].worst = find_worst(items[i].verdict);
    }
    const tapml_status status = query_rows_add(rows, get, items, sizeof(*items), list->count);

    alloc_free(items);
    return status;
}

static tapml_status
add_target(struct store *store, const char *run, const char *target, struct query_rows *rows)
{
    struct verdict_list list;

    TAPML_TRY(verdict_read(store, target, &list));
    const tapml_status status =
        add_list(rows, &list, &(struct query_verdict){.run = run, .target = target});

    verdict_list_release(&list);
    return status;
}

static tapml_status
add_targets(struct store *store, const char *run, struct query_rows *rows, struct arena *arena)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    TAPML_TRY(target_list(store, arena, &targets, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(add_target(store, run, targets[i].name, rows));
    }
    return TAPML_OK;
}

tapml_status query_verdicts_read(struct store *store, const char *run, struct query_rows *rows)
{
    struct arena *arena = arena_create();
    const tapml_status status =
        arena != NULL ? add_targets(store, run, rows, arena) : status_no_memory();

    arena_destroy(arena);
    return status;
}
