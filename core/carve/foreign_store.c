// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "carve/foreign_store.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "carve/foreign_call.h"
#include "carve/seen.h"
#include "choose/feature_set.h"
#include "exec/plan.h"
#include "schema/catalogue.h"
#include "store/metadata.h"
#include "store/prompt.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/weight.h"
#include "tensor/dtype.h"

#include <stdio.h>
#include <string.h>

enum { NAME_TEXT = 512, OPAQUE_VERSION = 1 };

struct foreign_store {
    const struct catalogue *catalogue;
    struct store *store;
    struct seen seen;
    struct table prompts; // Position by hash.
    struct table origins; // Instance by the key of what it computed, as a place in `instances`.
    char **instances;     // Own.
    size_t instance_count, instance_capacity;
    struct hash prompt; // Of the last call that was added, and its step.
    int64_t step;
    int is_elsewhere; // The bytes of weights are in a checkpoint.
    int is_broken;    // Something could not be written: the step is not whole.
};

// -- The store ---------------------------------------------------------------------------------

static tapml_status settle_model(struct store *store, const char *model, const char *maker)
{
    const char *known = metadata_get(store, "model.name");
    char hash[HASH_TEXT];

    if (known != NULL && strcmp(known, model) != 0) {
        return status_fail(TAPML_PRECONDITION, "'%s' holds cases of model '%s', not of '%s'",
                           store_path(store), known, model);
    }
    if (known == NULL && metadata_get(store, "model.hash") != NULL) {
        return status_fail(TAPML_PRECONDITION,
                           "'%s' is the store of a run of tapml-host, expected one that was made "
                           "by %s",
                           store_path(store), maker);
    }
    hash_text(hash_bytes(model, strlen(model)), hash);
    TAPML_TRY(store_begin(store));
    TAPML_TRY(metadata_set(store, "model.name", model));
    TAPML_TRY(metadata_set(store, "model.hash", hash));
    TAPML_TRY(metadata_set(store, "source", maker));
    return store_commit(store);
}

tapml_status foreign_store_open(const char *path,
                                const char *model,
                                const char *maker,
                                const struct catalogue *catalogue,
                                struct foreign_store **out_store)
{
    struct foreign_store *store = alloc_new(sizeof(*store));

    if (store == NULL) {
        return status_no_memory();
    }
    store->catalogue = catalogue;
    seen_init(&store->seen);
    table_init(&store->prompts);
    table_init(&store->origins);
    tapml_status status = store_open(path, 1, &store->store);

    if (status == TAPML_OK) {
        status = settle_model(store->store, model, maker);
    }
    if (status == TAPML_OK) {
        status = seen_recall(&store->seen, store->store, 0);
    }
    if (status != TAPML_OK) {
        foreign_store_close(store);
        return status;
    }
    *out_store = store;
    return TAPML_OK;
}

static void forget_origins(struct foreign_store *store)
{
    table_release(&store->origins);
    table_init(&store->origins);
    for (size_t i = 0; i < store->instance_count; i++) {
        alloc_free(store->instances[i]);
    }
    store->instance_count = 0;
}

void foreign_store_close(struct foreign_store *store)
{
    if (store == NULL) {
        return;
    }
    store_close(store->store);
    forget_origins(store);
    alloc_free(store->instances);
    table_release(&store->origins);
    table_release(&store->prompts);
    seen_release(&store->seen);
    alloc_free(store);
}

// Calls between two commits are one transaction, which the first write begins.
static tapml_status begin(struct foreign_store *store)
{
    return store_is_in_transaction(store->store) ? TAPML_OK : store_begin(store->store);
}

static tapml_status
set_metadata(struct foreign_store *store, const char *prefix, const char *name, const char *value)
{
    char key[NAME_TEXT];

    (void)snprintf(key, sizeof(key), "%s%s", prefix, name);
    TAPML_TRY(begin(store));
    return metadata_set(store->store, key, value);
}

tapml_status foreign_store_describe(struct foreign_store *store, const char *key, const char *value)
{
    static const char *const keys[][2] = {{"component", "component"},
                                          {"version", "version"},
                                          {"device", "device_name"},
                                          {"driver", "driver"}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (strcmp(keys[i][0], key) == 0) {
            return set_metadata(store, "source.", keys[i][1], value);
        }
    }
    return status_fail(TAPML_INVALID,
                       "'%s' is no key, expected 'component', 'version', 'device' or 'driver'",
                       key);
}

tapml_status foreign_store_weights_in(struct foreign_store *store, const char *folder)
{
    TAPML_TRY(set_metadata(store, "model.", "path", folder));
    store->is_elsewhere = 1;
    return TAPML_OK;
}

static tapml_status refuse_broken(const struct foreign_store *store)
{
    return status_fail(TAPML_PRECONDITION,
                       "'%s' takes no more: an earlier call could not be written, and its step is "
                       "not in the store",
                       store_path(store->store));
}

tapml_status foreign_store_commit(struct foreign_store *store)
{
    const tapml_status status = store->is_broken                        ? refuse_broken(store)
                                : store_is_in_transaction(store->store) ? store_commit(store->store)
                                                                        : TAPML_OK;

    store->is_broken |= status != TAPML_OK;
    return status;
}

// -- A call ------------------------------------------------------------------------------------

tapml_status foreign_store_find(const struct foreign_store *store,
                                const char *op,
                                uint32_t version,
                                const struct compiled_op **out_schema)
{
    *out_schema = version > 0 ? catalogue_find(store->catalogue, op, version) : NULL;
    return version == 0 || *out_schema != NULL
               ? TAPML_OK
               : status_fail(TAPML_NOT_FOUND,
                             "there is no operator '%s' of version %u; version 0 is an opaque one",
                             op, version);
}

tapml_status foreign_store_begin(const struct foreign_store *store,
                                 const char *op,
                                 uint32_t version,
                                 const char *instance,
                                 struct foreign_call **out_call)
{
    const struct compiled_op *schema = NULL;

    if (!plan_can_name(instance)) {
        return status_fail(TAPML_INVALID,
                           "'%s' cannot be the name of an instance: it is empty or has blanks, "
                           "'*', '?' or '['",
                           instance);
    }
    TAPML_TRY(foreign_store_find(store, op, version, &schema));
    return foreign_call_create(schema, out_call);
}

// What a value is known by, whatever its shape: views of one value have several.
static void key_of(uint32_t dtype, const void *data, uint64_t bytes, char out_key[NAME_TEXT])
{
    char hash[HASH_TEXT];

    hash_text(hash_bytes(data, (size_t)bytes), hash);
    (void)snprintf(out_key, NAME_TEXT, "%s %s", dtype_name(dtype), hash);
}

// Which instance of this step has computed what goes in.
static void find_origins(struct foreign_store *store, struct foreign_call *call)
{
    for (uint32_t i = 0; i < foreign_call_count(call); i++) {
        uint32_t dtype = 0;
        uint64_t bytes = 0;
        const void *data = foreign_call_bytes(call, i, FOREIGN_BEFORE, &dtype, &bytes);
        char key[NAME_TEXT];
        size_t index = 0;

        if (data == NULL || foreign_call_weight(call, i) != NULL) {
            continue;
        }
        key_of(dtype, data, bytes, key);
        if (table_find(&store->origins, key, &index)) {
            foreign_call_set_origin(call, i, store->instances[index]);
        }
    }
}

static tapml_status note_instance(struct foreign_store *store, const char *instance)
{
    void *grown = store->instances;

    if (!alloc_grow(&grown, &store->instance_capacity, store->instance_count,
                    sizeof(*store->instances))) {
        return status_no_memory();
    }
    store->instances = grown;
    store->instances[store->instance_count] = alloc_text(instance);
    if (store->instances[store->instance_count] == NULL) {
        return status_no_memory();
    }
    store->instance_count++;
    return TAPML_OK;
}

static tapml_status note_origins(struct foreign_store *store, const struct foreign_store_call *call)
{
    TAPML_TRY(note_instance(store, call->instance));
    for (uint32_t i = 0; i < foreign_call_count(call->call); i++) {
        uint32_t dtype = 0;
        uint64_t bytes = 0;
        const void *data = foreign_call_bytes(call->call, i, FOREIGN_AFTER, &dtype, &bytes);
        char key[NAME_TEXT];

        if (data != NULL) {
            key_of(dtype, data, bytes, key);
            TAPML_TRY(table_set(&store->origins, key, store->instance_count - 1));
        }
    }
    return TAPML_OK;
}

// What one step computed is no origin in the next.
static void begin_step(struct foreign_store *store, struct hash prompt, int64_t step)
{
    if (!hash_equal(prompt, store->prompt) || step != store->step) {
        forget_origins(store);
        store->prompt = prompt;
        store->step = step;
    }
}

// Prompts are counted in the order in which they come.
static tapml_status
write_prompt(struct foreign_store *store, const struct foreign_store_call *call, struct hash prompt)
{
    char key[HASH_TEXT];
    size_t position = 0;

    hash_text(prompt, key);
    if (table_find(&store->prompts, key, &position)) {
        return TAPML_OK;
    }
    TAPML_TRY(
        prompt_add(store->store, &(struct carved_prompt){.hash = prompt,
                                                         .index = (int64_t)store->prompts.count,
                                                         .text = call->prompt}));
    return table_set(&store->prompts, key, store->prompts.count);
}

static tapml_status write_weights(struct foreign_store *store, const struct foreign_call *call)
{
    for (uint32_t i = 0; i < foreign_call_count(call); i++) {
        const char *name = foreign_call_weight(call, i);
        uint32_t dtype = 0;
        uint64_t bytes = 0;
        const void *data = foreign_call_bytes(call, i, FOREIGN_BEFORE, &dtype, &bytes);

        if (name != NULL && data != NULL) {
            TAPML_TRY(weight_add(store->store, name, dtype, data, bytes));
            TAPML_TRY(store->is_elsewhere ? TAPML_OK
                                          : weight_inline(store->store, name, data, bytes));
        }
    }
    return TAPML_OK;
}

static tapml_status is_kept(struct foreign_store *store, struct call_line *line)
{
    int has_class = 0;

    TAPML_TRY(seen_has_class(&store->seen, line, &has_class));
    line->is_kept = !has_class;
    if (has_class) {
        TAPML_TRY(seen_is_wider(&store->seen, line, &line->is_kept));
    }
    return line->is_kept ? seen_add(&store->seen, line) : TAPML_OK;
}

static tapml_status write_features(struct foreign_store *store, const struct carved_case *item)
{
    struct arena *arena = arena_create();
    const tapml_status status =
        arena != NULL ? feature_set_add(store->store, item, arena) : status_no_memory();

    arena_destroy(arena);
    return status;
}

static tapml_status write_call(struct foreign_store *store,
                               const struct foreign_store_call *call,
                               const struct carved_case *item,
                               struct call_line *line)
{
    TAPML_TRY(begin(store));
    TAPML_TRY(write_prompt(store, call, item->prompt));
    TAPML_TRY(is_kept(store, line));
    if (line->is_kept) {
        TAPML_TRY(write_weights(store, call->call));
        TAPML_TRY(stored_case_add(store->store, item));
        TAPML_TRY(write_features(store, item));
    }
    if (call->line != NULL) {
        TAPML_TRY(set_metadata(store, FOREIGN_CALL_LINE, call->instance, call->line));
    }
    TAPML_TRY(call_line_add(store->store, line));
    return note_origins(store, call);
}

// The name of an opaque operator is never that of one that is known.
static void print_op(const struct foreign_store_call *call, char out_op[NAME_TEXT])
{
    (void)snprintf(out_op, NAME_TEXT, "%s%s", call->version == 0 ? "opaque." : "", call->op);
}

// What is no call of its operator leaves the step as it is; what cannot be written breaks it.
tapml_status foreign_store_add(struct foreign_store *store, const struct foreign_store_call *call)
{
    char op[NAME_TEXT];
    struct carved_case item = {.instance = call->instance,
                               .op_name = op,
                               .op_version = call->version == 0 ? OPAQUE_VERSION : call->version,
                               .phase = call->step == 0 ? "prefill" : "decode",
                               .prompt = hash_bytes(call->prompt, strlen(call->prompt)),
                               .step = call->step,
                               .part = call->part};
    struct call_line line;

    if (store->is_broken) {
        return refuse_broken(store);
    }
    print_op(call, op);
    begin_step(store, item.prompt, item.step);
    find_origins(store, call->call);
    TAPML_TRY(foreign_call_make(call->call, &item, &line));
    line.time_ns = call->time_ns;
    const tapml_status status = write_call(store, call, &item, &line);

    if (status != TAPML_OK) {
        store->is_broken = 1;
        store_rollback(store->store);
    }
    return status;
}
