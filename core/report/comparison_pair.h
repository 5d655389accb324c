// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One target of each report alone, under one name: so targets of different names are compared, as
// two devices of one run.
#pragma once

#include "base/status.h"

#include <jansson.h>

// Leaves the target `name` in the report of the run in `dir`, be it given up, and calls it `as`.
// TAPML_NOT_FOUND if the run has none.
tapml_status
comparison_pair_keep(json_t *report, const char *dir, const char *name, const char *as) STATUS_USED;
