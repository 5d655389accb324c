// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/op_definition.h"

#include "base/arena.h"
#include "base/text.h"
#include "store/metadata.h"

#include <jansson.h>
#include <stdio.h>

enum { NAME_BYTES = 192, PARAMS_MAX = 64 };

// "op.NAME/VERSION" is the definition as a JSON object.
static void name_of(const char *op, uint32_t version, char out_name[NAME_BYTES])
{
    (void)snprintf(out_name, NAME_BYTES, "op.%.128s/%u", op, version);
}

// -- Writing -----------------------------------------------------------------------------------

static json_t *param_object(const tapml_param *param)
{
    return json_pack("{s:s, s:i, s:i, s:s*, s:s*, s:s*, s:s*, s:s*}", "name", param->name, "kind",
                     (int)param->kind, "effects", (int)param->effects, "dtype", param->dtype,
                     "shape", param->shape, "layout", param->layout, "region", param->region,
                     "domain", param->domain);
}

static int append(const char *bytes, size_t count, void *text)
{
    text_append_bytes(text, bytes, count);
    return 0;
}

static tapml_status print_op(const tapml_op *op, struct text *out_text)
{
    json_t *params = json_array();
    for (uint32_t p = 0; params && p < op->n_params; p++) {
        if (json_array_append_new(params, param_object(op->params[p])) != 0) {
            json_decref(params);
            params = NULL;
        }
    }
    json_t *object = json_pack("{s:s*, s:s*, s:s*, s:s*, s:s*, s:o}", "title", op->title, "formula",
                               op->formula, "tolerance", op->tolerance, "flops", op->flops,
                               "expands", op->expands, "params", params);
    const int is_made = object && json_dump_callback(object, append, out_text, JSON_COMPACT) == 0;
    json_decref(object);
    return is_made ? text_status(out_text) : status_no_memory();
}

tapml_status op_definition_write(struct store *store, const tapml_op *op)
{
    char name[NAME_BYTES];
    struct text text;
    text_init(&text);
    name_of(op->name, op->version, name);
    tapml_status status = print_op(op, &text);
    status = status == TAPML_OK ? metadata_set(store, name, text.data) : status;
    text_release(&text);
    return status;
}

// -- Reading -----------------------------------------------------------------------------------

static const char *take_text(const json_t *object, const char *key, struct arena *arena)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? arena_text(arena, value) : NULL;
}

static uint32_t take_number(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value >= 0 && value <= (json_int_t)UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static tapml_status take_params(const json_t *list, struct arena *arena, tapml_op *op)
{
    const size_t count = json_array_size(list);
    tapml_param *params = arena_array(arena, count + 1, sizeof(*params));
    const tapml_param **pointers = arena_array(arena, count + 1, sizeof(*pointers));
    if (count > PARAMS_MAX) {
        return status_fail(TAPML_INVALID, "%zu parameters", count);
    }
    if (!params || !pointers) {
        return status_no_memory();
    }
    for (size_t p = 0; p < count; p++) {
        const json_t *object = json_array_get(list, p);
        params[p] = (tapml_param){
            .hdr = TAPML_HDR(tapml_param),
            .name = take_text(object, "name", arena),
            .kind = take_number(object, "kind"),
            .effects = take_number(object, "effects"),
            .dtype = take_text(object, "dtype", arena),
            .shape = take_text(object, "shape", arena),
            .layout = take_text(object, "layout", arena),
            .region = take_text(object, "region", arena),
            .domain = take_text(object, "domain", arena),
        };
        pointers[p] = &params[p];
    }
    op->params = pointers;
    op->n_params = (uint32_t)count;
    return TAPML_OK;
}

static tapml_status take_op(const json_t *object, struct arena *arena, tapml_op *op)
{
    op->hdr = (tapml_hdr)TAPML_HDR(tapml_op);
    op->title = take_text(object, "title", arena);
    op->formula = take_text(object, "formula", arena);
    op->tolerance = take_text(object, "tolerance", arena);
    op->flops = take_text(object, "flops", arena);
    op->expands = take_text(object, "expands", arena);
    return take_params(json_object_get(object, "params"), arena, op);
}

tapml_status op_definition_read(struct store *store,
                                const char *name,
                                uint32_t version,
                                struct arena *arena,
                                const tapml_op **out_op)
{
    char key[NAME_BYTES];
    json_error_t error;
    name_of(name, version, key);
    const char *text = metadata_get(store, key);
    if (!text) {
        return TAPML_OK;
    }
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    tapml_op *op = arena_new(arena, sizeof(*op));
    const char *own_name = arena_text(arena, name);
    tapml_status status = op && own_name ? TAPML_OK : status_no_memory();
    if (status == TAPML_OK && !json_is_object(object)) {
        status = status_fail(TAPML_INVALID, "the definition of op '%s' is no JSON object: %s", name,
                             error.text);
    }
    if (status == TAPML_OK) {
        op->name = own_name;
        op->version = version;
        status = take_op(object, arena, op);
        *out_op = status == TAPML_OK ? op : NULL;
    }
    json_decref(object);
    return status;
}
