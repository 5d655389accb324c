// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "harness/scratch.h"
#include "run/trial_store.h"
#include "store/store.h"

#include <stdlib.h>

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(trial_store, .init = begin, .fini = end);

Test(trial_store, it_is_in_the_cache_of_the_user_unless_it_is_named)
{
    struct store *store = NULL;

    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    cr_assert_eq(trial_store_open(NULL, &store), TAPML_OK, "%s", status_message());
    store_close(store);
    cr_expect(file_exists(scratch_path(&scratch, "tapml/rank.tapmlrun")));
    cr_assert_eq(trial_store_open(scratch_path(&scratch, "own.tapmlrun"), &store), TAPML_OK);
    store_close(store);
    cr_expect(file_exists(scratch_path(&scratch, "own.tapmlrun")));
}

Test(trial_store, without_a_cache_it_has_to_be_named)
{
    struct store *store = NULL;

    cr_assert_eq(unsetenv("XDG_CACHE_HOME"), 0);
    cr_assert_eq(unsetenv("HOME"), 0);
    cr_expect_eq(trial_store_open(NULL, &store), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "give --store FILE"));
}
