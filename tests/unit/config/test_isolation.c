// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../plugin/zoo_folder.h"
#include "base/alloc.h"
#include "base/shared.h"
#include "config/hangs.h"
#include "config/isolation.h"
#include "harness/calls.h"
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
        &(struct place_isolation){.mode = PLACE_ISOLATION_ALWAYS, .deadline_s = 60}, name,
        out_backend);
}

Test(isolation, knows_its_words)
{
    enum place_isolation_mode mode = PLACE_ISOLATION_NEVER;

    cr_assert(isolation_parse("always", &mode));
    cr_assert_eq(mode, PLACE_ISOLATION_ALWAYS);
    cr_assert(isolation_parse("loopback", &mode));
    cr_assert_eq(mode, PLACE_ISOLATION_LOOPBACK);
    cr_assert(isolation_parse("never", &mode));
    cr_assert_not(isolation_parse("sometimes", &mode));
}

Test(isolation, opens_a_device_in_a_worker)
{
    struct backend *backend = NULL;

    open_registry("good");
    cr_assert_eq(open_in_worker("good:first", &backend), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(backend_info(backend)->device, "first");
    cr_assert(backend_has_op(
        backend, catalogue_find(registry_catalogue(registry), "org.example.scale", 1)->op));
    cr_assert_eq(client_crash_count(backend), 0);
    backend_release(backend);
}

// Ends the worker, by an op of the plugin.
static void crash(struct backend *backend, tapml_object *x, tapml_object *y)
{
    static const int64_t four[] = {4};
    const tapml_tensor from = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = four, .buffer = x};
    const tapml_tensor to = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = four, .buffer = y};
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &from},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &to}};
    const struct backend_call call = {
        .op = catalogue_find(registry_catalogue(registry), "tapml.silu", 1)->op, .args = args};

    cr_assert_not_null(call.op);
    cr_assert_eq(calls_make(backend, &call), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_wait(backend), TAPML_INTERNAL);
}

// What a worker sees of a shared buffer: copied on its side, then read here.
static void expect_numbers(struct backend *backend,
                           tapml_object *target,
                           const struct shared_span *span,
                           unsigned char number)
{
    static unsigned char found[1 << 14];

    memset(span->memory, number, span->bytes);
    cr_assert_eq(backend_fill(backend, target, 0, 4, 0), TAPML_OK);
    cr_assert_eq(backend_write(backend, target, 0, span->memory, span->bytes), TAPML_OK);
    cr_assert_eq(backend_wait(backend), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_read(backend, target, 0, found, span->bytes), TAPML_OK);
    cr_assert_eq(backend_wait(backend), TAPML_OK, "%s", status_message());
    cr_assert_eq(found[0], number);
    cr_assert_eq(found[span->bytes - 1], number);
}

// The worker ends with memory that is shared with it, and with buffers that lie in it.
static void share_again(const char *name)
{
    struct backend *backend = NULL;
    struct shared *shared = NULL;
    struct shared_span span;
    tapml_object *wrapped = NULL, *target = NULL;

    open_registry("crashes_in_op");
    cr_assert_eq(open_in_worker(name, &backend), TAPML_OK, "%s", status_message());
    cr_assert_eq(shared_create(SHARED_READ_ONLY, &shared), TAPML_OK);
    cr_assert_eq(shared_take(shared, 1 << 14, &span), TAPML_OK);
    const struct backend_share share = {shared_memory(shared, 0), shared_bytes(shared, 0),
                                        shared_descriptor(shared, 0)};
    cr_assert_eq(backend_share(backend, &share), TAPML_OK);
    cr_assert_eq(backend_buffer_new(backend, span.bytes, &target), TAPML_OK);
    if (backend_info(backend)->borrowing == BACKEND_BORROWS_BUFFERS) {
        cr_assert_eq(
            backend_buffer_wrap(backend, span.memory, span.bytes, TAPML_ACCESS_READ, &wrapped),
            TAPML_OK, "%s", status_message());
    }
    expect_numbers(backend, target, &span, 1);
    crash(backend, wrapped ? wrapped : target, target);
    cr_assert_eq(client_crash_count(backend), 1);
    expect_numbers(backend, target, &span, 2);
    crash(backend, wrapped ? wrapped : target, target);
    cr_assert_eq(client_crash_count(backend), 2, "the call came so far as to crash");
    backend_buffer_free(backend, wrapped);
    backend_buffer_free(backend, target);
    backend_unshare(backend, span.memory);
    backend_release(backend);
    shared_destroy(shared);
}

Test(isolation, shares_again_with_a_worker_of_host_memory_that_was_started_again)
{
    share_again("crashes_in_op:first");
}

Test(isolation, shares_again_with_a_workers_device_that_was_started_again)
{
    share_again("crashes_in_op:0000:02/b");
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

// A file that can be run, `name` in the scratch folder.
static void put_program(struct scratch *scratch, const char *name)
{
    cr_assert_eq(chmod(scratch_text(scratch, name, "#!/bin/sh\n"), 0755), 0);
}

Test(isolation, finds_the_worker_where_it_is_installed)
{
    static const char *const folders[] = {"bin", "libexec", "libexec/tapml", "libexec/tapml/1"};
    struct scratch scratch;
    char *path = NULL;

    scratch_make(&scratch);
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        cr_assert_eq(mkdir(scratch_path(&scratch, folders[i]), 0755), 0);
    }
    put_program(&scratch, "bin/tapml-host");
    (void)snprintf(program, sizeof(program), "%s", scratch.path);
    put_program(&scratch, "bin/tapml-worker");
    cr_assert_eq(isolation_find_worker(program, &path), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(path, scratch_path(&scratch, "bin/tapml-worker"));
    alloc_free(path);
    put_program(&scratch, "libexec/tapml/1/tapml-worker");
    cr_assert_eq(isolation_find_worker(program, &path), TAPML_OK, "%s", status_message());
    cr_assert_not_null(strstr(path, "/bin/../libexec/tapml/1/tapml-worker"), "%s", path);
    alloc_free(path);
    scratch_remove(&scratch);
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

Test(isolation, what_is_known_to_hang_is_not_opened)
{
    struct scratch scratch;
    struct backend *backend = NULL;

    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    open_registry("good");
    hangs_note(registry_location_at(registry, 0).build_id, "good");
    cr_assert_eq(open_in_worker("good:first", &backend), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "the component 'good' of 'org.example.good' is "
                                                "probe-failed: its probe hung 0 minutes ago"),
                       "%s", status_message());
    hangs_forget();
    cr_assert_eq(open_in_worker("good:first", &backend), TAPML_OK, "%s", status_message());
    backend_release(backend);
    scratch_remove(&scratch);
}
