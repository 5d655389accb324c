// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/knobs.h"
#include "harness/schemas.h"
#include "plugin/device_tuning.h"
#include "zoo_folder.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct ini ini;
static struct registry *registry;
static struct backend *device;
static struct arena *arena;
static struct knob_space space;

static void begin(void)
{
    static const char *const names[] = {"tunes", "good", NULL};
    static const int64_t five[] = {5};
    const tapml_tensor x = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = five};
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &x}};
    registry = zoo_registry(names, NULL, &ini);
    arena = arena_create();
    MUST(registry_open(registry, "tunes:first", &device));
    MUST(knobs_ask(device, schema_of(&tapml_silu), args, arena, &space));
}

static void end(void)
{
    backend_release(device);
    registry_destroy(registry);
    ini_release(&ini);
    arena_destroy(arena);
}

TestSuite(device_tuning, .init = begin, .fini = end);

static tapml_status tune(const char *values)
{
    tapml_setting setting;
    MUST(knobs_read(space.shape_class, values, arena, &setting));
    return knobs_set(device, "tapml.silu", &setting);
}

Test(device_tuning, knobs_come_with_what_is_legal)
{
    cr_assert_eq(space.count, 2);
    cr_expect_str_eq(space.shape_class, "n=8");
    cr_expect_str_eq(space.knobs[0].name, "speed");
    cr_expect_eq(space.size, 8);
    cr_expect_eq(space.legal_count, 6);
}

Test(device_tuning, what_was_taken_is_another_identity)
{
    char before[128];
    snprintf(before, sizeof(before), "%s", backend_identity(device, &tapml_silu));
    MUST(tune("speed=2 nothing=1"));
    const char *after = backend_identity(device, &tapml_silu);
    cr_expect_eq(strncmp(before, after, strlen(before)), 0);
    cr_expect_eq(after[strlen(before)], '+', "%s", after);
}

Test(device_tuning, what_the_plugin_refuses_is_told)
{
    cr_expect_eq(tune("speed=2"), TAPML_INVALID);
    cr_expect_eq(knobs_set(device, "tapml.none", &(tapml_setting){.n_values = 0}),
                 TAPML_UNIMPLEMENTED);
}

Test(device_tuning, another_device_has_nothing_to_choose)
{
    struct backend *good = NULL;
    MUST(registry_open(registry, "good:first", &good));
    MUST(knobs_ask(good, schema_of(&tapml_silu), NULL, arena, &space));
    cr_expect_eq(space.count, 0);
    cr_expect_eq(knobs_set(good, "tapml.silu", &(tapml_setting){.n_values = 0}),
                 TAPML_UNIMPLEMENTED);
    backend_release(good);
}
