// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/ring_check.h"

#include "exec/plan.h"
#include "exec/session.h"
#include "exec/step_count.h"

static tapml_status compile(struct session *session, int64_t chunk)
{
    struct step_count count;

    TAPML_TRY(session_count_steps(session, NULL, chunk, &count));
    return session_count_steps(session, NULL, 1, &count);
}

static tapml_status
check(const struct run_config *config, struct setup *setup, struct place *target)
{
    struct place *const places[] = {setup->places[0], target};
    struct session *session = NULL;
    struct plan *goal = NULL;

    TAPML_TRY(run_config_goal(config, target->settings.name, &goal));
    tapml_status status = session_create(&(struct session_options){.model = setup->model,
                                                                   .places = places,
                                                                   .place_count = 2,
                                                                   .plan = goal,
                                                                   .capacity = config->capacity,
                                                                   .chunk = config->chunk},
                                         &session);

    if (status == TAPML_OK) {
        status = compile(session, config->chunk);
    }
    session_destroy(session);
    plan_destroy(goal);
    return status == TAPML_OK ? TAPML_OK
                              : status_explain(status, "[target.%s] ring", target->settings.name);
}

tapml_status ring_check_run(const struct run_config *config,
                            struct setup *setup,
                            struct place *const *targets,
                            size_t target_count)
{
    for (size_t i = 0; i < target_count; i++) {
        if (targets[i]->lost == NULL && targets[i]->settings.ring.amount != RING_OFF) {
            TAPML_TRY(check(config, setup, targets[i]));
        }
    }
    return TAPML_OK;
}
