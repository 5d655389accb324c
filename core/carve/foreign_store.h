// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A store of cases that somebody else has computed: calls of carve/foreign_call.h go in, with their
// prompts, weights and origins. What libtapml-carve and `tapml-host import` write.
//
// The first call of each instance and shape is kept as a case, and each that widens the range of
// values. What one step has is in the file whole after `foreign_store_commit`, or not at all. One
// thread at a time; texts are borrowed for the call.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct catalogue;
struct compiled_op;
struct foreign_call;
struct foreign_store;

// Opens a store to write; an absent one is made, one that is there must be of the same model.
// `model` is any text that tells this model and its weights from others, `maker` the name of the
// program that writes. `catalogue` outlives the store. The caller closes it.
// TAPML_PRECONDITION: the store holds cases of another model, or is that of a run.
tapml_status foreign_store_open(const char *path,
                                const char *model,
                                const char *maker,
                                const struct catalogue *catalogue,
                                struct foreign_store **out_store) STATUS_USED;

// What was not committed is gone. Accepts NULL.
void foreign_store_close(struct foreign_store *store);

// Says what has computed: "component", "version", "device" or "driver". TAPML_INVALID: another key.
tapml_status
foreign_store_describe(struct foreign_store *store, const char *key, const char *value) STATUS_USED;

// Says that weights of their names are in the checkpoint `folder`, so that their bytes are not
// stored from now on.
tapml_status foreign_store_weights_in(struct foreign_store *store, const char *folder) STATUS_USED;

tapml_status foreign_store_commit(struct foreign_store *store) STATUS_USED;

// The op of that name and version; version 0 is an opaque one, whose schema is NULL.
// TAPML_NOT_FOUND.
tapml_status foreign_store_find(const struct foreign_store *store,
                                const char *op,
                                uint32_t version,
                                const struct compiled_op **out_schema) STATUS_USED;

// Begins a call of an op, which the caller gives its arguments and destroys. TAPML_NOT_FOUND: there
// is no such op; TAPML_INVALID: no rule of a plan could name the instance.
tapml_status foreign_store_begin(const struct foreign_store *store,
                                 const char *op,
                                 uint32_t version,
                                 const char *instance,
                                 struct foreign_call **out_call) STATUS_USED;

struct foreign_store_call {
    struct foreign_call *call;
    const char *op;
    uint32_t version; // 0: opaque.
    const char *instance, *prompt;
    const char *line; // Where its program makes it: "model.py:31"; or NULL.
    int64_t step;     // 0 is the prefill.
    int64_t part;
    uint64_t time_ns;
};

// Adds a call with all its arguments. TAPML_INVALID: they are no call of the op, which leaves the
// step as it is. Where something could not be written the step is gone, and the store takes no
// more.
tapml_status foreign_store_add(struct foreign_store *store,
                               const struct foreign_store_call *call) STATUS_USED;
