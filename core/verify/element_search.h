// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The first elements of an output that are beyond its limit, beside what was expected: what a
// person looks at first.
#pragma once

#include "base/status.h"
#include "store/case.h"
#include "store/element.h"
#include "verify/compare.h"
#include "verify/replay.h"

// Where the element at `index` of the dense contents of an argument is in the tensor as the op sees
// it: "3, 17", in `arena`. "" of a scalar, NULL if there is no memory.
const char *
element_search_place(const struct case_argument *argument, size_t index, struct arena *arena);

// The first ELEMENTS_SHOWN elements of `output` that are beyond `limit`, in `arena`. If none is
// beyond by itself (an NMSE is of all of them), those with the largest difference. `argument` is
// that of the output in its case. All is borrowed; TAPML_NO_MEMORY is its one failure.
tapml_status element_search_run(const struct replay_output *output,
                                const struct case_argument *argument,
                                const struct compare_limit *limit,
                                struct arena *arena,
                                struct element_list *out_list) STATUS_USED;
