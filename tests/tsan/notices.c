// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Notifications from threads of drivers: the notices of sdk/gpu, which a driver gives while the
// host waits, and the tracer over a backend that notifies it on a thread for each point.
#include "notices.h"

#include "check.h"
#include "exec/trace.h"

#include <pthread.h>
#include <stdlib.h>

enum { NOTICES = 200, CALLS = 1000, THREADS = 8 };

// -- sdk/gpu -----------------------------------------------------------------------------------

static void *host_alloc(const tapml_host *host, size_t size, size_t align)
{
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void host_free(const tapml_host *host, void *memory, size_t size, size_t align)
{
    free(memory);
}

static void add_one(void *user, tapml_status status)
{
    CHECK(status == TAPML_OK);
    ++*(int *)user; // Of one notification alone, and read behind it.
}

static void *give_all(void *user)
{
    struct gpu_notice **notices = user;
    for (int i = 0; i < NOTICES; i++) {
        gpu_notice_give(notices[i], TAPML_OK);
    }
    return NULL;
}

static void run_notices(void)
{
    const tapml_host_core core = {.alloc = host_alloc, .free = host_free};
    const struct gpu_host host = {NULL, &core, "none"};
    struct gpu_notice *list = NULL, *notices[NOTICES];
    int calls[NOTICES] = {0};
    pthread_t driver;
    for (uint64_t i = 0; i < NOTICES; i++) {
        CHECK(gpu_notices_add(&list, &host, NULL, i, add_one, &calls[i], &notices[i]) == TAPML_OK);
    }
    CHECK(pthread_create(&driver, NULL, give_all, notices) == 0);
    for (uint64_t i = 0; i < NOTICES; i += 10) {
        gpu_notices_end(&list, i, TAPML_OK);
        CHECK(calls[i] == 1);
    }
    gpu_notices_end(&list, UINT64_MAX, TAPML_OK);
    CHECK(pthread_join(driver, NULL) == 0);
    for (int i = 0; i < NOTICES; i++) {
        CHECK(calls[i] == 1);
    }
}

// -- The tracer --------------------------------------------------------------------------------

struct told {
    tapml_notified function;
    void *user;
    pthread_t thread;
};

// Its work is nothing. A few threads notify at once.
struct telling {
    struct backend backend;
    uint64_t signalled;
    struct told told[THREADS];
    size_t count;
};

static void *notify(void *user)
{
    const struct told *told = user;
    told->function(told->user, TAPML_OK);
    return NULL;
}

static tapml_status telling_wait(struct backend *backend)
{
    struct telling *telling = (struct telling *)backend;
    while (telling->count > 0) {
        CHECK(pthread_join(telling->told[--telling->count].thread, NULL) == 0);
    }
    return TAPML_OK;
}

static tapml_status telling_wait_for(struct backend *backend, struct backend_point point)
{
    return telling_wait(backend);
}

static tapml_status telling_signal(struct backend *backend, struct backend_point *out_point)
{
    *out_point = (struct backend_point){backend, ((struct telling *)backend)->signalled};
    return TAPML_OK;
}

static tapml_status telling_flush(struct backend *backend)
{
    return TAPML_OK;
}

static tapml_status telling_notify(struct backend *backend,
                                   struct backend_point point,
                                   tapml_notified function,
                                   void *user)
{
    struct telling *telling = (struct telling *)backend;
    if (telling->count == THREADS) {
        CHECK(telling_wait(backend) == TAPML_OK);
    }
    struct told *told = &telling->told[telling->count++];
    told->function = function;
    told->user = user;
    CHECK(pthread_create(&told->thread, NULL, notify, told) == 0);
    return TAPML_OK;
}

static tapml_status telling_call(struct backend *backend, const struct backend_call *call)
{
    ((struct telling *)backend)->signalled++;
    return TAPML_OK;
}

static uint64_t telling_launches(struct backend *backend)
{
    return 0;
}

static void run_trace(void)
{
    static const struct backend_vt vt = {.wait = telling_wait,
                                         .wait_for = telling_wait_for,
                                         .signal = telling_signal,
                                         .flush = telling_flush,
                                         .notify = telling_notify,
                                         .call = telling_call,
                                         .launches = telling_launches};
    const tapml_op op = {.hdr = TAPML_HDR(tapml_op), .name = "org.example.nothing", .version = 1};
    const struct compiled_op schema = {.op = &op};
    const struct inferred inferred = {.schema = &schema};
    const struct backend_call call = {.op = &op, .inferred = &inferred};
    struct telling telling = {.backend = {.vt = &vt}};
    struct trace *trace = NULL;
    CHECK(trace_create(&telling.backend, &trace) == TAPML_OK);
    for (int i = 0; i < CALLS; i++) {
        CHECK(backend_call(trace_backend(trace), &call) == TAPML_OK);
    }
    CHECK(backend_wait(trace_backend(trace)) == TAPML_OK);
    CHECK(trace_at(trace, 0)->calls == CALLS);
    CHECK(trace_at(trace, 0)->time_ns > 0);
    trace_destroy(trace);
}

int main(void)
{
    run_notices();
    run_trace();
    return 0;
}
