// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/key_help.h"

const char key_help_backend_type[] = "COMPONENT, COMPONENT:DEVICE or PLUGIN/COMPONENT:DEVICE";
const char key_help_isolation[] =
    "With 'always', the plugin runs in a worker process, where a crash, a hang or too much memory "
    "costs one case; with 'never' in the host; with 'loopback' in the host behind the same "
    "messages. See docs/wire.md.";
const char key_help_deadline[] = "Seconds after which a worker that does not answer is ended, "
                                 "in addition to the time that the operators need.";
const char key_help_observers_type[] = "ids of observers with blanks between";
const char key_help_observers[] =
    "Components of plugins, COMPONENT or PLUGIN/COMPONENT, that see each call of the backend "
    "before and after it, and may replace what it computes; the first one is the outermost. See "
    "docs/write-an-observer.md.";
const char key_help_memory[] =
    "MiB that a worker may allocate before it is ended; 0: three quarters of the machine's.";
const char key_help_files[] =
    "Descriptors that a worker may have at once; 0: as many as the host. See docs/security.md.";
const char key_help_processes[] =
    "Processes and threads that the user may have while a worker starts one; 0: as many as the "
    "system allows. Root is not limited. See docs/security.md.";
const char key_help_cpu[] =
    "Seconds of processor time that a worker may take before it is ended; 0: any. See "
    "docs/security.md.";

const char key_help_activations[] =
    "With 'f16', activations and states are f16 on this target: inputs are rounded on the "
    "way to the target, outputs are widened on the way back, and limits follow from the "
    "losses of the reference in f16. Weights stay unchanged; a weight in the place of an "
    "activation, such as a factor of mul, is rounded like an activation. An operator that "
    "does not accept f16 is refused. See docs/activations.md.";

const char key_help_tuning[] =
    "With 'on', kernels have the settings that `tapml-host tune` has found for this device "
    "(docs/tuning.md); with 'off', what the device chooses by itself.";

const char key_help_guard[] =
    "With 'on', complete runs of the model are guarded too: the memory around and inside the "
    "outputs of an operator is checked after each call. Replays of cases are always guarded.";

const char key_help_require[] =
    "With 'all', an operator that the target refuses is a failure; with 'any' it stays on "
    "the source and is counted.";

const char key_help_mode[] =
    "How the target is checked. 'mixed' moves one kind of operator after the other and "
    "checks the hybrid model after each move. 'shadow' checks every call on the target "
    "with the source's inputs, 'cumulative' with the target's own inputs; then all "
    "correct operators are moved at once.";

const char key_help_rate[] =
    "What the place costs for each hour that it is held, in any currency. Reports say what the run "
    "has cost, and 'tapml-host cost' how many such places to take, and whether to keep them. "
    "Nothing else depends on it. See docs/cost.md.";
