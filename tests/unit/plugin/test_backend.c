// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/calls.h"
#include "plugin/backend.h"
#include "zoo_folder.h"

#include <string.h>

// A wrapper that watches one function of a real backend and forwards the rest.
struct counting {
    struct backend_wrapper wrapper;
    int fills;
};

static tapml_status count_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct counting *counting = (struct counting *)backend;
    ++counting->fills;
    return backend_fill(counting->wrapper.inner, buffer, offset, size, pattern);
}

Test(backend, a_wrapper_forwards_what_it_does_not_watch)
{
    const char *const names[] = {"good", NULL};
    struct ini ini;
    struct backend *inner = NULL;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_open(registry, "good", &inner), TAPML_OK, "%s", status_message());

    struct backend_vt vt = backend_forward_vt;
    vt.fill = count_fill;
    struct counting counting = {.wrapper = {.backend = {&vt}, .inner = inner}};
    struct backend *backend = &counting.wrapper.backend;
    cr_assert_eq(backend_info(backend), backend_info(inner));

    tapml_object *buffer = NULL;
    uint32_t values[4] = {0};
    cr_assert_eq(backend_buffer_new(backend, sizeof(values), &buffer), TAPML_OK);
    cr_assert_eq(backend_fill(backend, buffer, 0, sizeof(values), 0x01020304), TAPML_OK);
    cr_assert_eq(backend_write(backend, buffer, 4, "abcd", 4), TAPML_OK);
    cr_assert_eq(backend_read(backend, buffer, 0, values, sizeof(values)), TAPML_OK);
    cr_assert_eq(backend_flush(backend), TAPML_OK);
    struct backend_point point;
    cr_assert_eq(backend_signal(backend, &point), TAPML_OK);
    cr_assert_eq(point.owner, inner);
    cr_assert_eq(backend_wait_for(backend, point), TAPML_OK);
    cr_assert_eq(backend_queue_wait(backend, point), TAPML_UNIMPLEMENTED);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    cr_assert_eq(counting.fills, 1);
    cr_assert_eq(values[0], 0x01020304);
    cr_assert_eq(memcmp(&values[1], "abcd", 4), 0);
    const void *memory = values;
    cr_assert_eq(backend_map(backend, buffer, 4, 8, &memory), TAPML_OK);
    cr_assert_null(memory, "its plugin does not map");
    backend_buffer_free(backend, buffer);
    backend_buffer_free(backend, NULL);

    tapml_object *wrapped = NULL;
    cr_assert_eq(backend_buffer_wrap(backend, values, 16, TAPML_ACCESS_READ, &wrapped), TAPML_OK);
    backend_buffer_free(backend, wrapped);

    // Ops: the same answers through the wrapper.
    const tapml_op *op = catalogue_find(registry_catalogue(registry), "org.example.scale", 1)->op;
    const tapml_op *add = catalogue_find(registry_catalogue(registry), "tapml.add", 1)->op;
    cr_assert_not_null(op);
    cr_assert_not_null(add);
    cr_assert(backend_has_op(backend, op));
    cr_assert_not(backend_has_op(backend, add));
    tapml_value args[3] = {{0}};
    tapml_support answer;
    const struct backend_call call = {.op = op, .args = args};
    cr_assert_neq(backend_supports(backend, schema_of(op), args, &answer), TAPML_OK);
    cr_assert_eq(backend_supports(backend, schema_of(add), args, &answer), TAPML_OK);
    cr_assert_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_assert_neq(calls_make(backend, &call), TAPML_OK);
    cr_assert_eq(backend_launches(backend), backend_launches(inner));

    // A wrapper borrows: letting it go leaves the inner one open.
    backend_release(backend);
    cr_assert_eq(backend_wait(inner), TAPML_OK);
    backend_release(inner);
    backend_release(NULL);
    registry_destroy(registry);
    ini_release(&ini);
}
