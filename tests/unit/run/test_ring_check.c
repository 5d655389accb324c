// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/short_setup.h"
#include "run/ring_check.h"

#include <string.h>

static tapml_status check(struct short_setup *run, double share)
{
    run->setup.places[1]->settings.ring =
        (struct ring_settings){.amount = RING_SHARE, .share = share};
    return ring_check_run(&run->config, &run->setup, &run->setup.places[1], 1);
}

Test(ring_check, names_the_key_and_what_is_needed)
{
    struct short_setup run;

    short_setup_open(&run);
    cr_assert_eq(check(&run, 0.01), TAPML_NO_MEMORY);
    cr_expect_eq(strncmp(status_message(), "[target.other] ring: ", 21), 0, "%s", status_message());
    cr_expect_not_null(strstr(status_message(), " on other: its weights take a slot of "));
    cr_expect_not_null(strstr(status_message(), ", expected at least "));
    short_setup_close(&run);
}

Test(ring_check, runs_nothing_where_there_is_room)
{
    struct short_setup run;

    short_setup_open(&run);
    SHORT_MUST(check(&run, 0.9));
    run.setup.places[1]->settings.ring.amount = RING_OFF;
    SHORT_MUST(ring_check_run(&run.config, &run.setup, &run.setup.places[1], 1));
    short_setup_close(&run);
}
