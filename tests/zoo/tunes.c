// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its silu can be tuned (docs/tuning.md): what it chooses by itself is slow, one setting is faster,
// and one is the fastest and wrong. Its settings are those of the process.
#include <tapml/draft/tuning.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ZOO_SLOW = 1, ZOO_FAST, ZOO_WRONG, ZOO_ILLEGAL, ZOO_TUNED_MAX = 16 };

static struct {
    char shape_class[TAPML_TUNING_CLASS_BYTES];
    int64_t speed;
} zoo_tuned[ZOO_TUNED_MAX];
static unsigned zoo_tuned_count;
static int64_t zoo_speed;

// Classes are by elements, to the next power of two.
static void zoo_print_class(const tapml_tensor *x, char out_class[TAPML_TUNING_CLASS_BYTES])
{
    long long elements = 1, above = 1;
    for (uint32_t axis = 0; axis < x->rank; ++axis) {
        elements *= x->shape[axis];
    }
    while (above < elements) {
        above *= 2;
    }
    snprintf(out_class, TAPML_TUNING_CLASS_BYTES, "n=%lld", above);
}

static int64_t zoo_find_speed(const char *shape_class)
{
    int64_t speed = ZOO_SLOW;
    for (unsigned i = 0; i < zoo_tuned_count; ++i) {
        if (strcmp(zoo_tuned[i].shape_class, shape_class) == 0) {
            return zoo_tuned[i].speed;
        }
        speed = strcmp(zoo_tuned[i].shape_class, TAPML_TUNING_ALL_CLASSES) == 0 ? zoo_tuned[i].speed
                                                                                : speed;
    }
    return speed;
}

static void zoo_begin_silu(const tapml_tensor *x)
{
    const struct timespec slow = {.tv_nsec = 6000000}, fast = {.tv_nsec = 1500000};
    char shape_class[TAPML_TUNING_CLASS_BYTES];
    zoo_print_class(x, shape_class);
    zoo_speed = zoo_find_speed(shape_class);
    if (zoo_speed != ZOO_WRONG) {
        nanosleep(zoo_speed == ZOO_FAST ? &fast : &slow, NULL);
    }
}

#define ZOO_OP_DEED()      zoo_begin_silu(x)
#define ZOO_SILU(value)    ((value) / (1.0 + exp(-(value))) * (zoo_speed == ZOO_WRONG ? 1.01 : 1.0))
#define ZOO_INTERFACE(id_) (strcmp(id_, TAPML_TUNING) == 0 ? (const void *)&zoo_tuning : NULL)

static tapml_status zoo_knobs(tapml_object *device,
                              tapml_call *call,
                              const tapml_op *op,
                              const tapml_value *args,
                              uint32_t n_args,
                              tapml_knobs *answer)
{
    static const int64_t speeds[] = {ZOO_SLOW, ZOO_FAST, ZOO_WRONG, ZOO_ILLEGAL}, twice[] = {1, 2};
    static const tapml_knob speed = {
        TAPML_HDR(tapml_knob), "speed", "how long it sleeps", speeds, 4, 0};
    static const tapml_knob nothing = {
        TAPML_HDR(tapml_knob), "nothing", "of no effect", twice, 2, 0};
    static const tapml_knob *const list[] = {&speed, &nothing};
    (void)device;
    (void)call;
    (void)n_args;
    if (strcmp(op->name, "tapml.silu") == 0) {
        zoo_print_class(args[0].u.p, answer->shape_class);
        answer->knobs = list;
        answer->n_knobs = 2;
    }
    return TAPML_OK;
}

static tapml_status zoo_allows(tapml_object *device,
                               tapml_call *call,
                               const tapml_op *op,
                               const tapml_value *args,
                               uint32_t n_args,
                               const int64_t *values,
                               uint32_t *out_is_legal)
{
    (void)device;
    (void)call;
    (void)op;
    (void)args;
    (void)n_args;
    *out_is_legal = values[0] != ZOO_ILLEGAL;
    return TAPML_OK;
}

static tapml_status
zoo_take(tapml_object *device, tapml_call *call, const tapml_op *op, const tapml_setting *setting)
{
    (void)device;
    (void)call;
    (void)op;
    if (setting->n_values == 0) {
        zoo_tuned_count = 0;
        return TAPML_OK;
    }
    if (zoo_tuned_count == ZOO_TUNED_MAX || setting->n_values != 2 ||
        strcmp(setting->names[0], "speed") != 0) {
        return TAPML_INVALID;
    }
    snprintf(zoo_tuned[zoo_tuned_count].shape_class, TAPML_TUNING_CLASS_BYTES, "%s",
             setting->shape_class);
    zoo_tuned[zoo_tuned_count++].speed = setting->values[0];
    return TAPML_OK;
}

static const tapml_tuning zoo_tuning = {TAPML_HDR(tapml_tuning), zoo_knobs, zoo_allows, zoo_take};

#include "zoo.h"
