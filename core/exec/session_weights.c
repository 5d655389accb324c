// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/session_weights.h"

#include "exec/residency.h"
#include "exec/residency_slots.h"

// What lies in slots is of one session alone; on host memory weights stay where they are.
static tapml_status open_at(struct session_weights *weights,
                            uint32_t index,
                            struct space_place *place,
                            const struct ring_settings *ring,
                            const struct checkpoint *checkpoint)
{
    const int has_slots = ring->amount != RING_OFF && !backend_info(place->backend)->is_host_memory;
    if (!place->weights || has_slots) {
        TAPML_TRY(residency_create(place->backend, &weights->own[index]));
        place->weights = weights->own[index];
    }
    if (has_slots) {
        residency_slots_use(place->weights);
    }
    TAPML_TRY(residency_share(place->weights, checkpoint));
    if (ring->amount == RING_OFF) {
        return TAPML_OK;
    }
    TAPML_TRY(ring_create(place->backend, place->weights, ring, &weights->rings[index]));
    place->ring = weights->rings[index];
    return TAPML_OK;
}

tapml_status session_weights_open(struct session_weights *out_weights,
                                  struct space_set *spaces,
                                  struct place *const *places,
                                  const struct checkpoint *checkpoint)
{
    *out_weights = (struct session_weights){0};
    for (uint32_t i = 0; i < spaces->place_count; i++) {
        TAPML_TRY(
            open_at(out_weights, i, &spaces->places[i], &places[i]->settings.ring, checkpoint));
    }
    return TAPML_OK;
}

void session_weights_close(struct session_weights *weights)
{
    for (uint32_t i = 0; i < SPACE_PLACES_MAX; i++) {
        ring_destroy(weights->rings[i]);
        residency_destroy(weights->own[i]);
    }
    *weights = (struct session_weights){0};
}
