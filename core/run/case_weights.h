// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The weights that the cases of a store refer to by name.
#pragma once

#include "run/setup.h"

struct checkpoint;
struct store;

// Opens the checkpoint that `given` says, else that of the store's run, encoded as the run had it;
// the caller closes it. NULL where the run's is gone, and of a bundle: that has its weights itself,
// and comes from someone else, who is not to name folders of this machine.
tapml_status case_weights_open(struct setup *setup,
                               struct store *store,
                               const char *given,
                               struct checkpoint **out_checkpoint) STATUS_USED;

// Puts the bytes of all those weights into the store, which is replayed without the checkpoint from
// then on, in one transaction. TAPML_PRECONDITION names a weight that is not there, or is another.
tapml_status
case_weights_inline(struct setup *setup, struct store *store, const char *given) STATUS_USED;
