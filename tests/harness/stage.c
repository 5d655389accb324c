// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/stage.h"

#include "harness/scratch.h"

void stage_open(struct stage *stage)
{
    char program[SCRATCH_PATH * 2];
    snprintf(program, sizeof(program), "%s", scratch_join("TAPML_TEST_BUILD", "tapml-host"));
    cr_assert_eq(pool_create(2, &stage->pool), TAPML_OK, "%s", status_message());
    const struct registry_options options = {.program = program, .pool = stage->pool};
    cr_assert_eq(registry_create(&options, &stage->registry), TAPML_OK, "%s", status_message());
}

void stage_close(struct stage *stage)
{
    registry_destroy(stage->registry);
    pool_destroy(stage->pool);
}

struct backend *stage_backend(struct stage *stage, const char *name)
{
    struct backend *backend = NULL;
    const tapml_status status = registry_open(stage->registry, name, &backend);
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    return backend;
}

struct backend *stage_backend_or_skip(struct stage *stage, const char *name)
{
    struct backend *backend = NULL;
    const char *required = getenv("TAPML_REQUIRE");
    const tapml_status status = registry_open(stage->registry, name, &backend);
    const int is_missing = status == TAPML_NOT_FOUND || status == TAPML_UNAVAILABLE;
    if (is_missing && !(required && strstr(required, name))) {
        cr_skip_test("%s", status_message());
    }
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    return backend;
}

struct model *stage_model(struct stage *stage, const char *folder)
{
    char path[SCRATCH_PATH * 2];
    struct model *model = NULL;
    snprintf(path, sizeof(path), "%s", scratch_source(folder));
    const struct model_options options = {.folder = path};
    const tapml_status status = model_open(stage->registry, &options, &model);
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    return model;
}
