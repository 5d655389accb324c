// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/residency_slots.h"

#include "base/assert.h"
#include "exec/residency_set.h"

void residency_slots_use(struct residency *set)
{
    ASSERT(set->count == 0 && set->shared_count == 0);
    set->has_slots = 1;
}

int residency_slots_are_used(const struct residency *set)
{
    return set->has_slots;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + RESIDENCY_SLOTS_GRAIN - 1) / RESIDENCY_SLOTS_GRAIN * RESIDENCY_SLOTS_GRAIN;
}

uint64_t residency_slots_bytes(const struct residency *set, const struct resident *resident)
{
    const struct resident_weight *weight = (const struct resident_weight *)resident;
    const int is_host = backend_info(set->backend)->is_host_memory;
    struct residency_source source;
    uint64_t bytes = 0;
    for (uint64_t i = 0; is_host && residency_slots_source(set, resident, i, &source); i++) {
        bytes += round_up(source.bytes);
    }
    for (uint64_t i = 0; !is_host && i < weight->panel_count; i++) {
        bytes += round_up(weight->panels[i].bytes);
    }
    return bytes;
}

int residency_slots_are_whole(const struct resident *resident)
{
    return ((const struct resident_weight *)resident)->panel_count == 1;
}

void residency_slots_keep(struct resident *resident, int is_in_slots)
{
    struct resident_weight *weight = (struct resident_weight *)resident;
    ASSERT(!resident->tensor || weight->is_in_slots == is_in_slots);
    weight->is_in_slots = is_in_slots;
}

tapml_status residency_slots_new(struct residency *set, uint64_t bytes, tapml_object **out_buffer)
{
    TAPML_TRY(backend_buffer_new(set->backend, bytes, out_buffer));
    set->copied_bytes += bytes;
    return TAPML_OK;
}

void residency_slots_free(struct residency *set, tapml_object *buffer, uint64_t bytes)
{
    if (buffer) {
        backend_buffer_free(set->backend, buffer);
        set->copied_bytes -= bytes;
    }
}

tapml_status residency_slots_fill(struct residency *set,
                                  struct resident *resident,
                                  tapml_object *buffer,
                                  uint64_t offset,
                                  int is_aside)
{
    struct resident_panel *panel = ((struct resident_weight *)resident)->panels;
    ASSERT(residency_slots_are_whole(resident) && panel->data && !panel->spans);
    return residency_set_write(set, panel, &(struct residency_spot){buffer, offset, is_aside});
}

void residency_slots_enter(struct resident *resident, tapml_object *buffer, uint64_t offset)
{
    struct resident_weight *weight = (struct resident_weight *)resident;
    ASSERT(weight->is_in_slots && !resident->tensor);
    weight->panels[0].tensor.buffer = buffer;
    weight->panels[0].tensor.offset = offset;
    resident->tensor = &weight->panels[0].tensor;
}

void residency_slots_leave(struct resident *resident)
{
    struct resident_weight *weight = (struct resident_weight *)resident;
    ASSERT(weight->is_in_slots);
    weight->panels[0].tensor.buffer = NULL;
    weight->panels[0].tensor.offset = 0;
    resident->tensor = NULL;
}

int residency_slots_source(const struct residency *set,
                           const struct resident *resident,
                           uint64_t index,
                           struct residency_source *out_source)
{
    const struct resident_weight *weight = (const struct resident_weight *)resident;
    uint64_t at = 0;
    for (uint64_t i = 0; i < weight->panel_count; i++) {
        const struct resident_panel *panel = &weight->panels[i];
        const uint32_t count = panel->spans ? panel->tensor.encoding->n_spans : 1;
        for (uint32_t k = 0; k < count; k++) {
            const unsigned char *data = panel->spans ? panel->spans[k].data : panel->data;
            const uint64_t bytes = panel->spans ? (uint64_t)panel->spans[k].bytes : panel->bytes;
            const struct resident_file *file = residency_set_file(set, data, bytes);
            if (file && at++ == index) {
                *out_source = (struct residency_source){&file->map, data, bytes};
                return 1;
            }
        }
    }
    return 0;
}
