// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/device_pool.h"

#include "base/arena.h"
#include "base/assert.h"
#include "remote/address.h"

#include <stdio.h>
#include <string.h>

static const char blanks[] = " \t";

enum { SECTION_TEXT = 64 }; // No section has a longer name.

static void check_url(const struct device_pool *pool,
                      const struct ini *ini,
                      const char *section,
                      struct problems *problems)
{
    const char *url = pool->urls[pool->count - 1];
    struct address address;

    if (address_parse_url(url, &address) != TAPML_OK) {
        problems_refuse(problems, ini, section, "urls", "%s", status_message());
    }
    for (size_t i = 0; i + 1 < pool->count; i++) {
        if (strcmp(pool->urls[i], url) == 0) {
            problems_refuse(problems, ini, section, "urls",
                            "expected each machine once, found '%s' twice", url);
        }
    }
}

static tapml_status split_urls(struct device_pool *pool,
                               const struct ini *ini,
                               const char *section,
                               struct problems *problems)
{
    const char *at = pool->urls_text;

    while (*(at += strspn(at, blanks)) != '\0') {
        const size_t length = strcspn(at, blanks);

        if (pool->count == DEVICE_POOL_MEMBERS_MAX) {
            problems_refuse(problems, ini, section, "urls", "expected at most %d machines",
                            (int)DEVICE_POOL_MEMBERS_MAX);
            return TAPML_OK;
        }
        const char *url = arena_format(ini->arena, "%.*s", (int)length, at);

        if (url == NULL) {
            return status_no_memory();
        }
        pool->urls[pool->count++] = url;
        check_url(pool, ini, section, problems);
        at += length;
    }
    return TAPML_OK;
}

tapml_status
device_pool_settle(struct device_pool *pool, const struct ini *ini, struct problems *problems)
{
    char section[SECTION_TEXT];

    (void)snprintf(section, sizeof(section), "pool.%.50s", pool->name);
    if ((pool->urls_text == NULL) == (pool->processes == 0)) {
        problems_add(problems, "%s: [%s] expected one of 'urls' and 'processes', found %s",
                     ini->name, section, pool->urls_text == NULL ? "none" : "both");
        return TAPML_OK;
    }
    pool->count = (size_t)pool->processes;
    return pool->urls_text != NULL ? split_urls(pool, ini, section, problems) : TAPML_OK;
}

struct place_settings device_pool_member(const struct device_pool *pool,
                                         const struct place_settings *target,
                                         size_t member)
{
    struct place_settings settings = *target;

    ASSERT(member < pool->count);
    if (pool->urls[member] != NULL) {
        settings.isolation.url = pool->urls[member];
    }
    return settings;
}
