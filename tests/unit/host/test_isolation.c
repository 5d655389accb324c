// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../plugin/zoo_folder.h"
#include "host/isolation.h"
#include "link/client.h"

static struct ini ini;
static struct registry *registry;
static struct arena *arena;
static char program[1024];

static void open_registry(const char *name)
{
    const char *const names[] = {name, NULL};

    registry = zoo_registry(names, NULL, &ini);
    arena = arena_create();
    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
}

static void teardown(void)
{
    registry_destroy(registry);
    ini_release(&ini);
    arena_destroy(arena);
}

TestSuite(isolation, .fini = teardown);

static tapml_status open_in_worker(const char *name, struct backend **out_backend)
{
    return isolation_open(
        &(struct isolation_options){
            .program = program, .registry = registry, .ini = &ini, .threads = 1, .arena = arena},
        &(struct isolation){.mode = ISOLATION_ALWAYS, .deadline_s = 60}, name, out_backend);
}

Test(isolation, knows_its_words)
{
    enum isolation_mode mode = ISOLATION_NEVER;

    cr_assert(isolation_parse("always", &mode));
    cr_assert_eq(mode, ISOLATION_ALWAYS);
    cr_assert(isolation_parse("loopback", &mode));
    cr_assert_eq(mode, ISOLATION_LOOPBACK);
    cr_assert(isolation_parse("never", &mode));
    cr_assert_not(isolation_parse("sometimes", &mode));
}

Test(isolation, opens_a_device_in_a_worker)
{
    struct backend *backend = NULL;

    open_registry("good");
    cr_assert_eq(open_in_worker("good:first", &backend), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(backend_info(backend)->device, "first");
    cr_assert(backend_has_op(backend,
                             catalogue_find(registry_catalogue(registry), "org.example.scale", 1)));
    cr_assert_eq(client_falls(backend), 0);
    backend_release(backend);
}

Test(isolation, says_why_a_worker_opens_nothing)
{
    struct backend *backend = NULL;

    open_registry("good");
    cr_assert_eq(open_in_worker("good:third", &backend), TAPML_NOT_FOUND, "%s", status_message());
    cr_assert_eq(open_in_worker("nobody", &backend), TAPML_NOT_FOUND);
    (void)snprintf(program, sizeof(program), "/nowhere/tapml-host");
    cr_assert_eq(open_in_worker("good:first", &backend), TAPML_UNAVAILABLE, "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "tapml-worker"));
}

Test(isolation, holds_the_manifest_against_the_library)
{
    struct scratch scratch;
    struct backend *backend = NULL;

    open_registry("good");
    registry_destroy(registry);
    scratch_make(&scratch);
    zoo_copy(&scratch, "good", "version = 1.0.0", "version = 2.0.0");
    const char *const files[] = {scratch_path(&scratch, "org.example.good.tapml"), NULL};

    cr_assert_eq(
        registry_create(&(struct registry_options){.files = files, .ini = &ini}, &registry),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(open_in_worker("good:first", &backend), TAPML_UNAVAILABLE, "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "version"), "%s", status_message());
    scratch_remove(&scratch);
}

Test(isolation, probes_in_a_worker)
{
    open_registry("broken_probe");
    cr_assert_eq(isolation_probe_all(program, registry), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_at(registry, 0)->state, REGISTRY_PROBE_FAILED);
    cr_assert_not_null(strstr(registry_at(registry, 0)->sentence, "broken_probe"), "%s",
                       registry_at(registry, 0)->sentence);
}
