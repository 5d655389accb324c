// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/scratch.h"
#include "model/checkpoint.h"
#include "run/case_weights.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct setup setup;

static void begin(void)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    struct options options;

    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    MUST(options_parse(specs, 0, NULL, &options));
    MUST(setup_open(NULL, &options, NULL, &setup));
}

static void end(void)
{
    setup_close(&setup);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(case_weights, .init = begin, .fini = end);

Test(case_weights, are_those_of_the_run_or_those_that_are_given)
{
    struct checkpoint *checkpoint = NULL;

    MUST(metadata_set(store, "model.path", scratch_source("tests/data/models/llama")));
    MUST(case_weights_open(&setup, store, NULL, &checkpoint));
    cr_assert_not_null(checkpoint);
    checkpoint_close(checkpoint);
    MUST(case_weights_open(&setup, store, scratch_source("models/tiny"), &checkpoint));
    cr_assert_not_null(checkpoint);
    checkpoint_close(checkpoint);
}

Test(case_weights, may_be_gone_unless_they_are_asked_for)
{
    struct checkpoint *checkpoint = NULL;

    MUST(case_weights_open(&setup, store, NULL, &checkpoint));
    cr_expect_null(checkpoint);
    MUST(metadata_set(store, "model.path", "/nowhere/model"));
    MUST(case_weights_open(&setup, store, NULL, &checkpoint));
    cr_expect_null(checkpoint);
    cr_expect_neq(case_weights_open(&setup, store, "/nowhere/model", &checkpoint), TAPML_OK);
}
