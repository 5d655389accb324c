// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "host/bundles.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "carve/bundle.h"
#include "host/progress.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "verify/calibrator.h"
#include "verify/reduce.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ELEMENTS_SHOWN = 8, MEASURE_TEXT = 128, PATH_TEXT = 4096 };

// What fails sometimes is replayed until it has failed but with such a chance; a trial of the
// reduction is dearer than a replay by hand.
static const double REPLAY_MISS = 1e-3, REDUCE_MISS = 0.05;
static const double REPLAY_REPEATS_MAX = 10000, REDUCE_REPEATS_MAX = 150, LATE_REPEATS = 1000;

// -- Writing -----------------------------------------------------------------------------------

// One accusation on its way to a file.
struct bundling {
    const struct bundles_options *options;
    const struct loop_accusation *accusation;
    const struct verdict *verdict; // Of the case.
    const char *path;
    struct arena *arena;
};

// The kept case of an instance that is nearest to its limit, or NULL.
static const struct verdict *find_nearest(const struct verdict_list *verdicts, const char *instance)
{
    const struct verdict *best = NULL;

    for (size_t i = 0; i < verdicts->count; i++) {
        const struct verdict *verdict = &verdicts->items[i];

        if (strcmp(verdict->instance, instance) == 0 &&
            (best == NULL || verdict->margin > best->margin)) {
            best = verdict;
        }
    }
    return best;
}

// A fact of the run, or NULL: it is left out of the bundle.
static const char *fact_of(const struct bundling *bundling, const char *name)
{
    const char *fact = store_fact(bundling->options->store, name);

    return fact != NULL ? arena_text(bundling->arena, fact) : NULL;
}

static tapml_status save(const struct bundling *bundling, const struct carved_case *item)
{
    const struct bundles_options *options = bundling->options;
    const struct verdict *verdict = bundling->verdict;
    const struct backend_info *info = backend_info(options->backend);
    const char *target = arena_format(bundling->arena, "%s = %s:%s (%s), plugin %s %s",
                                      options->target, info->component, info->device,
                                      info->device_name, info->plugin, info->plugin_version);
    const char *source = fact_of(bundling, "source");
    const char *model = fact_of(bundling, "model.hash");
    struct store *store = NULL;
    const struct bundle_fact facts[] = {
        {BUNDLE_FACT_INSTANCE, verdict->instance},
        {BUNDLE_FACT_TARGET, target},
        {BUNDLE_FACT_REASON, bundling->accusation->reason},
        {BUNDLE_FACT_WHOLE, verdict->shape_class},
        {"source", source},
        {"model.hash", model},
    };

    if (target == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(bundle_create(bundling->path, item, facts, sizeof(facts) / sizeof(*facts), &store));
    store_close(store);
    return TAPML_OK;
}

static tapml_status show(void *user, size_t done, size_t all)
{
    return progress_show(user, done, all);
}

// The part of the tries that failed.
static double rate_of(const struct loop_accusation *accusation)
{
    return accusation->failed > 0 && accusation->tried > 0
               ? (double)accusation->failed / (double)accusation->tried
               : 1;
}

// Replays until one has failed but with a chance of `miss`: one where each does.
static double repeats_for(const struct loop_accusation *accusation, double miss)
{
    const double rate = rate_of(accusation);

    return rate < 1 ? ceil(log(miss) / log1p(-rate)) : 1;
}

// Whether it may take more than a first call: no kept case failed, or the first one of the instance
// passed. What showed late in a run may need as many calls again.
static int is_late(const struct bundling *bundling)
{
    const struct verdict_list *verdicts = bundling->options->verdicts;
    const char *instance = bundling->accusation->verdict->instance;
    size_t first = 0;

    while (first < verdicts->count && strcmp(verdicts->items[first].instance, instance) != 0) {
        first++;
    }
    return bundling->accusation->evidence != TRIAL_CASE || first == verdicts->count ||
           verdict_count_failed(&verdicts->items[first], 1) == 0;
}

// The command that reproduces the fault. A fault that is planted stands in the run's INI alone.
static void print_command(const struct bundling *bundling)
{
    const struct bundles_options *options = bundling->options;
    const double sometimes =
        fmin(repeats_for(bundling->accusation, REPLAY_MISS), REPLAY_REPEATS_MAX);
    const double repeats = is_late(bundling) ? fmax(sometimes, LATE_REPEATS) : sometimes;

    (void)printf("  tapml-host replay %s", bundling->path);
    if (options->config != NULL) {
        (void)printf(" --config %s --target %s", options->config, options->target);
    } else {
        (void)printf(" --backend %s", options->backend_name);
    }
    if (repeats > 1) {
        (void)printf(" --repeat %.0f", repeats);
    }
    (void)printf("\n");
}

// Reduces what fails by itself; the rest is kept whole.
static tapml_status reduce_and_save(const struct bundling *bundling, const struct carved_case *item)
{
    const struct bundles_options *options = bundling->options;
    const struct loop_accusation *accusation = bundling->accusation;
    const tapml_op *op =
        catalogue_find(registry_catalogue(options->registry), item->op_name, item->op_version);
    struct reduce_result reduced = {.item = *item};
    struct progress progress;

    progress_begin(&progress, "reduce", 0);
    if (op != NULL && accusation->is_alone && bundling->verdict->kind == VERDICT_FAIL) {
        const double repeats = fmin(repeats_for(accusation, REDUCE_MISS), REDUCE_REPEATS_MAX);

        TAPML_TRY(reduce_case(&(struct reduce_options){.registry = options->registry,
                                                       .backend = options->backend,
                                                       .repeats = (unsigned)repeats,
                                                       .progress = show,
                                                       .user = &progress},
                              item, op, &reduced));
    }
    const tapml_status status = save(bundling, &reduced.item);

    if (status == TAPML_OK) {
        progress_end(&progress, "%s to %s", item->instance, reduced.item.shape_class);
        (void)printf("bundle: %s (%s) %s: %s%s\n", item->instance, item->op_name,
                     reduced.item.shape_class, bundling->path,
                     accusation->is_alone ? "" : ", which was not seen to fail by itself");
        print_command(bundling);
    }
    reduce_result_release(&reduced);
    return status;
}

// The case of a recipe, with what the oracle expects.
static tapml_status derive(const struct bundling *bundling,
                           const struct carved_case *kept,
                           struct carved_case *out_case)
{
    const struct bundles_options *options = bundling->options;
    const tapml_op *op =
        catalogue_find(registry_catalogue(options->registry), kept->op_name, kept->op_version);
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct calibrator *calibrator = NULL;
    const char *refusal = NULL;

    TAPML_TRY(derive_make(kept, op, bundling->verdict->recipe, bundling->arena, out_case));
    TAPML_TRY(
        calibrator_create(options->registry, options->checkpoint, options->backend, &calibrator));
    const tapml_status status =
        calibrator_expect(calibrator, out_case, op, bundling->arena, limits, &refusal);

    calibrator_destroy(calibrator);
    return status == TAPML_OK && refusal != NULL ? status_fail(TAPML_INTERNAL, "%s", refusal)
                                                 : status;
}

static tapml_status load_case(const struct bundling *bundling, struct carved_case *out_case)
{
    const struct bundles_options *options = bundling->options;
    struct carved_case kept;

    TAPML_TRY(store_load_case(options->store, bundling->verdict->case_id, bundling->arena, &kept));
    if (bundling->verdict->recipe != NULL) {
        return derive(bundling, &kept, out_case);
    }
    return bundle_inline(options->checkpoint, &kept, bundling->arena, out_case);
}

static tapml_status write_one(const struct bundles_options *options,
                              const struct loop_accusation *accusation,
                              const struct verdict *verdict,
                              unsigned number)
{
    struct bundling bundling = {
        .options = options, .accusation = accusation, .verdict = verdict, .arena = arena_create()};
    struct carved_case item;

    if (bundling.arena == NULL) {
        return status_no_memory();
    }
    bundling.path = arena_format(bundling.arena, "%s/FAULT-%u.tapmlrun", options->dir, number);
    tapml_status status = bundling.path != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK) {
        status = load_case(&bundling, &item);
    }
    if (status == TAPML_OK) {
        status = reduce_and_save(&bundling, &item);
    }
    arena_destroy(bundling.arena);
    return status;
}

// Those of an earlier start would be taken for this one's.
static void remove_earlier(const struct bundles_options *options)
{
    int was_there = 1;

    for (unsigned number = 1; was_there; number++) {
        char path[PATH_TEXT];

        (void)snprintf(path, sizeof(path), "%s/FAULT-%u.tapmlrun", options->dir, number);
        was_there = remove(path) == 0;
    }
}

tapml_status bundles_write(const struct bundles_options *options, unsigned *io_count)
{
    const struct loop_result *result = options->result;

    if (*io_count == 0) {
        remove_earlier(options);
    }
    for (size_t i = 0; i < result->accused_count; i++) {
        const struct loop_accusation *accusation = &result->accused[i];
        const struct verdict *verdict =
            accusation->verdict->case_id != 0
                ? accusation->verdict
                : find_nearest(options->verdicts, options->graph->ops[accusation->op].instance);

        if (verdict != NULL) {
            *io_count += 1;
            TAPML_TRY(write_one(options, accusation, verdict, *io_count));
        }
    }
    return TAPML_OK;
}

// -- Reading -----------------------------------------------------------------------------------

// A bundle's texts come from someone else: nothing that moves a terminal's cursor.
static void print_text(const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;

        (void)putchar(byte < 0x20 || byte == 0x7f ? '?' : byte);
    }
}

static void print_fact(struct store *store, const char *before, const char *name)
{
    const char *fact = store_fact(store, name);

    if (fact != NULL) {
        (void)printf("%s", before);
        print_text(fact);
        (void)printf("\n");
    }
}

void bundles_describe(struct store *store, const struct verdict_list *verdicts)
{
    print_fact(store, "bundle of ", BUNDLE_FACT_INSTANCE);
    for (size_t i = 0; i < verdicts->count; i++) {
        (void)printf("  op      ");
        print_text(verdicts->items[i].op_name);
        (void)printf(", %s\n  shapes  ", verdicts->items[i].phase);
        print_text(verdicts->items[i].shape_class);
        (void)printf("\n");
    }
    print_fact(store, "  was     ", BUNDLE_FACT_WHOLE);
    print_fact(store, "  failed  ", BUNDLE_FACT_TARGET);
    print_fact(store, "          ", BUNDLE_FACT_REASON);
}

// The place of an element of an output: "y[3, 17]".
static void print_place(const struct case_argument *argument, size_t index)
{
    int64_t shape[TAPML_MAX_RANK];
    int64_t place[TAPML_MAX_RANK] = {0};

    case_content_shape(argument, shape);
    for (uint32_t i = argument->rank; i > 0; i--) {
        place[i - 1] = (int64_t)(index % (size_t)shape[i - 1]);
        index /= (size_t)shape[i - 1];
    }
    if (case_is_state(argument)) {
        place[0] += argument->kept_begin;
    }
    (void)printf("    %s[", argument->name);
    for (uint32_t i = 0; i < argument->rank; i++) {
        (void)printf("%s%" PRId64, i > 0 ? ", " : "", place[i]);
    }
    (void)printf("]");
}

static double margin_of(const struct replay_output *output,
                        size_t first,
                        size_t count,
                        const struct compare_limit *limit)
{
    const size_t at = first * dtype_bytes(output->dtype);
    const struct compare_result distance =
        compare_tensors(output->dtype, (const char *)output->expected + at,
                        (const char *)output->computed + at, 1, count);

    return compare_margin(&distance, limit);
}

static void print_output(const struct replay_output *output,
                         const struct case_argument *argument,
                         const struct compare_limit *limit)
{
    const struct compare_result distance = compare_tensors(
        output->dtype, output->expected, output->computed, output->rows, output->width);
    const size_t element_bytes = dtype_bytes(output->dtype);
    char measure[MEASURE_TEXT];
    size_t bad = 0;

    compare_explain(&distance, limit, measure, sizeof(measure));
    (void)printf("  %s: %s, margin %.3g%s\n", argument->name, measure,
                 compare_margin(&distance, limit),
                 output->wrote_outside ? ", and bytes outside of it were written" : "");
    if (compare_margin(&distance, limit) <= 1) {
        return;
    }
    for (size_t i = 0; i < output->rows * output->width; i++) {
        double expected = 0;
        double computed = 0;

        if (margin_of(output, i, 1, limit) <= 1 || bad++ >= ELEMENTS_SHOWN) {
            continue;
        }
        convert_to_f64(output->dtype, (const char *)output->expected + i * element_bytes, 1,
                       &expected);
        convert_to_f64(output->dtype, (const char *)output->computed + i * element_bytes, 1,
                       &computed);
        print_place(argument, i);
        (void)printf(" expected %.9g, computed %.9g\n", expected, computed);
    }
    (void)printf("    %zu of %zu elements are beyond the limit by themselves\n", bad,
                 output->rows * output->width);
}

struct reading {
    struct store *store;
    struct registry *registry;
    const tapml_op *op;
    struct carved_case item;
    struct replay *replay;
    struct calibrator *calibrator;
};

static tapml_status print_outputs(struct reading *reading)
{
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct replay_result result;
    uint32_t output = 0;

    TAPML_TRY(calibrator_limits(reading->calibrator, reading->store, &reading->item, reading->op,
                                limits));
    TAPML_TRY(replay_run(reading->replay, &reading->item, reading->op, 0, &result));
    for (uint32_t i = 0; result.outcome == REPLAY_RAN && i < reading->item.argument_count; i++) {
        if (case_is_output(&reading->item.arguments[i])) {
            print_output(&result.outputs[output], &reading->item.arguments[i], &limits[output]);
            output++;
        }
    }
    return TAPML_OK;
}

static tapml_status open_case(struct reading *reading, struct arena *arena)
{
    int64_t *ids = NULL;
    size_t count = 0;

    TAPML_TRY(store_case_ids(reading->store, &ids, &count));
    const int64_t id = count > 0 ? ids[0] : 0;

    alloc_free(ids);
    if (count != 1) {
        return status_fail(TAPML_INVALID, "bundle '%s' has %zu cases, expected one",
                           store_path(reading->store), count);
    }
    TAPML_TRY(store_load_case(reading->store, id, arena, &reading->item));
    reading->op = catalogue_find(registry_catalogue(reading->registry), reading->item.op_name,
                                 reading->item.op_version);
    return TAPML_OK;
}

tapml_status
bundles_print_elements(struct store *store, struct registry *registry, struct backend *backend)
{
    struct reading reading = {.store = store, .registry = registry};
    struct arena *arena = arena_create();
    tapml_status status = arena != NULL ? open_case(&reading, arena) : status_no_memory();

    if (status == TAPML_OK && reading.op != NULL) {
        status = replay_create(backend, NULL, &reading.replay);
        if (status == TAPML_OK) {
            status = calibrator_create(registry, NULL, backend, &reading.calibrator);
        }
        if (status == TAPML_OK) {
            status = print_outputs(&reading);
        }
    }
    replay_destroy(reading.replay);
    calibrator_destroy(reading.calibrator);
    arena_destroy(arena);
    return status;
}
