// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/comparison_pair.h"

#include "report/report_markup.h"

#include <string.h>

// A name is a member `name`; what else there is goes.
static tapml_status keep(json_t *targets, const char *name, const char *as, size_t *io_count)
{
    for (size_t i = json_array_size(targets); i > 0; i--) {
        json_t *target = json_array_get(targets, i - 1);

        if (strcmp(report_markup_string(target, "name"), name) != 0) {
            (void)json_array_remove(targets, i - 1); // It is there.
            continue;
        }
        if (json_object_set_new(target, "name", json_string(as)) != 0) {
            return status_no_memory();
        }
        ++*io_count;
    }
    return TAPML_OK;
}

tapml_status comparison_pair_keep(json_t *report, const char *dir, const char *name, const char *as)
{
    size_t count = 0;

    TAPML_TRY(keep(json_object_get(report, "targets"), name, as, &count));
    TAPML_TRY(keep(json_object_get(report, "given_up"), name, as, &count));
    return count > 0
               ? TAPML_OK
               : status_fail(TAPML_NOT_FOUND, "the run in '%s' has no target '%s'", dir, name);
}
