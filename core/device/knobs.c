// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/knobs.h"

#include <inttypes.h>
#include <string.h>

tapml_status knobs_ask(struct backend *backend,
                       const struct compiled_op *schema,
                       const tapml_value *args,
                       struct arena *arena,
                       struct knob_space *out_space)
{
    *out_space = (struct knob_space){.count = 0};
    return backend->vt->knobs ? backend->vt->knobs(backend, schema, args, arena, out_space)
                              : TAPML_OK;
}

tapml_status knobs_set(struct backend *backend, const char *op, const tapml_setting *setting)
{
    return backend->vt->tune
               ? backend->vt->tune(backend, op, setting)
               : status_fail(TAPML_UNIMPLEMENTED, "%s: there is nothing to choose for '%s'",
                             backend_info(backend)->component, op);
}

static int is_name(const char *name)
{
    const size_t length = name ? strnlen(name, TAPML_TUNING_NAME_BYTES) : 0;
    return length > 0 && length < TAPML_TUNING_NAME_BYTES &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

int knobs_is_class(const char *shape_class)
{
    size_t length = 0;
    while (length < TAPML_TUNING_CLASS_BYTES && shape_class[length] > ' ' &&
           shape_class[length] < 127) {
        length++;
    }
    return length > 0 && length < TAPML_TUNING_CLASS_BYTES && shape_class[length] == '\0';
}

static tapml_status check_knob(const struct knob *knob)
{
    if (!is_name(knob->name) || !knob->about) {
        return status_fail(TAPML_INVALID, "a knob without a name of small letters, digits and '_'");
    }
    if (knob->count == 0 || knob->count > TAPML_TUNING_VALUES_MAX || knob->chosen >= knob->count) {
        return status_fail(TAPML_INVALID,
                           "the knob '%s' has %u values and chooses number %u, expected 1 to %u "
                           "values, and one of them",
                           knob->name, knob->count, knob->chosen, TAPML_TUNING_VALUES_MAX);
    }
    for (uint32_t i = 0; i < knob->count; i++) {
        if (knob->values[i] < 0 || (i > 0 && knob->values[i] <= knob->values[i - 1])) {
            return status_fail(TAPML_INVALID,
                               "the knob '%s' has the value %" PRId64
                               " at place %u, expected growing values, none negative",
                               knob->name, knob->values[i], i);
        }
    }
    return TAPML_OK;
}

tapml_status knobs_check(struct knob_space *io_space)
{
    uint32_t size = 1;
    io_space->size = io_space->legal_count = 0;
    if (io_space->count == 0) {
        return TAPML_OK;
    }
    if (io_space->count > TAPML_TUNING_KNOBS_MAX || !knobs_is_class(io_space->shape_class)) {
        return status_fail(TAPML_INVALID,
                           "%u knobs in the class '%.95s', expected at most %u, and a printable "
                           "name without blanks",
                           io_space->count, io_space->shape_class, TAPML_TUNING_KNOBS_MAX);
    }
    for (uint32_t i = 0; i < io_space->count; i++) {
        TAPML_TRY(check_knob(&io_space->knobs[i]));
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(io_space->knobs[i].name, io_space->knobs[k].name) == 0) {
                return status_fail(TAPML_INVALID, "two knobs '%s'", io_space->knobs[i].name);
            }
        }
        size *= io_space->knobs[i].count; // Of factors up to 64, each checked at once.
        if (size > KNOBS_COMBINATIONS_MAX) {
            return status_fail(TAPML_INVALID, "more than %d combinations of values",
                               KNOBS_COMBINATIONS_MAX);
        }
    }
    io_space->size = size;
    return TAPML_OK;
}

tapml_status knobs_check_legal(struct knob_space *io_space)
{
    io_space->legal_count = 0;
    for (uint32_t i = 0; i < io_space->size; i++) {
        io_space->legal_count += (uint32_t)knobs_is_legal(io_space, i);
    }
    return io_space->count == 0 || knobs_is_legal(io_space, knobs_chosen(io_space))
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "in the class '%s' what the device chooses by itself is not legal",
                             io_space->shape_class);
}

void knobs_places(const struct knob_space *space, uint32_t number, uint32_t *out_places)
{
    for (uint32_t i = space->count; i-- > 0;) {
        out_places[i] = number % space->knobs[i].count;
        number /= space->knobs[i].count;
    }
}

uint32_t knobs_number(const struct knob_space *space, const uint32_t *places)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < space->count; i++) {
        number = number * space->knobs[i].count + places[i];
    }
    return number;
}

uint32_t knobs_chosen(const struct knob_space *space)
{
    uint32_t places[TAPML_TUNING_KNOBS_MAX] = {0};
    for (uint32_t i = 0; i < space->count; i++) {
        places[i] = space->knobs[i].chosen;
    }
    return knobs_number(space, places);
}

void knobs_print(const struct knob_space *space, uint32_t number, struct text *out_text)
{
    uint32_t places[TAPML_TUNING_KNOBS_MAX] = {0};
    knobs_places(space, number, places);
    for (uint32_t i = 0; i < space->count; i++) {
        text_format(out_text, "%s%s=%" PRId64, i > 0 ? " " : "", space->knobs[i].name,
                    space->knobs[i].values[places[i]]);
    }
}

// Reads one "name=value" in place.
static tapml_status read_pair(char *pair, const char **out_name, int64_t *out_value)
{
    char *equals = strchr(pair, '=');
    if (equals) {
        *equals = '\0';
    }
    if (!equals || !is_name(pair) || text_parse_i64(equals + 1, out_value) != TAPML_OK ||
        *out_value < 0) {
        return status_fail(TAPML_INVALID, "a setting has '%.60s', expected NAME=NUMBER", pair);
    }
    *out_name = pair;
    return TAPML_OK;
}

tapml_status knobs_read(const char *shape_class,
                        const char *text,
                        struct arena *arena,
                        tapml_setting *out_setting)
{
    char *copy = (char *)(uintptr_t)arena_text(arena, text); // Ours.
    const char **names = arena_array(arena, TAPML_TUNING_KNOBS_MAX, sizeof(*names));
    int64_t *values = arena_array(arena, TAPML_TUNING_KNOBS_MAX, sizeof(*values));
    uint32_t count = 0;
    char *rest = NULL;
    if (!copy || !names || !values) {
        return status_no_memory();
    }
    if (!knobs_is_class(shape_class)) {
        return status_fail(TAPML_INVALID, "'%.95s' is no class of shapes", shape_class);
    }
    for (char *pair = strtok_r(copy, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
        if (count == TAPML_TUNING_KNOBS_MAX) {
            return status_fail(TAPML_INVALID, "a setting of more than %u knobs", count);
        }
        TAPML_TRY(read_pair(pair, &names[count], &values[count]));
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(names[i], names[count]) == 0) {
                return status_fail(TAPML_INVALID, "a setting has '%s' twice", names[i]);
            }
        }
        count++;
    }
    *out_setting = (tapml_setting){.hdr = TAPML_HDR(tapml_setting),
                                   .shape_class = shape_class,
                                   .names = names,
                                   .values = values,
                                   .n_values = count};
    return count > 0 ? TAPML_OK : status_fail(TAPML_INVALID, "a setting without a knob");
}

// The place of the value that a setting gives to a knob.
static int find_place(const struct knob *knob, const tapml_setting *setting, uint32_t *out_place)
{
    for (uint32_t i = 0; i < setting->n_values; i++) {
        if (strcmp(setting->names[i], knob->name) != 0) {
            continue;
        }
        for (uint32_t place = 0; place < knob->count; place++) {
            if (knob->values[place] == setting->values[i]) {
                *out_place = place;
                return 1;
            }
        }
    }
    return 0;
}

tapml_status
knobs_find(const struct knob_space *space, const tapml_setting *setting, uint32_t *out_number)
{
    uint32_t places[TAPML_TUNING_KNOBS_MAX] = {0};
    int is_known = space->count > 0 && setting->n_values == space->count;
    for (uint32_t i = 0; i < space->count && is_known; i++) {
        is_known = find_place(&space->knobs[i], setting, &places[i]);
    }
    if (!is_known || !knobs_is_legal(space, knobs_number(space, places))) {
        return status_fail(TAPML_NOT_FOUND, "the class '%s' has no such setting",
                           space->shape_class);
    }
    *out_number = knobs_number(space, places);
    return TAPML_OK;
}
