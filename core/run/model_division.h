// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The model of a run, divided as [shard] of its file says (docs/sharding.md), of which one target
// has its part: what was moved there by the offload runs there, if it is that target's part or was
// not divided. All else runs on the source, so that what differs is of that target.
//
// Both have places of their own, with the settings of the run's: weights are known to a place by
// their names, and here some are parts.
//
// One thread.
#pragma once

#include "exec/place.h"
#include "run/run_judge.h"
#include "verify/row_bits.h"

struct model;

struct model_division_options {
    const struct run_judge *judge; // Its configuration has [shard].
    const struct place *target;    // Named in the mesh.
    const char *plan;              // What the offload has come to.
    int64_t chunk;                 // Tokens of a call at most.
};

struct model_division {
    struct model *model;
    struct plan *plan;       // Of it.
    struct session *session; // Over the places.
    struct place *source, *target, *noted;
    struct row_bits *bits; // Of what the target computes; of `noted`.
};

// Whether [shard] of a run's file names a place.
int model_division_has(const struct run_config *config, const char *place);

// The caller closes what comes out, also after a failure. TAPML_INVALID where the model cannot be
// divided so, and the failures of opening a model and a session.
tapml_status model_division_open(const struct model_division_options *options,
                                 struct model_division *out_division) STATUS_USED;
void model_division_close(struct model_division *division);
