// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The time of a kernel, beside that of a copy of the bytes that it writes. Outputs are compared
// after every call that counts. One thread. Failures are those of the stand.
#pragma once

#include "verify/conduct_stand.h"

struct conduct_times {
    uint64_t cold_ns; // The first call of a process.
    uint64_t warm_ns; // The median of later ones.
    uint64_t copy_ns; // The shortest of a copy between two buffers of the device; 0: it has none.
    uint64_t wait_ns; // The same of the smallest copy: what a call costs without any work.
    uint64_t bytes;   // That a call writes.
};

// Measures the trial that writes most, in a fresh process.
tapml_status conduct_time_measure(struct conduct_stand *stand,
                                  const struct conduct_trial *trials,
                                  size_t count,
                                  struct conduct_times *out_times) STATUS_USED;

// Whether no device can have written that in this time. A copy reads, too, and what it takes beyond
// the smallest one is the device's; a quarter of it is not enough to write as much.
int conduct_time_is_impossible(const struct conduct_times *times);
