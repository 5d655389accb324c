// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "base/file.h"
#include "exec/place.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "run/driver_checks.h"
#include "store/blame.h"
#include "store/bundled.h"
#include "store/offloaded.h"
#include "store/step.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/fault.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct backend *backend;
static struct scratch scratch;
static struct store *store;
static struct arena *arena;
static struct place place;
static unsigned bundle_count; // Of the start at hand.

static void begin(void)
{
    plugin_fixture_open(&plugins);
    backend = plugin_fixture_backend(&plugins, "reference:f32");
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    arena = arena_create();
    bundle_count = 0;
    place = (struct place){.settings = {.name = "gpu"}, .backend = backend};
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(driver_checks, .init = begin, .fini = end, .timeout = 60);

static int is_wrong(enum driver_checks_moment moment)
{
    int wrong = -1;

    MUST(driver_checks_make(&(struct driver_checks_options){.store = store,
                                                            .registry = plugins.registry,
                                                            .place = &place,
                                                            .dir = scratch.folder,
                                                            .config = "my run.ini",
                                                            .arguments = " --safe",
                                                            .io_bundles = &bundle_count},
                            moment, &wrong));
    return wrong;
}

// The place with a driver that drops the tails of fills.
static struct fault *plant(void)
{
    struct fault_rule rule = {.name = "fault.1",
                              .op = "*",
                              .instance = "*",
                              .words = "fill-tail",
                              .from_call = 1,
                              .probability = 1,
                              .seed = 1};
    struct fault *fault = NULL;

    MUST(fault_rule_parse(&rule));
    MUST(fault_create(backend, &rule, 1, &fault));
    place.backend = fault_backend(fault);
    return fault;
}

static size_t list_steps(struct step_row **out_rows)
{
    size_t count = 0;

    MUST(step_list(store, "gpu", arena, out_rows, &count));
    return count;
}

static size_t list_blames(struct blame_row **out_rows)
{
    size_t count = 0;

    MUST(blame_list(store, "gpu", arena, out_rows, &count));
    return count;
}

Test(driver_checks, a_right_driver_is_a_step_once)
{
    struct step_row *steps = NULL;
    struct blame_row *blames = NULL;

    cr_expect_eq(is_wrong(DRIVER_CHECKS_BEGIN), 0);
    cr_expect_eq(is_wrong(DRIVER_CHECKS_BEGIN), 0);
    cr_expect_eq(is_wrong(DRIVER_CHECKS_END), 0);
    cr_assert_eq(list_steps(&steps), 2);
    cr_expect_str_eq(steps[0].step, "driver check at the begin");
    cr_expect_str_eq(steps[0].verdict, STEP_PASSED);
    cr_expect_not_null(strstr(steps[0].reason, "12 checks of memory and queue passed"));
    cr_expect_str_eq(steps[1].step, "driver check at the end");
    cr_expect_eq(list_blames(&blames), 0);
}

static void blame_an_op(void)
{
    MUST(blame_write(store, "gpu",
                     &(struct blame_row){.instance = "layers.0/silu",
                                         .kind = BLAME_ALONE,
                                         .margin = 2,
                                         .reason = "y is wrong",
                                         .evidence = BLAME_CASE,
                                         .source = "",
                                         .label = ""}));
}

Test(driver_checks, a_wrong_driver_is_blamed_in_place_of_ops)
{
    struct fault *fault = plant();
    struct step_row *steps = NULL;
    struct blame_row *blames = NULL;
    struct bundled_row *bundles = NULL;
    struct offloaded_row offload;
    size_t count = 0;

    blame_an_op();
    cr_expect_eq(is_wrong(DRIVER_CHECKS_FAILURE), 1);
    cr_assert_eq(list_blames(&blames), 1);
    cr_expect(blame_is_driver(&blames[0]));
    cr_expect_str_eq(blames[0].source, "fill");
    cr_expect_not_null(strstr(blames[0].reason, "after a fill of 4 bytes at 0"));
    cr_expect_str_eq(blames[0].label, "seed 1, trial 1: 4 bytes at 0");
    MUST(bundled_list(store, "gpu", arena, &bundles, &count));
    cr_assert_eq(count, 1);
    cr_expect_str_eq(bundles[0].file, "FAULT-1.tapmlrun");
    cr_expect_str_eq(
        bundles[0].command,
        "tapml-host replay FAULT-1.tapmlrun --config 'my run.ini' --target gpu --safe");
    cr_expect(file_exists(scratch_path(&scratch, "FAULT-1.tapmlrun")));
    MUST(offloaded_find(store, "gpu", arena, &offload));
    cr_expect_gt(offload.finished_s, 0);
    cr_expect_eq(offload.agrees, 0);
    cr_expect_str_eq(offload.plan, DRIVER_CHECKS_PLAN);
    cr_expect_not_null(strstr(offload.sentence, "not judged: the driver is wrong: 'fill' fails"));
    cr_assert_eq(list_steps(&steps), 1);
    cr_expect_str_eq(steps[0].verdict, STEP_FAILED);
    fault_destroy(fault);
}

// A second start finds the rows as they are, until the driver passes: then all begins anew.
Test(driver_checks, a_driver_that_passes_again_is_judged_anew)
{
    struct fault *fault = plant();
    struct step_row *steps = NULL;
    struct blame_row *blames = NULL;
    struct bundled_row *bundles = NULL;
    struct offloaded_row offload;
    size_t count = 0;

    cr_expect_eq(is_wrong(DRIVER_CHECKS_BEGIN), 1);
    const uint64_t id = list_steps(&steps) > 0 ? (uint64_t)steps[0].id : 0;

    bundle_count = 1; // An earlier target has one now.
    cr_expect_eq(is_wrong(DRIVER_CHECKS_BEGIN), 1);
    cr_assert_eq(list_steps(&steps), 1);
    cr_expect_eq((uint64_t)steps[0].id, id);
    MUST(bundled_list(store, "gpu", arena, &bundles, &count));
    cr_assert_eq(count, 1);
    cr_expect_str_eq(bundles[0].file, "FAULT-2.tapmlrun");
    fault_destroy(fault);
    place.backend = backend;
    cr_expect_eq(is_wrong(DRIVER_CHECKS_BEGIN), 0);
    cr_expect_eq(list_blames(&blames), 0);
    cr_assert_eq(list_steps(&steps), 1);
    cr_expect_str_eq(steps[0].verdict, STEP_PASSED);
    cr_expect_eq(offloaded_find(store, "gpu", arena, &offload), TAPML_NOT_FOUND);
}

// What ends all is a status, and leaves no row.
static tapml_status lose(struct backend *lost)
{
    (void)lost;
    return status_fail(TAPML_DEVICE_LOST, "the device is gone");
}

Test(driver_checks, a_lost_device_is_no_wrong_driver)
{
    struct backend_vt vt = backend_forward_vt;
    struct backend_wrapper lost = {.backend = {.vt = &vt}, .inner = backend};
    struct step_row *steps = NULL;
    int wrong = -1;

    vt.wait = lose;
    place.backend = &lost.backend;
    cr_expect_eq(driver_checks_make(&(struct driver_checks_options){.store = store,
                                                                    .registry = plugins.registry,
                                                                    .place = &place,
                                                                    .dir = scratch.folder,
                                                                    .config = "run.ini",
                                                                    .arguments = "",
                                                                    .io_bundles = &bundle_count},
                                    DRIVER_CHECKS_BEGIN, &wrong),
                 TAPML_DEVICE_LOST);
    cr_expect_eq(wrong, -1);
    cr_expect_eq(list_steps(&steps), 0);
}
