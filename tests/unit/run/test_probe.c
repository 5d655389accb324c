// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/short_setup.h"
#include "run/probe.h"

#include <math.h>

struct seen {
    unsigned calls, inputs, outputs;
    tapml_status answer;
};

static int wants(void *user, const struct backend_call *call, uint32_t param)
{
    (void)user;
    return strcmp(call->op->name, "tapml.silu") == 0 &&
           (call->args[param].kind == TAPML_P_TENSOR_IN ||
            call->args[param].kind == TAPML_P_TENSOR_OUT);
}

static float silu(float x)
{
    return x / (1 + expf(-x));
}

static tapml_status visit(void *user, const struct probe_call *call)
{
    struct seen *seen = user;
    const float *x = call->arguments[0].before, *y = call->arguments[1].after;

    seen->calls++;
    seen->inputs += x != NULL;
    seen->outputs += y != NULL;
    cr_assert_str_eq(call->op->name, "tapml.silu");
    cr_assert_float_eq(y[0], silu(x[0]), 1e-5f);
    return seen->answer;
}

// Feeds one token to the model under a probe.
static tapml_status feed(struct seen *seen)
{
    struct short_setup run;
    struct probe_options options = {.wants = wants, .visit = visit, .user = seen};
    const struct place_link link = probe_link(&options);
    struct place *probed = NULL;
    struct session *session = NULL;
    struct plan *plan = NULL;

    short_setup_open(&run);
    const struct place *base = run.setup.places[0];

    SHORT_MUST(place_wrap(base, &base->settings, &link, 1, &probed));
    SHORT_MUST(plan_create(&plan));
    SHORT_MUST(session_create(&(struct session_options){.model = run.setup.model,
                                                        .places = &probed,
                                                        .place_count = 1,
                                                        .plan = plan,
                                                        .capacity = 4,
                                                        .chunk = 4},
                              &session));
    SHORT_MUST(session_begin(session, 1));
    const tapml_status status = session_step(session, &(int32_t){1}, 1, NULL, 0);

    session_destroy(session);
    plan_destroy(plan);
    place_destroy(probed);
    short_setup_close(&run);
    return status;
}

Test(probe, it_shows_what_is_wanted_of_every_call)
{
    struct seen seen = {.answer = TAPML_OK};

    cr_assert_eq(feed(&seen), TAPML_OK, "%s", status_message());
    cr_assert_gt(seen.calls, 0u);
    cr_assert(seen.inputs == seen.calls && seen.outputs == seen.calls);
}

Test(probe, the_failure_of_a_visit_is_that_of_the_call)
{
    struct seen seen = {.answer = TAPML_CANCELLED};

    cr_assert_eq(feed(&seen), TAPML_CANCELLED);
    cr_assert_eq(seen.calls, 1u);
}
