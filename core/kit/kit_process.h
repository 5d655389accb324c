// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A check in a process of its own, so that a plugin that crashes, hangs or ends the process fails
// one check. The process is the program of the kit, which is called with `--make ID` and prints the
// result as its last line; it and all that the plugin starts end with it and with this process.
//
// One thread.
#pragma once

#include "kit/kit_check.h"

enum { KIT_OPTIONS_MAX = 64 };

// What is checked, as the command line of the kit has it. Texts are borrowed.
struct kit_task {
    const char *program;   // The path of the kit's program.
    const char *plugin;    // That of a library or a manifest.
    const char *component; // Id; NULL for a check of the file or the plugin.
    const char *device;    // Id; NULL: the first one.
    uint32_t minor;        // Of the host that is stood in for.
    uint64_t seed;
    const char *replay;         // A store of cases; or NULL.
    const char *model;          // A model for architectures: its folder or name; or NULL.
    const char *const *options; // Of components, as kit/kit_options.h takes them; or
                                // NULL. KIT_OPTIONS_MAX at most.
    const char *const *others;  // Paths of plugins beside it, ended by NULL; or NULL. As many.
    uint64_t soak_s;            // How long P-01 lasts.
};

// Makes a check in a child, whose temporary files are removed with it. `*out_time_ns` is how long
// it took. TAPML_UNAVAILABLE if the program
// cannot be started, and TAPML_NO_MEMORY; whatever becomes of the child is the result.
tapml_status kit_process_make(const struct kit_task *task,
                              const struct kit_check *check,
                              struct kit_result *out_result,
                              uint64_t *out_time_ns) STATUS_USED;

// What the child does: makes the check in this process and prints what became of it.
// TAPML_NOT_FOUND if there is no check `id`.
tapml_status kit_process_serve(const struct kit_task *task, const char *id) STATUS_USED;

// Makes the check here and now, as for a debugger.
void kit_process_run(const struct kit_task *task,
                     const struct kit_check *check,
                     struct kit_result *out_result);
