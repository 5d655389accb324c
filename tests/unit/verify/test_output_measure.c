// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/schemas.h"
#include "judged_store.h"
#include "verify/calibrator.h"
#include "verify/output_measure.h"

TestSuite(output_measure, .init = judged_store_begin, .fini = judged_store_end, .timeout = 60);

Test(output_measure, errors_and_limits_of_an_output)
{
    const struct verdict_options options = options_for(exact);
    struct cases_silu made;
    struct calibrator *calibrator = NULL;
    struct replay *replay = NULL;
    struct output_error error;
    struct arena *arena = arena_create();
    cases_make_silu(&made, "s", 0);
    made.y[4] += 0.5f;
    struct examination examination = {.item = &made.item, .schema = schema_of(&tapml_silu)};
    MUST(calibrator_create(plugins.registry, NULL, exact, &calibrator));
    MUST(replay_create(exact, NULL, &replay));
    MUST(replay_run(replay, &made.item, examination.schema, 0, &examination.result));
    MUST(output_measure_all(&(struct output_measure){&options, calibrator}, &examination, arena,
                            &error));
    cr_expect_str_eq(error.param, "y");
    cr_expect_str_eq(error.place, "1, 1");
    cr_expect_not(error.is_equal);
    cr_expect_float_eq(error.expected - error.computed, 0.5, 1e-5);
    cr_expect_gt(error.ulp, examination.limits[0].ulp);
    cr_expect_null(output_measure_argument(&made.item, "z"));
    cr_expect_eq(output_measure_argument(&made.item, "y"), &made.arguments[1]);
    replay_destroy(replay);
    calibrator_destroy(calibrator);
    arena_destroy(arena);
}
