// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/op_list.h"

#include "base/arena.h"
#include "base/assert.h"
#include "schema/catalogue.h"

#include <string.h>

static tapml_status take_all(struct op_list *list,
                             struct wire_reader *reader,
                             struct arena *arena,
                             struct catalogue *catalogue,
                             const char *component,
                             uint32_t count)
{
    list->items = arena_array(arena, (size_t)count + 1, sizeof(struct compiled_op *));
    list->identities = arena_array(arena, (size_t)count + 1, sizeof(*list->identities));
    list->arithmetics = arena_array(arena, (size_t)count + 1, sizeof(*list->arithmetics));
    if (!list->items || !list->identities || !list->arithmetics) {
        return status_no_memory();
    }
    for (; list->count < count; list->count++) {
        const tapml_op *op = NULL;
        struct catalogue_op found = {0};
        TAPML_TRY(message_take_op(reader, arena, &op, &list->identities[list->count],
                                  &list->arithmetics[list->count]));
        TAPML_TRY(catalogue_add(catalogue, op, component, &found));
        list->items[list->count] = found.schema;
    }
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
    return count == list->count
               ? TAPML_OK
               : status_fail(TAPML_DEVICE_LOST, "%s: it has other ops than before", component);
}

static uint32_t search(const struct op_list *list, const tapml_op *op)
{
    uint32_t at = 0;
    while (at < list->count && (list->items[at]->op->version != op->version ||
                                strcmp(list->items[at]->op->name, op->name) != 0)) {
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
