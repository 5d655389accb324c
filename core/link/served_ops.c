// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/served_ops.h"

#include "base/arena.h"

tapml_status served_ops_list(struct served_ops *ops,
                             struct backend *backend,
                             struct catalogue *catalogue,
                             struct arena *arena)
{
    const size_t count = catalogue_count(catalogue);
    *ops = (struct served_ops){.backend = backend, .catalogue = catalogue, .arena = arena};
    ops->items = arena_array(arena, count + SERVED_OPS_DEFINED_MAX, sizeof(*ops->items));
    if (!ops->items) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        const struct compiled_op *schema = catalogue_at(catalogue, i);
        if (backend_has_op(backend, schema->op)) {
            ops->items[ops->count++] = schema;
        }
    }
    ops->listed = ops->count;
    return TAPML_OK;
}

tapml_status served_ops_define(struct served_ops *ops,
                               struct wire_reader *reader,
                               const struct compiled_op **out_schema)
{
    const tapml_op *op = NULL;
    const char *identity = NULL;
    struct arithmetic arithmetic = {0};
    struct catalogue_op found = {0};
    *out_schema = NULL;
    TAPML_TRY(message_take_op(reader, ops->arena, &op, &identity, &arithmetic));
    if (!wire_is_done(reader) || ops->count - ops->listed == SERVED_OPS_DEFINED_MAX) {
        return status_fail(TAPML_INVALID, "an op is garbled, or more than %d were defined",
                           SERVED_OPS_DEFINED_MAX);
    }
    TAPML_TRY(catalogue_add(ops->catalogue, op, "the host", &found));
    if (backend_has_op(ops->backend, found.schema->op)) {
        ops->items[ops->count++] = *out_schema = found.schema;
    }
    return TAPML_OK;
}

tapml_status served_ops_take(const struct served_ops *ops,
                             struct wire_reader *reader,
                             const struct compiled_op **out_schema)
{
    const uint32_t index = wire_take_u32(reader);
    if (index >= ops->count) {
        return status_fail(TAPML_INVALID, "there is no op %u", index);
    }
    *out_schema = ops->items[index];
    return TAPML_OK;
}

static void put_op(const struct served_ops *ops, const tapml_op *op, struct wire_writer *replies)
{
    message_put_op(replies, op, backend_identity(ops->backend, op),
                   backend_arithmetic(ops->backend, op));
}

void served_ops_put_all(const struct served_ops *ops, struct wire_writer *replies)
{
    wire_put_u32(replies, (uint32_t)ops->count);
    for (size_t i = 0; i < ops->count; i++) {
        put_op(ops, ops->items[i]->op, replies);
    }
}

void served_ops_put_defined(const struct served_ops *ops,
                            const struct compiled_op *schema,
                            struct wire_writer *replies)
{
    wire_put_u32(replies, schema != NULL);
    if (schema) {
        put_op(ops, schema->op, replies);
    }
}
