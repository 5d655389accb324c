// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/status.h"
#include "run/worker_options.h"

#include <criterion/criterion.h>

Test(worker_options, an_option_says_on_which_machine_a_backend_is)
{
    static char url[] = "--url=tapml://box:1", listen[] = "--listen=:7700";
    static char patience[] = "--patience=5";
    static const struct options_spec far[] = {WORKER_FAR_OPTIONS, {NULL, NULL, NULL}};
    struct place_isolation how = {.mode = PLACE_ISOLATION_NEVER, .deadline_s = 30};
    struct options options;

    cr_assert_eq(options_parse(far, 0, NULL, &options), TAPML_OK);
    cr_assert_eq(worker_options_read(&options, &how), TAPML_OK);
    cr_assert_not(place_isolation_is_far(&how));
    cr_assert_eq(how.patience_s, 600);
    cr_assert_eq(options_parse(far, 2, (char *[]){url, patience}, &options), TAPML_OK);
    cr_assert_eq(worker_options_read(&options, &how), TAPML_OK);
    cr_assert_str_eq(how.url, "tapml://box:1");
    cr_assert_eq(how.patience_s, 5);
    // It takes the place of what a run's file says.
    cr_assert_eq(options_parse(far, 1, (char *[]){listen}, &options), TAPML_OK);
    cr_assert_eq(worker_options_read(&options, &how), TAPML_OK);
    cr_assert_null(how.url);
    cr_assert_str_eq(how.listen, ":7700");
    cr_assert(place_isolation_is_far(&how));
    cr_assert_eq(how.patience_s, 5, "as before");
    cr_assert_eq(options_parse(far, 2, (char *[]){url, listen}, &options), TAPML_OK);
    cr_assert_eq(worker_options_read(&options, &how), TAPML_INVALID);
}

Test(worker_options, what_only_a_worker_has_asks_for_one)
{
    static char never[] = "--isolation=never", memory[] = "--memory=64";
    static const struct options_spec specs[] = {{"--isolation", "never|always|loopback", "where"},
                                                WORKER_LIMIT_OPTIONS,
                                                {NULL, NULL, NULL}};
    struct place_isolation how = {.mode = PLACE_ISOLATION_NEVER, .deadline_s = 30};
    struct options options;

    cr_assert_eq(options_parse(specs, 0, NULL, &options), TAPML_OK);
    cr_assert_not(worker_options_have_place(&options));
    cr_assert_eq(options_parse(specs, 1, (char *[]){memory}, &options), TAPML_OK);
    cr_assert(worker_options_have_place(&options));
    cr_assert_eq(worker_options_read(&options, &how), TAPML_OK);
    cr_assert_eq(how.mode, PLACE_ISOLATION_ALWAYS);
    cr_assert_eq(how.memory_mib, 64);
    cr_assert_eq(options_parse(specs, 2, (char *[]){never, memory}, &options), TAPML_OK);
    cr_assert_eq(worker_options_read(&options, &how), TAPML_OK);
    cr_assert_eq(how.mode, PLACE_ISOLATION_NEVER, "it is said");
    never[12] = 'x';
    cr_assert_eq(options_parse(specs, 1, (char *[]){never}, &options), TAPML_OK);
    cr_assert_eq(worker_options_read(&options, &how), TAPML_INVALID);
}
