// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/device_tuning.h"

#include "base/hash.h"
#include "base/text.h"
#include "device/knobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const tapml_tuning *device_tuning_find(tapml_object *object)
{
    const tapml_tuning *tuning = object->vt->interface_of(object, TAPML_TUNING);
    return TAPML_HAS_FN(tapml_tuning, tuning, take) && tuning->knobs && tuning->allows ? tuning
                                                                                       : NULL;
}

static tapml_status copy_knob(const struct device *device,
                              const tapml_knob *from,
                              struct arena *arena,
                              struct knob *out_knob)
{
    if (!TAPML_HAS(tapml_knob, from, chosen) || !from->name || !from->values) {
        return status_fail(TAPML_ABI_MISMATCH, "%s: a knob is described by too short a struct",
                           device->info.component);
    }
    const uint32_t count =
        from->n_values <= TAPML_TUNING_VALUES_MAX ? from->n_values : TAPML_TUNING_VALUES_MAX + 1;
    int64_t *values = arena_array(arena, (size_t)count + 1, sizeof(*values));
    *out_knob = (struct knob){.name = arena_text(arena, from->name),
                              .about = arena_text(arena, from->about ? from->about : ""),
                              .values = values,
                              .count = count,
                              .chosen = from->chosen};
    if (!values || !out_knob->name || !out_knob->about) {
        return status_no_memory();
    }
    memcpy(values, from->values, (count <= TAPML_TUNING_VALUES_MAX ? count : 0) * sizeof(*values));
    return TAPML_OK;
}

static tapml_status copy_space(const struct device *device,
                               const tapml_knobs *from,
                               struct arena *arena,
                               struct knob_space *space)
{
    if (from->n_knobs == 0) {
        return TAPML_OK;
    }
    if (!from->knobs || from->n_knobs > TAPML_TUNING_KNOBS_MAX) {
        return status_fail(TAPML_INVALID, "%s: %u knobs, expected at most %u",
                           device->info.component, from->n_knobs, TAPML_TUNING_KNOBS_MAX);
    }
    memcpy(space->shape_class, from->shape_class, sizeof(space->shape_class));
    space->shape_class[sizeof(space->shape_class) - 1] = '\0';
    space->knobs = arena_array(arena, from->n_knobs, sizeof(*space->knobs));
    if (!space->knobs) {
        return status_no_memory();
    }
    for (; space->count < from->n_knobs; space->count++) {
        TAPML_TRY(copy_knob(device, from->knobs[space->count], arena, &space->knobs[space->count]));
    }
    return knobs_check(space);
}

// Asks of every combination whether it is legal.
static tapml_status ask_legal(struct device *device,
                              const struct device_op *op,
                              const tapml_value *args,
                              struct knob_space *space)
{
    uint32_t places[TAPML_TUNING_KNOBS_MAX] = {0};
    int64_t values[TAPML_TUNING_KNOBS_MAX] = {0};
    for (uint32_t number = 0; number < space->size; number++) {
        uint32_t is_legal = 0;
        knobs_places(space, number, places);
        for (uint32_t i = 0; i < space->count; i++) {
            values[i] = space->knobs[i].values[places[i]];
        }
        TAPML_TRY(device_state_begin(device));
        const tapml_status status =
            device->tuning->allows(device->device, &device->call, op->frame.op, args,
                                   op->frame.op->n_params, values, &is_legal);
        TAPML_TRY(device_state_finish(device, status, "allows of tuning"));
        space->legal[number / 8] |= (unsigned char)((is_legal != 0) << number % 8);
    }
    return knobs_check_legal(space);
}

tapml_status device_tuning_ask(struct device *device,
                               const struct device_op *op,
                               const tapml_value *args,
                               struct arena *arena,
                               struct knob_space *out_space)
{
    tapml_knobs answer = {.hdr = TAPML_HDR(tapml_knobs)};
    struct knob_space space = {.count = 0};
    TAPML_TRY(device_state_begin(device));
    tapml_status status = device->tuning->knobs(device->device, &device->call, op->frame.op, args,
                                                op->frame.op->n_params, &answer);
    TAPML_TRY(device_state_finish(device, status, "knobs of tuning"));
    status = copy_space(device, &answer, arena, &space);
    if (status == TAPML_OK && space.count > 0) {
        space.legal = arena_array(arena, space.size / 8 + 1, 1);
        status = space.legal ? ask_legal(device, op, args, &space) : status_no_memory();
    }
    if (status != TAPML_OK) {
        return status_explain(status, "%s: the knobs of '%s'", device->info.component,
                              op->frame.op->name);
    }
    *out_space = space;
    return TAPML_OK;
}

// Of a setting, in any order of its knobs: sums do not depend on it.
static uint64_t hash_setting(const tapml_setting *setting)
{
    // That a class was given back counts, too.
    uint64_t sum = hash_bytes(setting->shape_class, strlen(setting->shape_class)).low | 1;
    for (uint32_t i = 0; i < setting->n_values; i++) {
        struct text text;
        text_init(&text);
        text_format(&text, "%s %s=%" PRId64, setting->shape_class, setting->names[i],
                    setting->values[i]);
        sum += hash_bytes(text.data, text.length).low;
        text_release(&text);
    }
    return sum;
}

tapml_status
device_tuning_take(struct device *device, struct device_op *op, const tapml_setting *setting)
{
    TAPML_TRY(device_state_begin(device));
    const tapml_status status =
        device->tuning->take(device->device, &device->call, op->frame.op, setting);
    TAPML_TRY(device_state_finish(device, status, "take of tuning"));
    op->tuned += hash_setting(setting);
    return TAPML_OK;
}

const char *device_tuning_identity(struct device_op *op, const char *digest)
{
    (void)snprintf(op->tuned_identity, sizeof(op->tuned_identity), "%s+%016" PRIx64, digest,
                   op->tuned);
    return op->tuned_identity;
}
