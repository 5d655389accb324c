// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "ops.h"

#include "own.h"

#include <string.h>

#define DEFINE(name, upper)                                                                        \
    static const tapml_op_impl name##_impl = TAPML_IMPL(tapml_##name, gpu_op_##name);
#define POINT(name, upper) &name##_impl,

TAPML_OPS_EACH(DEFINE)

static const tapml_op_impl *const list[TAPML_OPS_COUNT] = {TAPML_OPS_EACH(POINT)};

// The bytes of the list of a root: there is room for every op that it may have.
static size_t list_bytes(const struct gpu_root *root)
{
    return (TAPML_OPS_COUNT + (size_t)gpu_own_op_count(root->driver)) *
           sizeof(const tapml_op_impl *);
}

tapml_status gpu_ops_create(struct gpu_root *root, tapml_call *call)
{
    const uint32_t own_count = gpu_own_op_count(root->driver);

    root->ops = gpu_alloc(&root->host, list_bytes(root));
    if (root->ops == NULL) {
        return gpu_no_memory(&root->host, call);
    }
    for (uint32_t i = 0; i < TAPML_OPS_COUNT; i++) {
        if (gpu_own_find_op(root->driver, list[i]->op) == NULL) {
            root->ops[root->op_count++] = list[i];
        }
    }
    for (uint32_t i = 0; i < own_count; i++) {
        root->ops[root->op_count++] = root->driver->own->ops[i];
    }
    return TAPML_OK;
}

void gpu_ops_destroy(struct gpu_root *root)
{
    gpu_free(&root->host, (void *)root->ops, list_bytes(root));
}

const tapml_op_impl *gpu_ops_find(const struct gpu_root *root, const tapml_op *op)
{
    for (uint32_t i = 0; i < root->op_count; i++) {
        const tapml_op *found = root->ops[i]->op;

        if (found->version == op->version && strcmp(found->name, op->name) == 0) {
            return root->ops[i];
        }
    }
    return NULL;
}

// The catalogue's function calls what takes the place of an op of the catalogue, too.
tapml_status gpu_ops_apply(const struct gpu_root *root,
                           const tapml_op_impl *impl,
                           tapml_object *queue,
                           tapml_call *call,
                           const tapml_value *args)
{
    const struct gpu_own *own = root->driver->own;
    int is_of_catalogue = 0;

    for (uint32_t i = 0; i < TAPML_OPS_COUNT; i++) {
        is_of_catalogue |= list[i]->op == impl->op;
    }
    return is_of_catalogue || own == NULL ? tapml_ops_apply(impl, queue, call, args)
                                          : own->apply(impl, queue, call, args);
}
