// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where a kernel is tried: a process of the target, a probe around it, and an examiner with buffers
// of its own. One thread. Failures are those of `conduct_options.open` and of the examiner.
#pragma once

#include "verify/conduct_probe.h"
#include "verify/conduct_trial.h"

struct conduct_options {
    // Of these count registry, store, target and checkpoint. The store has cases of one op, and is
    // written to.
    struct verdict_options verdicts;

    // Opens the target in a process in which nothing was called, and closes the one before.
    tapml_status (*open)(void *user, struct backend **out_backend);
    uint32_t rounds; // Of all chosen cases, in random order.
    uint64_t seed;   // Of the order.
    tapml_status (*progress)(void *user, size_t done, size_t all);
    void *user;
};

// Examiners whose buffers stay while another one is used, so that new buffers lie elsewhere.
enum { CONDUCT_STAND_HELD = 4 };

// Its members may be read.
struct conduct_stand {
    const struct conduct_options *options;
    struct verdict_options verdicts; // With `backend`.
    struct backend *backend;         // The probe's.
    struct conduct_probe *probe;
    struct examiner *examiner;
    struct examiner *held[CONDUCT_STAND_HELD];
    size_t next;                 // Of `held`.
    struct arena *texts;         // Of the last trial.
    struct verdict verdict;      // Of it,
    struct replay_result result; // with its outputs.
    uint64_t calls;
};

// Nothing is open yet. `options` is borrowed.
void conduct_stand_init(struct conduct_stand *stand, const struct conduct_options *options);
void conduct_stand_release(struct conduct_stand *stand);

// A fresh process, in which nothing was called.
tapml_status conduct_stand_renew(struct conduct_stand *stand) STATUS_USED;

// Other buffers in the same process.
tapml_status conduct_stand_move(struct conduct_stand *stand) STATUS_USED;

// Runs a trial; the stand has its verdict.
tapml_status conduct_stand_try(struct conduct_stand *stand,
                               const struct conduct_trial *trial,
                               int *out_is_right) STATUS_USED;
