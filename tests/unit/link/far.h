// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A device of the zoo's good plugin, behind the link: what its tests call.
#pragma once

#include "../plugin/zoo_folder.h"
#include "harness/calls.h"
#include "link/loopback.h"

struct far {
    struct ini ini;
    struct registry *registry;
    struct backend *near;    // The plugin's device itself,
    struct backend *backend; // and behind the link.
    struct arena *arena;
};

#define FAR_MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// The device "first" is of host memory, "0000:02/b" is not.
static inline void far_open(struct far *far, const char *name)
{
    const char *const names[] = {"good", NULL};

    far->registry = zoo_registry(names, NULL, &far->ini);
    far->arena = arena_create();
    FAR_MUST(registry_open(far->registry, name, &far->near));
    FAR_MUST(
        loopback_create(far->near, registry_catalogue(far->registry), far->arena, &far->backend));
}

static inline void far_close(struct far *far)
{
    backend_release(far->backend);
    backend_release(far->near);
    registry_destroy(far->registry);
    ini_release(&far->ini);
    arena_destroy(far->arena);
}

static inline const tapml_op *far_op(const struct far *far, const char *name)
{
    const struct compiled_op *schema = catalogue_find(registry_catalogue(far->registry), name, 1);

    cr_assert_not_null(schema, "%s", name);
    return schema->op;
}

static inline tapml_object *far_buffer(struct far *far, const void *data, uint64_t size)
{
    tapml_object *buffer = NULL;

    FAR_MUST(backend_buffer_new(far->backend, size, &buffer));
    FAR_MUST(backend_write(far->backend, buffer, 0, data, size));
    return buffer;
}

// A call of org.example.trouble (4 floats from x to y) at an instance.
static inline tapml_status
far_trouble(struct far *far, tapml_object *x, tapml_object *y, int64_t how, const char *instance)
{
    static const int64_t four[] = {4};
    const tapml_tensor from = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = four, .buffer = x};
    const tapml_tensor to = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = four, .buffer = y};
    const tapml_value args[] = {
        {.kind = TAPML_P_TENSOR_IN, .u.p = &from},
        {.kind = TAPML_P_I64, .u.i = how},
        {.kind = TAPML_P_TENSOR_OUT, .u.p = &to},
    };

    return calls_make(far->backend, &(struct backend_call){.op = far_op(far, "org.example.trouble"),
                                                           .args = args,
                                                           .instance = instance});
}
