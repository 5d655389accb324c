// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/recent_calls.h"

#include "schema/catalogue.h"

#include <stdio.h>
#include <string.h>

void recent_calls_clear(struct recent_calls *recent)
{
    recent->count = 0;
}

void recent_calls_add(struct recent_calls *recent, const struct backend_call *call)
{
    struct recent_call *entry = &recent->calls[recent->count++ % RECENT_CALLS_MAX];
    entry->op = call->op;
    const size_t length =
        call->instance ? strnlen(call->instance, RECENT_CALLS_INSTANCE_BYTES - 1) : 0;
    memcpy(entry->instance, call->instance ? call->instance : "", length);
    entry->instance[length] = '\0';
}

void recent_calls_print(const struct recent_calls *recent,
                        uint64_t number,
                        char out_text[RECENT_CALLS_TEXT])
{
    const uint64_t oldest = recent->count > RECENT_CALLS_MAX ? recent->count - RECENT_CALLS_MAX : 0;
    if (number <= oldest || number > recent->count) {
        (void)snprintf(out_text, RECENT_CALLS_TEXT, "op call %llu", (unsigned long long)number);
        return;
    }
    const struct recent_call *entry = &recent->calls[(number - 1) % RECENT_CALLS_MAX];
    if (entry->instance[0]) {
        (void)snprintf(out_text, RECENT_CALLS_TEXT, "%s at '%s'", catalogue_short_name(entry->op),
                       entry->instance);
    } else {
        (void)snprintf(out_text, RECENT_CALLS_TEXT, "%s, op call %llu",
                       catalogue_short_name(entry->op), (unsigned long long)number);
    }
}
