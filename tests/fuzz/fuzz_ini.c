// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// base/ini: any bytes as an INI.
#include "fuzz.h"

#include "base/ini.h"

#include <string.h>

static void check_entry(const struct ini *ini, const struct ini_entry *entry)
{
    FUZZ_CHECK(strlen(entry->section) < 50);
    FUZZ_CHECK(strlen(entry->key) > 0 && strlen(entry->key) < 50);
    FUZZ_CHECK(strlen(entry->value) < 190);
    FUZZ_CHECK(entry->line > 0);
    FUZZ_CHECK(!entry->section[0] || ini_has_section(ini, entry->section));
    FUZZ_CHECK(ini_get(ini, entry->section, entry->key));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ini ini;
    fuzz_begin();
    if (!fuzz_refused(ini_parse("run.ini", (const char *)data, size, &ini))) {
        for (size_t i = 0; i < ini.count; i++) {
            check_entry(&ini, &ini.entries[i]);
        }
        ini_release(&ini);
    }
    fuzz_end();
    return 0;
}
