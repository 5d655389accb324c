// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/bundles.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "graph/group.h"
#include "run/follow_up.h"
#include "run/progress.h"
#include "run/recorded_on.h"
#include "run/run_metadata.h"
#include "store/blame.h"
#include "store/bundle.h"
#include "store/bundled.h"
#include "store/case.h"
#include "store/metadata.h"
#include "store/op_definition.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "verify/calibrator.h"
#include "verify/element_search.h"
#include "verify/fault_rule.h"
#include "verify/reduce.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MEASURE_TEXT = 128, PATH_TEXT = 4096 };

// What fails sometimes is replayed until it has failed but with such a chance; a trial of the
// reduction is dearer than a replay by hand.
static const double REPLAY_MISS = 1e-3, REDUCE_MISS = 0.05;
static const double REPLAY_REPEATS_MAX = 10000, REDUCE_REPEATS_MAX = 150, LATE_REPEATS = 1000;

// -- Writing -----------------------------------------------------------------------------------

// One blamed instance on its way to a file.
struct bundling {
    const struct bundles_options *options;
    const struct blame_row *blame;
    const struct verdict *verdict;      // Of the case.
    const struct verdict_list *results; // All of kept cases, those of judged runs too.
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

// Metadata of the run, or NULL: it is left out of the bundle.
static const char *metadata_of(const struct bundling *bundling, const char *name)
{
    const char *metadata = metadata_get(bundling->options->store, name);

    return metadata != NULL ? arena_text(bundling->arena, metadata) : NULL;
}

const char *
bundles_print_target(const char *name, const struct backend *backend, struct arena *arena)
{
    const struct backend_info *info = backend_info(backend);

    return arena_format(arena, "%s = %s:%s (%s), plugin %s %s%s", name, info->component,
                        info->device, info->device_name, info->plugin, info->plugin_version,
                        activation_type(info->activation)->remark);
}

static const char *describe_target(const struct bundling *bundling)
{
    return bundles_print_target(bundling->options->target, bundling->options->backend,
                                bundling->arena);
}

static tapml_status show(void *user, size_t done, size_t all)
{
    return progress_show(user, done, all);
}

static int is_alone(const struct blame_row *blame)
{
    return strcmp(blame->kind, BLAME_ALONE) == 0;
}

// The part of the tries that failed.
static double rate_of(const struct blame_row *blame)
{
    return blame->failed > 0 && blame->tried > 0 ? (double)blame->failed / (double)blame->tried : 1;
}

// Replays until one has failed but with a chance of `miss`: one where each does.
static double repeats_for(const struct blame_row *blame, double miss)
{
    const double rate = rate_of(blame);

    return rate < 1 ? ceil(log(miss) / log1p(-rate)) : 1;
}

// Whether it may take more than a first call: no kept case failed, or the first one of the instance
// passed. What showed late in a run may need as many calls again.
static int is_late(const struct bundling *bundling)
{
    const struct verdict_list *verdicts = bundling->results;
    const char *instance = bundling->blame->instance;
    size_t first = 0;

    while (first < verdicts->count && strcmp(verdicts->items[first].instance, instance) != 0) {
        first++;
    }
    return strcmp(bundling->blame->evidence, BLAME_CASE) != 0 || first == verdicts->count ||
           verdict_count_failed(&verdicts->items[first], 1) == 0;
}

// Calls of a replay that show the fault.
static double repeats_of(const struct bundling *bundling)
{
    const double sometimes = fmin(repeats_for(bundling->blame, REPLAY_MISS), REPLAY_REPEATS_MAX);

    return is_late(bundling) ? fmax(sometimes, LATE_REPEATS) : sometimes;
}

// How often to replay the bundle, or NULL where once is enough.
static tapml_status print_repeats(const struct bundling *bundling, const char **out_text)
{
    const double repeats = repeats_of(bundling);

    *out_text = repeats > 1 ? arena_format(bundling->arena, "%.0f", repeats) : NULL;
    return repeats > 1 && *out_text == NULL ? status_no_memory() : TAPML_OK;
}

// What the target is where it failed.
static tapml_status record_target(const struct bundling *bundling, struct store *store)
{
    const struct bundles_options *options = bundling->options;
    const char *faults =
        fault_rule_keep_all(options->faults, options->fault_count, bundling->arena);
    const struct recorded_on item =
        recorded_on_here(options->target, backend_info(options->backend), faults,
                         verdict_name(bundling->verdict->kind));

    return faults != NULL ? recorded_on_write(store, 0, &item) : status_no_memory();
}

static tapml_status save(const struct bundling *bundling, const struct carved_case *item)
{
    const char *repeats = NULL;

    TAPML_TRY(print_repeats(bundling, &repeats));
    const struct verdict *verdict = bundling->verdict;
    const enum activation activation = backend_info(bundling->options->backend)->activation;
    const char *target = describe_target(bundling);
    const char *source = metadata_of(bundling, "source");
    const char *model = metadata_of(bundling, "model.hash");
    const char *architecture = metadata_of(bundling, "model.architecture");
    const char *model_name = run_metadata_model_name(bundling->options->store, bundling->arena);
    struct store *store = NULL;
    const struct bundle_metadata metadata[] = {
        {BUNDLE_METADATA_INSTANCE, verdict->instance},
        {BUNDLE_METADATA_TARGET, target},
        {BUNDLE_METADATA_REASON, bundling->blame->reason},
        {BUNDLE_METADATA_WHOLE, verdict->shape_class},
        {BUNDLE_METADATA_ACTIVATIONS,
         activation_is_reduced(activation) ? activation_type(activation)->name : NULL},
        {BUNDLE_METADATA_REPEAT, repeats},
        {"source", source},
        {"model.hash", model},
        {"model.architecture", architecture},
        {"model.name", model_name != NULL && *model_name != '\0' ? model_name : NULL},
    };

    if (target == NULL || model_name == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(bundle_create(bundling->path, item, metadata, sizeof(metadata) / sizeof(*metadata),
                            &store));
    const struct compiled_op *schema = catalogue_find(
        registry_catalogue(bundling->options->registry), item->op_name, item->op_version);
    const char *name = NULL;
    tapml_status status = record_target(bundling, store);

    if (status == TAPML_OK && schema && group_rule_name(schema->op->name, &name) > 0) {
        status = op_definition_write(store, schema->op);
    }
    store_close(store);
    return status;
}

// The command that reproduces the fault, for a shell in the folder of `path`, or NULL where there
// is no memory. What else than the backend decides stands in the run's INI alone.
static const char *command_of(const struct bundling *bundling, const char *path)
{
    const struct bundles_options *options = bundling->options;
    struct text command;

    text_init(&command);
    text_append(&command, "tapml-host replay ");
    text_append_shell(&command, path);
    if (options->config != NULL) {
        text_append(&command, " --config ");
        follow_up_print_path(options->config, &command);
        text_append(&command, " --target ");
        text_append_shell(&command, options->target);
    } else {
        text_append(&command, " --backend ");
        text_append_shell(&command, options->backend_name);
    }
    text_append(&command, options->arguments);
    const char *made = command.failed ? NULL : arena_text(bundling->arena, command.data);

    text_release(&command);
    return made;
}

// Records in the store what was written.
static tapml_status record_bundle(const struct bundling *bundling, const struct carved_case *item)
{
    const struct bundles_options *options = bundling->options;
    const char *name = strrchr(bundling->path, '/');
    struct bundled_row row = {.instance = item->instance,
                              .file = name != NULL ? name + 1 : bundling->path,
                              .shape_class = item->shape_class};

    row.command = command_of(bundling, row.file);
    if (row.command == NULL) {
        return status_no_memory();
    }
    return bundled_write(options->store, options->target, &row);
}

// Reduces what fails by itself; the rest is kept whole.
static tapml_status reduce_and_save(const struct bundling *bundling, const struct carved_case *item)
{
    const struct bundles_options *options = bundling->options;
    const struct blame_row *blame = bundling->blame;
    const struct compiled_op *schema =
        catalogue_find(registry_catalogue(options->registry), item->op_name, item->op_version);
    struct reduce_result reduced = {.item = *item};
    struct progress progress;

    progress_begin(&progress, "reduce", 0);
    if (schema != NULL && is_alone(blame) && bundling->verdict->kind == VERDICT_FAIL) {
        const double repeats = fmin(repeats_for(blame, REDUCE_MISS), REDUCE_REPEATS_MAX);

        TAPML_TRY(reduce_case(&(struct reduce_options){.registry = options->registry,
                                                       .backend = options->backend,
                                                       .repeats = (unsigned)repeats,
                                                       .progress = show,
                                                       .user = &progress},
                              item, schema, &reduced));
    }
    tapml_status status = save(bundling, &reduced.item);

    if (status == TAPML_OK) {
        progress_end(&progress, "%s to %s", item->instance, reduced.item.shape_class);
        status = record_bundle(bundling, &reduced.item);
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
    const struct compiled_op *schema =
        catalogue_find(registry_catalogue(options->registry), kept->op_name, kept->op_version);
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct calibrator *calibrator = NULL;
    const char *refusal = NULL;

    TAPML_TRY(derive_make(kept, schema, bundling->verdict->recipe, bundling->arena, out_case));
    TAPML_TRY(
        calibrator_create(options->registry, options->checkpoint, options->backend, &calibrator));
    const tapml_status status =
        calibrator_expect(calibrator, out_case, schema, bundling->arena, limits, &refusal);

    calibrator_destroy(calibrator);
    return status == TAPML_OK && refusal != NULL ? status_fail(TAPML_INTERNAL, "%s", refusal)
                                                 : status;
}

static tapml_status load_case(const struct bundling *bundling, struct carved_case *out_case)
{
    const struct bundles_options *options = bundling->options;
    struct carved_case kept;

    TAPML_TRY(stored_case_load(options->store, bundling->verdict->case_id, bundling->arena, &kept));
    if (bundling->verdict->recipe != NULL) {
        return derive(bundling, &kept, out_case);
    }
    return bundle_inline(options->checkpoint, &kept, bundling->arena, out_case);
}

static int has_metadata(struct store *store, const char *name, const char *value)
{
    const char *metadata = metadata_get(store, name);

    return metadata != NULL && value != NULL && strcmp(metadata, value) == 0;
}

// Tells the bundle of an earlier start where it is of the same fault.
static tapml_status
report_earlier(const struct bundling *bundling, struct store *store, int *out_is)
{
    int64_t *ids = NULL;
    size_t count = 0;
    struct carved_case item;

    *out_is = has_metadata(store, BUNDLE_METADATA_INSTANCE, bundling->verdict->instance) &&
              has_metadata(store, BUNDLE_METADATA_REASON, bundling->blame->reason) &&
              has_metadata(store, BUNDLE_METADATA_TARGET, describe_target(bundling));
    if (!*out_is) {
        return TAPML_OK;
    }
    TAPML_TRY(stored_case_ids(store, &ids, &count));
    const int64_t id = count == 1 ? ids[0] : 0;

    alloc_free(ids);
    TAPML_TRY(stored_case_load(store, id, bundling->arena, &item));
    return record_bundle(bundling, &item);
}

// What failed late or only sometimes may not fail again: the bundle of a finished offload stays.
static tapml_status keep_earlier(const struct bundling *bundling, int *out_is_kept)
{
    struct store *store = NULL;

    *out_is_kept = 0;
    if (!bundling->options->is_finished || !file_exists(bundling->path) ||
        store_open(bundling->path, 0, &store) != TAPML_OK) {
        return TAPML_OK; // One that is damaged is written again.
    }
    const tapml_status status = report_earlier(bundling, store, out_is_kept);

    store_close(store);
    return status;
}

// Removes what stands beside the bundle of a driver: one that was wrong at an earlier start.
static void remove_program(const char *dir, unsigned number)
{
    char path[PATH_TEXT];

    (void)snprintf(path, sizeof(path), "%s/FAULT-%u.c", dir, number);
    (void)remove(path); // Most bundles have none.
}

static tapml_status write_bundle(struct bundling *bundling, unsigned number)
{
    struct carved_case item;
    int is_kept = 0;

    bundling->path =
        arena_format(bundling->arena, "%s/FAULT-%u.tapmlrun", bundling->options->dir, number);
    if (bundling->path == NULL) {
        return status_no_memory();
    }
    remove_program(bundling->options->dir, number);
    TAPML_TRY(keep_earlier(bundling, &is_kept));
    if (is_kept) {
        return TAPML_OK;
    }
    TAPML_TRY(load_case(bundling, &item));
    return reduce_and_save(bundling, &item);
}

// A case may be large: each bundle has an arena of its own.
static tapml_status write_one(struct bundling *bundling, unsigned number)
{
    bundling->arena = arena_create();
    const tapml_status status =
        bundling->arena != NULL ? write_bundle(bundling, number) : status_no_memory();

    arena_destroy(bundling->arena);
    bundling->arena = NULL;
    return status;
}

// The verdict that speaks against an instance, or NULL where there is none.
static const struct verdict *find_verdict(const struct bundles_options *options,
                                          const struct verdict_list *results,
                                          const struct blame_row *blame)
{
    const struct verdict_list *derived = options->verdicts;

    for (size_t i = 0; *blame->source == '\0' && i < results->count; i++) {
        if (blame->case_id != 0 && results->items[i].case_id == blame->case_id) {
            return &results->items[i];
        }
    }
    for (size_t i = 0; *blame->source != '\0' && i < derived->derived_count; i++) {
        const struct verdict *verdict = &derived->derived[i];

        if (verdict->case_id == blame->case_id && strcmp(verdict->source, blame->source) == 0 &&
            strcmp(verdict->label, blame->label) == 0) {
            return verdict;
        }
    }
    return find_nearest(results, blame->instance);
}

static tapml_status write_each(const struct bundles_options *options,
                               const struct verdict_list *results,
                               struct arena *arena,
                               unsigned *io_count)
{
    struct blame_row *blames = NULL;
    size_t count = 0;

    TAPML_TRY(bundled_forget(options->store, options->target));
    TAPML_TRY(blame_list(options->store, options->target, arena, &blames, &count));
    for (size_t i = 0; i < count; i++) {
        struct bundling bundling = {.options = options, .blame = &blames[i], .results = results};

        bundling.verdict = find_verdict(options, results, &blames[i]);
        if (blame_is_failure(&blames[i]) && bundling.verdict != NULL &&
            strcmp(bundling.verdict->instance, blames[i].instance) == 0) { // Or of its kernel.
            *io_count += 1;
            TAPML_TRY(write_one(&bundling, *io_count));
        }
    }
    return TAPML_OK;
}

tapml_status bundles_write(const struct bundles_options *options, unsigned *io_count)
{
    struct verdict_list results = {.items = NULL};
    struct arena *arena = arena_create();
    tapml_status status = arena != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK) {
        status = verdict_read(options->store, options->target, &results);
    }
    if (status == TAPML_OK) {
        status = write_each(options, &results, arena, io_count);
    }
    verdict_list_release(&results);
    arena_destroy(arena);
    return status;
}

void bundles_remove_rest(const char *dir, unsigned count)
{
    int was_there = 1;

    for (unsigned number = count + 1; was_there; number++) {
        char path[PATH_TEXT];

        (void)snprintf(path, sizeof(path), "%s/FAULT-%u.tapmlrun", dir, number);
        was_there = remove(path) == 0;
        remove_program(dir, number);
    }
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

static void print_metadata(struct store *store, const char *before, const char *name)
{
    const char *metadata = metadata_get(store, name);

    if (metadata != NULL) {
        (void)printf("%s", before);
        print_text(metadata);
        (void)printf("\n");
    }
}

void bundles_describe(struct store *store, const struct verdict_list *verdicts)
{
    print_metadata(store, "bundle of ", BUNDLE_METADATA_INSTANCE);
    for (size_t i = 0; verdicts != NULL && i < verdicts->count; i++) {
        (void)printf("  op      ");
        print_text(verdicts->items[i].op_name);
        (void)printf(", %s\n  shapes  ", verdicts->items[i].phase);
        print_text(verdicts->items[i].shape_class);
        (void)printf("\n");
    }
    print_metadata(store, "  was     ", BUNDLE_METADATA_WHOLE);
    print_metadata(store, "  check   ", BUNDLE_METADATA_CHECK);
    print_metadata(store, "  seed    ", BUNDLE_METADATA_SEED);
    print_metadata(store, "  trial   ", BUNDLE_METADATA_TRIAL);
    print_metadata(store, "  bytes   ", BUNDLE_METADATA_SIZE);
    print_metadata(store, "  at      ", BUNDLE_METADATA_OFFSET);
    print_metadata(store, "  driver  ", BUNDLE_METADATA_DRIVER);
    print_metadata(store, "  failed  ", BUNDLE_METADATA_TARGET);
    print_metadata(store, "          ", BUNDLE_METADATA_REASON);
}

static tapml_status print_output(const struct replay_output *output,
                                 const struct case_argument *argument,
                                 const struct compare_limit *limit,
                                 struct arena *arena)
{
    const struct compare_result distance = compare_tensors(
        output->dtype, output->expected, output->computed, output->rows, output->width);
    char measure[MEASURE_TEXT];
    struct element_list list;

    compare_explain(&distance, limit, measure, sizeof(measure));
    (void)printf("  %s: %s, margin %.3g%s\n", argument->name, measure,
                 compare_margin(&distance, limit),
                 output->wrote_outside ? ", and bytes outside of it were written" : "");
    if (compare_margin(&distance, limit) <= 1) {
        return TAPML_OK;
    }
    TAPML_TRY(element_search_run(output, argument, limit, arena, &list));
    for (size_t i = 0; i < list.count; i++) {
        (void)printf("    %s[%s] expected %.9g, computed %.9g\n", argument->name,
                     list.items[i].place, list.items[i].expected, list.items[i].computed);
    }
    (void)printf("    %" PRIu64 " of %" PRIu64 " elements are beyond the limit by themselves\n",
                 list.beyond, list.total);
    return TAPML_OK;
}

struct reading {
    struct arena *arena;
    struct store *store;
    struct registry *registry;
    const struct compiled_op *schema;
    struct carved_case item;
    struct replay *replay;
    struct calibrator *calibrator;
};

static tapml_status print_outputs(struct reading *reading)
{
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct replay_result result;
    struct carved_case declared;
    uint32_t output = 0;
    int has = 0;

    TAPML_TRY(calibrator_as_declared(reading->calibrator, &reading->item, reading->schema,
                                     reading->arena, &declared, &has));
    if (has) {
        reading->item = declared; // Both are of the arena.
    }
    TAPML_TRY(calibrator_limits(reading->calibrator, reading->store, &reading->item,
                                reading->schema, limits));
    TAPML_TRY(replay_run(reading->replay, &reading->item, reading->schema, 0, &result));
    for (uint32_t i = 0; result.outcome == REPLAY_RAN && i < reading->item.argument_count; i++) {
        if (case_is_output(&reading->item.arguments[i])) {
            TAPML_TRY(print_output(&result.outputs[output], &reading->item.arguments[i],
                                   &limits[output], reading->arena));
            output++;
        }
    }
    return TAPML_OK;
}

static tapml_status open_case(struct reading *reading)
{
    int64_t *ids = NULL;
    size_t count = 0;

    TAPML_TRY(stored_case_ids(reading->store, &ids, &count));
    const int64_t id = count > 0 ? ids[0] : 0;

    alloc_free(ids);
    if (count != 1) {
        return status_fail(TAPML_INVALID, "bundle '%s' has %zu cases, expected one",
                           store_path(reading->store), count);
    }
    TAPML_TRY(stored_case_load(reading->store, id, reading->arena, &reading->item));
    reading->schema = catalogue_find(registry_catalogue(reading->registry), reading->item.op_name,
                                     reading->item.op_version);
    return TAPML_OK;
}

tapml_status
bundles_print_elements(struct store *store, struct registry *registry, struct backend *backend)
{
    struct reading reading = {.arena = arena_create(), .store = store, .registry = registry};
    tapml_status status = reading.arena != NULL ? open_case(&reading) : status_no_memory();

    if (status == TAPML_OK && reading.schema != NULL) {
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
    arena_destroy(reading.arena);
    return status;
}
