// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The definition of an op that the host has made, such as a group: no plugin brings it, so that a
// store with cases of it has it as metadata, and can be replayed by itself.
//
// A store and what is read from it belong to one thread.
#pragma once

#include "base/status.h"

#include <tapml/op.h>

struct arena;
struct store;

// Writes the definition of an op. Failures are those of the store, and TAPML_NO_MEMORY.
tapml_status op_definition_write(struct store *store, const tapml_op *op) STATUS_USED;

// Reads the definition of an op into `arena`; `*out_op` stays NULL if the store has none.
// TAPML_INVALID names an op whose definition is malformed; whether it is a schema, the catalogue
// finds out.
tapml_status op_definition_read(struct store *store,
                                const char *name,
                                uint32_t version,
                                struct arena *arena,
                                const tapml_op **out_op) STATUS_USED;
