// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/cases.h"
#include "harness/plugin_fixture.h"
#include "harness/schemas.h"
#include "verify/guard.h"
#include "verify/replay_call.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct backend *backend;
static struct guard *guard;
static struct replay_site site;
static struct cases_silu made;
static struct replay_call call;

static void begin(void)
{
    plugin_fixture_open(&plugins);
    backend = plugin_fixture_backend(&plugins, "reference:f64");
    MUST(guard_create(backend, &guard));
    MUST(replay_site_open(guard_backend(guard), NULL, &site));
    cases_make_silu(&made, "s", 0);
    call = (struct replay_call){.site = &site,
                                .given = &made.item,
                                .item = &made.item,
                                .schema = schema_of(&tapml_silu),
                                .op = &tapml_silu,
                                .arena = arena_create(),
                                .images = arena_create()};
}

static void end(void)
{
    arena_destroy(call.arena);
    arena_destroy(call.images);
    replay_site_close(&site);
    guard_destroy(guard);
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(replay_call, .init = begin, .fini = end, .timeout = 60);

Test(replay_call, its_buffers_are_drawn_and_then_written)
{
    float x[2] = {0};
    MUST(replay_call_describe(&call));
    MUST(replay_call_ask(&call));
    MUST(replay_call_draw(&call));
    cr_assert_eq(call.outcome, REPLAY_RAN);
    cr_assert_null(call.slots[0].buffer, "nothing is taken yet");
    cr_assert_geq(call.slots[0].size, made.arguments[0].base_bytes);
    cr_assert_eq(replay_call_bytes(&call), call.slots[0].size + call.slots[1].size);
    MUST(replay_call_bind(&call));
    MUST(backend_read(site.backend, call.slots[0].buffer, made.arguments[0].offset_bytes, x,
                      sizeof(x[0])));
    MUST(backend_wait(site.backend));
    cr_assert_eq(x[0], *(const float *)made.arguments[0].before);
    spare_buffers_end(&site.spare);
}

Test(replay_call, what_is_no_call_is_said)
{
    made.item.argument_count--;
    cr_assert_eq(replay_call_describe(&call), TAPML_INVALID);
}
