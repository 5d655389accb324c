// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend on another machine, and the same one in this process: what tests of this layer call.
#pragma once

#include "base/arena.h"
#include "harness/calls.h"
#include "harness/far_machine.h"
#include "link/client.h"
#include "link/far_side.h"

#include <tapml/ops.h>

static const uint64_t second_ns = 1000000000;

enum { FAR_SETTINGS = 7 };

struct far_backend {
    struct message_setting settings[FAR_SETTINGS];
    struct registry *registry;
    struct backend *near;
    struct channel *channel; // Belongs to `far`.
    struct backend *far;
    struct arena *arena;
    uint64_t deadline_ns; // Of an answer; 0: 20 s.
};

static inline tapml_status far_backend_try(struct far_backend *both,
                                           struct far_machine *machine,
                                           uint64_t patience_ns,
                                           const char *fault)
{
    const struct message_setting settings[FAR_SETTINGS] = {{"worker", "backend", "reference:f32"},
                                                           {"fault.0", "op", "tapml.silu"},
                                                           {"fault.0", "instance", "*"},
                                                           {"fault.0", "kind", fault},
                                                           {"fault.0", "from-call", "3"},
                                                           {"fault.0", "probability", "1"},
                                                           {"fault.0", "seed", "1"}};

    memcpy(both->settings, settings, sizeof(settings)); // They are asked for again.
    PAIRED_MUST(
        registry_create(&(struct registry_options){.program = machine->program}, &both->registry));
    PAIRED_MUST(registry_open(both->registry, "reference:f32", &both->near));
    both->arena = arena_create();
    both->channel = far_machine_channel(machine, patience_ns);
    return client_create(
        &(struct far_side_options){.name = "the far one",
                                   .channel = both->channel,
                                   .settings = both->settings,
                                   .setting_count = fault != NULL ? FAR_SETTINGS : 1,
                                   .catalogue = registry_catalogue(both->registry),
                                   .arena = both->arena,
                                   .deadline_ns =
                                       both->deadline_ns > 0 ? both->deadline_ns : 20 * second_ns},
        &both->far);
}

static inline void far_backend_open(struct far_backend *both, struct far_machine *machine)
{
    PAIRED_MUST(far_backend_try(both, machine, 20 * second_ns, NULL));
}

static inline void far_backend_close(struct far_backend *both)
{
    backend_release(both->far);
    backend_release(both->near);
    registry_destroy(both->registry);
    arena_destroy(both->arena);
    *both = (struct far_backend){.deadline_ns = 0};
}

static inline tapml_object *
far_backend_buffer(struct backend *backend, const float *values, size_t count)
{
    tapml_object *buffer = NULL;

    PAIRED_MUST(backend_buffer_new(backend, count * sizeof(*values), &buffer));
    PAIRED_MUST(backend_write(backend, buffer, 0, values, count * sizeof(*values)));
    return buffer;
}

// y = silu(x), or with `b` y = x + b, over `count` values.
static inline tapml_status far_backend_call(
    struct backend *backend, tapml_object *x, tapml_object *b, tapml_object *y, size_t count)
{
    const int64_t shape[] = {(int64_t)count};
    tapml_tensor tensors[3];
    tapml_object *const buffers[3] = {x, y, b};

    for (int i = 0; i < 3; i++) {
        tensors[i] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = TAPML_F32,
                                    .rank = 1,
                                    .shape = shape,
                                    .buffer = buffers[i]};
    }
    const tapml_value silu[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[0]},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensors[1]}};
    const tapml_value add[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[0]},
                               {.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[2]},
                               {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensors[1]}};

    return calls_make(backend, &(struct backend_call){.op = b != NULL ? &tapml_add : &tapml_silu,
                                                      .args = b != NULL ? add : silu,
                                                      .instance = "here"});
}
