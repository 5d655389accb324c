// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/tensor_parallel.h"

#include "base/assert.h"

#include <string.h>

#define KEY "base_model_tp_plan"

// The map, also below the text part of a wrapper.
static const json_t *find_map(struct config *config)
{
    static const char *const pointers[] = {"/" KEY, "/text_config/" KEY};
    const json_t *found = NULL;
    for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers) && !found; i++) {
        found = config_value(config, pointers[i]);
    }
    return found;
}

static int begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static void add(struct tensor_parallel *plan, const char *module, const char *way)
{
    ASSERT(plan != NULL && module != NULL && way != NULL);
    struct text *glob = begins(way, "colwise")   ? &plan->column
                        : begins(way, "rowwise") ? &plan->row
                                                 : NULL;
    if (glob) {
        text_format(glob, "%s*%s", glob->length > 0 ? " " : "", module);
    } else {
        text_format(&plan->others, "%s%s (%s)", plan->others.length > 0 ? ", " : "", module, way);
    }
}

// A module is a glob of an annotation, which ends at a blank.
static int is_glob(const char *module)
{
    return *module != '\0' && module[strcspn(module, " \t\r\n")] == '\0';
}

tapml_status tensor_parallel_read(struct config *config, struct tensor_parallel *out_plan)
{
    const json_t *map = find_map(config);
    const char *module = NULL;
    json_t *way = NULL;
    text_init(&out_plan->column);
    text_init(&out_plan->row);
    text_init(&out_plan->others);
    if (!map) {
        return status_fail(TAPML_NOT_FOUND, "%s: expected the key '" KEY "', found none",
                           config_name(config));
    }
    if (!json_is_object(map)) {
        return status_fail(TAPML_INVALID, "%s: " KEY ": expected a map from modules to ways",
                           config_name(config));
    }
    // Its macro takes a map that can be changed, and changes nothing.
    json_object_foreach((json_t *)(uintptr_t)map, module, way)
    {
        if (!json_is_string(way) || !is_glob(module)) {
            return status_fail(TAPML_INVALID,
                               "%s: " KEY ": '%s': expected the name of a module and a way such "
                               "as 'colwise'",
                               config_name(config), module);
        }
        add(out_plan, module, json_string_value(way));
    }
    TAPML_TRY(text_status(&out_plan->column));
    TAPML_TRY(text_status(&out_plan->row));
    TAPML_TRY(text_status(&out_plan->others));
    return out_plan->column.length + out_plan->row.length > 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: " KEY ": nothing is 'colwise' or 'rowwise'",
                             config_name(config));
}

void tensor_parallel_release(struct tensor_parallel *plan)
{
    text_release(&plan->column);
    text_release(&plan->row);
    text_release(&plan->others);
}
