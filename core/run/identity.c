// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/identity.h"

#include <string.h>

// Instances of one op follow each other seldom, so that each is added: a digest of a digest of
// thousands of them takes less than a millisecond.
tapml_status
identity_of_graph(struct backend *backend, const struct graph *graph, char out_text[HASH_TEXT])
{
    struct hash_state *state = hash_begin();

    if (state == NULL) {
        return status_no_memory();
    }
    char form[ARITHMETIC_TEXT];

    for (uint32_t i = 0; i < graph->op_count; i++) {
        const tapml_op *op = graph->ops[i].op;
        const char *identity = backend_has_op(backend, op) ? backend_identity(backend, op) : "";

        hash_add(state, op->name, strlen(op->name) + 1);
        hash_add(state, &op->version, sizeof(op->version));
        hash_add(state, identity, strlen(identity) + 1);
        arithmetic_describe(backend_arithmetic(backend, op), form);
        hash_add(state, form, strlen(form)); // Of most there is none.
    }
    hash_text(hash_end(state), out_text);
    return TAPML_OK;
}
