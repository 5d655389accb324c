// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What verdicts that are no results of single kept cases depend on, as a digest: such verdicts are
// made once for all cases of an op, and stay as long as all of that is the same.
//
// Any thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/status.h"
#include "store/representative.h"
#include "store/result.h"

struct arena;

// The digest, in `arena`, of what computes an op and gives its limits, of the cases that stand for
// it, and of `how`: all else that counts, such as a seed.
tapml_status basis_make(const struct result_maker *maker,
                        const struct representative_group *group,
                        const char *how,
                        struct arena *arena,
                        const char **out_basis) STATUS_USED;
