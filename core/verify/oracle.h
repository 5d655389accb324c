// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The devices of a component that calibrate, each computing as the target does: activations of a
// reduced dtype (exec/reduced), and what the target declares (exec/declared).
//
// They are opened when they are needed. One thread.
#pragma once

#include "exec/declared.h"
#include "plugin/registry.h"
#include "verify/replay.h"

enum { ORACLE_DEVICES_MAX = 16, ORACLE_NAME = 128, ORACLE_TEXT = 512 };

struct reduced;

// What all oracles of a calibrator have in common; borrowed, and outliving them.
struct oracle_options {
    struct registry *registry;
    const struct checkpoint *checkpoint; // Or NULL.
    const struct backend *target;        // It takes no part; or NULL.
    enum activation activation;
    declared_form_fn form;
    void *user; // Of `form`.
};

struct oracle_device {
    struct backend *backend;
    struct declared *declared; // Around it.
    struct reduced *reduced;   // Around that; or NULL.
    struct expanded *expanded; // Around all: ops in their plain forms, each call as declared.
    struct replay *replay;
    uint32_t sums; // The format of its sums.
};

// Its members may be read.
struct oracle {
    const struct oracle_options *options;
    char component[ORACLE_NAME];
    char list[ORACLE_TEXT]; // "reference f64 f32": without the target itself.
    struct oracle_device devices[ORACLE_DEVICES_MAX]; // The first is exact.
    uint32_t device_count;                            // 0: not open, or there is none.
    struct declared *wide;                            // Around the first one, outputs not rounded,
    struct expanded *wide_expanded;                   // and around that,
    struct replay *exact;                             // and on that, in f32: what is right.
    int has_narrow[TAPML_FORMAT_F16 + 1]; // Devices with sums of a format have been looked for.
};

// An oracle of which nothing is open. TAPML_INVALID if the list of its devices is too long.
tapml_status oracle_create(const struct oracle_options *options,
                           const char *component,
                           struct oracle **out_oracle) STATUS_USED;
void oracle_destroy(struct oracle *oracle); // Accepts NULL.

// Opens the devices, and those whose sums are of the format `accumulator`, unless they are open.
// After a failure nothing is.
tapml_status oracle_open(struct oracle *oracle, uint32_t accumulator) STATUS_USED;

// Whether a device shows what an op of that form may lose. The exact one does where something is
// rounded that `exact` has not: activations, or outputs.
int oracle_shows(const struct oracle *oracle, uint32_t index, const struct arithmetic *form);

// Opens the first device of the component that calibrates an op: the exact one. `*out_backend`, the
// caller's, stays NULL if there is none. Fails as `registry_open`.
tapml_status oracle_open_exact(struct registry *registry,
                               const tapml_op *op,
                               struct backend **out_backend) STATUS_USED;

// Op executions so far.
uint64_t oracle_executions(const struct oracle *oracle);
