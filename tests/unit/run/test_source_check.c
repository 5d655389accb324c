// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/cases.h"
#include "harness/short_setup.h"
#include "run/source_check.h"
#include "store/carved.h"
#include "store/metadata.h"
#include "store/stored_case.h"

static const char FACT[] = "source.code.tapml.silu";

static size_t cases_of(struct store *store)
{
    struct carved_counts counts;

    SHORT_MUST(carved_count(store, &counts));
    return (size_t)counts.cases;
}

static void add_silu(struct store *store, float error)
{
    struct cases_silu made;

    cases_make_silu(&made, "s", 0);
    made.y[4] += error;
    SHORT_MUST(stored_case_add(store, &made.item));
}

Test(source_check, cases_stay_whose_bits_are_the_same)
{
    struct short_setup run;

    short_setup_open(&run);
    SHORT_MUST(source_check_run(run.store, &run.setup));
    cr_assert_not_null(metadata_get(run.store, FACT));
    add_silu(run.store, 0.5f);
    SHORT_MUST(source_check_run(run.store, &run.setup));
    cr_assert_eq(cases_of(run.store), 1, "the code is the same: nothing is run");
    short_setup_close(&run);
}

Test(source_check, cases_go_where_other_code_gives_other_bits)
{
    struct short_setup run;

    short_setup_open(&run);
    add_silu(run.store, 0.5f);
    SHORT_MUST(metadata_set(run.store, FACT, "older"));
    SHORT_MUST(source_check_run(run.store, &run.setup));
    cr_assert_eq(cases_of(run.store), 0);
    cr_assert_str_neq(metadata_get(run.store, FACT), "older");
    short_setup_close(&run);
}
