// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Limits from what the reference itself loses: a case runs on the devices that calibrate (the
// component key "calibrates"), their spread is the noise floor, and the limit is
// max(class floor, 8 * spread), per output; of NMSE, which is a square, 64 * spread.
//
// The spread is the largest distance of a calibrating device from the first one, which is exact.
// What the source recorded takes no part in it: a fault of the source must not widen what a target
// may do. A target that is one of those devices is left out of its own calibration.
//
// A target with reduced activations (exec/reduced) is judged by what the devices lose in that
// dtype: all of them, the exact one too, run the case as that target does, and their distance from
// the exact result of inputs that were not rounded is the spread. Floors are wider then, and all
// but exact ops are measured as reductions (compare_floor_in).
//
// A target that declares its arithmetic (`backend_arithmetic`) is judged by that: the exact device
// computes in f64 what goes in rounded as declared, and the others show what order of sums, sums of
// fewer digits (the component keys "calibrates-f16" and "calibrates-bf16") and rounded outputs
// lose. The declaration itself costs nothing there: `calibrator_as_declared` gives what is right.
//
// Limits are kept in the store by (op, version, shape class, output, devices), as long as what
// computes the op on those devices stays the same. They are the
// largest of the cases that were calibrated: the first one of a class, and those that
// `calibrator_widen` was asked for because they passed the limit of their class.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "plugin/registry.h"
#include "verify/compare.h"
#include "verify/replay.h"

struct arena;
struct calibrator;
struct carved_case;
struct store;

enum { CALIBRATE_FACTOR = 8 };

// The registry, the checkpoint (for weights; NULL with a bundle) and the target (whose device has
// no part in the limits; or NULL) outlive the calibrator.
tapml_status calibrator_create(struct registry *registry,
                               const struct checkpoint *checkpoint,
                               struct backend *target,
                               struct calibrator **out_calibrator) STATUS_USED;
void calibrator_destroy(struct calibrator *calibrator);

// Gives the limits of a target with activations of this dtype, whatever the target at creation.
// Before the first case.
void calibrator_set_activation(struct calibrator *calibrator, enum activation activation);

// Judges by what this backend declares, whatever the target at creation. Borrowed.
void calibrator_set_declares(struct calibrator *calibrator, struct backend *declares);

// Judges all ops as if they were computed in this form, from now on; NULL: as they are declared.
// Borrowed.
void calibrator_assume(struct calibrator *calibrator, const struct arithmetic *form);

// How an op is computed: as assumed, as declared, or in f32. Never NULL.
const struct arithmetic *calibrator_form(const struct calibrator *calibrator, const tapml_op *op);

// The case with what is right of an op as it is computed: the exact device's outputs, not rounded,
// in `arena`. `*out_has` is 0, and `out_case` undefined, if it is computed in f32 or no device runs
// it.
tapml_status calibrator_as_declared(struct calibrator *calibrator,
                                    const struct carved_case *item,
                                    const struct compiled_op *schema,
                                    struct arena *arena,
                                    struct carved_case *out_case,
                                    int *out_has) STATUS_USED;

// A digest of what gives the limits of an op, beside its case: the factor, the devices that
// calibrate, and what computes the op on each of them; of an op that no device calibrates, its
// floors. "" for one of class exact.
tapml_status calibrator_identity(struct calibrator *calibrator,
                                 const struct compiled_op *schema,
                                 char out_text[HASH_TEXT]) STATUS_USED;

// The class by which the outputs of an op are measured: that of the op, or if activations are
// reduced the one that they leave; of an output in fewer bits than f32 elementwise is a reduction.
// TAPML_INVALID if the op's class is not known.
tapml_status calibrator_class(const struct calibrator *calibrator,
                              const struct compiled_op *schema,
                              enum compare_class *out_class) STATUS_USED;

// The limits of every output of a case (outputs and written states, in order of the parameters).
// `out_limits` has room for REPLAY_OUTPUTS_MAX. An op that no device calibrates, and one of class
// exact, has its class floor. TAPML_INVALID where the op's class is not known.
tapml_status calibrator_limits(struct calibrator *calibrator,
                               struct store *store,
                               const struct carved_case *item,
                               const struct compiled_op *schema,
                               struct compare_limit *out_limits) STATUS_USED;

// Runs this very case on the calibrating devices, whatever is known of its class, and gives the
// limits then, which are at least as large as before. It is looked at closely: a reduction also
// runs with its inputs moved by up to four roundings, since a case that makes much of a rounding
// may by chance not show it in any of the devices' orders of summation; an elementwise op with its
// inputs moved by one, unless that makes more than 256 units in the last place. `store` may be
// NULL.
tapml_status calibrator_widen(struct calibrator *calibrator,
                              struct store *store,
                              const struct carved_case *item,
                              const struct compiled_op *schema,
                              struct compare_limit *out_limits) STATUS_USED;

// Whether an honest device has values on a case that are not finite where those of the exact one
// are, or the other way round: then the case says nothing about a target that has such values too.
// Not so if nothing calibrates the op, or the exact device does not run the case.
tapml_status calibrator_overflows(struct calibrator *calibrator,
                                  const struct carved_case *item,
                                  const struct compiled_op *schema,
                                  int *out_overflows) STATUS_USED;

// Why such a case is not judged. Static.
const char *calibrator_overflow_reason(void);

// For a case without expected values: runs it on the calibrating devices. The outputs of the exact
// one become what is expected, in `arena`, and the limits are those of this case alone; the store
// has no part in it. `out_refusal` is a sentence in `arena` where the case cannot judge anyone: no
// device calibrates the op, the exact one refuses the case, or the devices are too far from each
// other (an f32 overflows, a sum cancels); else NULL.
tapml_status calibrator_expect(struct calibrator *calibrator,
                               struct carved_case *item,
                               const struct compiled_op *schema,
                               struct arena *arena,
                               struct compare_limit *out_limits,
                               const char **out_refusal) STATUS_USED;

// Op executions spent on calibration so far; counted apart.
uint64_t calibrator_executions(const struct calibrator *calibrator);
