// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The new store that takes the place of a damaged one: names beside it, and moves after which a
// process that is killed at any moment can continue.
//
// The successor of PATH is PATH.salvage while it is written and PATH.salvaged when it is finished;
// then PATH becomes PATH.damaged (or PATH.damaged-2 ...) and the successor PATH. One process at a
// time may work with a successor. Failures of the file system are those of base/file.h.
#pragma once

#include "base/status.h"
#include "base/text.h"

struct successor {
    const char *path;   // Of the damaged store; borrowed.
    struct text making; // The name of the new store while it is written,
    struct text made;   // and from then on.
};

// Chooses the names; no file is touched. The caller releases the names, also after a failure.
// TAPML_NO_MEMORY.
tapml_status successor_init(struct successor *successor, const char *path) STATUS_USED;
void successor_release(struct successor *successor);

// Removes what is left of a store that was not finished, with its log.
void successor_remove_making(const struct successor *successor);

// The new store, closed and without a log, is finished.
tapml_status successor_finish(const struct successor *successor) STATUS_USED;

// Puts the finished store in the place of the damaged one, which gets the name `out_damaged`.
tapml_status successor_swap(const struct successor *successor,
                            struct text *out_damaged) STATUS_USED;

// Does what was left of a swap by a process that was killed. Without a finished store it does
// nothing.
tapml_status successor_resume(const struct successor *successor) STATUS_USED;
