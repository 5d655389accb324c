// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/pack.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "graph/group.h"
#include "model/checkpoint.h"
#include "plugin/registry.h"
#include "run/op_integers.h"
#include "run/recorded_on.h"
#include "run/run_metadata.h"
#include "store/bundle.h"
#include "store/case.h"
#include "store/instance.h"
#include "store/label.h"
#include "store/limit.h"
#include "store/metadata.h"
#include "store/op_definition.h"
#include "store/store.h"
#include "store/stored_case.h"
#include "store/target.h"
#include "store/weight.h"
#include "verify/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct pack_work {
    const struct pack_options *options;
    struct arena *arena; // Of names and rows.
    struct weight_row *weights;
    size_t weight_count;
    struct table weight_of; // Its name to its row.
    struct table checked;   // Weights that are the same in the checkpoint.
    struct table instances; // What computes integers, if any, from other numbers.
    struct table chosen;    // Ids, in decimal.
    struct table prompts;   // Hashes to their numbers.
    struct table classes;   // Op, version and shape class of each packed case.
    struct table ops;       // Ops that are written.
    struct table packed;    // Ids of what is in the pack, in decimal.
    struct pack_counts counts;
};

// -- Redaction ---------------------------------------------------------------------------------

static int is_integer(uint32_t dtype)
{
    return dtype == TAPML_I32 || dtype == TAPML_I64;
}

// Notes an instance whose integers are computed: those of experts, from logits. What an op that
// nobody knows does is not known.
static tapml_status note_instance(void *user, const char *op, const char *instance)
{
    struct pack_work *packing = user;
    const struct catalogue *catalogue = registry_catalogue(packing->options->registry);
    int is_known = 0, passes = 0;

    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const tapml_op *one = catalogue_at(catalogue, i)->op;

        if (strcmp(one->name, op) == 0) {
            is_known = 1;
            passes |= op_integers_passes_on(one);
        }
    }
    return is_known && !passes ? table_set(&packing->instances, instance, 1) : TAPML_OK;
}

// Whether a case may have tokens: integers that no op of the model has computed. Which rows are
// wanted (`rows`, core/exec/input.h) are positions.
static int has_tokens(const struct pack_work *packing, const struct carved_case *item)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        const char *origin = argument->origin != NULL ? argument->origin : "";
        size_t known = 0;

        if (is_integer(argument->dtype) && argument->encoding == NULL && argument->before != NULL &&
            (argument->effects & TAPML_E_WEIGHT) == 0 && strcmp(origin, "rows") != 0 &&
            !table_find(&packing->instances, origin, &known)) {
            return 1;
        }
    }
    return 0;
}

// A prompt's number in place of its hash, by which a short one could be guessed.
static tapml_status redact_prompt(struct pack_work *packing, struct carved_case *io_item)
{
    char name[HASH_TEXT];
    size_t number = packing->prompts.count;

    hash_text(io_item->prompt, name);
    if (!table_find(&packing->prompts, name, &number)) {
        TAPML_TRY(table_set(&packing->prompts, name, number));
    }
    io_item->prompt = (struct hash){.low = (uint64_t)number + 1};
    return TAPML_OK;
}

// -- Cases -------------------------------------------------------------------------------------

// A table of ids has them in decimal.
static void print_id(int64_t id, char out_name[32])
{
    (void)snprintf(out_name, 32, "%" PRId64, id);
}

static tapml_status note_id(struct table *ids, int64_t id)
{
    char name[32];

    print_id(id, name);
    return table_set(ids, name, 1);
}

static int has_id(const struct table *ids, int64_t id)
{
    char name[32];
    size_t known = 0;

    print_id(id, name);
    return table_find(ids, name, &known);
}

// Whether the checkpoint's bytes are those that the run had is looked at once for each weight.
static tapml_status check_weight(struct pack_work *packing, const char *name)
{
    size_t index = 0, known = 0;
    int is_same = 0;

    if (table_find(&packing->checked, name, &known) ||
        !table_find(&packing->weight_of, name, &index)) {
        return TAPML_OK;
    }
    const struct checkpoint *checkpoint = packing->options->checkpoint;
    const struct checkpoint_tensor *tensor =
        checkpoint != NULL ? checkpoint_find(checkpoint, name) : NULL;

    TAPML_TRY(weight_is_same(&packing->weights[index], tensor, &is_same));
    if (!is_same) {
        return status_fail(TAPML_PRECONDITION,
                           "%s refers to weight '%.200s', which %s; give --model",
                           store_path(packing->options->store), name,
                           checkpoint == NULL ? "is not in it, and its checkpoint is not there"
                           : tensor == NULL   ? "the checkpoint does not have"
                                              : "has other bytes in the checkpoint");
    }
    return table_set(&packing->checked, name, 1);
}

static tapml_status check_weights(struct pack_work *packing, const struct carved_case *item)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (case_is_reference(&item->arguments[i])) {
            TAPML_TRY(check_weight(packing, item->arguments[i].origin));
        }
    }
    return TAPML_OK;
}

// The definition of a group, which no catalogue has.
static tapml_status
write_definition(struct pack_work *packing, struct store *store, const struct carved_case *item)
{
    const struct compiled_op *schema = catalogue_find(
        registry_catalogue(packing->options->registry), item->op_name, item->op_version);
    const char *name = NULL;
    size_t known = 0;

    if (schema == NULL || group_rule_name(schema->op->name, &name) == 0 ||
        table_find(&packing->ops, item->op_name, &known)) {
        return TAPML_OK;
    }
    TAPML_TRY(table_set(&packing->ops, item->op_name, 1));
    return op_definition_write(store, schema->op);
}

static void
name_class(const char *op, uint32_t version, const char *shape_class, struct text *out_name)
{
    text_clear(out_name);
    text_format(out_name, "%s\x1f%u\x1f%s", op, (unsigned)version, shape_class);
}

static tapml_status note_class(struct pack_work *packing, const struct carved_case *item)
{
    struct text name;

    text_init(&name);
    name_class(item->op_name, item->op_version, item->shape_class, &name);
    tapml_status status = text_status(&name);

    if (status == TAPML_OK) {
        status = table_set(&packing->classes, name.data, 1);
    }
    text_release(&name);
    return status;
}

static tapml_status
add_case(struct pack_work *packing, struct store *store, int64_t id, struct arena *arena)
{
    const struct pack_options *options = packing->options;
    struct carved_case item, whole;

    TAPML_TRY(stored_case_load(options->store, id, arena, &item));
    if (options->redacts && has_tokens(packing, &item)) {
        packing->counts.left_out++;
        return TAPML_OK;
    }
    TAPML_TRY(check_weights(packing, &item));
    TAPML_TRY(bundle_inline(options->checkpoint, &item, arena, &whole));
    if (options->redacts) {
        TAPML_TRY(redact_prompt(packing, &whole));
    }
    TAPML_TRY(write_definition(packing, store, &whole));
    TAPML_TRY(stored_case_add(store, &whole));
    packing->counts.cases++;
    TAPML_TRY(note_id(&packing->packed, id));
    return note_class(packing, &whole);
}

static tapml_status add_cases(struct pack_work *packing, struct store *store)
{
    int64_t *ids = NULL;
    size_t count = 0;
    struct arena *arena = arena_create();
    tapml_status status =
        arena != NULL ? stored_case_ids(packing->options->store, &ids, &count) : status_no_memory();

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        if (has_id(&packing->chosen, ids[i])) {
            arena_reset(arena); // A case may be large.
            status = add_case(packing, store, ids[i], arena);
        }
    }
    alloc_free(ids);
    arena_destroy(arena);
    return status;
}

// -- What stands beside them -------------------------------------------------------------------

static tapml_status add_limits(struct pack_work *packing, struct store *store)
{
    struct limit_row *rows = NULL;
    struct text name;
    size_t count = 0, known = 0;
    tapml_status status = limit_list(packing->options->store, packing->arena, &rows, &count);

    text_init(&name);
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        name_class(rows[i].op, rows[i].version, rows[i].shape_class, &name);
        status = text_status(&name);
        if (status == TAPML_OK && table_find(&packing->classes, name.data, &known)) {
            status = limit_write(store, &rows[i]);
        }
    }
    text_release(&name);
    return status;
}

// The verdicts that the packed cases have on a target of the run, each name once.
static tapml_status
print_verdicts(const struct pack_work *packing, const char *target, struct text *out_names)
{
    struct verdict_list list = {.items = NULL};
    unsigned seen = 0;

    TAPML_TRY(verdict_read(packing->options->store, target, &list));
    for (size_t i = 0; i < list.count; i++) {
        const unsigned kind = 1U << list.items[i].kind;

        if ((seen & kind) == 0 && has_id(&packing->packed, list.items[i].case_id)) {
            text_format(out_names, "%s%s", seen != 0 ? " " : "", verdict_name(list.items[i].kind));
            seen |= kind;
        }
    }
    verdict_list_release(&list);
    return text_status(out_names);
}

static tapml_status add_target(const struct pack_work *packing,
                               struct store *store,
                               size_t index,
                               const struct target_row *row)
{
    struct text verdicts;

    text_init(&verdicts);
    tapml_status status = print_verdicts(packing, row->name, &verdicts);

    if (status == TAPML_OK) {
        const struct recorded_on item = {.target = row->name,
                                         .component = row->component,
                                         .device = row->device,
                                         .device_name = row->device_name,
                                         .driver = row->driver,
                                         .plugin = row->plugin,
                                         .plugin_version = row->plugin_version,
                                         .build = row->build,
                                         .injected_faults = row->faults,
                                         .verdicts = verdicts.data};

        status = recorded_on_write(store, index, &item);
    }
    text_release(&verdicts);
    return status;
}

// What the run had on its targets, as far as they were opened once.
static tapml_status add_targets(const struct pack_work *packing, struct store *store)
{
    struct target_row *rows = NULL;
    size_t count = 0, written = 0;

    TAPML_TRY(target_list(packing->options->store, packing->arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        if (*rows[i].component != '\0') {
            TAPML_TRY(add_target(packing, store, written++, &rows[i]));
        }
    }
    return TAPML_OK;
}

static tapml_status add_metadata(const struct pack_work *packing, struct store *store)
{
    static const char *const names[] = {"source",       "source.component", "source.device",
                                        "source.build", "model.hash",       "model.architecture"};
    const struct pack_options *options = packing->options;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *value = metadata_get(options->store, names[i]);

        TAPML_TRY(value != NULL ? metadata_set(store, names[i], value) : TAPML_OK);
    }
    const char *model = run_metadata_model_name(options->store, packing->arena);

    TAPML_TRY(model == NULL    ? status_no_memory()
              : *model != '\0' ? metadata_set(store, "model.name", model)
                               : TAPML_OK);
    TAPML_TRY(options->redacts ? metadata_set(store, PACK_METADATA_REDACTED, "prompts") : TAPML_OK);
    return metadata_set(store, PACK_METADATA_WHERE, options->where);
}

static tapml_status fill(void *user, struct store *store)
{
    struct pack_work *packing = user;

    TAPML_TRY(add_cases(packing, store));
    if (packing->counts.cases == 0) {
        return status_fail(TAPML_NOT_FOUND, "%s: no case is %s '%.200s'",
                           store_path(packing->options->store),
                           packing->counts.left_out > 0 ? "without tokens and" : "chosen by",
                           packing->options->where);
    }
    TAPML_TRY(add_limits(packing, store));
    TAPML_TRY(add_targets(packing, store));
    return add_metadata(packing, store);
}

// -- Reading the run ---------------------------------------------------------------------------

static tapml_status read_run(struct pack_work *packing)
{
    const struct pack_options *options = packing->options;
    struct instance_row *instances = NULL;
    size_t count = 0;

    TAPML_TRY(
        weight_list(options->store, packing->arena, &packing->weights, &packing->weight_count));
    for (size_t i = 0; i < packing->weight_count; i++) {
        TAPML_TRY(table_set(&packing->weight_of, packing->weights[i].name, i));
    }
    TAPML_TRY(instance_list(options->store, packing->arena, &instances, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(note_instance(packing, instances[i].op, instances[i].instance));
    }
    TAPML_TRY(label_visit_instances(options->store, note_instance, packing));
    for (size_t i = 0; i < options->count; i++) {
        TAPML_TRY(note_id(&packing->chosen, options->ids[i]));
    }
    return TAPML_OK;
}

tapml_status
pack_write(const char *path, const struct pack_options *options, struct pack_counts *out_counts)
{
    struct pack_work packing = {.options = options, .arena = arena_create()};
    struct table *const tables[] = {&packing.weight_of, &packing.checked, &packing.instances,
                                    &packing.chosen,    &packing.prompts, &packing.classes,
                                    &packing.ops,       &packing.packed};
    tapml_status status = packing.arena != NULL ? TAPML_OK : status_no_memory();

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        table_init(tables[i]);
    }
    if (status == TAPML_OK) {
        status = read_run(&packing);
    }
    if (status == TAPML_OK) {
        status = bundle_write(path, fill, &packing);
    }
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        table_release(tables[i]);
    }
    arena_destroy(packing.arena);
    if (status == TAPML_OK) {
        *out_counts = packing.counts;
    }
    return status;
}
