// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/conduct_probe.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <time.h>

struct conduct_probe {
    struct backend_wrapper wrapper; // First: a `struct backend *` is a `struct conduct_probe *`.
    struct backend_vt vt;
    enum conduct_mode mode;
    uint64_t time_ns;
    tapml_object *copies; // Of outputs, while a call is made.
    uint64_t copied;      // Bytes of them, so far.
};

// Whole grains without gaps: nothing else is written with it.
static int is_whole(const tapml_tensor *tensor, uint64_t *out_bytes)
{
    int64_t count = 0;
    if (tensor->encoding || shape_count(tensor->shape, tensor->rank, &count) != TAPML_OK ||
        (tensor->stride && !shape_is_dense(tensor->shape, tensor->stride, tensor->rank))) {
        return 0;
    }
    *out_bytes = (uint64_t)count * dtype_bytes(tensor->dtype);
    return *out_bytes > 0 && *out_bytes % TAPML_TRANSFER_GRAIN == 0 &&
           tensor->offset % TAPML_TRANSFER_GRAIN == 0;
}

// Calls `visit` with each output that is whole.
static tapml_status
visit_outputs(struct conduct_probe *probe,
              const struct backend_call *call,
              tapml_status (*visit)(struct conduct_probe *, const tapml_tensor *, uint64_t))
{
    for (uint32_t i = 0; i < call->op->n_params; i++) {
        const tapml_tensor *tensor =
            call->args[i].kind == TAPML_P_TENSOR_OUT ? call->args[i].u.p : NULL;
        uint64_t bytes = 0;
        if (tensor && is_whole(tensor, &bytes)) {
            TAPML_TRY(visit(probe, tensor, bytes));
        }
    }
    return TAPML_OK;
}

static tapml_status clear(struct conduct_probe *probe, const tapml_tensor *tensor, uint64_t bytes)
{
    return backend_fill(probe->wrapper.inner, tensor->buffer, tensor->offset, bytes, 0);
}

// The copies lie behind each other, in the order in which outputs are visited.
static tapml_status measure(struct conduct_probe *probe, const tapml_tensor *tensor, uint64_t bytes)
{
    (void)tensor;
    probe->copied += bytes;
    return TAPML_OK;
}

static tapml_status keep(struct conduct_probe *probe, const tapml_tensor *tensor, uint64_t bytes)
{
    const struct backend_copy copy = {.source = tensor->buffer,
                                      .source_offset = tensor->offset,
                                      .target = probe->copies,
                                      .target_offset = probe->copied,
                                      .size = bytes};
    probe->copied += bytes;
    return backend_copy(probe->wrapper.inner, &copy);
}

static tapml_status
put_back(struct conduct_probe *probe, const tapml_tensor *tensor, uint64_t bytes)
{
    const struct backend_copy copy = {.source = probe->copies,
                                      .source_offset = probe->copied,
                                      .target = tensor->buffer,
                                      .target_offset = tensor->offset,
                                      .size = bytes};
    probe->copied += bytes;
    return backend_copy(probe->wrapper.inner, &copy);
}

static void sleep_ms(long milliseconds)
{
    const struct timespec pause = {.tv_nsec = milliseconds * 1000000L};
    (void)nanosleep(&pause, NULL); // An early end is a shorter look.
}

// The call with copies of its outputs behind it, without a wait between; then what comes late may
// come, and the copies take its place.
static tapml_status copy_around(struct conduct_probe *probe, const struct backend_call *call)
{
    struct backend *inner = probe->wrapper.inner;
    TAPML_TRY(backend_call(inner, call));
    probe->copied = 0;
    TAPML_TRY(visit_outputs(probe, call, keep));
    TAPML_TRY(backend_wait(inner));
    sleep_ms(CONDUCT_AT_ONCE_MS);
    probe->copied = 0;
    TAPML_TRY(visit_outputs(probe, call, put_back));
    return backend_wait(inner);
}

static tapml_status call_at_once(struct conduct_probe *probe, const struct backend_call *call)
{
    struct backend *inner = probe->wrapper.inner;
    probe->copied = 0;
    TAPML_TRY(visit_outputs(probe, call, measure));
    if (probe->copied == 0) {
        return backend_call(inner, call);
    }
    TAPML_TRY(backend_buffer_new(inner, probe->copied, &probe->copies));
    const tapml_status status = copy_around(probe, call);
    backend_buffer_free(inner, probe->copies);
    probe->copies = NULL;
    return status;
}

static tapml_status probe_call(struct backend *backend, const struct backend_call *call)
{
    struct conduct_probe *probe = (struct conduct_probe *)backend;
    struct backend *inner = probe->wrapper.inner;
    if (probe->mode == CONDUCT_ZEROS) {
        TAPML_TRY(visit_outputs(probe, call, clear));
    }
    TAPML_TRY(backend_wait(inner)); // Not part of the time.
    if (probe->mode == CONDUCT_AT_ONCE) {
        return call_at_once(probe, call);
    }
    const uint64_t begin_ns = clock_now_ns();
    TAPML_TRY(backend_call(inner, call));
    TAPML_TRY(backend_wait(inner));
    probe->time_ns = clock_now_ns() - begin_ns;
    if (probe->mode == CONDUCT_LATE) {
        sleep_ms(CONDUCT_LATE_MS);
    }
    return TAPML_OK;
}

static void probe_release(struct backend *backend)
{
    conduct_probe_destroy((struct conduct_probe *)backend);
}

tapml_status conduct_probe_create(struct backend *inner, struct conduct_probe **out_probe)
{
    struct conduct_probe *probe = alloc_new(sizeof(*probe));
    if (!probe) {
        return status_no_memory();
    }
    probe->vt = backend_forward_vt;
    probe->vt.release = probe_release;
    probe->vt.call = probe_call;
    probe->wrapper = (struct backend_wrapper){.backend = {.vt = &probe->vt}, .inner = inner};
    *out_probe = probe;
    return TAPML_OK;
}

void conduct_probe_destroy(struct conduct_probe *probe)
{
    alloc_free(probe);
}

struct backend *conduct_probe_backend(struct conduct_probe *probe)
{
    return &probe->wrapper.backend;
}

void conduct_probe_set(struct conduct_probe *probe, enum conduct_mode mode)
{
    probe->mode = mode;
}

uint64_t conduct_probe_time_ns(const struct conduct_probe *probe)
{
    return probe->time_ns;
}
