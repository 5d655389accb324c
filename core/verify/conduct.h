// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The conduct of a kernel: whether it computes its op from its inputs alone, each time, wherever
// they lie, and is done when it says so. What a run would never notice is looked for here: a kernel
// that was written to please a test.
//
// First every case of the store and every derived one is judged, as for any target. Then some of
// them are run many times in random order, in buffers of other addresses, and with other contents
// of the outputs before the call. Of what fails the smallest case is taken, and tried again in
// fresh processes until it is known what the failure depends on.
//
// One thread. Failures are those of the store, of `open` and of devices that calibrate; what the
// kernel does is a result.
#pragma once

#include "verify/conduct_kind.h"
#include "verify/conduct_stand.h"

struct conduct_result {
    struct arena *arena; // Of all texts.
    enum conduct_kind kind;
    const char *why;                                    // A sentence; "" where it is right.
    size_t kept, derived, failed, unsupported, skipped; // Cases of the first pass.
    uint64_t calls;                                     // In all.

    // Of the smallest failure; `failure` is NULL where there is none.
    const struct verdict *failure;
    const char *shape;

    // Of the case with the largest outputs, if there was time to be measured: the first call of a
    // process, the median of later ones, and of copies of as many bytes as it writes. 0: unknown.
    uint64_t cold_ns, warm_ns, copy_ns, written_bytes;
};

// The caller releases the result.
tapml_status conduct_judge(const struct conduct_options *options,
                           struct conduct_result *out_result) STATUS_USED;
void conduct_result_release(struct conduct_result *result);
