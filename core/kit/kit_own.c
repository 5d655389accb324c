// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_own.h"

#include "base/alloc.h"
#include "kit/kit_cases.h"
#include "kit/kit_device.h"
#include "kit/kit_subject.h"

#include <tapml/draft/subgraph.h>
#include <tapml/ops.h>

#include <stdio.h>
#include <string.h>

enum { LIMIT_S = 600, NAME_BYTES = 160 };

// -- Which -------------------------------------------------------------------------------------

struct own_op {
    char name[NAME_BYTES];
    uint32_t version;
};

struct own_ops {
    struct own_op *items;
    size_t count, capacity;
};

static int is_of_catalogue(const tapml_op *op)
{
    for (size_t i = 0; tapml_ops[i] != NULL; i++) {
        if (strcmp(tapml_ops[i]->name, op->name) == 0) {
            return 1;
        }
    }
    return 0;
}

static int add_op(struct own_ops *ops, const tapml_op *op, struct kit_result *io_result)
{
    if (!alloc_grow((void **)&ops->items, &ops->capacity, ops->count, sizeof(*ops->items))) {
        kit_result_fail(io_result, "out of memory");
        return 0;
    }
    struct own_op *item = &ops->items[ops->count++];

    (void)snprintf(item->name, sizeof(item->name), "%s", op->name);
    item->version = op->version;
    return 1;
}

// The list lives as long as the device, which is closed before others are opened.
static int
list_ops(const struct kit_subject *subject, struct kit_result *io_result, struct own_ops *out_ops)
{
    struct kit_device device;
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0;

    *out_ops = (struct own_ops){.count = 0};
    int is_listed = kit_device_open(subject, io_result, &device) &&
                    kit_device_expect(&device, io_result, "ops",
                                      device.table->ops(device.device, stand_in_call(device.host),
                                                        &list, &count));

    for (uint32_t i = 0; is_listed && i < count; i++) {
        is_listed = is_of_catalogue(list[i]->op) || add_op(out_ops, list[i]->op, io_result);
    }
    kit_device_close(&device);
    return is_listed;
}

// -- What they come to -------------------------------------------------------------------------

static void conclude(const struct kit_cases *cases, struct kit_result *io_result)
{
    if (cases->wrong > 0) {
        kit_result_fail(io_result, "%zu of %zu cases %s wrong, the first is %s", cases->wrong,
                        cases->judged, cases->wrong == 1 ? "is" : "are", cases->first);
    } else if (cases->judged == 0 && cases->unjudged > 0) {
        kit_result_skip(io_result, "%s", cases->doubt);
    } else if (cases->judged == 0) {
        kit_result_skip(io_result, "it is not supported: %s", cases->refusal);
    } else if (cases->unjudged > 0) {
        kit_result_warn(io_result, "%zu %s not judged, the first is %s", cases->unjudged,
                        cases->unjudged == 1 ? "op is" : "ops are", cases->doubt);
    }
}

static void own_ops_compute(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct own_ops ops;
    struct kit_cases cases = {.setup = NULL};
    int goes_on = list_ops(subject, io_result, &ops);

    if (goes_on && ops.count == 0) {
        kit_result_skip(io_result, "the device has no op of its own");
        goes_on = 0;
    }
    goes_on = goes_on && kit_cases_open(subject, io_result, &cases);
    for (size_t i = 0; goes_on && cases.wrong == 0 && i < ops.count; i++) {
        goes_on =
            kit_cases_judge_op(&cases, &(struct kit_cases_op){.name = ops.items[i].name,
                                                              .version = ops.items[i].version});
    }
    if (goes_on) {
        conclude(&cases, io_result);
    }
    kit_cases_close(&cases);
    alloc_free(ops.items);
}

// -- Groups ------------------------------------------------------------------------------------

static int takes_groups(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;
    int takes = 0;

    if (kit_device_open(subject, io_result, &device)) {
        takes = device.device->vt->interface_of(device.device, TAPML_SUBGRAPH) != NULL;
        if (!takes) {
            kit_result_skip(io_result, "the device has no '%s'", TAPML_SUBGRAPH);
        }
    }
    kit_device_close(&device);
    return takes;
}

// The groups of core/kit/groups, of which the build makes kit_groups.c; ended by NULL.
extern const tapml_op *const kit_ops[];

// Which groups a device takes is its own affair: one that takes none of these is not judged.
static void groups_compute(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_cases cases = {.setup = NULL};
    int goes_on = takes_groups(subject, io_result) && kit_cases_open(subject, io_result, &cases);

    for (size_t i = 0; goes_on && cases.wrong == 0 && kit_ops[i] != NULL; i++) {
        goes_on = kit_cases_judge_op(&cases, &(struct kit_cases_op){.name = kit_ops[i]->name,
                                                                    .version = kit_ops[i]->version,
                                                                    .op = kit_ops[i],
                                                                    .is_group = 1});
    }
    if (goes_on && cases.wrong == 0 && cases.judged > 0) {
        cases.unjudged = 0;
    }
    if (goes_on) {
        conclude(&cases, io_result);
    }
    kit_cases_close(&cases);
}

// -- The table ---------------------------------------------------------------------------------

static const struct kit_check CHECKS[] = {
    {.id = "O-own",
     .level = KIT_NUMERICS,
     .scope = KIT_OF_BACKEND,
     .about = "ops of its own compute their plain form, or what another plugin computes",
     .limit_s = LIMIT_S,
     .run = own_ops_compute},
    {.id = "O-group",
     .level = KIT_NUMERICS,
     .scope = KIT_OF_BACKEND,
     .about = "groups of ops that it takes as one compute what the ops do",
     .limit_s = LIMIT_S,
     .run = groups_compute},
    {.id = NULL},
};

const struct kit_check *kit_own_checks(void)
{
    return CHECKS;
}
