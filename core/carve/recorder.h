// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The recorder: a backend that wraps the source and carves cases from the calls that it forwards.
//
// It reads through the backend table only, so that a GPU can be the source. Kept are the first case
// of each (instance, phase, shape class), and each later one that widens the range of values seen
// (twice the largest magnitude, a new kind of non-finite). Every call is noted as a line. Output
// values are measured in place; only contents of kept cases are copied, once if one op writes and
// the next op reads them. The thread of carve/writer hashes and writes kept cases, and commits at
// the end of each step at the latest.
//
// With `visit` the recorder writes nothing: it passes calls to that function as cases
// (offload/watch).
//
// One thread, that of the inner backend, whose failures are returned. Failures of the store come
// from the next function that returns a status.
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
    const char *store_path; // Created if it is absent. The writer's thread owns the connection.
    int keep_all;
    int is_share; // Others carve other prompts: what may be worth keeping is kept (carve/seen).

    // Calls of prompts from this one on do not count as seen: they were carved before prompts that
    // are missing in front of them. 0: all count.
    int64_t prompts_end;

    // A case refers by name to the tensors of this checkpoint that a call reads as weights from its
    // memory. Borrowed; NULL: to all weights whose `origin` has their bytes. Other weights are kept
    // with their bytes, which the recorder reads until it has finished.
    const struct checkpoint *checkpoint;

    // If `visit` is not NULL no store is opened: each call for which `wants` is true is passed to
    // it as a case, after the call. The case lives until `visit` returns; a failure of `visit` is
    // the failure of the call.
    int (*wants)(void *user, const struct backend_call *call);
    tapml_status (*visit)(void *user, const struct carved_case *item, const tapml_op *op);
    void *user;
};

// The caller owns the recorder, whose backend is `recorder_backend`. Calls that the store has count
// as seen.
tapml_status recorder_create(const struct recorder_options *options,
                             struct recorder **out_recorder) STATUS_USED;

// Waits until all is written and ends the writer's thread. Returns the failure of that thread.
tapml_status recorder_finish(struct recorder *recorder) STATUS_USED;
// Frees the recorder; without `recorder_finish` uncommitted rows are rolled back. Accepts NULL.
void recorder_destroy(struct recorder *recorder);
// The recorder as a backend. Lives as long as the recorder.
struct backend *recorder_backend(struct recorder *recorder);

// The same as a link of a chain (exec/place), which owns the recorder. `inner` of the options is
// not read; `recorder` is set when the chain is opened.
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
// The counts since the recorder was created.
struct recorder_counts recorder_counts(const struct recorder *recorder);
