// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/op_list.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/log.h"
#include "schema/catalogue.h"

#include <string.h>

// Finds the schema of an op of the far side; NULL for one that this side knows otherwise, which is
// said: the far build may be another one, whose other ops are of use.
static tapml_status find_schema(struct catalogue *catalogue,
                                const tapml_op *op,
                                const char *component,
                                const struct compiled_op **out_schema)
{
    struct catalogue_op found = {0};
    const tapml_status status = catalogue_add(catalogue, op, component, &found);

    *out_schema = found.schema;
    if (status != TAPML_ABI_MISMATCH) {
        return status;
    }
    *out_schema = NULL;
    log_line(LOG_WARNING, "%s; it counts as lacking there", status_message());
    return TAPML_OK;
}

static tapml_status take_all(struct op_list *list,
                             struct wire_reader *reader,
                             struct arena *arena,
                             struct catalogue *catalogue,
                             const char *component,
                             uint32_t count)
{
    const size_t room = (size_t)count + OP_LIST_DEFINED_MAX;
    list->items = arena_array(arena, room, sizeof(struct compiled_op *));
    list->identities = arena_array(arena, room, sizeof(*list->identities));
    list->arithmetics = arena_array(arena, room, sizeof(*list->arithmetics));
    list->lacking = arena_array(arena, OP_LIST_DEFINED_MAX, sizeof(const tapml_op *));
    if (!list->items || !list->identities || !list->arithmetics || !list->lacking) {
        return status_no_memory();
    }
    for (; list->count < count; list->count++) {
        const tapml_op *op = NULL;
        TAPML_TRY(message_take_op(reader, arena, &op, &list->identities[list->count],
                                  &list->arithmetics[list->count]));
        TAPML_TRY(find_schema(catalogue, op, component, &list->items[list->count]));
    }
    list->listed = count;
    return TAPML_OK;
}

tapml_status op_list_take(struct op_list *list,
                          struct wire_reader *reader,
                          struct arena *arena,
                          struct catalogue *catalogue,
                          const char *component,
                          int *out_is_new)
{
    const uint32_t count = wire_take_count(reader, 1);
    *out_is_new = !list->items;
    if (*out_is_new) {
        return take_all(list, reader, arena, catalogue, component, count);
    }
    return count == list->listed
               ? TAPML_OK
               : status_fail(TAPML_DEVICE_LOST, "%s: it has other ops than before", component);
}

tapml_status op_list_define(struct op_list *list,
                            const struct compiled_op *schema,
                            const char *identity,
                            const struct arithmetic *arithmetic)
{
    if (list->count - list->listed == OP_LIST_DEFINED_MAX) {
        return status_fail(TAPML_INVALID, "more than %d ops with a plain form",
                           OP_LIST_DEFINED_MAX);
    }
    list->items[list->count] = schema;
    list->identities[list->count] = identity;
    list->arithmetics[list->count++] = *arithmetic;
    memset(list->found, 0, sizeof(list->found)); // Among them are answers "not there".
    return TAPML_OK;
}

tapml_status op_list_note_lacking(struct op_list *list, const tapml_op *op)
{
    if (list->lacking_count == OP_LIST_DEFINED_MAX) {
        return status_fail(TAPML_INVALID, "more than %d ops with a plain form",
                           OP_LIST_DEFINED_MAX);
    }
    list->lacking[list->lacking_count++] = op;
    return TAPML_OK;
}

int op_list_is_lacking(const struct op_list *list, const tapml_op *op)
{
    for (uint32_t i = 0; i < list->lacking_count; i++) {
        if (list->lacking[i] == op) {
            return 1;
        }
    }
    return 0;
}

static int is_op(const struct compiled_op *schema, const tapml_op *op)
{
    return schema && schema->op->version == op->version && strcmp(schema->op->name, op->name) == 0;
}

static uint32_t search(const struct op_list *list, const tapml_op *op)
{
    uint32_t at = 0;
    while (at < list->count && !is_op(list->items[at], op)) {
        at++;
    }
    return at;
}

uint32_t op_list_find(struct op_list *list, const tapml_op *op)
{
    const size_t slot = (size_t)((uintptr_t)op >> 4) % OP_LIST_SLOTS;
    if (list->found[slot].key != op) {
        list->found[slot].index = search(list, op);
        list->found[slot].key = op;
    }
    return list->found[slot].index;
}

const char *op_list_identity(struct op_list *list, const tapml_op *op)
{
    const uint32_t index = op_list_find(list, op);
    ASSERT(index < list->count);
    return list->identities[index];
}

const struct arithmetic *op_list_arithmetic(struct op_list *list, const tapml_op *op)
{
    const uint32_t index = op_list_find(list, op);
    return index < list->count ? &list->arithmetics[index] : &arithmetic_f32;
}
