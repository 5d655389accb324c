// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/message_knobs.h"

#include <string.h>

static void put_knob(struct wire_writer *writer, const struct knob *knob)
{
    wire_put_text(writer, knob->name);
    wire_put_text(writer, knob->about);
    wire_put_u32(writer, knob->chosen);
    wire_put_u32(writer, knob->count);
    for (uint32_t i = 0; i < knob->count; i++) {
        wire_put_i64(writer, knob->values[i]);
    }
}

void message_knobs_put(struct wire_writer *writer, const struct knob_space *space)
{
    wire_put_text(writer, space->shape_class);
    wire_put_u32(writer, space->count);
    for (uint32_t i = 0; i < space->count; i++) {
        put_knob(writer, &space->knobs[i]);
    }
    if (space->count > 0) {
        wire_put_bytes(writer, space->legal, space->size / 8 + 1);
    }
}

static tapml_status take_knob(struct wire_reader *reader, struct arena *arena, struct knob *knob)
{
    const char *name = wire_take_text(reader), *about = wire_take_text(reader);
    knob->name = arena_text(arena, name ? name : "");
    knob->about = arena_text(arena, about ? about : "");
    knob->chosen = wire_take_u32(reader);
    knob->count = wire_take_count(reader, sizeof(int64_t));
    int64_t *values = arena_array(arena, (size_t)knob->count + 1, sizeof(*values));
    if (!values || !knob->name || !knob->about) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < knob->count; i++) {
        values[i] = wire_take_i64(reader);
    }
    knob->values = values;
    return TAPML_OK;
}

static tapml_status
take_legal(struct wire_reader *reader, struct arena *arena, struct knob_space *space)
{
    const size_t size = space->size / 8 + 1;
    const void *bytes = wire_take_bytes(reader, size);
    space->legal = arena_array(arena, size, 1);
    if (!space->legal) {
        return status_no_memory();
    }
    if (!bytes) {
        return status_fail(TAPML_INVALID, "the knobs of a call end too early");
    }
    memcpy(space->legal, bytes, size);
    return knobs_check_legal(space);
}

tapml_status
message_knobs_take(struct wire_reader *reader, struct arena *arena, struct knob_space *out_space)
{
    struct knob_space space = {.count = 0};
    const char *shape_class = wire_take_text(reader);
    // A knob has two texts, two numbers and a value at least.
    const uint32_t count = wire_take_count(reader, 4 * sizeof(uint32_t));
    const size_t length = shape_class ? strlen(shape_class) : 0;
    if (count > TAPML_TUNING_KNOBS_MAX || length >= sizeof(space.shape_class)) {
        return status_fail(TAPML_INVALID, "%u knobs, and a class of %zu bytes", count, length);
    }
    memcpy(space.shape_class, shape_class ? shape_class : "", length);
    space.knobs = arena_array(arena, (size_t)count + 1, sizeof(*space.knobs));
    if (!space.knobs) {
        return status_no_memory();
    }
    for (; space.count < count; space.count++) {
        TAPML_TRY(take_knob(reader, arena, &space.knobs[space.count]));
    }
    TAPML_TRY(knobs_check(&space));
    if (space.count > 0) {
        TAPML_TRY(take_legal(reader, arena, &space));
    }
    *out_space = space;
    return TAPML_OK;
}
