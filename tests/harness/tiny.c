// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/tiny.h"

#include "base/pool.h"
#include "harness/places.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

void tiny_open(struct tiny *tiny)
{
    char program[4096], folder[4096];

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    (void)snprintf(folder, sizeof(folder), "%s/models/tiny", getenv("TAPML_TEST_SOURCE"));
    *tiny = (struct tiny){.pool = NULL};
    MUST(pool_create(0, &tiny->pool));
    MUST(registry_create(&(struct registry_options){.program = program, .pool = tiny->pool},
                         &tiny->registry));
    MUST(model_open(tiny->registry, &(struct model_options){.folder = folder}, &tiny->model));
}

void tiny_close(struct tiny *tiny)
{
    model_close(tiny->model);
    registry_destroy(tiny->registry);
    pool_destroy(tiny->pool);
}

struct backend *tiny_backend(struct tiny *tiny, const char *name)
{
    struct backend *backend = NULL;

    MUST(registry_open(tiny->registry, name, &backend));
    return backend;
}

struct session *
tiny_session(struct tiny *tiny, struct backend *source, struct backend *target, const char *rule)
{
    struct backend *const backends[] = {source, target};
    const char *const names[] = {"source", "target"};
    const uint32_t count = target != NULL ? 2 : 1;
    struct places places;
    struct session *session = NULL;
    struct plan *plan = NULL;

    MUST(plan_create(&plan));
    MUST(plan_add(plan, rule, "test"));
    MUST(session_create(
        &(struct session_options){.model = tiny->model,
                                  .places = places_over(&places, backends, names, count),
                                  .place_count = count,
                                  .plan = plan,
                                  .capacity = 32,
                                  .chunk = 16},
        &session));
    plan_destroy(plan);
    return session;
}
