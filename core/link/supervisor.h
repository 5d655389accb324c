// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A process between the host and the one that works: it ends what that one has started.
//
// A plugin may fork, and what it forks may leave its group. All of it becomes a child of the
// supervisor when its own parents end, and is killed with the one that works, when that one ends,
// when the host asks for it by SIGTERM, and when the host is gone. Then the supervisor ends in the
// way in which that one has ended, so that whoever waits for it learns the same.
#pragma once

#include "base/status.h"

// Becomes the supervisor of a child, in which the function returns; the caller itself does not come
// back. Neither gains rights or leaves a core behind. Fails where `parent`, the process of the
// host, is gone already. To be called before there are threads.
tapml_status supervisor_begin(long parent) STATUS_USED;

// The process that a supervisor watches, as the host sees it; `supervisor` itself where that cannot
// be told.
long supervisor_watched(long supervisor);
