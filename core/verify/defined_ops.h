// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Ops of a store that the host has made (store/op_definition.h): groups of a run, which no plugin
// brings.
#pragma once

#include "plugin/registry.h"

struct store;

// Takes those that the catalogue lacks into it; a store that is NULL has none. What is malformed,
// or has another name than that of a group, is left out with a line of log: its cases are not
// judged, as those of any op that is not known. Failures are those of the store, and
// TAPML_NO_MEMORY.
tapml_status defined_ops_learn(struct store *store, struct registry *registry) STATUS_USED;
