// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "carve/foreign_call.h"
#include "carve/foreign_store.h"
#include "schema/catalogue.h"
#include "tapml-carve.h"
#include "tensor/dtype.h"

#include <tapml/ops.h>

#include <pthread.h>
#include <string.h>

struct tapml_carve_store {
    pthread_mutex_t lock; // Of `store`; the catalogue does not change.
    struct catalogue *catalogue;
    struct foreign_store *store;
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

static tapml_status open_store(const char *path, const char *model, tapml_carve_store *store)
{
    TAPML_TRY(make_catalogue(&store->catalogue));
    return foreign_store_open(path, model, "libtapml-carve", store->catalogue, &store->store);
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
    const tapml_status status = open_store(path, model, store);

    if (status != TAPML_OK) {
        tapml_carve_close(store);
        return status;
    }
    *out_store = store;
    return TAPML_OK;
}

void tapml_carve_close(tapml_carve_store *store)
{
    if (store == NULL) {
        return;
    }
    foreign_store_close(store->store);
    catalogue_destroy(store->catalogue);
    (void)pthread_mutex_destroy(&store->lock);
    alloc_free(store);
}

static tapml_status unlock(tapml_carve_store *store, tapml_status status)
{
    (void)pthread_mutex_unlock(&store->lock);
    return status;
}

int32_t tapml_carve_describe(tapml_carve_store *store, const char *key, const char *value)
{
    if (store == NULL || key == NULL || value == NULL) {
        return status_fail(TAPML_INVALID, "a store, a key and a value are expected");
    }
    (void)pthread_mutex_lock(&store->lock);
    return unlock(store, foreign_store_describe(store->store, key, value));
}

int32_t tapml_carve_weights_in(tapml_carve_store *store, const char *folder)
{
    if (store == NULL || folder == NULL) {
        return status_fail(TAPML_INVALID, "a store and a folder are expected");
    }
    (void)pthread_mutex_lock(&store->lock);
    return unlock(store, foreign_store_weights_in(store->store, folder));
}

int32_t tapml_carve_commit(tapml_carve_store *store)
{
    if (store == NULL) {
        return status_fail(TAPML_INVALID, "a store is expected");
    }
    (void)pthread_mutex_lock(&store->lock);
    return unlock(store, foreign_store_commit(store->store));
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
    TAPML_TRY(foreign_store_find(store->store, op, version, &schema));
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        if (strcmp(schema->op->params[i]->name, parameter) == 0) {
            *out_position = i;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_NOT_FOUND, "'%s' has no parameter '%s'", op, parameter);
}

static tapml_status
fill(tapml_carve_call *call, const char *op, const char *instance, const char *prompt)
{
    TAPML_TRY(foreign_store_begin(call->store->store, op, call->version, instance, &call->call));
    call->op = alloc_text(op);
    call->instance = alloc_text(instance);
    call->prompt = alloc_text(prompt);
    return call->op != NULL && call->instance != NULL && call->prompt != NULL ? TAPML_OK
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

static struct foreign_tensor describe(const char *dtype,
                                      uint32_t rank,
                                      const int64_t *shape,
                                      const int64_t *strides,
                                      const void *data)
{
    return (struct foreign_tensor){.dtype = dtype != NULL ? dtype_find(dtype) : 0,
                                   .rank = rank,
                                   .shape = shape,
                                   .stride = strides,
                                   .data = data};
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
    const struct foreign_tensor tensor = describe(dtype, rank, shape, strides, data);

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
    const struct foreign_tensor tensor = describe(dtype, rank, shape, strides, data);

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

int32_t tapml_carve_end(tapml_carve_call *call, uint64_t time_ns)
{
    if (call == NULL) {
        return status_fail(TAPML_INVALID, "a call is expected");
    }
    tapml_carve_store *store = call->store;
    const struct foreign_store_call added = {.call = call->call,
                                             .op = call->op,
                                             .version = call->version,
                                             .instance = call->instance,
                                             .prompt = call->prompt,
                                             .line = call->line,
                                             .step = call->step,
                                             .part = call->part,
                                             .time_ns = time_ns};

    (void)pthread_mutex_lock(&store->lock);
    const tapml_status status = unlock(store, foreign_store_add(store->store, &added));

    tapml_carve_drop(call);
    return status;
}
