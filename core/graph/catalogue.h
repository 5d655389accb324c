// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ops that the host knows: its own, and those that plugins bring.
#pragma once

#include "base/status.h"

#include <tapml/op.h>

struct catalogue;

enum { CATALOGUE_PARAMS_MAX = 32 }; // Parameters of an op.

tapml_status catalogue_create(struct catalogue **out_catalogue) STATUS_USED;
void catalogue_destroy(struct catalogue *catalogue);

// Takes an op in; `op` is borrowed for the catalogue's life. Its texts are checked. An op of the
// same name and version must have the same parameters: TAPML_ABI_MISMATCH names the first that
// differs. `origin` says whose it is, for messages.
tapml_status
catalogue_add(struct catalogue *catalogue, const tapml_op *op, const char *origin) STATUS_USED;

// The op, or NULL.
const tapml_op *
catalogue_find(const struct catalogue *catalogue, const char *name, uint32_t version);

size_t catalogue_count(const struct catalogue *catalogue);
const tapml_op *catalogue_at(const struct catalogue *catalogue, size_t index);

// Compares two schemas parameter by parameter: TAPML_OK, or TAPML_ABI_MISMATCH with the parameter
// and what differs. A differing frame must never reach libffi.
tapml_status catalogue_same_schema(const tapml_op *ours, const tapml_op *theirs) STATUS_USED;

// "rms_norm" for "tapml.rms_norm"; the whole name for a stranger's op. Plans and reports use it.
const char *catalogue_short_name(const tapml_op *op);
