// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The recorder: a backend that wraps the source and carves cases out of what runs through it.
//
// It reads through the backend table alone, so that a GPU can be the source. Kept are the first
// case per (instance, phase, shape class), and any later one that widens the range of values seen
// (twice the largest magnitude, a new kind of non-finite). Every call leaves a line. The values of
// outputs are looked at where they lie, contents are copied of what is kept alone, and those that
// one op wrote and the next one reads once for both. What is kept is handed to a thread of its own
// (carve/writer), which hashes and writes, and commits at the end of each step at the latest.
//
// With `visit` it only watches: whoever wants to look at every call gets each as a case, and
// nothing is written (offload/watch).
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "device/backend.h"
#include "exec/place.h"

#include <stdint.h>

struct carved_case;
struct carved_prompt;
struct recorder;
struct store;

struct recorder_options {
    struct backend *inner;  // Borrowed.
    const char *store_path; // Made where it is absent. The writer's thread has it from then on.
    int keep_all;

    // What prompts from this one on have shown does not count as seen: they were carved before
    // those that are missing in front of them. 0: all count.
    int64_t prompts_end;

    // Whose tensors cases know by name alone: those that a call takes as weights from this memory.
    // Borrowed; NULL: all weights whose `origin` has their bytes. Others are kept with their bytes,
    // which the recorder reads until it has finished.
    const struct checkpoint *checkpoint;

    // Where `visit` is given, calls are shown instead of kept: each that `wants` says yes to goes
    // to it as a case, after the call, and no store is opened. A case lives until `visit` returns,
    // whose failure is the call's.
    int (*wants)(void *user, const struct backend_call *call);
    tapml_status (*visit)(void *user, const struct carved_case *item, const tapml_op *op);
    void *user;
};

// The caller owns the recorder, whose backend is `recorder_backend`. What the store holds already
// counts as seen.
tapml_status recorder_create(const struct recorder_options *options,
                             struct recorder **out_recorder) STATUS_USED;

// Ends the writer and tells what it could not write.
tapml_status recorder_finish(struct recorder *recorder) STATUS_USED;
void recorder_destroy(struct recorder *recorder);
struct backend *recorder_backend(struct recorder *recorder);

// The same as a link of a chain (exec/place), which owns the recorder. The `inner` of the options
// is not read; `recorder` is set when the chain is made.
struct recorder_made {
    struct recorder_options options;
    struct recorder *recorder;
};
struct place_link recorder_link(struct recorder_made *made);

// Begins a step of a prompt; ends the one before, which is then committed.
tapml_status recorder_begin_step(struct recorder *recorder,
                                 struct hash prompt,
                                 int64_t step,
                                 const char *phase,
                                 int64_t tokens) STATUS_USED;

// Ends the prompt of the last step: its line in the store comes with the last transaction of that
// step. The hash of `prompt` is that of the step.
tapml_status recorder_end_prompt(struct recorder *recorder,
                                 const struct carved_prompt *prompt) STATUS_USED;

struct recorder_counts {
    uint64_t calls, kept;
    uint64_t bytes_seen; // Of all arguments but weights.
    uint64_t bytes_kept;
};
struct recorder_counts recorder_counts(const struct recorder *recorder);
