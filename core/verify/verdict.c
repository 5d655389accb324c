// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/verdict.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/table.h"
#include "base/text.h"
#include "store/label.h"
#include "store/metadata.h"
#include "store/representative.h"
#include "store/result.h"
#include "store/store.h"
#include "store/stored_case.h"
#include "verify/element_search.h"
#include "verify/makers.h"
#include "verify/recast.h"

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

// All cases of a store on their way to a verdict.
struct verdict_judge {
    const struct verdict_options *options;
    struct replay *replay;
    struct calibrator *calibrator;
    struct verdict_list *list;
    struct makers *makers;
    size_t written;      // Of the list: what the store has by now.
    size_t group_cases;  // That cases are derived from.
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

// A verdict from its row, whose texts live as long as the verdict.
static tapml_status take_result(struct store *store,
                                const char *target,
                                const struct result_row *item,
                                struct arena *arena,
                                struct verdict *out_verdict)
{
    const tapml_status status = verdict_find_kind(item->verdict, &out_verdict->kind);
    if (status != TAPML_OK) {
        return status_explain(status, "in the result of case %lld", (long long)item->case_id);
    }
    out_verdict->margin = item->margin;
    out_verdict->output = item->output;
    out_verdict->reason = item->reason;
    out_verdict->time_ns = item->time_ns;
    out_verdict->elements.beyond = item->beyond;
    out_verdict->elements.total = item->total;
    return out_verdict->kind == VERDICT_FAIL
               ? element_read(store, target, item->case_id, arena, &out_verdict->elements)
               : TAPML_OK;
}

// The result that the store has of this very backend, of a verdict that has its names.
static tapml_status
find_result(struct verdict_judge *judge, struct verdict *out_verdict, int *out_has)
{
    const struct verdict_options *options = judge->options;
    const struct result_maker *maker = NULL;
    struct result_row item;
    TAPML_TRY(makers_find(judge->makers, out_verdict->op_name, out_verdict->op_version, &maker));
    const tapml_status status = result_find(options->store, options->target, out_verdict->case_id,
                                            maker, judge->list->arena, &item);
    *out_has = status == TAPML_OK;
    if (!*out_has) {
        return status == TAPML_NOT_FOUND ? TAPML_OK : status;
    }
    return take_result(options->store, options->target, &item, judge->list->arena, out_verdict);
}

static tapml_status write_result(struct verdict_judge *judge, const struct verdict *verdict)
{
    const struct result_row item = {.case_id = verdict->case_id,
                                    .verdict = verdict_name(verdict->kind),
                                    .margin = verdict->margin,
                                    .output = verdict->output,
                                    .reason = verdict->reason,
                                    .time_ns = verdict->time_ns,
                                    .beyond = verdict->elements.beyond,
                                    .total = verdict->elements.total};
    const struct result_maker *maker = NULL;
    TAPML_TRY(makers_find(judge->makers, verdict->op_name, verdict->op_version, &maker));
    TAPML_TRY(result_write(judge->options->store, judge->options->target, &item, maker));
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
    TAPML_TRY(element_search_run(output, find_argument(trial->item, output->param),
                                 &trial->limits[trial->worst], judge->list->arena,
                                 &verdict->elements));
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
    verdict->op_version = item->op_version;
    verdict->phase = arena_text(arena, item->phase);
    verdict->shape_class = arena_text(arena, item->shape_class);
    return verdict->instance && verdict->op_name && verdict->phase && verdict->shape_class
               ? TAPML_OK
               : status_no_memory();
}

// A verdict that the store has needs the names of its case alone.
static tapml_status name_known(const struct verdict_judge *judge, struct verdict *verdict)
{
    struct carved_case names;
    TAPML_TRY(label_read(judge->options->store, verdict->case_id, judge->list->arena, &names));
    return name_case(judge->list->arena, &names, verdict);
}

// Loads and replays a case. Where that ends the run of all cases, it has no verdict.
static tapml_status judge_case(struct verdict_judge *judge, struct verdict *verdict)
{
    struct arena *arena = arena_create();
    struct carved_case item;
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = stored_case_load(judge->options->store, verdict->case_id, arena, &item);
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
        TAPML_TRY(name_known(judge, verdict));
        TAPML_TRY(find_result(judge, verdict, &has));
    }
    if (!has) {
        judge->list->replayed++;
        const uint64_t before = replay_executions(judge->replay);
        TAPML_TRY(judge_case(judge, verdict));
        count_executions(judge, verdict, before);
        return judge->list->count - judge->written >= BATCH ? write_results(judge) : TAPML_OK;
    }
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

static tapml_status forget_stale_of(struct verdict_judge *judge,
                                    const struct representative_group *group)
{
    const struct verdict_options *options = judge->options;
    const struct result_maker *maker = NULL;
    size_t count = 0;
    TAPML_TRY(makers_find(judge->makers, group->op, group->version, &maker));
    TAPML_TRY(result_forget_stale(options->store, options->target, group->op, group->version, maker,
                                  &count));
    if (count > 0) {
        log_line(LOG_INFO, "%zu results of '%s' on '%s' are stale, since its code has changed",
                 count, group->op, options->target);
    }
    return TAPML_OK;
}

static tapml_status forget_stale_of_all(struct verdict_judge *judge)
{
    struct representative_group *groups = NULL;
    size_t count = 0;
    TAPML_TRY(representative_list(judge->options->store, judge->list->arena, &groups, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(forget_stale_of(judge, &groups[i]));
    }
    return TAPML_OK;
}

// What is stale is not there for anybody who reads the store from now on.
static tapml_status forget_stale(struct verdict_judge *judge)
{
    struct store *store = judge->options->store;
    TAPML_TRY(store_begin(store));
    tapml_status status = forget_stale_of_all(judge);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static tapml_status judge_all(struct verdict_judge *judge)
{
    const struct verdict_options *options = judge->options;
    if (options->case_id == 0 && !options->fresh) {
        TAPML_TRY(forget_stale(judge));
    }
    int64_t *all = NULL;
    size_t count = 0;
    TAPML_TRY(stored_case_ids(options->store, &all, &count));
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
    tapml_status status = stored_case_load(judge->options->store, id, arena, &item);
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

// All that the verdicts on what is derived for an op depend on, as a digest.
static tapml_status find_basis(struct verdict_judge *judge,
                               const struct representative_group *group,
                               const char **out_basis)
{
    const struct result_maker *maker = NULL;
    struct text text;
    char digest[HASH_TEXT];
    TAPML_TRY(makers_find(judge->makers, group->op, group->version, &maker));
    text_init(&text);
    text_format(&text, "%s %d|%s|%s|%s|%s|%s|%s", TAPML_VERSION, DERIVE_SEED, maker->implementation,
                maker->device, maker->driver, maker->options, maker->oracle, group->keys);
    const tapml_status status = text_status(&text);
    if (status == TAPML_OK) {
        hash_text(hash_bytes(text.data, text.length), digest);
        *out_basis = arena_text(judge->list->arena, digest);
    }
    text_release(&text);
    return status == TAPML_OK && !*out_basis ? status_no_memory() : status;
}

static int is_of_group(const struct representative_group *group, int64_t case_id)
{
    for (size_t i = 0; i < group->count; i++) {
        if (group->ids[i] == case_id) {
            return 1;
        }
    }
    return 0;
}

// The recipe of a verdict that was read, by which its case can be made again.
static tapml_status restore_recipe(struct verdict_judge *judge, struct verdict *verdict)
{
    struct arena *arena = arena_create();
    struct derive_recipe recipe;
    struct carved_case item;
    int has = 0;
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = stored_case_load(judge->options->store, verdict->case_id, arena, &item);
    const struct compiled_op *schema = status == TAPML_OK ? find_schema(judge, &item) : NULL;
    if (schema) {
        status = derive_find(&item, schema, verdict->source, verdict->label, &recipe, &has);
    }
    if (has) {
        verdict->recipe = copy_recipe(judge->list->arena, &recipe);
        status = verdict->recipe ? TAPML_OK : status_no_memory();
    }
    arena_destroy(arena);
    return status;
}

static tapml_status add_known(struct verdict_judge *judge, const struct verdict *known)
{
    struct verdict_list *list = judge->list;
    void *grown = list->derived;
    if (!alloc_grow(&grown, &list->derived_capacity, list->derived_count, sizeof(*list->derived))) {
        return status_no_memory();
    }
    list->derived = grown;
    struct verdict *verdict = &list->derived[list->derived_count++];
    *verdict = *known;
    return verdict_count_failed(verdict, 1) > 0 ? restore_recipe(judge, verdict) : TAPML_OK;
}

// Takes the verdicts that are known of a group and have its basis. Rows of all groups are written
// together, so that one of a group says that all of it are there.
static tapml_status
take_known(struct verdict_judge *judge, const struct representative_group *group, const char *basis)
{
    const struct verdict_list *known = judge->options->known;
    for (size_t i = 0; known && i < known->derived_count; i++) {
        const struct verdict *verdict = &known->derived[i];
        if (is_of_group(group, verdict->case_id) && strcmp(verdict->basis, basis) == 0) {
            TAPML_TRY(add_known(judge, verdict));
        }
    }
    return TAPML_OK;
}

static tapml_status
judge_group(struct verdict_judge *judge, const struct representative_group *group, size_t *io_done)
{
    const struct verdict_options *options = judge->options;
    struct verdict_list *list = judge->list;
    const size_t first = list->derived_count;
    const char *basis = NULL;
    TAPML_TRY(find_basis(judge, group, &basis));
    TAPML_TRY(take_known(judge, group, basis));
    const int has = list->derived_count > first;
    for (size_t i = 0; i < group->count; i++) {
        if (!has) {
            TAPML_TRY(derive_around(judge, group->ids[i]));
        }
        if (options->derived_progress) {
            TAPML_TRY(options->derived_progress(options->user, ++*io_done, judge->group_cases));
        }
    }
    for (size_t i = first; i < list->derived_count; i++) {
        list->derived[i].basis = basis;
        list->derived_replayed += !has;
    }
    return TAPML_OK;
}

static tapml_status judge_derived(struct verdict_judge *judge)
{
    struct representative_group *groups = NULL;
    char seed[32];
    size_t count = 0;
    size_t done = 0;
    (void)snprintf(seed, sizeof(seed), "%d", DERIVE_SEED);
    TAPML_TRY(metadata_set(judge->options->store, "derive.seed", seed));
    TAPML_TRY(representative_list(judge->options->store, judge->list->arena, &groups, &count));
    for (size_t i = 0; i < count; i++) {
        judge->group_cases += groups[i].count;
    }
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(judge_group(judge, &groups[i], &done));
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
    TAPML_TRY(replay_create(options->backend, options->checkpoint, &judge->replay));
    TAPML_TRY(calibrator_create(options->registry, options->checkpoint, options->backend,
                                &judge->calibrator));
    if (activation_is_reduced(options->activation)) {
        calibrator_set_activation(judge->calibrator, options->activation);
    }
    return makers_create(options->registry, options->backend, judge->calibrator, &judge->makers);
}

static void end(struct verdict_judge *judge)
{
    table_release(&judge->shapes);
    replay_destroy(judge->replay);
    calibrator_destroy(judge->calibrator);
    makers_destroy(judge->makers);
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

static tapml_status read_results(struct store *store, const char *target, struct verdict_list *list)
{
    struct result_row *rows = NULL;
    size_t count = 0;
    TAPML_TRY(result_list(store, target, list->arena, &rows, &count));
    list->items = arena_array(list->arena, count + 1, sizeof(*list->items));
    if (!list->items) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        struct verdict *verdict = &list->items[list->count++];
        *verdict = (struct verdict){.case_id = rows[i].case_id,
                                    .source = "carved",
                                    .label = "",
                                    .instance = rows[i].instance,
                                    .op_name = rows[i].op,
                                    .phase = rows[i].phase,
                                    .shape_class = rows[i].shape_class};
        TAPML_TRY(take_result(store, target, &rows[i], list->arena, verdict));
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

static tapml_status keep_case(struct verdict_judge *judge,
                              const struct carved_case *item,
                              const struct verdict *verdict,
                              int64_t *out_id)
{
    struct store *store = judge->options->store;
    struct verdict kept = *verdict;
    int has = 0;
    TAPML_TRY(label_find(store, item, &kept.case_id, &has));
    if (!has) {
        TAPML_TRY(stored_case_add(store, item));
        TAPML_TRY(label_find(store, item, &kept.case_id, &has));
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
