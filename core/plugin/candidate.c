// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/candidate.h"

#include <string.h>

static const char *const state_names[] = {
    [CANDIDATE_USABLE] = "usable",
    [CANDIDATE_SHADOWED] = "shadowed",
    [CANDIDATE_DUPLICATE] = "duplicate",
    [CANDIDATE_MALFORMED] = "malformed",
    [CANDIDATE_REFUSED] = "refused",
    [CANDIDATE_WRONG_ARCH] = "wrong-arch",
    [CANDIDATE_WRONG_ABI] = "wrong-abi",
    [CANDIDATE_MISMATCH] = "mismatch",
    [CANDIDATE_UNKNOWN_KIND] = "unknown-kind",
    [CANDIDATE_NO_DRIVER] = "no-driver",
    [CANDIDATE_NO_DEVICE] = "no-device",
    [CANDIDATE_PROBE_FAILED] = "probe-failed",
    [CANDIDATE_REPLACED] = "replaced",
    [CANDIDATE_NO_MANIFEST] = "no-manifest",
    [CANDIDATE_NO_FOLDER] = "no-folder",
};

int candidate_is_named(const struct candidate *candidate, const char *id)
{
    return !id || strcmp(candidate->plugin, id) == 0 || strcmp(candidate->component, id) == 0;
}

const char *candidate_state_name(enum candidate_state state)
{
    return (unsigned)state <= CANDIDATE_NO_FOLDER ? state_names[state] : "unknown";
}

enum candidate_state candidate_state_from(const char *name)
{
    unsigned state = CANDIDATE_USABLE;
    while (state <= CANDIDATE_NO_FOLDER && strcmp(state_names[state], name) != 0) {
        state++;
    }
    return state <= CANDIDATE_NO_FOLDER ? (enum candidate_state)state : CANDIDATE_PROBE_FAILED;
}
