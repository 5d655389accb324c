// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "foreign.h"

#include <stdio.h>
#include <string.h>

static const tapml_memory_type memory = {
    .hdr = TAPML_HDR(tapml_memory_type),
    .traits = TAPML_MEMORY_DEVICE_LOCAL | TAPML_MEMORY_HOST_VISIBLE,
    .align = MEMORY_OBJECT_ALIGN,
    .max_bytes = UINT64_MAX,
};
static const tapml_memory_type *const memories[] = {&memory};

static const tapml_device_info info = {
    .hdr = TAPML_HDR(tapml_device_info),
    .id = "host",
    .name = "a function in ordinary memory",
    .traits = TAPML_DEVICE_HOST_MEMORY,
    .n_memory_types = 1,
    .memory_types = memories,
};
static const tapml_device_info *const infos[] = {&info};

static struct foreign *foreign_of(tapml_object *object)
{
    struct memory_object *own = memory_object_of(object);

    return (struct foreign *)(void *)(own->root != NULL ? own->root : own)->data;
}

static tapml_status ops(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count)
{
    struct foreign *foreign = foreign_of(device);

    *out_list = foreign->impls;
    *out_count = foreign->impl.fn != NULL ? 1 : 0;
    return TAPML_OK;
}

static tapml_status supports(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer)
{
    const struct foreign *foreign = foreign_of(device);
    const int is_own = foreign->impl.fn != NULL && strcmp(op->name, foreign->impl.op->name) == 0;

    answer->grade = TAPML_SUPPORT_NO;
    if (!is_own) {
        (void)snprintf(answer->reason, sizeof(answer->reason), "the function computes '%s' alone",
                       foreign->impl.fn != NULL ? foreign->impl.op->name : "nothing");
    } else if (n_args == foreign->impl.op->n_params &&
               signature_takes(&foreign->signature, args, answer->reason, sizeof(answer->reason))) {
        answer->grade = TAPML_SUPPORT_YES;
    }
    return TAPML_OK;
}

static const char *digest(tapml_object *device, const tapml_op *op)
{
    return foreign_of(device)->digest;
}

static const tapml_identity identity = {TAPML_HDR(tapml_identity), digest};

static const void *interface_of(tapml_object *device, const char *id)
{
    return strcmp(id, TAPML_IDENTITY) == 0 ? &identity : NULL;
}

static void end(tapml_object *root)
{
    foreign_close(foreign_of(root));
}

// The component and its device are here alone, so that the table of devices has no device of its
// own: it may be anything but NULL.
static const void *const devices[] = {&info};

static const struct memory_component component = {
    .count = 1,
    .infos = infos,
    .devices = devices,
    .ops = ops,
    .supports = supports,
    .interface_of = interface_of,
    .end = end,
};

static tapml_status fail(tapml_object *root, tapml_call *call, const char *problem)
{
    return memory_fail(memory_object_of(root), call, TAPML_INVALID, "%s", problem);
}

static tapml_status
read_options(tapml_object *root, tapml_call *call, struct foreign_options *out_options)
{
    const struct memory_object *own = memory_object_of(root);
    const struct {
        const char *key, **value;
    } texts[] = {{"library", &out_options->library},
                 {"entry", &out_options->entry},
                 {"op", &out_options->op},
                 {"arguments", &out_options->arguments}};
    const char *returns = own->core->option(own->host, "returns");

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        *texts[i].value = own->core->option(own->host, texts[i].key);
        if (*texts[i].value == NULL) {
            return memory_fail(own, call, TAPML_INVALID, "option '%s' is missing", texts[i].key);
        }
    }
    if (returns != NULL && strcmp(returns, "void") != 0 && strcmp(returns, "int") != 0) {
        return memory_fail(own, call, TAPML_INVALID,
                           "option 'returns' is '%.40s', expected void or int", returns);
    }
    out_options->has_status = returns != NULL && strcmp(returns, "int") == 0;
    return TAPML_OK;
}

static tapml_status open_function(tapml_object *root, tapml_call *call)
{
    const struct memory_object *own = memory_object_of(root);
    struct foreign_options options = {.library = NULL};
    char problem[FOREIGN_PROBLEM];

    if (own->core->option(own->host, "library") == NULL) {
        return TAPML_OK;
    }
    const tapml_status status = read_options(root, call, &options);

    if (status != TAPML_OK) {
        return status;
    }
    return foreign_open(foreign_of(root), &options, problem) ? TAPML_OK : fail(root, call, problem);
}

tapml_status device_create(const tapml_host *host, tapml_call *call, tapml_object **out_root)
{
    tapml_object *root = NULL;
    tapml_status status =
        memory_backend_create(host, call, &component, sizeof(struct foreign), &root);

    if (status != TAPML_OK) {
        return status;
    }
    foreign_of(root)->impls[0] = &foreign_of(root)->impl;
    status = open_function(root, call);
    if (status != TAPML_OK) {
        root->vt->release(root);
        return status;
    }
    *out_root = root;
    return TAPML_OK;
}
