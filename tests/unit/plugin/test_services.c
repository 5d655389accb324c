// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "plugin/services.h"

#include <tapml/model.h>

#include <criterion/criterion.h>
#include <string.h>

static const struct manifest_component component = {
    .id = "one", .section = "component.one", .kind = "tapml.backend/1", .options = "speed colour"};

static const tapml_host_core *core_of(const struct services *services)
{
    return services->host.interface_of(&services->host, TAPML_HOST_CORE);
}

Test(services, has_the_interfaces_of_this_minor_and_no_other)
{
    struct services services = {0};
    const char *const ids[] = {TAPML_HOST_CORE,    TAPML_HOST_WORK,  TAPML_HOST_CONFIG,
                               TAPML_HOST_WEIGHTS, TAPML_HOST_GRAPH, TAPML_HOST_PARTS};
    services_init(&services, &component, 99);
    cr_assert_eq(services.host.abi_minor, TAPML_ABI_MINOR);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); ++i) {
        cr_assert_not_null(services.host.interface_of(&services.host, ids[i]), "%s", ids[i]);
        cr_assert(services_has(ids[i]));
    }
    cr_assert_null(services.host.interface_of(&services.host, "tapml.host.core/2"));
    cr_assert_null(services.host.interface_of(&services.host, NULL));
    cr_assert_not(services_has("org.example.host/1"));
}

Test(services, options_are_those_that_the_manifest_declares)
{
    struct ini ini;
    struct services services = {.ini = &ini};
    const char *text = "[component.one]\nspeed = 7\nsecret = x\n[component.two]\ncolour = red\n";
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    services_init(&services, &component, 0);
    const tapml_host_core *core = core_of(&services);
    cr_assert_str_eq(core->option(&services.host, "speed"), "7");
    cr_assert_null(core->option(&services.host, "colour"));
    cr_assert_null(core->option(&services.host, "secret"));
    services.ini = NULL;
    cr_assert_null(core->option(&services.host, "speed"));
    ini_release(&ini);
}

Test(services, memory_is_counted_and_can_be_refused)
{
    struct services services = {0};
    services_init(&services, &component, 0);
    const tapml_host_core *core = core_of(&services);
    const size_t live = alloc_live();
    void *memory = core->alloc(&services.host, 100, 256);
    cr_assert_not_null(memory);
    cr_assert_eq((uintptr_t)memory % 256, 0);
    cr_assert_eq(alloc_live(), live + 1);
    core->free(&services.host, memory, 100, 256);
    core->free(&services.host, NULL, 0, 1);
    cr_assert_eq(alloc_live(), live);
    cr_assert_null(core->alloc(&services.host, 100, 3));
    cr_assert_null(core->alloc(&services.host, 100, 0));
    alloc_fail_at(1);
    cr_assert_null(core->alloc(&services.host, 100, 8));
    alloc_fail_at(0);
}

static tapml_status
fail(const tapml_host_core *core, tapml_call *call, int64_t native, const char *message)
{
    return core->fail(call, TAPML_NO_MEMORY, native, "opengl", message, strlen(message));
}

Test(services, a_failure_brings_its_text_into_the_record)
{
    struct services services = {0};
    struct tapml_call call = {0};
    services_init(&services, &component, 0);
    const tapml_host_core *core = core_of(&services);

    services_begin(&call);
    cr_assert_eq(services_end(&call, fail(core, &call, -4, "no room"), "one", "open"),
                 TAPML_NO_MEMORY);
    cr_assert_str_eq(status_message(), "one: no room (opengl -4)");

    // Who adds to a message fails again: the chain is kept.
    services_begin(&call);
    (void)fail(core, &call, 0, "inner");
    cr_assert_eq(services_end(&call, fail(core, &call, 0, "outer"), "one", "open"),
                 TAPML_NO_MEMORY);
    cr_assert_str_eq(status_message(), "one: outer: inner");

    // A plugin that passes on what a function of the host said.
    services_begin(&call);
    (void)status_fail(TAPML_INVALID, "axis 1 is 3");
    cr_assert_eq(services_end(&call, TAPML_INVALID, "one", "build"), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "one: axis 1 is 3");

    // Nothing of it is left for a failure without a word.
    services_begin(&call);
    cr_assert_eq(services_end(&call, 4711, "one", "open"), 4711);
    cr_assert_str_eq(status_message(), "one: open failed without a message: unknown failure");
    services_begin(&call);
    cr_assert_eq(services_end(&call, TAPML_OK, "one", "open"), TAPML_OK);
}

Test(services, long_texts_are_cut)
{
    struct services services = {0};
    struct tapml_call call = {0};
    char text[3 * SERVICES_TEXT_BYTES];
    services_init(&services, &component, 0);
    memset(text, 'x', sizeof(text));
    services_begin(&call);
    for (int i = 0; i < 3; ++i) {
        cr_assert_eq(core_of(&services)->fail(&call, 3, 1, "d", text, sizeof(text)), 3);
        cr_assert_lt(strlen(call.text), sizeof(call.text));
    }
    core_of(&services)->blame(&call, 17);
    cr_assert_eq(call.blamed, 17);
    services_begin(&call);
    cr_assert_eq(call.blamed, 0);
    cr_assert_eq(core_of(&services)->cancelled(&call), 0);
}

static void mark(void *user, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; ++i) {
        ((unsigned char *)user)[i] += 1;
    }
}

Test(services, work_is_divided_over_the_pool_or_done_in_place)
{
    struct services services = {0};
    struct tapml_call call = {0};
    struct pool *pool = NULL;
    unsigned char marks[100];
    cr_assert_eq(pool_create(3, &pool), TAPML_OK);
    services_init(&services, &component, 0);
    const tapml_host_work *work = services.host.interface_of(&services.host, TAPML_HOST_WORK);
    for (int pass = 0; pass < 2; ++pass) {
        memset(marks, 0, sizeof(marks));
        cr_assert_eq(work->width(&services.host), pass == 0 ? 1 : 3);
        cr_assert_eq(work->parallel_for(&services.host, &call, 100, 7, mark, marks), TAPML_OK);
        cr_assert_eq(work->parallel_for(&services.host, &call, 0, 7, mark, marks), TAPML_OK);
        for (int i = 0; i < 100; ++i) {
            cr_assert_eq(marks[i], 1);
        }
        services.pool = pool;
    }
    pool_destroy(pool);
}
