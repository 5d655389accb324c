// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case that is tried several times: a kept one, or one that is derived from it, with what is
// expected of it. One thread. Failures are those of the store and of the devices that calibrate.
#pragma once

#include "verify/examiner.h"

struct store;

struct conduct_trial {
    struct arena *arena; // Of all below.
    struct carved_case item;
    const struct compiled_op *schema;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX]; // Of a derived one.
    int is_derived;
    uint64_t bytes;        // Of all tensors.
    uint64_t output_bytes; // Of what the call writes.
};

// Makes the trial of the case of a verdict again. The trial is released also after a failure.
// TAPML_NOT_FOUND if nothing can be expected of a derived one.
tapml_status conduct_trial_make(struct store *store,
                                struct examiner *examiner,
                                const struct verdict *verdict,
                                struct conduct_trial *out_trial) STATUS_USED;
void conduct_trial_release(struct conduct_trial *trial);

// Another trial of the same shape as `trial`, which is around a kept case, with other inputs.
tapml_status conduct_trial_vary(struct examiner *examiner,
                                const struct conduct_trial *trial,
                                struct conduct_trial *out_trial) STATUS_USED;

// Runs it. Texts of the verdict are in `arena`; `*out_result` has the outputs until the next one.
tapml_status conduct_trial_run(struct examiner *examiner,
                               const struct conduct_trial *trial,
                               struct arena *arena,
                               struct verdict *out_verdict,
                               struct replay_result *out_result) STATUS_USED;

// Whether the outputs of a failure are zero, all the same number, or the first bytes of an input:
// a phrase such as "every output is 0", or "". `out_text` has room for `size` bytes.
void conduct_trial_describe(const struct conduct_trial *trial,
                            const struct replay_result *result,
                            char *out_text,
                            size_t size);
