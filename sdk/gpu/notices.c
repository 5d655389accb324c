// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "notices.h"

#include <stdatomic.h>
#include <time.h>

// What has happened to a notice.
enum {
    CLAIMED = 1 << 0,     // One of the owners calls the function,
    CALLED = 1 << 1,      // which has returned.
    DRIVER_LEFT = 1 << 2, // The driver does not touch it any more.
    LIST_LEFT = 1 << 3,   // Nor does the list.
};

struct gpu_notice {
    struct gpu_notice *next;
    struct gpu_host host;
    uint64_t value;
    tapml_notified function;
    void *user;
    atomic_uint state;
};

static void call_once(struct gpu_notice *notice, tapml_status status)
{
    if ((atomic_fetch_or(&notice->state, CLAIMED) & CLAIMED) == 0) {
        notice->function(notice->user, status);
        (void)atomic_fetch_or(&notice->state, CALLED);
    }
}

static void leave(struct gpu_notice *notice, unsigned own, unsigned other)
{
    if ((atomic_fetch_or(&notice->state, own) & other) != 0) {
        const struct gpu_host host = notice->host;

        gpu_free(&host, notice, sizeof(*notice));
    }
}

void gpu_notice_give(struct gpu_notice *notice, tapml_status status)
{
    call_once(notice, status);
    leave(notice, DRIVER_LEFT, LIST_LEFT);
}

tapml_status gpu_notices_add(struct gpu_notice **list,
                             const struct gpu_host *host,
                             tapml_call *call,
                             uint64_t value,
                             tapml_notified function,
                             void *user,
                             struct gpu_notice **out_notice)
{
    struct gpu_notice *notice = gpu_alloc(host, sizeof(*notice));

    if (notice == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    notice->next = *list;
    notice->host = *host;
    notice->value = value;
    notice->function = function;
    notice->user = user;
    *list = *out_notice = notice;
    return TAPML_OK;
}

void gpu_notices_drop(struct gpu_notice **list)
{
    struct gpu_notice *notice = *list;
    const struct gpu_host host = notice->host;

    *list = notice->next;
    gpu_free(&host, notice, sizeof(*notice));
}

// Whether the notice comes into a state before `until_ns`.
static int await(const struct gpu_notice *notice, unsigned state, uint64_t until_ns)
{
    const struct timespec nap = {.tv_nsec = 10000};

    while ((atomic_load(&notice->state) & state) == 0) {
        if (gpu_clock_ns() >= until_ns) {
            return 0;
        }
        (void)nanosleep(&nap, NULL); // Waking early is fine.
    }
    return 1;
}

void gpu_notices_end(struct gpu_notice **list, uint64_t value, tapml_status status)
{
    const uint64_t patience_ns = 100000000, until_ns = gpu_clock_ns() + patience_ns;

    for (struct gpu_notice **at = list; *at != NULL;) {
        struct gpu_notice *notice = *at;

        if (notice->value > value) {
            at = &notice->next;
            continue;
        }
        *at = notice->next;
        if (!await(notice, DRIVER_LEFT, until_ns)) {
            call_once(notice, status);
            (void)await(notice, CALLED, UINT64_MAX); // The function returns soon.
        }
        leave(notice, LIST_LEFT, DRIVER_LEFT);
    }
}
