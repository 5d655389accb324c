// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/crashes.h"

void crashes_init(struct crashes *crashes)
{
    table_init(&crashes->counts);
}

void crashes_release(struct crashes *crashes)
{
    table_release(&crashes->counts);
}

void crashes_note(struct crashes *crashes, const struct backlog_culprit *culprit)
{
    size_t count = 0;
    if (!culprit->instance[0] || !culprit->is_sure) {
        return;
    }
    (void)table_find(&crashes->counts, culprit->instance, &count);
    // Without memory it is called once more; the verdict of this call stands.
    (void)table_set(&crashes->counts, culprit->instance, count + 1);
}

tapml_status
crashes_check(const struct crashes *crashes, const char *component, const char *instance)
{
    size_t count = 0;
    if (crashes->counts.count == 0 || !instance ||
        !table_find(&crashes->counts, instance, &count) || count < CRASHES_MAX) {
        return TAPML_OK;
    }
    return status_fail(TAPML_INTERNAL,
                       "%s: '%s' has crashed its worker %zu times and is not called again",
                       component, instance, count);
}
