// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/services.h"

#include "base/alloc.h"
#include "base/log.h"
#include "graph/builder.h"
#include "graph/part.h"
#include "model/config.h"
#include "model/weights.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

static const struct services *services_of(const tapml_host *host)
{
    return host->impl;
}

// -- tapml.host.core/1 -------------------------------------------------------------------------

static void lock(tapml_call *call)
{
    while (atomic_flag_test_and_set_explicit(&call->busy, memory_order_acquire)) {
        sched_yield();
    }
}

static void unlock(tapml_call *call)
{
    atomic_flag_clear_explicit(&call->busy, memory_order_release);
}

static tapml_status core_fail(tapml_call *call,
                              tapml_status code,
                              int64_t native_code,
                              const char *domain,
                              const char *message,
                              size_t message_bytes)
{
    char text[SERVICES_TEXT_BYTES];
    const int length = (int)(message_bytes < sizeof(text) ? message_bytes : sizeof(text) - 1);
    lock(call);
    int used = snprintf(text, sizeof(text), "%.*s", message ? length : 0, message ? message : "");
    if (native_code != 0 && used < (int)sizeof(text)) {
        used += snprintf(text + used, sizeof(text) - (size_t)used, " (%s %lld)",
                         domain ? domain : "native code", (long long)native_code);
    }
    if (call->text[0] && used < (int)sizeof(text)) {
        snprintf(text + used, sizeof(text) - (size_t)used, ": %s", call->text);
    }
    memcpy(call->text, text, sizeof(text));
    unlock(call);
    return code;
}

static void core_blame(tapml_call *call, uint64_t n)
{
    lock(call);
    call->blamed = n;
    unlock(call);
}

static void
core_log(const tapml_host *host, int32_t level, const char *message, size_t message_bytes)
{
    const enum log_level levels[] = {LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG};
    const int is_known = level >= TAPML_LOG_ERROR && level <= TAPML_LOG_DEBUG;
    const int length =
        (int)(message_bytes < SERVICES_TEXT_BYTES ? message_bytes : SERVICES_TEXT_BYTES);
    log_line(is_known ? levels[level] : LOG_DEBUG, "%s: %.*s", services_of(host)->component->id,
             length, message);
}

static void *core_alloc(const tapml_host *host, size_t size, size_t align)
{
    const int is_power = align != 0 && (align & (align - 1)) == 0;
    return is_power ? alloc_aligned(size, align) : NULL;
}

static void core_free(const tapml_host *host, void *memory, size_t size, size_t align)
{
    alloc_free(memory);
}

static int32_t core_cancelled(tapml_call *call)
{
    return 0; // A user ends a run by ending the process; every step is on the disk by then.
}

static const char *core_option(const tapml_host *host, const char *key)
{
    const struct services *services = services_of(host);
    if (!services->ini || !manifest_has_option(services->component, key)) {
        return NULL;
    }
    return ini_get(services->ini, services->component->section, key);
}

static const tapml_host_core core_table = {
    .hdr = TAPML_HDR(tapml_host_core),
    .fail = core_fail,
    .blame = core_blame,
    .log = core_log,
    .alloc = core_alloc,
    .free = core_free,
    .cancelled = core_cancelled,
    .option = core_option,
};

// -- tapml.host.work/1 -------------------------------------------------------------------------

static uint32_t work_width(const tapml_host *host)
{
    const struct services *services = services_of(host);
    return services->pool ? pool_width(services->pool) : 1;
}

static tapml_status work_parallel_for(const tapml_host *host,
                                      tapml_call *call,
                                      uint64_t n,
                                      uint64_t grain,
                                      void (*body)(void *user, uint64_t begin, uint64_t end),
                                      void *user)
{
    const struct services *services = services_of(host);
    if (n == 0) {
        return TAPML_OK;
    }
    if (services->pool) {
        pool_run(services->pool, n, grain > 0 ? grain : 1, body, user);
    } else {
        body(user, 0, n);
    }
    return TAPML_OK;
}

static const tapml_host_work work_table = {
    .hdr = TAPML_HDR(tapml_host_work),
    .width = work_width,
    .parallel_for = work_parallel_for,
};

// -- The host ----------------------------------------------------------------------------------

static const void *table_of(const char *id)
{
    if (strcmp(id, TAPML_HOST_CORE) == 0) {
        return &core_table;
    }
    if (strcmp(id, TAPML_HOST_WORK) == 0) {
        return &work_table;
    }
    if (strcmp(id, TAPML_HOST_CONFIG) == 0) {
        return config_table();
    }
    if (strcmp(id, TAPML_HOST_WEIGHTS) == 0) {
        return weights_table();
    }
    if (strcmp(id, TAPML_HOST_GRAPH) == 0) {
        return builder_table();
    }
    return strcmp(id, TAPML_HOST_PARTS) == 0 ? part_table() : NULL;
}

static const void *interface_of(const tapml_host *host, const char *id)
{
    return id ? table_of(id) : NULL;
}

int services_has(const char *id)
{
    return table_of(id) != NULL;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void services_init(struct services *services,
                   const struct manifest_component *component,
                   uint32_t abi_minor)
{
    services->component = component;
    services->host = (tapml_host){
        .hdr = TAPML_HDR(tapml_host),
        .abi_major = TAPML_ABI_MAJOR,
        .abi_minor = smaller(abi_minor, TAPML_ABI_MINOR),
        .impl = services,
        .interface_of = interface_of,
    };
}

void services_begin(struct tapml_call *call)
{
    call->blamed = 0;
    call->text[0] = '\0';
    if (status_message()[0] != '\0') {
        (void)status_fail(TAPML_INTERNAL, "%s", "");
    }
}

tapml_status services_end(const struct tapml_call *call,
                          tapml_status status,
                          const char *who,
                          const char *method)
{
    if (status == TAPML_OK) {
        return TAPML_OK;
    }
    const char *text = call->text[0] ? call->text : status_message();
    if (text[0] == '\0') {
        return status_fail(status, "%s: %s failed without a message: %s", who, method,
                           status_name(status));
    }
    return status_fail(status, "%s: %s", who, text);
}
