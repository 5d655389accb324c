// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A wrapper of a place that shows what goes into calls and what comes out of them, without a store:
// it reads the arguments that are wanted, and nothing else.
//
// One thread, that of the backend, whose failures are returned.
#pragma once

#include "exec/place.h"
#include "store/case.h"

// A call that was made.
struct probe_call {
    const char *instance;
    const tapml_op *op;

    // One for each parameter. Inputs that were wanted are in `before`, outputs and what is in-out
    // in `after`; the others are NULL. All lives until the visit ends.
    const struct case_argument *arguments;
};

struct probe_options {
    // Whether the contents of a tensor are read. Lists of tensors are not.
    int (*wants)(void *user, const struct backend_call *call, uint32_t param);

    // Gets each call of which something was read. Its failure is that of the call.
    tapml_status (*visit)(void *user, const struct probe_call *call);
    void *user;
};

// The link that makes it. `options` are copied when the chain is made.
struct place_link probe_link(struct probe_options *options);
