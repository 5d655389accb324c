// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/stand_in.h"

#include <tapml/model.h>

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

static const tapml_host *host;

static tapml_status
probe(const tapml_component *component, const tapml_host *given, tapml_call *call)
{
    const tapml_host_core *core = given->interface_of(given, TAPML_HOST_CORE);

    host = given;
    return core->fail(call, TAPML_UNAVAILABLE, 0, NULL, "no driver", strlen("no driver"));
}

static const tapml_component component = {.hdr = TAPML_HDR(tapml_component), .probe = probe};

static struct stand_in *open(uint32_t minor)
{
    struct stand_in *made = NULL;

    cr_assert_eq(
        stand_in_create(&(struct stand_in_options){.component = &component, .minor = minor}, &made),
        TAPML_OK);
    cr_assert_eq(stand_in_probe(made), TAPML_UNAVAILABLE);
    cr_assert_str_eq(stand_in_message(made), "no driver");
    return made;
}

static const tapml_host_core *core(void)
{
    return host->interface_of(host, TAPML_HOST_CORE);
}

Test(stand_in, memory_is_counted_and_not_zero)
{
    struct stand_in *made = open(TAPML_ABI_MINOR);
    unsigned char *a = core()->alloc(host, 100, 64);
    void *b = core()->alloc(host, 7, 1);

    cr_assert(a != NULL && b != NULL);
    cr_expect_eq((uintptr_t)a % 64, 0u);
    cr_expect_neq(a[0], 0);
    cr_expect_eq(stand_in_memory(made).live, 2u);
    cr_expect_eq(stand_in_memory(made).live_bytes, 107u);
    core()->free(host, a, 100, 64);
    core()->free(host, b, 8, 1);
    core()->free(host, NULL, 0, 1);
    cr_expect_eq(stand_in_memory(made).live, 0u);
    cr_expect_eq(stand_in_memory(made).mistaken, 1u);
    cr_expect_eq(stand_in_memory(made).overrun, 0u);
    stand_in_destroy(made);
}

Test(stand_in, what_is_written_behind_memory_is_seen)
{
    struct stand_in *made = open(TAPML_ABI_MINOR);
    unsigned char *a = core()->alloc(host, 10, 8);

    a[10] = 0;
    core()->free(host, a, 10, 8);
    cr_expect_eq(stand_in_memory(made).overrun, 1u);
    stand_in_destroy(made);
}

Test(stand_in, memory_runs_out_when_it_is_told_to)
{
    struct stand_in *made = open(TAPML_ABI_MINOR);

    stand_in_refuse(made, 2);
    void *a = core()->alloc(host, 8, 8);

    cr_expect_not_null(a);
    cr_expect_null(core()->alloc(host, 8, 8));
    cr_expect_null(core()->alloc(host, 8, 8));
    stand_in_refuse(made, 0);
    void *b = core()->alloc(host, 8, 8);

    cr_expect_not_null(b);
    cr_expect_null(core()->alloc(host, 8, 3), "no power of two");
    core()->free(host, a, 8, 8);
    core()->free(host, b, 8, 8);
    stand_in_destroy(made);
}

static void nothing(void *user, uint64_t begin, uint64_t end)
{
}

static void *share(void *argument)
{
    const tapml_host_work *work = host->interface_of(host, TAPML_HOST_WORK);

    cr_expect_eq(work->parallel_for(host, NULL, 4, 1, nothing, NULL), TAPML_OK);
    return NULL;
}

Test(stand_in, work_that_another_thread_shares_is_seen)
{
    struct stand_in *made = open(TAPML_ABI_MINOR);
    pthread_t thread;

    (void)share(NULL);
    cr_expect_eq(stand_in_foreign_calls(made), 0u);
    cr_assert_eq(pthread_create(&thread, NULL, share, NULL), 0);
    (void)pthread_join(thread, NULL);
    cr_expect_eq(stand_in_foreign_calls(made), 1u);
    stand_in_destroy(made);
}

Test(stand_in, an_older_host_lacks_what_came_later)
{
    struct stand_in *made = open(3);

    cr_expect_eq(host->abi_minor, 3u);
    cr_expect_null(host->interface_of(host, TAPML_HOST_PARTS));
    cr_expect_not_null(host->interface_of(host, TAPML_HOST_WORK));
    stand_in_destroy(made);
    made = open(TAPML_ABI_MINOR);
    cr_expect_not_null(host->interface_of(host, TAPML_HOST_PARTS));
    stand_in_destroy(made);
}
