// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Verdicts on derived cases as rows of a store.
#pragma once

#include "verify/verdict.h"

// Makes the derived verdicts of `list` those of `target`, in one transaction.
tapml_status neighbours_write(struct store *store,
                              const char *target,
                              const struct verdict_list *list) STATUS_USED;

// Adds them to those of `target`, in one transaction.
tapml_status neighbours_add(struct store *store,
                            const char *target,
                            const struct verdict_list *list) STATUS_USED;

// Reads them into `io_list`, which has none yet and owns what is read; they have no recipes.
tapml_status
neighbours_read(struct store *store, const char *target, struct verdict_list *io_list) STATUS_USED;
