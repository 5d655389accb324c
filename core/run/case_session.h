// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A host that takes over what a run on this machine carves: a session of a gateway
// (remote/host_session.h). It asks with the key of its run and the prompts that it has; the answer
// is a store with some that it lacks, or whether somebody carves any more. It names no file.
//
// One thread.
#pragma once

#include "remote/host_session.h"

struct case_session_options {
    const char *folder;  // Of the run. It is read, and nothing is written there.
    const char *name;    // Of the host, for the log.
    const char *scratch; // A folder in which the stores that are sent are made.
};

// What the options point to outlives the session. The caller destroys it by host_session_destroy.
tapml_status case_session_create(const struct case_session_options *options,
                                 struct host_session **out_session) STATUS_USED;
