// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/tuning_classes.h"

#include "base/alloc.h"
#include "base/table.h"
#include "plugin/registry.h"
#include "run/op_cases.h"
#include "schema/catalogue.h"
#include "store/label.h"
#include "store/stored_case.h"
#include "verify/derive.h"
#include "verify/replay_call.h"

#include <string.h>

enum { CLASSES_MAX = 512 };

struct class_search {
    const struct tuning_classes_options *options;
    struct arena *arena; // Of what is found.
    struct tuning_classes classes;
    struct replay_site site;
    struct table shapes; // The class of each shape, from 1; 0: there is nothing to choose.
};

static int is_asked_for(const struct class_search *finding, const char *op)
{
    return finding->options->op == NULL || op_cases_is_op(op, finding->options->op);
}

// All of a case that a device can look at when it chooses.
static tapml_status print_shape(const struct carved_case *item, struct text *out)
{
    derive_print_shape(item, out);
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];

        text_format(out, " %u/%s", argument->dtype,
                    argument->encoding != NULL ? argument->encoding->id : "");
        for (uint32_t axis = 0; axis < argument->rank; axis++) {
            text_format(out, ",%lld", (long long)argument->stride[axis]);
        }
    }
    return text_status(out);
}

// -- A case ------------------------------------------------------------------------------------

// The class of a space, from 1.
static tapml_status add_class(struct class_search *finding,
                              const struct compiled_op *schema,
                              const struct knob_space *space,
                              size_t *out_number)
{
    struct tuning_classes *classes = &finding->classes;
    size_t at = 0;

    while (at < classes->count &&
           (classes->items[at].schema != schema ||
            strcmp(classes->items[at].space.shape_class, space->shape_class) != 0)) {
        at++;
    }
    if (at == CLASSES_MAX) {
        return status_fail(TAPML_INVALID, "more than %d classes of shapes", CLASSES_MAX);
    }
    if (at == classes->count) {
        classes->items[classes->count++] = (struct tuning_cases){.schema = schema, .space = *space};
    }
    *out_number = at + 1;
    return TAPML_OK;
}

static tapml_status ask(struct class_search *finding, struct replay_call *call, size_t *out_number)
{
    struct knob_space space;

    *out_number = 0;
    TAPML_TRY(replay_call_describe(call));
    if (call->outcome == REPLAY_RAN) {
        TAPML_TRY(replay_call_ask(call));
    }
    if (call->outcome != REPLAY_RAN) {
        return TAPML_OK;
    }
    TAPML_TRY(
        knobs_ask(finding->options->backend, call->schema, call->args, finding->arena, &space));
    return space.count > 0 && space.legal_count > 1
               ? add_class(finding, call->schema, &space, out_number)
               : TAPML_OK;
}

// The class of a case: asked once for each shape.
static tapml_status find_class(struct class_search *finding,
                               const struct carved_case *item,
                               struct arena *arena,
                               size_t *out_number)
{
    struct replay_call call = {.site = &finding->site,
                               .given = item,
                               .item = item,
                               .schema =
                                   catalogue_find(registry_catalogue(finding->options->registry),
                                                  item->op_name, item->op_version),
                               .arena = arena,
                               .images = arena};
    struct text key;
    tapml_status status = TAPML_OK;

    if (call.schema == NULL) {
        *out_number = 0;
        return TAPML_OK;
    }
    call.op = call.schema->op;
    text_init(&key);
    status = print_shape(item, &key);
    if (status == TAPML_OK && !table_find(&finding->shapes, key.data, out_number)) {
        status = ask(finding, &call, out_number);
        status = status == TAPML_OK ? table_set(&finding->shapes, key.data, *out_number) : status;
    }
    text_release(&key);
    return status;
}

static void take(struct class_search *finding, int64_t id, size_t number)
{
    struct tuning_cases *cases = number > 0 ? &finding->classes.items[number - 1] : NULL;

    finding->classes.cases++;
    if (cases == NULL) {
        finding->classes.no_choices++;
        return;
    }
    if (cases->count < TUNING_CLASSES_CASES_MAX) {
        cases->ids[cases->count++] = id;
    }
    cases->all++;
}

static tapml_status look(struct class_search *finding, int64_t id)
{
    struct arena *arena = arena_create();
    struct carved_case item;
    size_t number = 0;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = label_read(finding->options->store, id, arena, &item);

    if (status == TAPML_OK && is_asked_for(finding, item.op_name)) {
        status = stored_case_load(finding->options->store, id, arena, &item);
        if (status == TAPML_OK) {
            status = find_class(finding, &item, arena, &number);
        }
        if (status == TAPML_OK) {
            take(finding, id, number);
        }
    }
    arena_destroy(arena);
    return status;
}

tapml_status tuning_classes_find(const struct tuning_classes_options *options,
                                 struct arena *arena,
                                 struct tuning_classes *out_classes)
{
    struct class_search finding = {.options = options, .arena = arena};
    int64_t *ids = NULL;
    size_t count = 0;

    finding.classes.items = arena_array(arena, CLASSES_MAX, sizeof(*finding.classes.items));
    if (finding.classes.items == NULL) {
        return status_no_memory();
    }
    table_init(&finding.shapes);
    tapml_status status = replay_site_open(options->backend, options->checkpoint, &finding.site);

    if (status == TAPML_OK) {
        status = stored_case_ids(options->store, &ids, &count);
    }
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = look(&finding, ids[i]);
    }
    alloc_free(ids);
    replay_site_close(&finding.site);
    table_release(&finding.shapes);
    if (status == TAPML_OK) {
        *out_classes = finding.classes;
    }
    return status;
}
