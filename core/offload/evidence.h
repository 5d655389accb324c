// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What cases have shown of each op of a graph, before anything moves.
//
// One thread. Failures are TAPML_NO_MEMORY and those of `trial_blame`.
#pragma once

#include "offload/trial.h"

enum evidence {
    EVIDENCE_NONE,    // No case of the op has been judged, or not each one.
    EVIDENCE_REFUSED, // The target has refused all its kept cases that were run.
    EVIDENCE_PROVED   // All its kept cases are right, one at least, no derived one is wrong, and
                      // no choice has left out a case, of whatever op.
};

// `out_ops` has room for all ops of the graph, one byte each, an `enum evidence`.
tapml_status evidence_read(const struct graph *graph,
                           const struct verdict_list *verdicts,
                           uint8_t *out_ops) STATUS_USED;

// Blames each op of which a case fails, kept or derived: it fails by itself.
tapml_status evidence_blame(struct trial *trial, const struct verdict_list *verdicts) STATUS_USED;
