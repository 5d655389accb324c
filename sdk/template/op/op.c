// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The op of sample.opdef on a device of ordinary memory (<tapml/memory/backend.h>). A GPU has it as
// a kernel of its own.
#include "note.h"
#include "ops.h"

#include <tapml/memory/object.h>
#include <tapml/plugin.h>

#include <stdio.h>

// Set to 1 when `compute` computes: until then the op is refused.
enum { IS_WRITTEN = 0 };

// The arguments are those of the parameters, in their order; memory_at finds the first element.
static tapml_status compute(ORG_EXAMPLE_SAMPLE_PARAMS)
{
    return memory_fail(memory_object_of(queue), call, TAPML_UNIMPLEMENTED, "it is not written");
}

static const tapml_op_impl impl = TAPML_IMPL(org_example_sample, compute);
static const tapml_op_impl *const impls[] = {&impl};

static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    *out_list = impls;
    *out_count = 1;
    return TAPML_OK;
}

static tapml_status supports(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer)
{
    answer->grade = IS_WRITTEN ? TAPML_SUPPORT_YES : TAPML_SUPPORT_NO;
    if (!IS_WRITTEN) {
        (void)snprintf(answer->reason, sizeof(answer->reason), "'%s' is not written", op->name);
    }
    return TAPML_OK;
}

static const tapml_memory_type memory = {
    .hdr = TAPML_HDR(tapml_memory_type),
    .traits = TAPML_MEMORY_DEVICE_LOCAL | TAPML_MEMORY_HOST_VISIBLE,
    .align = MEMORY_OBJECT_ALIGN,
    .max_bytes = UINT64_MAX,
};
static const tapml_device_info info = {
    .hdr = TAPML_HDR(tapml_device_info),
    .id = "host",
    .name = "ordinary memory",
    .traits = TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_DETERMINISTIC,
    .n_memory_types = 1,
    .memory_types = (const tapml_memory_type *const[]){&memory},
};
static const struct memory_component devices = {
    .count = 1,
    .infos = (const tapml_device_info *const[]){&info},
    .devices = (const void *const[]){&info}, // Not used: the only device knows all.
    .ops = ops,
    .supports = supports,
};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    return memory_backend_create(host, call, &devices, 0, out_root);
}

static const tapml_component sample = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_BACKEND,
    .id = "sample",
    .title = "Sample: an op of one's own",
    .create = create,
};

TAPML_PLUGIN("org.example.sample", "0.1.0", "Example", "Apache-2.0", &sample)
