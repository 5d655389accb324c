// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/defined_ops.h"

#include "base/arena.h"
#include "base/log.h"
#include "graph/group.h"
#include "store/op_definition.h"
#include "store/representative.h"

static tapml_status
learn_one(struct store *store, struct registry *registry, const char *name, uint32_t version)
{
    const tapml_op *op = NULL;
    const char *rule = NULL;
    if (catalogue_find(registry_catalogue(registry), name, version) ||
        group_rule_name(name, &rule) == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(op_definition_read(store, name, version, registry_arena(registry), &op));
    return op ? catalogue_add(registry_catalogue(registry), op, "the store", NULL) : TAPML_OK;
}

static tapml_status learn_all(struct store *store, struct registry *registry, struct arena *arena)
{
    struct representative_group *groups = NULL;
    size_t count = 0;
    TAPML_TRY(representative_list(store, arena, &groups, &count));
    for (size_t i = 0; i < count; i++) {
        const tapml_status status = learn_one(store, registry, groups[i].op, groups[i].version);
        if (status == TAPML_NO_MEMORY) {
            return status;
        }
        if (status != TAPML_OK) {
            log_line(LOG_WARNING, "%s", status_message());
        }
    }
    return TAPML_OK;
}

tapml_status defined_ops_learn(struct store *store, struct registry *registry)
{
    struct arena *arena = store ? arena_create() : NULL;
    if (!store) {
        return TAPML_OK;
    }
    const tapml_status status = arena ? learn_all(store, registry, arena) : status_no_memory();
    arena_destroy(arena);
    return status;
}
