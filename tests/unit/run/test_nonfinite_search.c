// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/short_setup.h"
#include "run/nonfinite_search.h"

// The embedded model as a run, whose weights the test may damage.
struct searched {
    struct short_setup run;
    struct plan *plan;
    struct session_options options;
    struct nonfinite_run again;
};

static const int32_t ids[] = {0, 53, 258};

static void open_searched(struct searched *searched)
{
    short_setup_open(&searched->run);
    SHORT_MUST(plan_create(&searched->plan));
    searched->options = (struct session_options){.model = searched->run.setup.model,
                                                 .places = searched->run.setup.places,
                                                 .place_count = 1,
                                                 .plan = searched->plan,
                                                 .capacity = 8,
                                                 .chunk = 8};
    searched->again =
        (struct nonfinite_run){.session = &searched->options, .ids = ids, .count = 3, .decode = 2};
}

static void close_searched(struct searched *searched)
{
    plan_destroy(searched->plan);
    short_setup_close(&searched->run);
}

Test(nonfinite_search, a_healthy_model_has_none)
{
    struct searched searched;
    struct nonfinite nonfinite;

    open_searched(&searched);
    SHORT_MUST(nonfinite_search(&searched.again, &nonfinite));
    cr_assert_not(nonfinite.is_found);
    cr_assert_str_eq(nonfinite.sentence, "");
    close_searched(&searched);
}

Test(nonfinite_search, a_failure_keeps_its_message)
{
    struct searched searched;

    open_searched(&searched);
    cr_assert_eq(nonfinite_search_explain(TAPML_OK, &searched.again), TAPML_OK);
    (void)status_fail(TAPML_INVALID, "it was so");
    cr_assert_eq(nonfinite_search_explain(TAPML_INVALID, &searched.again), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "it was so");
    (void)status_fail(TAPML_INVALID, "%1000s, and so it ends", "as a compiler wrote:");
    cr_assert_eq(nonfinite_search_explain(TAPML_INVALID, &searched.again), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), ", and so it ends"), "%s", status_message());
    close_searched(&searched);
}
