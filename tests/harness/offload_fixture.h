// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The embedded model on a source and on a target that is corrupted, with what judges and watches
// it. Each function fails the test if something fails. One thread.
#pragma once

#include "harness/corruptor.h"
#include "harness/places.h"
#include "harness/scratch.h"
#include "harness/tiny.h"
#include "offload/judge.h"
#include "offload/trial.h"
#include "offload/watch.h"
#include "verify/fault.h"

#include <criterion/criterion.h>

enum { OFFLOAD_FIXTURE_DECODE = 3 };

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

struct offload_fixture {
    struct tiny tiny;
    struct scratch scratch;
    struct backend *source_backend, *target_backend, *corrupted;
    struct fault *fault; // Around the corrupted one, if a test injects any.
    struct backend *target;
    struct session *source, *session;
    struct store *store;
    struct judge *judge;
    struct watch *watch;
    struct plan *goal; // All on the target.
    int32_t greedy[OFFLOAD_FIXTURE_DECODE];
    struct judge_prompt prompt;
    struct places places; // Source and target.
};

// Around a target that computes as the source does: `corruptor` (its `inner` is set here) and, if
// it is not NULL, a fault, whose words are parsed here.
void offload_fixture_open(struct offload_fixture *fixture,
                          struct corruptor_options corruptor,
                          struct fault_rule *rule);
void offload_fixture_close(struct offload_fixture *fixture);

const char *offload_fixture_instance(const struct offload_fixture *fixture, uint32_t op);

// The op of an instance.
uint32_t offload_fixture_op(const struct offload_fixture *fixture, const char *instance);
