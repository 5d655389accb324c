// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plugin_fixture.h"

#include "harness/scratch.h"

void plugin_fixture_open(struct plugin_fixture *plugins)
{
    char program[SCRATCH_PATH * 2];
    snprintf(program, sizeof(program), "%s", scratch_join("TAPML_TEST_BUILD", "tapml-host"));
    cr_assert_eq(pool_create(2, &plugins->pool), TAPML_OK, "%s", status_message());
    const struct registry_options options = {.program = program, .pool = plugins->pool};
    cr_assert_eq(registry_create(&options, &plugins->registry), TAPML_OK, "%s", status_message());
}

void plugin_fixture_close(struct plugin_fixture *plugins)
{
    registry_destroy(plugins->registry);
    pool_destroy(plugins->pool);
}

struct backend *plugin_fixture_backend(struct plugin_fixture *plugins, const char *name)
{
    struct backend *backend = NULL;
    const tapml_status status = registry_open(plugins->registry, name, &backend);
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    return backend;
}

struct backend *plugin_fixture_backend_or_skip(struct plugin_fixture *plugins, const char *name)
{
    struct backend *backend = NULL;
    const char *required = getenv("TAPML_REQUIRE");
    const tapml_status status = registry_open(plugins->registry, name, &backend);
    const int is_missing = status == TAPML_NOT_FOUND || status == TAPML_UNAVAILABLE;
    if (is_missing && !(required && strstr(required, name))) {
        cr_skip_test("%s", status_message());
    }
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    return backend;
}

struct model *plugin_fixture_model(struct plugin_fixture *plugins, const char *folder)
{
    char path[SCRATCH_PATH * 2];
    struct model *model = NULL;
    snprintf(path, sizeof(path), "%s", scratch_source(folder));
    const struct model_options options = {.folder = path};
    const tapml_status status = model_open(plugins->registry, &options, &model);
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    return model;
}
