// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/table.h"
#include "carve/foreign_call.h"
#include "carve/seen.h"
#include "exec/plan.h"
#include "schema/catalogue.h"
#include "store/metadata.h"
#include "store/prompt.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/weight.h"
#include "tapml-carve.h"
#include "tensor/dtype.h"

#include <tapml/ops.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { NAME_TEXT = 512, OPAQUE_VERSION = 1 };

struct tapml_carve_store {
    pthread_mutex_t lock; // Of all that follows, but the catalogue, which does not change.
    struct catalogue *catalogue;
    struct store *store;
    struct seen seen;
    struct table prompts; // Position by hash.
    struct table origins; // Instance by the key of what it computed, as a place in `instances`.
    char **instances;     // Own.
    size_t instance_count, instance_capacity;
    struct hash prompt; // Of the last call that was ended, and its step.
    int64_t step;
    int is_elsewhere; // The bytes of weights are in a checkpoint.
    int is_broken;    // Something could not be written: the step is not whole.
};

struct tapml_carve_call {
    tapml_carve_store *store;
    struct foreign_call *call;
    char *op, *instance, *prompt, *line; // `line` may be NULL.
    uint32_t version;
    int64_t step, part;
};

const char *tapml_carve_error(const tapml_carve_store *store)
{
    (void)store; // Failures are those of a thread.
    return status_message();
}

// -- The store ---------------------------------------------------------------------------------

static tapml_status make_catalogue(struct catalogue **out_catalogue)
{
    TAPML_TRY(catalogue_create(out_catalogue));
    for (size_t i = 0; tapml_ops[i] != NULL; i++) {
        TAPML_TRY(catalogue_add(*out_catalogue, tapml_ops[i], "libtapml-carve", NULL));
    }
    return TAPML_OK;
}

static tapml_status settle_model(struct store *store, const char *model)
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
                           "by libtapml-carve",
                           store_path(store));
    }
    hash_text(hash_bytes(model, strlen(model)), hash);
    TAPML_TRY(store_begin(store));
    TAPML_TRY(metadata_set(store, "model.name", model));
    TAPML_TRY(metadata_set(store, "model.hash", hash));
    TAPML_TRY(metadata_set(store, "source", "libtapml-carve"));
    return store_commit(store);
}

static tapml_status open_store(const char *path, const char *model, tapml_carve_store *store)
{
    TAPML_TRY(make_catalogue(&store->catalogue));
    TAPML_TRY(store_open(path, 1, &store->store));
    const tapml_status status = settle_model(store->store, model);

    if (status != TAPML_OK) {
        store_rollback(store->store);
    }
    return status;
}

int32_t tapml_carve_open(const char *path, const char *model, tapml_carve_store **out_store)
{
    if (path == NULL || model == NULL || out_store == NULL || *model == '\0') {
        return status_fail(TAPML_INVALID, "a path, a model and a place for the store are expected");
    }
    tapml_carve_store *store = alloc_new(sizeof(*store));

    if (store == NULL) {
        return status_no_memory();
    }
    (void)pthread_mutex_init(&store->lock, NULL); // Cannot fail on Linux.
    seen_init(&store->seen);
    table_init(&store->prompts);
    table_init(&store->origins);
    const tapml_status status = open_store(path, model, store);

    if (status != TAPML_OK) {
        tapml_carve_close(store);
        return status;
    }
    *out_store = store;
    return TAPML_OK;
}

static void forget_origins(tapml_carve_store *store)
{
    table_release(&store->origins);
    table_init(&store->origins);
    for (size_t i = 0; i < store->instance_count; i++) {
        alloc_free(store->instances[i]);
    }
    store->instance_count = 0;
}

void tapml_carve_close(tapml_carve_store *store)
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
    catalogue_destroy(store->catalogue);
    (void)pthread_mutex_destroy(&store->lock);
    alloc_free(store);
}

// Calls between two commits are one transaction, which the first write begins.
static tapml_status begin(tapml_carve_store *store)
{
    return store_is_in_transaction(store->store) ? TAPML_OK : store_begin(store->store);
}

static tapml_status
set_metadata(tapml_carve_store *store, const char *prefix, const char *name, const char *value)
{
    char key[NAME_TEXT];

    (void)snprintf(key, sizeof(key), "%s%s", prefix, name);
    TAPML_TRY(begin(store));
    return metadata_set(store->store, key, value);
}

int32_t tapml_carve_describe(tapml_carve_store *store, const char *key, const char *value)
{
    static const char *const keys[][2] = {{"component", "component"},
                                          {"version", "version"},
                                          {"device", "device_name"},
                                          {"driver", "driver"}};

    if (store == NULL || key == NULL || value == NULL) {
        return status_fail(TAPML_INVALID, "a store, a key and a value are expected");
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (strcmp(keys[i][0], key) == 0) {
            (void)pthread_mutex_lock(&store->lock);
            const tapml_status status = set_metadata(store, "source.", keys[i][1], value);

            (void)pthread_mutex_unlock(&store->lock);
            return status;
        }
    }
    return status_fail(TAPML_INVALID,
                       "'%s' is no key, expected 'component', 'version', 'device' or 'driver'",
                       key);
}

int32_t tapml_carve_weights_in(tapml_carve_store *store, const char *folder)
{
    if (store == NULL || folder == NULL) {
        return status_fail(TAPML_INVALID, "a store and a folder are expected");
    }
    (void)pthread_mutex_lock(&store->lock);
    const tapml_status status = set_metadata(store, "model.", "path", folder);

    store->is_elsewhere = status == TAPML_OK;
    (void)pthread_mutex_unlock(&store->lock);
    return status;
}

static tapml_status refuse_broken(const tapml_carve_store *store)
{
    return status_fail(TAPML_PRECONDITION,
                       "'%s' takes no more: an earlier call could not be written, and its step is "
                       "not in the store",
                       store_path(store->store));
}

int32_t tapml_carve_commit(tapml_carve_store *store)
{
    if (store == NULL) {
        return status_fail(TAPML_INVALID, "a store is expected");
    }
    (void)pthread_mutex_lock(&store->lock);
    const tapml_status status = store->is_broken                        ? refuse_broken(store)
                                : store_is_in_transaction(store->store) ? store_commit(store->store)
                                                                        : TAPML_OK;

    store->is_broken |= status != TAPML_OK;
    (void)pthread_mutex_unlock(&store->lock);
    return status;
}

// -- A call ------------------------------------------------------------------------------------

void tapml_carve_drop(tapml_carve_call *call)
{
    if (call != NULL) {
        foreign_call_destroy(call->call);
        alloc_free(call->op);
        alloc_free(call->instance);
        alloc_free(call->prompt);
        alloc_free(call->line);
        alloc_free(call);
    }
}

static tapml_status find_schema(const tapml_carve_store *store,
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

int32_t tapml_carve_position(const tapml_carve_store *store,
                             const char *op,
                             uint32_t version,
                             const char *parameter,
                             uint32_t *out_position)
{
    const struct compiled_op *schema = NULL;

    if (store == NULL || op == NULL || version == 0 || parameter == NULL || out_position == NULL) {
        return status_fail(TAPML_INVALID, "a store, an operator with its version, a parameter and "
                                          "a place for the position are expected");
    }
    TAPML_TRY(find_schema(store, op, version, &schema));
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        if (strcmp(schema->op->params[i]->name, parameter) == 0) {
            *out_position = i;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_NOT_FOUND, "'%s' has no parameter '%s'", op, parameter);
}

// The name of an opaque operator is never that of one that is known.
static char *print_op(uint32_t version, const char *op)
{
    char name[NAME_TEXT];

    (void)snprintf(name, sizeof(name), "%s%s", version == 0 ? "opaque." : "", op);
    return alloc_text(name);
}

static tapml_status
fill(tapml_carve_call *call, const char *op, const char *instance, const char *prompt)
{
    const struct compiled_op *schema = NULL;

    if (!plan_can_name(instance)) {
        return status_fail(TAPML_INVALID,
                           "'%s' cannot be the name of an instance: it is empty or has blanks, "
                           "'*', '?' or '['",
                           instance);
    }
    TAPML_TRY(find_schema(call->store, op, call->version, &schema));
    call->op = print_op(call->version, op);
    call->instance = alloc_text(instance);
    call->prompt = alloc_text(prompt);
    return call->op != NULL && call->instance != NULL && call->prompt != NULL
               ? foreign_call_create(schema, &call->call)
               : status_no_memory();
}

int32_t tapml_carve_begin(tapml_carve_store *store,
                          const char *op,
                          uint32_t version,
                          const char *instance,
                          const char *prompt,
                          int64_t step,
                          int64_t part,
                          tapml_carve_call **out_call)
{
    if (store == NULL || op == NULL || instance == NULL || prompt == NULL || out_call == NULL ||
        step < 0 || part < 0) {
        return status_fail(TAPML_INVALID,
                           "a store, an operator, an instance, a prompt, a step and a part from 0 "
                           "on, and a place for the call are expected");
    }
    tapml_carve_call *call = alloc_new(sizeof(*call));

    if (call == NULL) {
        return status_no_memory();
    }
    call->store = store;
    call->version = version;
    call->step = step;
    call->part = part;
    const tapml_status status = fill(call, op, instance, prompt);

    if (status != TAPML_OK) {
        tapml_carve_drop(call);
        return status;
    }
    *out_call = call;
    return TAPML_OK;
}

static tapml_status explain(const tapml_carve_call *call, tapml_status status)
{
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "'%s' (%s)", call->instance, call->op);
}

static tapml_status give(tapml_carve_call *call,
                         uint32_t position,
                         uint32_t moment,
                         const char *dtype,
                         const struct foreign_tensor *tensor,
                         const char *weight)
{
    if (call == NULL) {
        return status_fail(TAPML_INVALID, "a call is expected");
    }
    if (tensor->dtype == 0 || moment > TAPML_CARVE_AFTER ||
        (tensor->rank > 0 && tensor->shape == NULL)) {
        return explain(call, status_fail(TAPML_INVALID,
                                         "argument %u: expected a type that is known, a moment and "
                                         "a shape, found type '%s' and moment %u",
                                         position, dtype != NULL ? dtype : "", moment));
    }
    return explain(call,
                   foreign_call_give(call->call, position,
                                     moment == TAPML_CARVE_BEFORE ? FOREIGN_BEFORE : FOREIGN_AFTER,
                                     tensor, weight));
}

int32_t tapml_carve_argument(tapml_carve_call *call,
                             uint32_t position,
                             uint32_t moment,
                             const char *dtype,
                             uint32_t rank,
                             const int64_t *shape,
                             const int64_t *strides,
                             const void *data)
{
    const struct foreign_tensor tensor = {.dtype = dtype != NULL ? dtype_find(dtype) : 0,
                                          .rank = rank,
                                          .shape = shape,
                                          .stride = strides,
                                          .data = data};

    return give(call, position, moment, dtype, &tensor, NULL);
}

int32_t tapml_carve_weight(tapml_carve_call *call,
                           uint32_t position,
                           const char *name,
                           const char *dtype,
                           uint32_t rank,
                           const int64_t *shape,
                           const int64_t *strides,
                           const void *data)
{
    const struct foreign_tensor tensor = {.dtype = dtype != NULL ? dtype_find(dtype) : 0,
                                          .rank = rank,
                                          .shape = shape,
                                          .stride = strides,
                                          .data = data};

    if (name == NULL || *name == '\0') {
        return status_fail(TAPML_INVALID, "a weight has a name");
    }
    return give(call, position, TAPML_CARVE_BEFORE, dtype, &tensor, name);
}

int32_t tapml_carve_integer(tapml_carve_call *call, uint32_t position, int64_t value)
{
    return call != NULL ? explain(call, foreign_call_give_i64(call->call, position, value))
                        : status_fail(TAPML_INVALID, "a call is expected");
}

int32_t tapml_carve_real(tapml_carve_call *call, uint32_t position, double value)
{
    return call != NULL ? explain(call, foreign_call_give_f64(call->call, position, value))
                        : status_fail(TAPML_INVALID, "a call is expected");
}

int32_t tapml_carve_line(tapml_carve_call *call, const char *line)
{
    if (call == NULL || line == NULL) {
        return status_fail(TAPML_INVALID, "a call and a line are expected");
    }
    alloc_free(call->line);
    call->line = alloc_text(line);
    return call->line != NULL ? TAPML_OK : status_no_memory();
}

// -- The end of a call -------------------------------------------------------------------------

// What a value is known by, whatever its shape: views of one value have several.
static void key_of(uint32_t dtype, const void *data, uint64_t bytes, char out_key[NAME_TEXT])
{
    char hash[HASH_TEXT];

    hash_text(hash_bytes(data, (size_t)bytes), hash);
    (void)snprintf(out_key, NAME_TEXT, "%s %s", dtype_name(dtype), hash);
}

// Which instance of this step has computed what goes in.
static void find_origins(tapml_carve_store *store, struct foreign_call *call)
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

static tapml_status note_instance(tapml_carve_store *store, const char *instance)
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

static tapml_status note_origins(tapml_carve_store *store, const tapml_carve_call *call)
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
static void begin_step(tapml_carve_store *store, struct hash prompt, int64_t step)
{
    if (!hash_equal(prompt, store->prompt) || step != store->step) {
        forget_origins(store);
        store->prompt = prompt;
        store->step = step;
    }
}

// Prompts are counted in the order in which they come.
static tapml_status
write_prompt(tapml_carve_store *store, const tapml_carve_call *call, struct hash prompt)
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

static tapml_status write_weights(tapml_carve_store *store, const struct foreign_call *call)
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

static tapml_status is_kept(tapml_carve_store *store, struct call_line *line)
{
    int has_class = 0;

    TAPML_TRY(seen_has_class(&store->seen, line, &has_class));
    line->is_kept = !has_class;
    if (has_class) {
        TAPML_TRY(seen_is_wider(&store->seen, line, &line->is_kept));
    }
    return line->is_kept ? seen_add(&store->seen, line) : TAPML_OK;
}

static tapml_status write_call(tapml_carve_store *store,
                               const tapml_carve_call *call,
                               const struct carved_case *item,
                               struct call_line *line)
{
    TAPML_TRY(begin(store));
    TAPML_TRY(write_prompt(store, call, item->prompt));
    TAPML_TRY(is_kept(store, line));
    if (line->is_kept) {
        TAPML_TRY(write_weights(store, call->call));
        TAPML_TRY(stored_case_add(store->store, item));
    }
    if (call->line != NULL) {
        TAPML_TRY(set_metadata(store, FOREIGN_CALL_LINE, call->instance, call->line));
    }
    TAPML_TRY(call_line_add(store->store, line));
    return note_origins(store, call);
}

// What is no call of its operator leaves the step as it is; what cannot be written breaks it.
static tapml_status
end_call(tapml_carve_store *store, const tapml_carve_call *call, uint64_t time_ns)
{
    struct carved_case item = {.instance = call->instance,
                               .op_name = call->op,
                               .op_version = call->version == 0 ? OPAQUE_VERSION : call->version,
                               .phase = call->step == 0 ? "prefill" : "decode",
                               .prompt = hash_bytes(call->prompt, strlen(call->prompt)),
                               .step = call->step,
                               .part = call->part};
    struct call_line line;

    if (store->is_broken) {
        return refuse_broken(store);
    }
    begin_step(store, item.prompt, item.step);
    find_origins(store, call->call);
    TAPML_TRY(foreign_call_make(call->call, &item, &line));
    line.time_ns = time_ns;
    const tapml_status status = write_call(store, call, &item, &line);

    if (status != TAPML_OK) {
        store->is_broken = 1;
        store_rollback(store->store);
    }
    return status;
}

int32_t tapml_carve_end(tapml_carve_call *call, uint64_t time_ns)
{
    if (call == NULL) {
        return status_fail(TAPML_INVALID, "a call is expected");
    }
    tapml_carve_store *store = call->store;

    (void)pthread_mutex_lock(&store->lock);
    const tapml_status status = end_call(store, call, time_ns);

    (void)pthread_mutex_unlock(&store->lock);
    tapml_carve_drop(call);
    return status;
}
