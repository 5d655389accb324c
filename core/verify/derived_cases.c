// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/derived_cases.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "base/timeline.h"
#include "store/case.h"
#include "store/metadata.h"
#include "store/representative.h"
#include "store/stored_case.h"
#include "verify/basis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_TEXT = 512, HANGS_MAX = 2 };

// The derived cases of a store on their way to a verdict.
struct derived_cases {
    const struct verdict_options *options;
    struct examiner *examiner;
    struct divider *divider;
    struct verdict_list *list;
    size_t group_cases;  // That cases are derived from.
    struct table shapes; // Each judged once.
};

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
static tapml_status add_derived(struct derived_cases *cases,
                                const struct carved_case *item,
                                const struct derive_recipe *recipe,
                                struct verdict **out_verdict)
{
    struct verdict_list *list = cases->list;
    void *grown = list->derived;
    if (!alloc_grow(&grown, &list->derived_capacity, list->derived_count, sizeof(*list->derived))) {
        return status_no_memory();
    }
    list->derived = grown;
    struct verdict verdict = {.case_id = item->id,
                              .source = derive_source_name(recipe->source),
                              .label = arena_text(list->arena, recipe->label),
                              .recipe = copy_recipe(list->arena, recipe),
                              .observed = "",
                              .oracle = "",
                              .margin = NAN,
                              .output = "",
                              .reason = ""};
    TAPML_TRY(examiner_name(list->arena, item, &verdict));
    list->derived[list->derived_count] = verdict;
    *out_verdict = &list->derived[list->derived_count++];
    return verdict.label && verdict.recipe ? TAPML_OK : status_no_memory();
}

// Whether a derived case has a shape that another one of its source had.
static tapml_status
find_double(struct derived_cases *cases, const struct carved_case *made, int *out_is_double)
{
    struct text key;
    size_t ignored = 0;
    text_init(&key);
    derive_print_shape(made, &key);
    tapml_status status = text_status(&key);
    if (status == TAPML_OK) {
        *out_is_double = table_find(&cases->shapes, key.data, &ignored);
        status = table_set(&cases->shapes, key.data, 0);
    }
    text_release(&key);
    return status;
}

static tapml_status
skip(const struct derived_cases *cases, struct verdict *verdict, const char *reason)
{
    verdict->kind = VERDICT_SKIPPED;
    verdict->reason = arena_text(cases->list->arena, reason);
    return verdict->reason ? TAPML_OK : status_no_memory();
}

// A derived case on its way to a verdict.
struct derivation {
    const struct carved_case *item; // The kept one that it surrounds.
    struct derive_recipe recipe;
    struct arena *arena; // Of what is made. Each attempt has its own.
    struct carved_case made;
    struct examination examination;
    int is_double;       // Another one had its shape.
    const char *refusal; // Why it judges no target, or NULL.
};

// Makes the case of the recipe, with what is expected of it.
static tapml_status expect_made(struct derived_cases *cases, struct derivation *derivation)
{
    struct examination *examination = &derivation->examination;
    const struct compiled_op *schema = examiner_schema(cases->examiner, derivation->item);
    arena_destroy(derivation->arena);
    derivation->arena = arena_create();
    if (!derivation->arena) {
        return status_no_memory();
    }
    const tapml_status status = derive_make(derivation->item, schema, &derivation->recipe,
                                            derivation->arena, &derivation->made);
    derivation->refusal = NULL;
    if (status == TAPML_INVALID) {
        derivation->refusal = arena_text(derivation->arena, status_message());
        return derivation->refusal ? TAPML_OK : status_no_memory();
    }
    TAPML_TRY(status);
    if (derivation->recipe.source == DERIVE_SHAPE) {
        TAPML_TRY(find_double(cases, &derivation->made, &derivation->is_double));
    }
    *examination =
        (struct examination){.item = &derivation->made, .schema = schema, .is_derived = 1};
    return derivation->is_double ? TAPML_OK
                                 : examiner_expect(cases->examiner, &derivation->made, examination,
                                                   derivation->arena, &derivation->refusal);
}

// The same. A refusal outlives what was made.
static tapml_status expect_derived(struct derived_cases *cases, struct derivation *derivation)
{
    TAPML_TRY(expect_made(cases, derivation));
    if (derivation->refusal) {
        derivation->refusal = arena_text(cases->list->arena, derivation->refusal);
        return derivation->refusal ? TAPML_OK : status_no_memory();
    }
    return TAPML_OK;
}

// A shape that cannot be alone is tried with what may be tied to it. Where none can be, the refusal
// is the first one.
static tapml_status expect_coupled(struct derived_cases *cases, struct derivation *derivation)
{
    const struct derive_recipe alone = derivation->recipe;
    const char *refusal = derivation->refusal;
    int has = alone.source == DERIVE_SHAPE;
    for (uint32_t i = 0; has && derivation->refusal; i++) {
        TAPML_TRY(derive_couple(derivation->item,
                                examiner_schema(cases->examiner, derivation->item), &alone, i,
                                &derivation->recipe, &has));
        if (has) {
            TAPML_TRY(expect_derived(cases, derivation));
        }
    }
    if (derivation->refusal) {
        derivation->recipe = alone;
        derivation->refusal = refusal;
    }
    return TAPML_OK;
}

// A hang costs its deadline, so that an op which has hung is not tried with all its neighbours.
static tapml_status skip_hanging(struct derived_cases *cases, const struct derivation *derivation)
{
    struct verdict *verdict = NULL;
    TAPML_TRY(add_derived(cases, derivation->item, &derivation->recipe, &verdict));
    return skip(cases, verdict, "not called: two cases of its op have hung");
}

static tapml_status judge_derivation(struct derived_cases *cases, struct derivation *derivation)
{
    struct verdict *verdict = NULL;
    if (examiner_hangs(cases->examiner, derivation->item->op_name) >= HANGS_MAX) {
        return skip_hanging(cases, derivation);
    }
    TAPML_TRY(expect_derived(cases, derivation));
    if (derivation->refusal) {
        TAPML_TRY(expect_coupled(cases, derivation));
    }
    if (derivation->is_double) {
        return TAPML_OK;
    }
    TAPML_TRY(add_derived(cases, derivation->item, &derivation->recipe, &verdict));
    return derivation->refusal ? skip(cases, verdict, derivation->refusal)
                               : divider_try(cases->divider, cases->examiner,
                                             &derivation->examination, cases->list->arena, verdict);
}

// Makes and judges the case of a recipe.
static tapml_status derive_one(struct derived_cases *cases,
                               const struct carved_case *item,
                               const struct derive_recipe *recipe)
{
    struct derivation derivation = {.item = item, .recipe = *recipe};
    const tapml_status status = judge_derivation(cases, &derivation);
    arena_destroy(derivation.arena);
    return status;
}

// Counts a kept case that has no neighbours, with the reason at hand.
static tapml_status skip_derived(struct derived_cases *cases, const struct carved_case *item)
{
    struct verdict *verdict = NULL;
    char message[MESSAGE_TEXT];
    (void)snprintf(message, sizeof(message), "%s", status_message());
    TAPML_TRY(add_derived(cases, item, &(struct derive_recipe){.label = "none"}, &verdict));
    return skip(cases, verdict, message);
}

static tapml_status derive_around(struct derived_cases *cases, int64_t id)
{
    struct arena *arena = arena_create();
    struct derive_recipe recipes[DERIVE_RECIPES_MAX];
    struct carved_case item;
    uint32_t count = 0;
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = stored_case_load(cases->options->store, id, arena, &item);
    const struct compiled_op *schema =
        status == TAPML_OK ? examiner_schema(cases->examiner, &item) : NULL;
    if (schema) {
        status = derive_list(&item, schema, recipes, &count);
        if (status == TAPML_INVALID) {
            status = skip_derived(cases, &item);
        }
    }
    for (uint32_t i = 0; status == TAPML_OK && i < count; i++) {
        const uint64_t begin_ns = timeline_begin(timeline_mine());
        status = derive_one(cases, &item, &recipes[i]);
        timeline_end(timeline_mine(), begin_ns,
                     &(struct timeline_span){
                         .kind = "case", .name = item.op_name, .detail = recipes[i].label});
    }
    arena_destroy(arena);
    return status;
}

// The critical values that an op names, or "".
static const char *name_criticals(const struct derived_cases *cases,
                                  const struct representative_group *group)
{
    const struct compiled_op *schema = examiner_schema(
        cases->examiner, &(struct carved_case){.op_name = group->op, .op_version = group->version});
    return schema && schema->critical_count > 0 ? schema->op->critical : "";
}

// All that the verdicts on what is derived for an op depend on, as a digest.
static tapml_status find_basis(struct derived_cases *cases,
                               const struct representative_group *group,
                               const char **out_basis)
{
    const struct result_maker *maker = NULL;
    struct text how;
    TAPML_TRY(examiner_maker(cases->examiner, group->op, group->version, &maker));
    text_init(&how);
    text_format(&how, "%d %d %s", DERIVE_SEED, DERIVE_VALUES_COUNT, name_criticals(cases, group));
    tapml_status status = text_status(&how);
    if (status == TAPML_OK) {
        status = basis_make(maker, group, how.data, cases->list->arena, out_basis);
    }
    text_release(&how);
    return status;
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
static tapml_status restore_recipe(struct derived_cases *cases, struct verdict *verdict)
{
    struct arena *arena = arena_create();
    struct derive_recipe recipe;
    struct carved_case item;
    int has = 0;
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = stored_case_load(cases->options->store, verdict->case_id, arena, &item);
    const struct compiled_op *schema =
        status == TAPML_OK ? examiner_schema(cases->examiner, &item) : NULL;
    if (schema) {
        status = derive_find(&item, schema, verdict->source, verdict->label, &recipe, &has);
    }
    if (has) {
        verdict->recipe = copy_recipe(cases->list->arena, &recipe);
        status = verdict->recipe ? TAPML_OK : status_no_memory();
    }
    arena_destroy(arena);
    return status;
}

static tapml_status add_known(struct derived_cases *cases, const struct verdict *known)
{
    struct verdict_list *list = cases->list;
    void *grown = list->derived;
    if (!alloc_grow(&grown, &list->derived_capacity, list->derived_count, sizeof(*list->derived))) {
        return status_no_memory();
    }
    list->derived = grown;
    struct verdict *verdict = &list->derived[list->derived_count++];
    *verdict = *known;
    return verdict_count_failed(verdict, 1) > 0 ? restore_recipe(cases, verdict) : TAPML_OK;
}

static int
is_known(const struct verdict *verdict, const struct representative_group *group, const char *basis)
{
    return is_of_group(group, verdict->case_id) && strcmp(verdict->basis, basis) == 0;
}

// Takes the verdicts that are known of a group and have its basis. Rows of all groups are written
// together, so that one of a group says that all of it are there.
static tapml_status
take_known(struct derived_cases *cases, const struct representative_group *group, const char *basis)
{
    const struct verdict_list *known = cases->options->known;
    for (size_t i = 0; known && i < known->derived_count; i++) {
        if (is_known(&known->derived[i], group, basis)) {
            TAPML_TRY(add_known(cases, &known->derived[i]));
        }
    }
    return TAPML_OK;
}

// Whether this process has to do with a group: another one may judge it, or have judged it.
static int takes(const struct derived_cases *cases,
                 const struct representative_group *group,
                 size_t index,
                 const char *basis)
{
    const struct verdict_options *options = cases->options;
    const struct verdict_list *known = options->known;
    if (!options->takes_op) {
        return 1;
    }
    for (size_t i = 0; known && i < known->derived_count; i++) {
        if (is_known(&known->derived[i], group, basis)) {
            return 0;
        }
    }
    return options->takes_op(options->taker, index);
}

static tapml_status judge_group(struct derived_cases *cases,
                                const struct representative_group *group,
                                size_t index,
                                size_t *io_done)
{
    const struct verdict_options *options = cases->options;
    struct verdict_list *list = cases->list;
    const size_t first = list->derived_count;
    const char *basis = NULL;
    TAPML_TRY(find_basis(cases, group, &basis));
    if (!takes(cases, group, index, basis)) {
        *io_done += group->count;
        return TAPML_OK;
    }
    TAPML_TRY(take_known(cases, group, basis));
    const int has = list->derived_count > first;
    for (size_t i = 0; i < group->count; i++) {
        if (!has) {
            TAPML_TRY(derive_around(cases, group->ids[i]));
        }
        if (options->derived_progress) {
            TAPML_TRY(options->derived_progress(options->user, ++*io_done, cases->group_cases));
        }
    }
    for (size_t i = first; i < list->derived_count; i++) {
        list->derived[i].basis = basis;
        list->derived_replayed += !has;
    }
    return TAPML_OK;
}

static tapml_status judge_groups(struct derived_cases *cases)
{
    struct representative_group *groups = NULL;
    char seed[32];
    size_t count = 0;
    size_t done = 0;
    (void)snprintf(seed, sizeof(seed), "%d", DERIVE_SEED);
    TAPML_TRY(metadata_set(cases->options->store, "derive.seed", seed));
    TAPML_TRY(representative_list(cases->options->store, cases->list->arena, &groups, &count));
    for (size_t i = 0; i < count; i++) {
        cases->group_cases += groups[i].count;
    }
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(judge_group(cases, &groups[i], i, &done));
    }
    return TAPML_OK;
}

tapml_status derived_cases_judge(const struct verdict_options *options,
                                 struct examiner *examiner,
                                 struct divider *divider,
                                 struct verdict_list *io_list)
{
    struct derived_cases cases = {
        .options = options, .examiner = examiner, .divider = divider, .list = io_list};
    table_init(&cases.shapes);
    const tapml_status status = judge_groups(&cases);
    table_release(&cases.shapes);
    return status;
}
