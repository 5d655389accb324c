// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_expectation.h"

#include "kit/kit_list.h"

#include <stdio.h>
#include <string.h>

enum { SECTION_BYTES = 128 };
static const char PLUGIN[] = "plugin", COMPONENT[] = "component.";

static tapml_status check_entry(const struct ini *ini, const struct ini_entry *entry)
{
    const int is_known = strcmp(entry->section, PLUGIN) == 0 ||
                         strncmp(entry->section, COMPONENT, strlen(COMPONENT)) == 0;

    if (!is_known) {
        return status_fail(TAPML_INVALID,
                           "%s:%u: section [%s], expected [plugin] or [component.ID]", ini->name,
                           entry->line, entry->section);
    }
    if (kit_list_find(entry->key) == NULL) {
        return status_fail(TAPML_INVALID, "%s:%u: there is no check '%s'", ini->name, entry->line,
                           entry->key);
    }
    return entry->value[0] != '\0' ? TAPML_OK
                                   : status_fail(TAPML_INVALID, "%s:%u: '%s' has no reason",
                                                 ini->name, entry->line, entry->key);
}

tapml_status kit_expectation_read(const char *path, struct ini *out_ini)
{
    tapml_status status = ini_load(path, out_ini);

    TAPML_TRY(status);
    for (size_t i = 0; status == TAPML_OK && i < out_ini->count; i++) {
        status = check_entry(out_ini, &out_ini->entries[i]);
    }
    if (status != TAPML_OK) {
        ini_release(out_ini);
    }
    return status;
}

void kit_expectation_apply(const struct ini *ini,
                           const struct kit_check *check,
                           const char *component,
                           struct kit_result *io_result)
{
    const int is_of_component = component != NULL && component[0] != '\0';
    char section[SECTION_BYTES], found[KIT_REASON_BYTES];

    (void)snprintf(section, sizeof(section), "%s%s", is_of_component ? COMPONENT : PLUGIN,
                   is_of_component ? component : "");
    const char *reason = ini_get(ini, section, check->id);

    if (reason == NULL) {
        return;
    }
    if (kit_result_is_wrong(io_result)) {
        (void)snprintf(found, sizeof(found), "%s", io_result->reason);
        io_result->outcome = KIT_EXPECTED;
        (void)snprintf(io_result->reason, sizeof(io_result->reason), "%s (%.300s)", reason, found);
    } else if (kit_result_is_good(io_result)) {
        io_result->outcome = KIT_PASSED;
        kit_result_fail(io_result, "it passes, and %s expects it to fail: %s", ini->name, reason);
    }
}
