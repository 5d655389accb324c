// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Draws the messages of a channel on a timeline (base/timeline), as a process that is named by the
// address: what is sent and what is received, each with its name and the bytes that went for it
// over the connection, and how long each question waits for its answer.
//
// A call has its op and instance. Beside the bytes that went for it, its own and those of what was
// written for it since the call before, is what it would take to send each of its arguments there
// and back (`both_ways`), and of those that are no weights (`values_both_ways`, of sums alone).
// What is read back counts for the call before it. With each answer the
// sums of the ops that were called are drawn as curves, of which the last points are those of all.
//
// One thread, that of the channel. Where memory runs out, a message is drawn without its op.
#pragma once

#include "base/status.h"
#include "base/timeline.h"

#include <tapml/wire/wire.h>

struct tracer;

// `name` is that of the other side. The timeline is borrowed. The caller owns the tracer.
// TAPML_NO_MEMORY, or TAPML_INVALID for too many tracks.
tapml_status
tracer_create(struct timeline *timeline, const char *name, struct tracer **out_tracer) STATUS_USED;

// Accepts NULL, as the others do, which then do nothing.
void tracer_destroy(struct tracer *tracer);

// When a message is begun; 0 without a tracer.
uint64_t tracer_begin(const struct tracer *tracer);

// A message was handed over, which took since `begin_ns`, and `bytes` with the data in front of it.
void tracer_sent(struct tracer *tracer,
                 const struct wire_frame *frame,
                 uint64_t begin_ns,
                 uint64_t bytes);

// A message has come.
void tracer_received(struct tracer *tracer, const struct wire_frame *frame, uint64_t bytes);
