// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which part of a group is wrong: what is computed by a plain form (schema/plain_form.h) and fails
// as a whole is divided.
//
// The exact device that calibrates computes the plain form of the failing case, so that each of its
// calls, and each sequence of them, becomes a case of its own. A call that fails alone is named. If
// all are right alone, the shortest sequence that fails is named: it is wrong only when fused.
//
// One failing case of an op is divided. One thread. Failures are those of the devices.
#pragma once

#include "verify/examiner.h"

struct divider;

// Of `options`, which is borrowed, count those of `examiner_create`. The caller owns the divider;
// `divider_destroy` accepts NULL.
tapml_status divider_create(const struct verdict_options *options,
                            struct divider **out_divider) STATUS_USED;
void divider_destroy(struct divider *divider);

// Tries a case as `examiner_try` does, with another examiner than the divider's own. What is found
// out of a failure, if the options say `divides`, stands in the verdict's sentences: "wrong only
// when fused: mlp/silu + mlp/mul".
tapml_status divider_try(struct divider *divider,
                         struct examiner *examiner,
                         struct examination *examination,
                         struct arena *arena,
                         struct verdict *io_verdict) STATUS_USED;

// The second half of that: what is found out of a case that was tried. Where it failed, the target
// is asked, on which no work is pending.
tapml_status divider_explain(struct divider *divider,
                             const struct examination *examination,
                             struct arena *arena,
                             struct verdict *io_verdict) STATUS_USED;

// Op executions so far: on the target, and on devices that calibrate.
uint64_t divider_executions(const struct divider *divider);
uint64_t divider_calibrations(const struct divider *divider);
