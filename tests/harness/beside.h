// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/backend.h"

// A late device (harness/late.h) that writes beside its queue (`backend_aside`), as early or as
// late as it may. Early: at once, so that whoever did not let the write follow what still reads the
// buffer gets wrong numbers there. Late: only when the queue joins the point behind it, so that
// whoever does not join reads what was there before.
//
// `inner` is one of `late_create`, borrowed. The caller releases the device by `backend_release`.
struct backend *beside_create(struct backend *inner, int is_early);

// Writes aside so far.
uint64_t beside_writes(const struct backend *backend);
