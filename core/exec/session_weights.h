// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The weights of a session at each of its places: those that the place came with, else the
// session's own, and with a ring (exec/ring.h) its own in any case.
//
// One thread, that of the session. Failures are those of the backends and TAPML_NO_MEMORY.
#pragma once

#include "exec/place.h"
#include "exec/ring.h"
#include "exec/space.h"

struct checkpoint;

struct session_weights {
    struct residency *own[SPACE_PLACES_MAX]; // Of places that came without, or with a ring.
    struct ring *rings[SPACE_PLACES_MAX];    // Or NULL.
};

// Gives each place of the set, whose settings are in `places`, its weights and its ring. All is
// borrowed. `out_weights` is closed also after a failure, once nothing uses the places any more.
tapml_status session_weights_open(struct session_weights *out_weights,
                                  struct space_set *spaces,
                                  struct place *const *places,
                                  const struct checkpoint *checkpoint) STATUS_USED;
void session_weights_close(struct session_weights *weights);
