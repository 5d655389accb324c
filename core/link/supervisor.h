// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A process between host and worker that ends all processes which the worker has started.
//
// A plugin may fork, and the forked processes may leave its group. They become children of the
// supervisor when their own parents end. The supervisor kills them and the worker when the worker
// ends, when the host sends SIGTERM, and when the host is gone. Then the supervisor ends with the
// status of the worker, so that the host, which waits for it, learns how the worker ended.
//
// Called in the worker's process before it has a second thread.
#pragma once

#include "base/status.h"

// Forks a child, in which this function returns; the calling process becomes its supervisor and
// does not return. Neither can gain privileges or dump core. Fails if `parent`, the process id of
// the host, is gone already. Call it before any thread is started.
tapml_status supervisor_begin(long parent) STATUS_USED;

// Returns the id of the process that a supervisor watches, for the host; `supervisor` itself if it
// cannot be found.
long supervisor_watched(long supervisor);
