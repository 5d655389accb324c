// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "varying_backend.h"
#include "verify/invariance_load.h"

static struct arena *arena;
static struct varying varying;
static struct carved_case item;
static const struct compiled_op *schema;

static void begin(void)
{
    judged_store_begin();
    arena = arena_create();
    add_silu("silu", 0, 0);
    MUST(stored_case_load(store, 1, arena, &item));
    schema = catalogue_find(registry_catalogue(plugins.registry), item.op_name, item.op_version);
}

static void end(void)
{
    arena_destroy(arena);
    judged_store_end();
}

TestSuite(invariance_load, .init = begin, .fini = end, .timeout = 60);

Test(invariance_load, calls_go_on_until_it_is_ended)
{
    struct invariance_load *load = NULL;
    struct invariance_load_result result;
    MUST(invariance_load_begin(exact, NULL, &item, schema, &load));
    invariance_load_meet(load);
    invariance_load_meet(load);
    invariance_load_end(load, &result);
    cr_expect_geq(result.calls, 3u);
    cr_expect_str_eq(result.failure, "");
    invariance_load_end(NULL, &result);
    cr_expect_eq(result.calls, 0u);
}

static tapml_status fail_later(struct backend *backend, const struct backend_call *call)
{
    struct varying *own = (struct varying *)backend;
    return ++own->calls > 2 ? status_fail(TAPML_INTERNAL, "no more")
                            : backend_call(own->wrapper.inner, call);
}

Test(invariance_load, a_failure_is_told_and_nobody_waits_for_it)
{
    struct invariance_load *load = NULL;
    struct invariance_load_result result;
    struct backend *failing = vary(&varying, exact, NULL);
    varying.vt.call = fail_later;
    MUST(invariance_load_begin(failing, NULL, &item, schema, &load));
    for (int i = 0; i < 5; i++) {
        invariance_load_meet(load);
    }
    invariance_load_end(load, &result);
    cr_expect_eq(result.calls, 2u);
    cr_expect_not_null(strstr(result.failure, "no more"), "%s", result.failure);
}
