// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that has more ops than the one that it is around: those whose plain form
// (schema/plain_form.h) consists of ops that are there.
//
// An op that the inner backend has goes there. Of any other the calls of the plain form are made,
// one after the other, with temporaries in buffers of the inner backend; if that takes groups
// (tapml/draft/subgraph.h) and says yes to this one, it gets the op as a whole. What is around this
// backend sees one call.
//
// One thread. Nothing is allocated but at the first use of an op, and for temporaries that are
// larger than before.
#pragma once

#include "exec/place.h"
#include "schema/catalogue.h"

struct expanded;

// `inner` and the catalogue, of the ops and of those in their plain forms, are borrowed. The caller
// owns it; `expanded_destroy` accepts NULL, and waits for the inner backend. Only TAPML_NO_MEMORY.
tapml_status expanded_create(struct backend *inner,
                             const struct catalogue *catalogue,
                             struct expanded **out_expanded) STATUS_USED;
void expanded_destroy(struct expanded *expanded);

// Whether an answer of its `supports` says that the calls of the plain form will be made.
int expanded_is_split(const tapml_support *answer);

// Computes an op by the calls of its plain form, even if the inner backend has it. Before the first
// use of the op; NULL: none.
void expanded_split(struct expanded *expanded, const tapml_op *op);
struct backend *expanded_backend(struct expanded *expanded);

// The link of a place around its device. `catalogue` outlives the place.
struct place_link expanded_link(struct catalogue *catalogue);
