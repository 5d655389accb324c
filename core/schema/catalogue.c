// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/catalogue.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 128 };

struct entry {
    const struct compiled_op *schema;
    const char *origin;
};

struct catalogue {
    struct arena *arena; // Of what is compiled, and of origins.
    struct entry *entries;
    size_t count;
    size_t capacity;
    struct table index; // "tapml.rms_norm@1" to the place in `entries`.
};

tapml_status catalogue_create(struct catalogue **out_catalogue)
{
    struct catalogue *catalogue = alloc_new(sizeof(*catalogue));

    if (catalogue == NULL) {
        return status_no_memory();
    }
    table_init(&catalogue->index);
    catalogue->arena = arena_create();
    if (catalogue->arena == NULL) {
        catalogue_destroy(catalogue);
        return status_no_memory();
    }
    *out_catalogue = catalogue;
    return TAPML_OK;
}

void catalogue_destroy(struct catalogue *catalogue)
{
    if (catalogue == NULL) {
        return;
    }
    alloc_free(catalogue->entries);
    table_release(&catalogue->index);
    arena_destroy(catalogue->arena);
    alloc_free(catalogue);
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A letter, then letters, digits, '.' and '_', with a '.' among them.
static int is_op_name(const char *name)
{
    if (name == NULL || !is_letter(name[0]) || strchr(name, '.') == NULL) {
        return 0;
    }
    for (const char *at = name; *at != '\0'; at++) {
        if (!is_letter(*at) && !(*at >= '0' && *at <= '9') && *at != '.' && *at != '_') {
            return 0;
        }
    }
    return strlen(name) <= NAME_MAX_BYTES;
}

static void key_text(const char *name, uint32_t version, char *out_key, size_t size)
{
    snprintf(out_key, size, "%s@%u", name, version);
}

static tapml_status explain(tapml_status status, const tapml_op *op, const char *origin)
{
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "op '%s' of %s", op->name, origin);
}

static tapml_status
add_new(struct catalogue *catalogue, const tapml_op *op, const char *origin, const char *key)
{
    struct entry entry = {.origin = arena_text(catalogue->arena, origin)};

    if (entry.origin == NULL || !alloc_grow((void **)&catalogue->entries, &catalogue->capacity,
                                            catalogue->count, sizeof(*catalogue->entries))) {
        return status_no_memory();
    }
    TAPML_TRY(explain(compiled_create(op, catalogue->arena, &entry.schema), op, origin));
    TAPML_TRY(table_set(&catalogue->index, key, catalogue->count));
    catalogue->entries[catalogue->count++] = entry;
    return TAPML_OK;
}

// Compares an op with the one that is known, in an arena that goes.
static tapml_status compare(const struct entry *known,
                            const tapml_op *op,
                            const char *origin,
                            struct arena *arena,
                            uint32_t *out_lacks)
{
    const struct compiled_op *schema = NULL;

    TAPML_TRY(explain(compiled_create(op, arena, &schema), op, origin));

    const tapml_status status = compiled_same(known->schema, schema);

    if (status != TAPML_OK) {
        return status_explain(status, "op '%s' of %s is not that of %s", op->name, origin,
                              known->origin);
    }
    *out_lacks = compiled_lacks(known->schema, schema);
    return TAPML_OK;
}

static tapml_status add_known(struct catalogue *catalogue,
                              size_t index,
                              const tapml_op *op,
                              const char *origin,
                              struct catalogue_op *out_op)
{
    const struct entry *known = &catalogue->entries[index];
    struct arena *arena = arena_create();

    *out_op = (struct catalogue_op){.schema = known->schema, .own = known->schema};
    if (arena == NULL) {
        return status_no_memory();
    }

    const tapml_status status = compare(known, op, origin, arena, &out_op->lacks);

    arena_destroy(arena);
    TAPML_TRY(status);
    return out_op->lacks == 0 ? TAPML_OK : compiled_create(op, catalogue->arena, &out_op->own);
}

tapml_status catalogue_add(struct catalogue *catalogue,
                           const tapml_op *op,
                           const char *origin,
                           struct catalogue_op *out_op)
{
    char key[NAME_MAX_BYTES + 16];
    struct catalogue_op found = {0};
    size_t known = 0;

    if (!TAPML_HAS(tapml_op, op, expands)) {
        return status_fail(TAPML_ABI_MISMATCH, "%s brings an op that is too short a struct",
                           origin);
    }
    if (!is_op_name(op->name) || op->version == 0) {
        return status_fail(TAPML_INVALID, "%s brings an op without a name such as 'org.example.op'",
                           origin);
    }
    key_text(op->name, op->version, key, sizeof(key));
    if (table_find(&catalogue->index, key, &known)) {
        TAPML_TRY(add_known(catalogue, known, op, origin, &found));
    } else {
        TAPML_TRY(add_new(catalogue, op, origin, key));
        found.schema = found.own = catalogue->entries[catalogue->count - 1].schema;
    }
    if (out_op != NULL) {
        *out_op = found;
    }
    return TAPML_OK;
}

const struct compiled_op *
catalogue_find(const struct catalogue *catalogue, const char *name, uint32_t version)
{
    char key[NAME_MAX_BYTES + 16];
    size_t at = 0;

    if (name == NULL || strlen(name) > NAME_MAX_BYTES) {
        return NULL;
    }
    key_text(name, version, key, sizeof(key));
    return table_find(&catalogue->index, key, &at) ? catalogue->entries[at].schema : NULL;
}

size_t catalogue_count(const struct catalogue *catalogue)
{
    return catalogue->count;
}

const struct compiled_op *catalogue_at(const struct catalogue *catalogue, size_t index)
{
    return index < catalogue->count ? catalogue->entries[index].schema : NULL;
}

const char *catalogue_shorten(const char *op_name)
{
    static const char own[] = "tapml.";
    const size_t length = sizeof(own) - 1;

    return strncmp(op_name, own, length) == 0 ? op_name + length : op_name;
}

const char *catalogue_short_name(const tapml_op *op)
{
    return catalogue_shorten(op->name);
}
