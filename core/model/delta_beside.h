// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Deltas (model/delta.h) whose base stays as it is: of a matrix that changes by two of four values
// the change D is a tensor beside the weight, in blocks that devices know, and what is computed is
//
//   y = W x + factor * (D x)
//
// as graph/adapt.h adds it. So one base in memory serves several fine-tunes, each of which takes
// the blocks of its changes.
//
// The blocks are gguf.q5_0/1 for DELTA_24Q4 and gguf.q4_0/1 for DELTA_24Q2. They have the levels as
// they are, and scales in f16 over the factor, 2^-12: the same ones as the delta's from 2^-26 on,
// below that they are rounded.
#pragma once

#include "base/status.h"

struct checkpoint;

// Opens the file, checks all of it as delta_join does, and adds it to a checkpoint. Other kinds,
// and matrices whose rows are no complete blocks or whose scales are too large for them, are made
// whole. The message begins with "delta 'PATH'"; after a failure the checkpoint is only to be
// closed.
tapml_status delta_beside_join(const char *path, struct checkpoint *checkpoint) STATUS_USED;
