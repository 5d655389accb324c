// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "config/device_pool.h"
#include "config/run_config.h"
#include "run_ini.h"

#define PHONES "[pool.phones]\nurls = tapml://one:7000  tapml://two:7000\n"

static void expect_refused(const char *text, const char *sentence)
{
    struct run_config config;

    cr_assert_eq(load(text, &config), TAPML_INVALID, "%s", text);
    cr_expect_not_null(strstr(status_message(), sentence), "'%s' is not in: %s", sentence,
                       status_message());
}

Test(device_pool, a_target_has_the_first_member_and_may_have_the_others)
{
    struct run_config config;

    cr_assert_eq(load(WHOLE "pool = phones\nshare = split\n" PHONES, &config), TAPML_OK, "%s",
                 status_message());
    const struct device_pool *pool = run_config_pool(&config, 0);

    cr_assert_not_null(pool);
    cr_expect_eq(pool->count, 2u);
    cr_expect(config.targets[0].is_split);
    cr_expect_str_eq(config.targets[0].isolation.url, "tapml://one:7000");
    const struct place_settings second = device_pool_member(pool, &config.targets[0], 1);

    cr_expect_str_eq(second.isolation.url, "tapml://two:7000");
    cr_expect_str_eq(second.name, "gpu");
    cr_expect_str_eq(second.backend, "x");
    run_config_release(&config);
}

Test(device_pool, members_may_be_processes_of_one_device)
{
    struct run_config config;

    cr_assert_eq(load(WHOLE "pool = here\nshare = split\n[pool.here]\nprocesses = 3\n", &config),
                 TAPML_OK, "%s", status_message());
    cr_expect_eq(run_config_pool(&config, 0)->count, 3u);
    cr_expect_null(config.targets[0].isolation.url);
    run_config_release(&config);
    cr_assert_eq(load(WHOLE, &config), TAPML_OK);
    cr_expect_null(run_config_pool(&config, 0));
    run_config_release(&config);
}

Test(device_pool, what_is_wrong_is_named)
{
    expect_refused(WHOLE "pool = phone\n" PHONES,
                   "expected the NAME of a section [pool.NAME], found 'phone'");
    expect_refused(WHOLE "pool = phones\nurl = tapml://x:1\n" PHONES, "expected no 'url'");
    expect_refused(WHOLE "pool = phones\nlisten = 0.0.0.0:1\n" PHONES, "and no 'listen' beside it");
    expect_refused(WHOLE "share = split\n", "expected 'pool' beside it");
    expect_refused(WHOLE "pool = here\n[pool.here]\nprocesses = 2\n",
                   "expected share = split: [pool.here] has processes of one device");
    expect_refused(WHOLE "pool = here\n[pool.here]\nprocesses = 17\n", "from 0 to 16");
    expect_refused(WHOLE "pool = p\n[pool.p]\n", "expected one of 'urls' and 'processes'");
    expect_refused(WHOLE "pool = p\n[pool.p]\nurls = tapml://a:1\nprocesses = 2\n", "found both");
    expect_refused(WHOLE "pool = p\n[pool.p]\nurls = tapml://a:1 tapml://a:1\n",
                   "expected each machine once, found 'tapml://a:1' twice");
    expect_refused(WHOLE "pool = p\n[pool.p]\nurls = http://a:1\n", "tapml://HOST:PORT");
    expect_refused(WHOLE "pool = a b\n[pool.a b]\nprocesses = 2\n", "cannot be the name of a pool");
    expect_refused(WHOLE "pool = phones\nshare = split\n" PHONES "[select]\nbudget = 10\n",
                   "expected no [select] beside it");
    expect_refused(WHOLE "[pool.p]\nprocess = 2\n", "did you mean 'processes'?");
}
