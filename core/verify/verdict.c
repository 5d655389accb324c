// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/verdict.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/table.h"
#include "base/text.h"
#include "store/row.h"
#include "verify/recast.h"
#include "verify/replay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 32, REASON_TEXT = 512, MEASURE_TEXT = 128 };

static const char *const NAMES[] = {
    [VERDICT_PASS] = "pass",       [VERDICT_FAIL] = "fail",
    [VERDICT_ERROR] = "error",     [VERDICT_UNSUPPORTED] = "unsupported",
    [VERDICT_SKIPPED] = "skipped",
};

enum { NAME_COUNT = (int)(sizeof(NAMES) / sizeof(*NAMES)) };

const char *verdict_name(enum verdict_kind kind)
{
    return NAMES[kind];
}

size_t verdict_count_failed(const struct verdict *verdicts, size_t count)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        failed += verdicts[i].kind == VERDICT_FAIL || verdicts[i].kind == VERDICT_ERROR;
    }
    return failed;
}

// What computes: a result of another one does not count.
struct maker {
    const char *implementation; // "PLUGIN VERSION BUILD"
    const char *device;         // "COMPONENT:DEVICE"
    const char *driver;         // "NAME OF THE DEVICE, DRIVER"
    const char *options;        // "activations=f16", or "".
};

// All cases of a store on their way to a verdict.
struct verdict_judge {
    const struct verdict_options *options;
    struct replay *replay;
    struct calibrator *calibrator;
    struct verdict_list *list;
    struct maker maker;  // Of the results, as the store has it.
    size_t written;      // Of the list: what the store has by now.
    struct table shapes; // Of derived cases, each judged once.
    int has_failed;      // Some kept case did.
    struct arena *texts; // Of the verdict on a case that came alone.
};

// A case that was replayed, on its way to a verdict.
struct trial {
    const struct carved_case *item;
    const struct compiled_op *schema;
    int is_derived; // Its limits are its own, and there already.
    int is_timed;
    int is_computed; // By the target: what is run now is what it should have computed.
    struct replay_result result;
    struct compare_result distances[REPLAY_OUTPUTS_MAX];
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    uint32_t worst; // Output.
    double margin;  // Of the worst output.
};

static tapml_status describe_maker(struct verdict_judge *judge)
{
    const struct backend_info *info = backend_info(judge->options->backend);
    struct arena *arena = judge->list->arena;
    const struct maker maker = {
        .implementation = arena_format(arena, "%s %s %s", info->plugin, info->plugin_version,
                                       info->build_id ? info->build_id : ""),
        .device = arena_format(arena, "%s:%s", info->component, info->device),
        .driver = arena_format(arena, "%s, %s", info->device_name, info->driver),
        .options = activation_type(info->activation)->setting,
    };
    if (!maker.implementation || !maker.device || !maker.driver) {
        return status_no_memory();
    }
    judge->maker = maker;
    return TAPML_OK;
}

// Binds the maker to the next values of a row.
static void put_maker(struct row *row, const struct maker *maker)
{
    row_put_text(row, maker->implementation);
    row_put_text(row, maker->device);
    row_put_text(row, maker->driver);
    row_put_text(row, maker->options);
}

tapml_status verdict_find_kind(const char *name, enum verdict_kind *out_kind)
{
    for (int kind = 0; kind < NAME_COUNT; kind++) {
        if (strcmp(NAMES[kind], name) == 0) {
            *out_kind = (enum verdict_kind)kind;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID, "there is no verdict '%.30s'", name);
}

static tapml_status read_verdict(struct row *row, struct arena *arena, struct verdict *out_verdict)
{
    const tapml_status status = verdict_find_kind(row_text(row, 0), &out_verdict->kind);
    if (status != TAPML_OK) {
        return status_explain(status, "in the result of case %lld",
                              (long long)out_verdict->case_id);
    }
    out_verdict->margin = row_f64(row, 1);
    out_verdict->output = arena_text(arena, row_text(row, 2));
    out_verdict->reason = arena_text(arena, row_text(row, 3));
    out_verdict->time_ns = (uint64_t)row_i64(row, 4);
    out_verdict->elements.beyond = (uint64_t)row_i64(row, 5);
    out_verdict->elements.total = (uint64_t)row_i64(row, 6);
    return out_verdict->output && out_verdict->reason ? TAPML_OK : status_no_memory();
}

// The result that the store has of this very backend.
static tapml_status
find_result(const struct verdict_judge *judge, struct verdict *out_verdict, int *out_has)
{
    struct row row;
    TAPML_TRY(
        row_begin(judge->options->store,
                  "SELECT verdict, margin, output, reason, time_ns, beyond, elements FROM result"
                  " WHERE target = ? AND case_id = ?"
                  " AND implementation = ? AND device = ? AND driver = ? AND options = ?",
                  "reading results", &row));
    row_put_text(&row, judge->options->target);
    row_put_i64(&row, out_verdict->case_id);
    put_maker(&row, &judge->maker);
    TAPML_TRY(row_next(&row, out_has));
    if (!*out_has) {
        return TAPML_OK;
    }
    const tapml_status status = read_verdict(&row, judge->list->arena, out_verdict);
    row_end(&row);
    return status == TAPML_OK && out_verdict->kind == VERDICT_FAIL
               ? element_read(judge->options->store, judge->options->target, out_verdict->case_id,
                              judge->list->arena, &out_verdict->elements)
               : status;
}

static tapml_status write_result(const struct verdict_judge *judge, const struct verdict *verdict)
{
    const char *run = NULL;
    struct row row;
    TAPML_TRY(store_run(judge->options->store, &run));
    TAPML_TRY(row_begin(judge->options->store,
                        "INSERT OR REPLACE INTO result"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing results", &row));
    row_put_text(&row, judge->options->target);
    row_put_i64(&row, verdict->case_id);
    row_put_text(&row, verdict_name(verdict->kind));
    row_put_f64(&row, verdict->margin);
    row_put_text(&row, verdict->output);
    row_put_text(&row, verdict->reason);
    row_put_i64(&row, (int64_t)verdict->time_ns);
    put_maker(&row, &judge->maker);
    if (verdict->elements.total > 0) {
        row_put_i64(&row, (int64_t)verdict->elements.beyond);
        row_put_i64(&row, (int64_t)verdict->elements.total);
    } else {
        row_put_null(&row);
        row_put_null(&row);
    }
    row_put_text(&row, run);
    TAPML_TRY(row_run(&row));
    return element_write(judge->options->store, judge->options->target, verdict->case_id,
                         &verdict->elements);
}

// Writes the verdicts that the store lacks as one transaction.
static tapml_status write_results(struct verdict_judge *judge)
{
    struct store *store = judge->options->store;
    if (judge->written == judge->list->count) {
        return TAPML_OK;
    }
    tapml_status status = store_begin(store);
    for (size_t i = judge->written; status == TAPML_OK && i < judge->list->count; i++) {
        status = write_result(judge, &judge->list->items[i]);
    }
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
        return status;
    }
    judge->written = judge->list->count;
    return TAPML_OK;
}

static tapml_status set_reason(const struct verdict_judge *judge,
                               struct verdict *verdict,
                               enum verdict_kind kind,
                               const char *reason)
{
    verdict->kind = kind;
    verdict->reason = arena_text(judge->list->arena, reason);
    return verdict->reason ? TAPML_OK : status_no_memory();
}

static void find_worst(struct trial *trial)
{
    trial->worst = 0;
    trial->margin = 0;
    for (uint32_t i = 0; i < trial->result.output_count; i++) {
        double margin = compare_margin(&trial->distances[i], &trial->limits[i]);
        if (trial->result.outputs[i].wrote_outside || trial->result.outputs[i].is_unwritten) {
            margin = INFINITY;
        }
        if (margin > trial->margin) {
            trial->worst = i;
            trial->margin = margin;
        }
    }
}

// Distances, limits and margin. A case beyond the limit of its class is calibrated itself before
// that is held against it.
static tapml_status measure(const struct verdict_judge *judge, struct trial *trial)
{
    struct store *store = judge->options->store;
    for (uint32_t i = 0; i < trial->result.output_count; i++) {
        struct replay_output *output = &trial->result.outputs[i];
        if (trial->is_computed) {
            const void *right = output->computed;
            output->computed = output->expected;
            output->expected = right;
            TAPML_TRY(recast_round_expected(trial->schema->op, judge->options->activation,
                                            judge->list->arena, output));
        }
        trial->distances[i] = compare_tensors(output->dtype, output->expected, output->computed,
                                              output->rows, output->width);
    }
    if (!trial->is_derived) {
        TAPML_TRY(
            calibrator_limits(judge->calibrator, store, trial->item, trial->schema, trial->limits));
    }
    find_worst(trial);
    if (trial->margin > 1 && isfinite(trial->margin)) {
        TAPML_TRY(calibrator_widen(judge->calibrator, trial->is_derived ? NULL : store, trial->item,
                                   trial->schema, trial->limits));
        find_worst(trial);
    }
    return TAPML_OK;
}

static const struct case_argument *find_argument(const struct carved_case *item, const char *param)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (strcmp(item->arguments[i].name, param) == 0) {
            return &item->arguments[i];
        }
    }
    return NULL;
}

// "y[3, 17]": the element at `index` of the contents, as the tensor counts its rows.
static void print_element(const struct case_argument *argument, size_t index, struct text *out)
{
    int64_t shape[TAPML_MAX_RANK];
    int64_t place[TAPML_MAX_RANK];
    case_content_shape(argument, shape);
    for (uint32_t i = argument->rank; i > 0; i--) {
        place[i - 1] = (int64_t)(index % (size_t)shape[i - 1]);
        index /= (size_t)shape[i - 1];
    }
    if (case_is_state(argument) && argument->rank > 0) {
        place[0] += argument->kept_begin;
    }
    text_append(out, argument->name);
    for (uint32_t i = 0; i < argument->rank; i++) {
        text_format(out, "%s%lld", i == 0 ? "[" : ", ", (long long)place[i]);
    }
    text_append(out, argument->rank > 0 ? "]" : "");
}

static void explain(const struct trial *trial, struct text *out)
{
    const struct replay_output *output = &trial->result.outputs[trial->worst];
    const struct compare_result *distance = &trial->distances[trial->worst];
    if (output->wrote_outside || output->is_unwritten) {
        text_append(out, trial->result.reason);
        return;
    }
    char measure[MEASURE_TEXT];
    compare_explain(distance, &trial->limits[trial->worst], measure, sizeof(measure));
    print_element(find_argument(trial->item, output->param), distance->worst_index, out);
    text_format(out, " is %.9g, expected %.9g: %s", distance->worst_computed,
                distance->worst_expected, measure);
}

static tapml_status
judge_outputs(const struct verdict_judge *judge, struct trial *trial, struct verdict *verdict)
{
    TAPML_TRY(measure(judge, trial));
    if (trial->result.output_count == 0) {
        return set_reason(judge, verdict, VERDICT_SKIPPED, "has no output to compare");
    }
    verdict->margin = trial->margin;
    verdict->time_ns = trial->result.time_ns;
    verdict->output = arena_text(judge->list->arena, trial->result.outputs[trial->worst].param);
    if (!verdict->output) {
        return status_no_memory();
    }
    if (trial->margin <= 1) {
        return set_reason(judge, verdict, VERDICT_PASS, "");
    }
    const struct replay_output *output = &trial->result.outputs[trial->worst];
    TAPML_TRY(element_find(output, find_argument(trial->item, output->param),
                           &trial->limits[trial->worst], judge->list->arena, &verdict->elements));
    struct text reason;
    text_init(&reason);
    explain(trial, &reason);
    tapml_status status = text_status(&reason);
    if (status == TAPML_OK) {
        status = set_reason(judge, verdict, VERDICT_FAIL, reason.data);
    }
    text_release(&reason);
    return status;
}

// Runs a case on the target and judges it.
static tapml_status
try_case(const struct verdict_judge *judge, struct trial *trial, struct verdict *verdict)
{
    const tapml_status status =
        replay_run(judge->replay, trial->item, trial->schema, trial->is_timed, &trial->result);
    if (status != TAPML_OK) {
        return status_ends_all(status)
                   ? status
                   : set_reason(judge, verdict, VERDICT_ERROR, status_message());
    }
    switch (trial->result.outcome) {
    case REPLAY_RAN:
        break;
    case REPLAY_UNSUPPORTED:
        return set_reason(judge, verdict, VERDICT_UNSUPPORTED, trial->result.reason);
    case REPLAY_SKIPPED:
        return set_reason(judge, verdict, VERDICT_SKIPPED, trial->result.reason);
    }
    return judge_outputs(judge, trial, verdict);
}

static const struct compiled_op *find_schema(const struct verdict_judge *judge,
                                             const struct carved_case *item)
{
    return catalogue_find(registry_catalogue(judge->options->registry), item->op_name,
                          item->op_version);
}

static tapml_status
replay_case(const struct verdict_judge *judge, struct trial *trial, struct verdict *verdict)
{
    trial->schema = find_schema(judge, trial->item);
    return trial->schema ? try_case(judge, trial, verdict)
                         : set_reason(judge, verdict, VERDICT_SKIPPED,
                                      "no plugin that was opened knows its op");
}

static tapml_status
name_case(struct arena *arena, const struct carved_case *item, struct verdict *verdict)
{
    verdict->instance = arena_text(arena, item->instance);
    verdict->op_name = arena_text(arena, item->op_name);
    verdict->phase = arena_text(arena, item->phase);
    verdict->shape_class = arena_text(arena, item->shape_class);
    return verdict->instance && verdict->op_name && verdict->phase && verdict->shape_class
               ? TAPML_OK
               : status_no_memory();
}

// A verdict that the store has needs the names of its case alone.
static tapml_status name_known(const struct verdict_judge *judge, struct verdict *verdict)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(judge->options->store,
                        "SELECT instance, op, phase, shape_class FROM \"case\" WHERE id = ?",
                        "reading a case", &row));
    row_put_i64(&row, verdict->case_id);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "there is no case %lld", (long long)verdict->case_id);
    }
    const struct carved_case names = {.instance = row_text(&row, 0),
                                      .op_name = row_text(&row, 1),
                                      .phase = row_text(&row, 2),
                                      .shape_class = row_text(&row, 3)};
    const tapml_status status = name_case(judge->list->arena, &names, verdict);
    row_end(&row);
    return status;
}

// Loads and replays a case. Where that ends the run of all cases, it has no verdict.
static tapml_status judge_case(struct verdict_judge *judge, struct verdict *verdict)
{
    struct arena *arena = arena_create();
    struct carved_case item;
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = store_load_case(judge->options->store, verdict->case_id, arena, &item);
    if (status == TAPML_OK) {
        status = name_case(judge->list->arena, &item, verdict);
    }
    if (status == TAPML_OK) {
        struct trial trial = {.item = &item, .is_timed = 1};
        status = replay_case(judge, &trial, verdict);
        judge->list->count += status == TAPML_OK;
    }
    arena_destroy(arena);
    return status;
}

// Op executions since `before`, as those of the case at hand.
static void
count_executions(struct verdict_judge *judge, const struct verdict *verdict, uint64_t before)
{
    struct verdict_list *list = judge->list;
    const uint64_t spent = replay_executions(judge->replay) - before;
    list->executions += spent;
    judge->has_failed |= verdict_count_failed(verdict, 1) > 0;
    list->executions_since_failure += judge->has_failed ? spent : 0;
}

static tapml_status take_case(struct verdict_judge *judge, int64_t id)
{
    struct verdict *verdict = &judge->list->items[judge->list->count];
    int has = 0;
    *verdict = (struct verdict){
        .case_id = id, .source = "carved", .label = "", .margin = NAN, .output = "", .reason = ""};
    if (!judge->options->fresh) {
        TAPML_TRY(find_result(judge, verdict, &has));
    }
    if (!has) {
        const uint64_t before = replay_executions(judge->replay);
        TAPML_TRY(judge_case(judge, verdict));
        count_executions(judge, verdict, before);
        return judge->list->count - judge->written >= BATCH ? write_results(judge) : TAPML_OK;
    }
    TAPML_TRY(name_known(judge, verdict));
    TAPML_TRY(write_results(judge)); // So that what follows `written` is what the store lacks.
    judge->list->count++;
    judge->written = judge->list->count;
    return TAPML_OK;
}

static tapml_status judge_ids(struct verdict_judge *judge, const int64_t *ids, size_t count)
{
    const struct verdict_options *options = judge->options;
    tapml_status status = TAPML_OK;
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = take_case(judge, ids[i]);
        if (status == TAPML_OK && options->progress) {
            status = options->progress(options->user, i + 1, count);
        }
    }
    if (status == TAPML_OK) {
        return write_results(judge);
    }
    // What is known is kept; the failure that ended it is the one to tell of.
    char message[REASON_TEXT];
    (void)snprintf(message, sizeof(message), "%s", status_message());
    (void)write_results(judge);
    return status_fail(status, "%s", message);
}

static tapml_status judge_all(struct verdict_judge *judge)
{
    const struct verdict_options *options = judge->options;
    int64_t *all = NULL;
    size_t count = 0;
    TAPML_TRY(store_case_ids(options->store, &all, &count));
    const int64_t *ids = options->case_id != 0 ? &options->case_id : all;
    count = options->case_id != 0 ? 1 : count;
    judge->list->items = arena_array(judge->list->arena, count, sizeof(*judge->list->items));
    const tapml_status status =
        judge->list->items ? judge_ids(judge, ids, count) : status_no_memory();
    alloc_free(all);
    return status;
}

static const struct derive_recipe *copy_recipe(struct arena *arena,
                                               const struct derive_recipe *recipe)
{
    struct derive_recipe *copy = arena_new(arena, sizeof(*copy));
    if (copy) {
        *copy = *recipe;
    }
    return copy;
}

// The verdict of a derived case, added to the list with the names of the kept one.
static tapml_status add_derived(struct verdict_judge *judge,
                                const struct carved_case *item,
                                const struct derive_recipe *recipe,
                                struct verdict **out_verdict)
{
    struct verdict_list *list = judge->list;
    void *grown = list->derived;
    if (!alloc_grow(&grown, &list->derived_capacity, list->derived_count, sizeof(*list->derived))) {
        return status_no_memory();
    }
    list->derived = grown;
    struct verdict verdict = {.case_id = item->id,
                              .source = derive_source_name(recipe->source),
                              .label = arena_text(list->arena, recipe->label),
                              .recipe = copy_recipe(list->arena, recipe),
                              .margin = NAN,
                              .output = "",
                              .reason = ""};
    TAPML_TRY(name_case(list->arena, item, &verdict));
    list->derived[list->derived_count] = verdict;
    *out_verdict = &list->derived[list->derived_count++];
    return verdict.label && verdict.recipe ? TAPML_OK : status_no_memory();
}

// Whether a derived case has a shape that another one of its source had.
static tapml_status
find_double(struct verdict_judge *judge, const struct carved_case *made, int *out_is_double)
{
    struct text key;
    size_t ignored = 0;
    text_init(&key);
    derive_print_shape(made, &key);
    tapml_status status = text_status(&key);
    if (status == TAPML_OK) {
        *out_is_double = table_find(&judge->shapes, key.data, &ignored);
        status = table_set(&judge->shapes, key.data, 0);
    }
    text_release(&key);
    return status;
}

// A derived case on its way to a verdict.
struct derivation {
    const struct carved_case *item; // The kept one that it surrounds.
    struct derive_recipe recipe;
    struct arena *arena;
    struct carved_case made;
    struct trial trial;
    int is_double;       // Another one had its shape.
    const char *refusal; // Why it judges nobody, or NULL.
};

// Makes the case of the recipe, with what is expected of it.
static tapml_status expect_derived(struct verdict_judge *judge, struct derivation *derivation)
{
    struct trial *trial = &derivation->trial;
    const struct compiled_op *schema = find_schema(judge, derivation->item);
    const tapml_status status = derive_make(derivation->item, schema, &derivation->recipe,
                                            derivation->arena, &derivation->made);
    derivation->refusal = NULL;
    if (status == TAPML_INVALID) {
        derivation->refusal = arena_text(derivation->arena, status_message());
        return derivation->refusal ? TAPML_OK : status_no_memory();
    }
    TAPML_TRY(status);
    if (derivation->recipe.source == DERIVE_SHAPE) {
        TAPML_TRY(find_double(judge, &derivation->made, &derivation->is_double));
    }
    *trial = (struct trial){.item = &derivation->made, .schema = schema, .is_derived = 1};
    return derivation->is_double
               ? TAPML_OK
               : calibrator_expect(judge->calibrator, &derivation->made, schema, derivation->arena,
                                   trial->limits, &derivation->refusal);
}

// A shape that cannot be alone is tried with what may be tied to it. Where none can be, the refusal
// is the first one.
static tapml_status expect_coupled(struct verdict_judge *judge, struct derivation *derivation)
{
    const struct derive_recipe alone = derivation->recipe;
    const char *refusal = derivation->refusal;
    int has = alone.source == DERIVE_SHAPE;
    for (uint32_t i = 0; has && derivation->refusal; i++) {
        TAPML_TRY(derive_couple(derivation->item, find_schema(judge, derivation->item), &alone, i,
                                &derivation->recipe, &has));
        if (has) {
            TAPML_TRY(expect_derived(judge, derivation));
        }
    }
    if (derivation->refusal) {
        derivation->recipe = alone;
        derivation->refusal = refusal;
    }
    return TAPML_OK;
}

static tapml_status judge_derivation(struct verdict_judge *judge, struct derivation *derivation)
{
    struct verdict *verdict = NULL;
    TAPML_TRY(expect_derived(judge, derivation));
    if (derivation->refusal) {
        TAPML_TRY(expect_coupled(judge, derivation));
    }
    if (derivation->is_double) {
        return TAPML_OK;
    }
    TAPML_TRY(add_derived(judge, derivation->item, &derivation->recipe, &verdict));
    return derivation->refusal ? set_reason(judge, verdict, VERDICT_SKIPPED, derivation->refusal)
                               : try_case(judge, &derivation->trial, verdict);
}

// Makes and judges the case of a recipe.
static tapml_status derive_one(struct verdict_judge *judge,
                               const struct carved_case *item,
                               const struct derive_recipe *recipe)
{
    struct derivation derivation = {.item = item, .recipe = *recipe, .arena = arena_create()};
    if (!derivation.arena) {
        return status_no_memory();
    }
    const tapml_status status = judge_derivation(judge, &derivation);
    arena_destroy(derivation.arena);
    return status;
}

// Counts a kept case that has no neighbours, with the reason at hand.
static tapml_status skip_derived(struct verdict_judge *judge, const struct carved_case *item)
{
    struct verdict *verdict = NULL;
    char message[REASON_TEXT];
    (void)snprintf(message, sizeof(message), "%s", status_message());
    TAPML_TRY(add_derived(judge, item, &(struct derive_recipe){.label = "none"}, &verdict));
    return set_reason(judge, verdict, VERDICT_SKIPPED, message);
}

static tapml_status derive_around(struct verdict_judge *judge, int64_t id)
{
    struct arena *arena = arena_create();
    struct derive_recipe recipes[DERIVE_RECIPES_MAX];
    struct carved_case item;
    uint32_t count = 0;
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = store_load_case(judge->options->store, id, arena, &item);
    const struct compiled_op *schema = status == TAPML_OK ? find_schema(judge, &item) : NULL;
    if (schema) {
        status = derive_list(&item, schema, recipes, &count);
        if (status == TAPML_INVALID) {
            status = skip_derived(judge, &item);
        }
    }
    for (uint32_t i = 0; status == TAPML_OK && i < count; i++) {
        status = derive_one(judge, &item, &recipes[i]);
    }
    arena_destroy(arena);
    return status;
}

// The first kept case of each op, phase and choice of dtypes, optional arguments and attributes: an
// attribute that is 0 switches something off.
static tapml_status
find_representatives(struct store *store, struct arena *arena, int64_t **out_ids, size_t *out_count)
{
    struct row row;
    int has = 1;
    size_t count = 0;
    TAPML_TRY(row_begin(store, "SELECT count(*) FROM \"case\"", "counting cases", &row));
    TAPML_TRY(row_next(&row, &has));
    int64_t *ids = arena_array(arena, (size_t)row_i64(&row, 0) + 1, sizeof(*ids));
    row_end(&row);
    if (!ids) {
        return status_no_memory();
    }
    TAPML_TRY(row_begin(store,
                        "SELECT id, min(coalesce(position, 0) * 4294967296 + id)"
                        " FROM \"case\" LEFT JOIN prompt ON hash = prompt"
                        " GROUP BY op, version, phase,"
                        " (SELECT group_concat(kind || coalesce(dtype, i <> 0, d <> 0, ''))"
                        "   FROM argument WHERE case_id = \"case\".id) ORDER BY op, 2",
                        "choosing cases to derive others from", &row));
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        ids[count++] = row_i64(&row, 0);
        TAPML_TRY(row_next(&row, &has));
    }
    *out_ids = ids;
    *out_count = count;
    return TAPML_OK;
}

static tapml_status judge_derived(struct verdict_judge *judge)
{
    const struct verdict_options *options = judge->options;
    char seed[32];
    int64_t *ids = NULL;
    size_t count = 0;
    (void)snprintf(seed, sizeof(seed), "%d", DERIVE_SEED);
    TAPML_TRY(store_set_fact(options->store, "derive.seed", seed));
    TAPML_TRY(find_representatives(options->store, judge->list->arena, &ids, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(derive_around(judge, ids[i]));
        if (options->derived_progress) {
            TAPML_TRY(options->derived_progress(options->user, i + 1, count));
        }
    }
    return TAPML_OK;
}

static tapml_status begin(struct verdict_judge *judge)
{
    const struct verdict_options *options = judge->options;
    table_init(&judge->shapes);
    judge->list->arena = arena_create();
    if (!judge->list->arena) {
        return status_no_memory();
    }
    TAPML_TRY(describe_maker(judge));
    TAPML_TRY(replay_create(options->backend, options->checkpoint, &judge->replay));
    TAPML_TRY(calibrator_create(options->registry, options->checkpoint, options->backend,
                                &judge->calibrator));
    if (activation_is_reduced(options->activation)) {
        calibrator_set_activation(judge->calibrator, options->activation);
    }
    return TAPML_OK;
}

static void end(struct verdict_judge *judge)
{
    table_release(&judge->shapes);
    replay_destroy(judge->replay);
    calibrator_destroy(judge->calibrator);
}

tapml_status verdict_all(const struct verdict_options *options, struct verdict_list *out_list)
{
    struct verdict_list list = {0};
    struct verdict_judge judge = {.options = options, .list = &list};
    tapml_status status = begin(&judge);
    if (status == TAPML_OK) {
        status = judge_all(&judge);
    }
    const uint64_t kept = judge.replay ? replay_executions(judge.replay) : 0;
    if (status == TAPML_OK && options->derived && options->case_id == 0) {
        status = judge_derived(&judge);
    }
    if (status != TAPML_OK) {
        end(&judge);
        verdict_list_release(&list);
        return status;
    }
    list.executions_derived = replay_executions(judge.replay) - kept;
    list.executions_calibrating = calibrator_executions(judge.calibrator);
    end(&judge);
    *out_list = list;
    return TAPML_OK;
}

static tapml_status
read_result(struct row *row, struct arena *arena, struct store *store, struct verdict *out_verdict)
{
    const struct carved_case names = {.instance = row_text(row, 7),
                                      .op_name = row_text(row, 8),
                                      .phase = row_text(row, 9),
                                      .shape_class = row_text(row, 10)};
    *out_verdict = (struct verdict){.case_id = row_i64(row, 11), .source = "carved", .label = ""};
    TAPML_TRY(read_verdict(row, arena, out_verdict));
    TAPML_TRY(name_case(arena, &names, out_verdict));
    return out_verdict->kind == VERDICT_FAIL
               ? element_read(store, row_text(row, 12), out_verdict->case_id, arena,
                              &out_verdict->elements)
               : TAPML_OK;
}

static tapml_status read_results(struct store *store, const char *target, struct verdict_list *list)
{
    struct row row;
    int has = 0;
    size_t capacity = 0;
    TAPML_TRY(
        row_begin(store, "SELECT count(*) FROM result WHERE target = ?", "reading results", &row));
    row_put_text(&row, target);
    TAPML_TRY(row_next(&row, &has));
    capacity = (size_t)row_i64(&row, 0);
    row_end(&row);
    list->items = arena_array(list->arena, capacity + 1, sizeof(*list->items));
    if (!list->items) {
        return status_no_memory();
    }
    TAPML_TRY(row_begin(store,
                        "SELECT verdict, margin, output, reason, result.time_ns, beyond, elements,"
                        " instance, op, phase, shape_class, case_id, target"
                        " FROM result JOIN \"case\" ON case_id = id WHERE target = ?"
                        " ORDER BY case_id",
                        "reading results", &row));
    row_put_text(&row, target);
    TAPML_TRY(row_next(&row, &has));
    while (has && list->count < capacity) {
        const tapml_status status =
            read_result(&row, list->arena, store, &list->items[list->count++]);
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}

tapml_status verdict_read(struct store *store, const char *target, struct verdict_list *out_list)
{
    struct verdict_list list = {.arena = arena_create()};
    const tapml_status status =
        list.arena ? read_results(store, target, &list) : status_no_memory();
    if (status != TAPML_OK) {
        verdict_list_release(&list);
        return status;
    }
    *out_list = list;
    return TAPML_OK;
}

tapml_status verdict_count(struct store *store, const char *target, size_t *out_count)
{
    int64_t count = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM result WHERE target = ?", target, &count));
    *out_count = (size_t)count;
    return TAPML_OK;
}

void verdict_list_release(struct verdict_list *list)
{
    if (list) {
        alloc_free(list->derived);
        arena_destroy(list->arena);
        *list = (struct verdict_list){0};
    }
}

// -- Case by case ------------------------------------------------------------------------------

tapml_status verdict_judge_create(const struct verdict_options *options,
                                  struct verdict_judge **out_judge)
{
    struct verdict_judge *judge = alloc_new(sizeof(*judge));
    struct verdict_list *list = judge ? alloc_new(sizeof(*list)) : NULL;
    if (!list) {
        alloc_free(judge);
        return status_no_memory();
    }
    judge->options = options;
    judge->list = list;
    const tapml_status status = begin(judge);
    if (status != TAPML_OK) {
        verdict_judge_destroy(judge);
        return status;
    }
    *out_judge = judge;
    return TAPML_OK;
}

void verdict_judge_destroy(struct verdict_judge *judge)
{
    if (judge) {
        end(judge);
        verdict_list_release(judge->list);
        arena_destroy(judge->texts);
        alloc_free(judge->list);
        alloc_free(judge);
    }
}

// Judges a trial, whose texts take the place of those of the last one.
static tapml_status
judge_one(struct verdict_judge *judge, struct trial *trial, struct verdict *out_verdict)
{
    struct verdict verdict = {
        .source = "carved", .label = "", .margin = NAN, .output = "", .reason = ""};
    struct arena *texts = arena_create();
    if (!texts) {
        return status_no_memory();
    }
    arena_destroy(judge->texts);
    judge->texts = texts;
    struct arena *kept = judge->list->arena;
    judge->list->arena = texts;
    tapml_status status = name_case(texts, trial->item, &verdict);
    if (status == TAPML_OK) {
        status = replay_case(judge, trial, &verdict);
    }
    judge->list->arena = kept;
    *out_verdict = verdict;
    return status;
}

tapml_status verdict_judge_case(struct verdict_judge *judge,
                                const struct carved_case *item,
                                struct verdict *out_verdict)
{
    struct trial trial = {.item = item};
    return judge_one(judge, &trial, out_verdict);
}

tapml_status verdict_judge_computed(struct verdict_judge *judge,
                                    struct carved_case *item,
                                    struct verdict *out_verdict)
{
    struct trial trial = {.item = item, .is_computed = 1};
    uint32_t output = 0;
    TAPML_TRY(judge_one(judge, &trial, out_verdict));
    for (uint32_t i = 0; out_verdict->kind == VERDICT_FAIL && i < item->argument_count; i++) {
        if (case_is_output(&item->arguments[i])) {
            const void *right = trial.result.outputs[output++].expected;
            ASSERT(right); // It was compared.

            // The caller's to give: it may change the case.
            memcpy((void *)(uintptr_t)item->arguments[i].after, right,
                   item->arguments[i].content_bytes);
        }
    }
    return TAPML_OK;
}

uint64_t verdict_judge_executions(const struct verdict_judge *judge)
{
    return replay_executions(judge->replay);
}

uint64_t verdict_judge_calibrations(const struct verdict_judge *judge)
{
    return calibrator_executions(judge->calibrator);
}

static tapml_status
find_case(struct store *store, const struct carved_case *item, int64_t *out_id, int *out_has)
{
    static const char sql[] =
        "SELECT id FROM \"case\" WHERE instance = ? AND prompt = ? AND step = ? AND part = ?";
    struct row row;
    char prompt[HASH_TEXT];
    hash_text(item->prompt, prompt);
    TAPML_TRY(row_begin(store, sql, "looking up a case", &row));
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

static tapml_status keep_case(struct verdict_judge *judge,
                              const struct carved_case *item,
                              const struct verdict *verdict,
                              int64_t *out_id)
{
    struct store *store = judge->options->store;
    struct verdict kept = *verdict;
    int has = 0;
    TAPML_TRY(find_case(store, item, &kept.case_id, &has));
    if (!has) {
        TAPML_TRY(store_add_case(store, item));
        TAPML_TRY(find_case(store, item, &kept.case_id, &has));
    }
    *out_id = kept.case_id;
    return write_result(judge, &kept);
}

tapml_status verdict_judge_keep(struct verdict_judge *judge,
                                const struct carved_case *item,
                                const struct verdict *verdict,
                                int64_t *out_case_id)
{
    struct store *store = judge->options->store;
    TAPML_TRY(store_begin(store));
    tapml_status status = keep_case(judge, item, verdict, out_case_id);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

tapml_status verdict_forget(struct store *store, const char *target)
{
    return row_forget(store, "DELETE FROM result WHERE target = ?", target);
}
