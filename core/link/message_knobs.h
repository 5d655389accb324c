// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What can be chosen for a call, in a message (link/message.h).
//
// Any thread. A lack of memory of the writer is kept until the message is sent.
#pragma once

#include "device/knobs.h"
#include "link/message.h"

// Appends a space.
void message_knobs_put(struct wire_writer *writer, const struct knob_space *space);

// Reads one into `arena`. TAPML_INVALID for what no device could say (device/knobs.h).
tapml_status message_knobs_take(struct wire_reader *reader,
                                struct arena *arena,
                                struct knob_space *out_space) STATUS_USED;
