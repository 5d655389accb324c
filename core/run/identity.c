// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/identity.h"

#include "base/arena.h"
#include "store/representative.h"

#include <string.h>

static void add_op(struct hash_state *state, struct backend *backend, const tapml_op *op)
{
    const char *identity = backend_has_op(backend, op) ? backend_identity(backend, op) : "";
    char form[ARITHMETIC_TEXT];

    hash_add(state, op->name, strlen(op->name) + 1);
    hash_add(state, &op->version, sizeof(op->version));
    hash_add(state, identity, strlen(identity) + 1);
    arithmetic_describe(backend_arithmetic(backend, op), form);
    hash_add(state, form, strlen(form)); // Of most there is none.
}

// Instances of one op follow each other seldom, so that each is added: a digest of a digest of
// thousands of them takes less than a millisecond.
tapml_status
identity_of_graph(struct backend *backend, const struct graph *graph, char out_text[HASH_TEXT])
{
    struct hash_state *state = hash_begin();

    if (state == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < graph->op_count; i++) {
        add_op(state, backend, graph->ops[i].op);
    }
    hash_text(hash_end(state), out_text);
    return TAPML_OK;
}

static tapml_status add_cases(struct hash_state *state,
                              struct backend *backend,
                              const struct catalogue *catalogue,
                              struct store *store)
{
    struct arena *arena = arena_create();
    struct representative_group *groups = NULL;
    size_t count = 0;

    if (arena == NULL) {
        return status_no_memory();
    }
    const tapml_status status = representative_list(store, arena, &groups, &count);

    for (size_t i = 0; i < count; i++) {
        const struct compiled_op *schema =
            catalogue_find(catalogue, groups[i].op, groups[i].version);

        if (schema != NULL) {
            add_op(state, backend, schema->op);
        }
    }
    arena_destroy(arena);
    return status;
}

tapml_status identity_of_cases(struct backend *backend,
                               const struct catalogue *catalogue,
                               struct store *store,
                               char out_text[HASH_TEXT])
{
    struct hash_state *state = hash_begin();

    if (state == NULL) {
        return status_no_memory();
    }
    const tapml_status status = add_cases(state, backend, catalogue, store);

    hash_text(hash_end(state), out_text);
    return status;
}
