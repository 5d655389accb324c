// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_list.h"

#include "kit/kit_architecture.h"
#include "kit/kit_contract.h"
#include "kit/kit_encodings.h"
#include "kit/kit_handles.h"
#include "kit/kit_hostile.h"
#include "kit/kit_kinds.h"
#include "kit/kit_load.h"
#include "kit/kit_numerics.h"
#include "kit/kit_own.h"
#include "kit/kit_policies.h"
#include "kit/kit_queue.h"
#include "kit/kit_static.h"
#include "kit/kit_threads.h"

#include <string.h>

static const struct kit_check *(*const SOURCES[])(void) = {
    kit_static_checks,    kit_load_checks,         kit_contract_checks, kit_queue_checks,
    kit_handles_checks,   kit_threads_checks,      kit_kinds_checks,    kit_policies_checks,
    kit_encodings_checks, kit_architecture_checks, kit_own_checks,      kit_numerics_checks,
    kit_hostile_checks};

const struct kit_check *kit_list_at(size_t index)
{
    for (size_t i = 0; i < sizeof(SOURCES) / sizeof(*SOURCES); i++) {
        for (const struct kit_check *check = SOURCES[i](); check->id != NULL; check++) {
            if (index-- == 0) {
                return check;
            }
        }
    }
    return NULL;
}

const struct kit_check *kit_list_find(const char *id)
{
    const struct kit_check *check = NULL;

    for (size_t i = 0; (check = kit_list_at(i)) != NULL && strcmp(check->id, id) != 0; i++) {
    }
    return check;
}
