// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_variable.h"

#include "base/alloc.h"

#include <stdlib.h>

tapml_status
kit_variable_set(struct kit_variable *out_variable, const char *name, const char *value)
{
    const char *now = secure_getenv(name);
    char *before = now != NULL ? alloc_text(now) : NULL;

    *out_variable = (struct kit_variable){.name = NULL};
    if ((now != NULL && before == NULL) || setenv(name, value, 1) != 0) {
        alloc_free(before);
        return status_no_memory();
    }
    *out_variable = (struct kit_variable){.name = name, .before = before};
    return TAPML_OK;
}

void kit_variable_restore(struct kit_variable *variable)
{
    if (variable->name != NULL && variable->before != NULL) {
        (void)setenv(variable->name, variable->before, 1);
    } else if (variable->name != NULL) {
        (void)unsetenv(variable->name);
    }
    alloc_free(variable->before);
    *variable = (struct kit_variable){.name = NULL};
}
