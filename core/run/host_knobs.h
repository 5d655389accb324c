// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Keys of a run's file that change its time and nothing else, as knobs (device/knobs.h): what
// `tune --keys` chooses of.
//
// Pure; one thread. TAPML_NO_MEMORY is the one failure.
#pragma once

#include "base/arena.h"
#include "config/ini_edit.h"
#include "config/run_config.h"
#include "device/knobs.h"

// Where the value of a knob stands.
struct host_knob {
    const char *section, *key;
};

struct host_knobs {
    struct knob_space space; // What the file says is what is chosen; all combinations are legal.
    const struct host_knob *keys; // One for each knob of the space.
};

// The knobs of a file, in `arena`, with the file's own value among the values of each: those of the
// source, and of the targets that have what a key is about. `processors` bounds how many processes
// carve or replay. The shape class names the text of the file and the processors.
tapml_status host_knobs_find(const struct run_config *config,
                             size_t processors,
                             struct arena *arena,
                             struct host_knobs *out_knobs) STATUS_USED;

// One edit for each knob, which gives a text of the file the values of a combination. There is room
// for one more.
tapml_status host_knobs_edits(const struct host_knobs *knobs,
                              uint32_t number,
                              struct arena *arena,
                              struct ini_edit **out_edits) STATUS_USED;
