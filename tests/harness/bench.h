// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The embedded model on a source and on a target that is spoilt, with what judges and watches it:
// what tests of the offload stand on. Each function fails the test where something fails.
#pragma once

#include "harness/scratch.h"
#include "harness/spoil.h"
#include "harness/tiny.h"
#include "offload/judge.h"
#include "offload/trial.h"
#include "offload/watch.h"
#include "verify/fault.h"

#include <criterion/criterion.h>

enum { BENCH_DECODE = 3 };

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

struct bench {
    struct tiny tiny;
    struct scratch scratch;
    struct backend *source_backend, *target_backend, *spoilt;
    struct fault *fault; // Around the spoilt one, where a test plants any.
    struct backend *target;
    struct session *source, *session;
    struct store *store;
    struct judge *judge;
    struct watch *watch;
    struct plan *goal; // All on the target.
    int32_t greedy[BENCH_DECODE];
    struct judge_prompt prompt;
};

// Around a target that computes as the source does: `spoil` (its `inner` is set here) and, where it
// is not NULL, a fault, whose words are parsed here.
void bench_open(struct bench *bench, struct spoil_options spoil, struct fault_rule *rule);
void bench_close(struct bench *bench);

const char *bench_instance(const struct bench *bench, uint32_t op);

// The op of an instance.
uint32_t bench_op(const struct bench *bench, const char *instance);
