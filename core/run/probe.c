// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/probe.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "carve/description.h"
#include "carve/fetcher.h"

struct probe {
    struct backend_wrapper wrapper; // First: a backend is a probe.
    struct backend_vt vt;
    struct probe_options options;
    struct fetcher fetcher;
};

// A call while it is read.
struct probing {
    struct probe *probe;
    const struct backend_call *call;
    struct arena *arena;
    struct case_argument *arguments;
    struct blob **blobs;
    size_t count;
};

static int is_wanted(const struct probing *probing, uint32_t index)
{
    const struct probe_options *options = &probing->probe->options;
    const uint32_t kind = probing->call->args[index].kind;

    return (kind == TAPML_P_TENSOR_IN || kind == TAPML_P_TENSOR_OUT ||
            kind == TAPML_P_TENSOR_INOUT) &&
           options->wants(options->user, probing->call, index);
}

static tapml_status fetch(struct probing *probing, uint32_t index)
{
    struct case_argument *argument = &probing->arguments[index];
    const struct fetch_from from = {.argument = argument,
                                    .value = &probing->call->args[index],
                                    .name = probing->call->origins[index].name};
    struct blob *blob = NULL;

    const tapml_status status = fetcher_begin(&probing->probe->fetcher, &from, &blob);

    if (blob != NULL) { // Also where reading fails.
        probing->blobs[probing->count++] = blob;
        if (argument->kind == TAPML_P_TENSOR_IN) {
            argument->before = blob->data;
        } else {
            argument->after = blob->data;
        }
    }
    return status;
}

static tapml_status fetch_wanted(struct probing *probing)
{
    tapml_status status = TAPML_OK;

    for (uint32_t i = 0; status == TAPML_OK && i < probing->call->op->n_params; i++) {
        if (is_wanted(probing, i)) {
            status = fetch(probing, i);
        }
    }
    return fetcher_end(&probing->probe->fetcher, status);
}

static tapml_status show(struct probing *probing)
{
    const struct probe_options *options = &probing->probe->options;
    const tapml_status described =
        description_make(probing->call, probing->arena, &probing->arguments);

    if (described == TAPML_UNIMPLEMENTED) {
        return TAPML_OK; // No case can hold it.
    }
    TAPML_TRY(described);
    probing->blobs =
        arena_array(probing->arena, probing->call->op->n_params, sizeof(*probing->blobs));
    if (probing->blobs == NULL) {
        return status_no_memory();
    }
    tapml_status status = fetch_wanted(probing);

    if (status == TAPML_OK && probing->count > 0) {
        status = options->visit(
            options->user,
            &(struct probe_call){probing->call->instance, probing->call->op, probing->arguments});
    }
    while (probing->count > 0) {
        blob_unref(probing->blobs[--probing->count]);
    }
    return status;
}

static tapml_status probe_call(struct backend *backend, const struct backend_call *call)
{
    struct probe *probe = (struct probe *)backend;

    TAPML_TRY(backend_call(probe->wrapper.inner, call));
    if (call->instance == NULL || call->origins == NULL) {
        return TAPML_OK;
    }
    struct probing probing = {.probe = probe, .call = call, .arena = arena_create()};

    if (probing.arena == NULL) {
        return status_no_memory();
    }
    const tapml_status status = show(&probing);

    arena_destroy(probing.arena);
    return status;
}

static void release(struct backend *backend)
{
    struct probe *probe = (struct probe *)backend;

    fetcher_release(&probe->fetcher);
    alloc_free(probe);
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct probe *probe = alloc_new(sizeof(*probe));

    (void)settings;
    if (probe == NULL) {
        return status_no_memory();
    }
    probe->vt = backend_forward_vt;
    probe->vt.release = release;
    probe->vt.call = probe_call;
    probe->wrapper = (struct backend_wrapper){.backend = {.vt = &probe->vt}, .inner = inner};
    probe->options = *(const struct probe_options *)user;
    fetcher_init(&probe->fetcher, inner);
    *out_backend = &probe->wrapper.backend;
    return TAPML_OK;
}

struct place_link probe_link(struct probe_options *options)
{
    return (struct place_link){.kind = PLACE_RECORDER, .create = make_link, .user = options};
}
