// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/short_setup.h"
#include "run/target_pool.h"

static struct short_setup run;
static struct place *target;
static size_t member;

// Three members that are the target's own device.
static void begin(void)
{
    short_setup_open(&run);
    run.config.targets[0].isolation.mode = PLACE_ISOLATION_NEVER; // Of units no worker is there.
    run.config.targets[0].pool = "here";
    run.config.pools[0] = (struct device_pool){.name = "here", .processes = 3, .count = 3};
    run.config.pool_count = 1;
    SHORT_MUST(setup_add_place(&run.setup, &run.config.targets[0], &target));
    member = 0;
}

static void end(void)
{
    short_setup_close(&run);
}

TestSuite(target_pool, .init = begin, .fini = end);

static struct target_pool pool(void)
{
    return (struct target_pool){
        .setup = &run.setup, .config = &run.config, .target = target, .io_member = &member};
}

static int replace(void)
{
    const struct target_pool own = pool();
    int is_replaced = 0;

    SHORT_MUST(target_pool_replace(&own, &is_replaced));
    return is_replaced;
}

Test(target_pool, goes_from_member_to_member)
{
    const struct target_pool own = pool();

    SHORT_MUST(target_pool_open(&own));
    (void)status_fail(TAPML_DEVICE_LOST, "it went away");
    cr_assert(replace());
    cr_expect_eq(member, 1u);
    cr_expect_not_null(target->backend);
    cr_assert(replace());
    (void)status_fail(TAPML_DEVICE_LOST, "it went away again");
    cr_assert_not(replace());
    cr_expect_str_eq(status_message(), "it went away again");
}

Test(target_pool, a_device_without_the_labels_is_no_member)
{
    const struct target_pool own = pool();

    run.config.pools[0].labels = "component=reference device=gtx*";
    cr_assert_eq(target_pool_open(&own), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "expected device=gtx*, found '"), "%s",
                       status_message());
    (void)status_fail(TAPML_UNAVAILABLE, "the first failure");
    cr_assert_not(replace());
    cr_expect_str_eq(status_message(), "the first failure");
}

Test(target_pool, a_target_without_one_has_its_device_alone)
{
    const struct target_pool own = pool();

    run.config.targets[0].pool = NULL;
    SHORT_MUST(target_pool_check(&run.config, 0));
    SHORT_MUST(target_pool_open(&own));
    cr_assert_not(replace());
    cr_expect_not_null(target->backend);
}

Test(target_pool, labels_are_checked_before_anything_is_open)
{
    SHORT_MUST(target_pool_check(&run.config, 0));
    run.config.pools[0].labels = "device_nam=x";
    cr_assert_eq(target_pool_check(&run.config, 0), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "[pool.here] labels"), "%s", status_message());
    cr_expect_not_null(strstr(status_message(), "did you mean 'device_name'?"));
}
