// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// report/baseline: any bytes as a baseline. What is read is applied to failures with its texts, and
// what is written of these knows them.
#include "fuzz.h"

#include "base/arena.h"
#include "report/baseline.h"
#include "schema/catalogue.h"

#include <string.h>

enum { NOW = 1795867200 };

static struct failure make_failure(const struct baseline_entry *entry)
{
    return (struct failure){.target = entry->target != NULL ? entry->target : "gpu",
                            .device = entry->device != NULL ? entry->device : "",
                            .device_name = entry->device != NULL ? entry->device : "",
                            .driver = entry->driver != NULL ? entry->driver : "",
                            .op = entry->op,
                            .instance = entry->instance != NULL ? entry->instance : "",
                            .phase = "",
                            .shape_class = "",
                            .source = "",
                            .label = "",
                            .key = entry->key != NULL ? entry->key : "",
                            .verdict = "fail",
                            .reason = entry->reason,
                            .is_bad = 1};
}

static void check_entry(const struct baseline_entry *entry)
{
    FUZZ_CHECK(entry->name && entry->op && entry->reason && *entry->reason);
    FUZZ_CHECK(strcmp(entry->expires, "never") == 0 ? !entry->is_expired
                                                    : baseline_is_day(entry->expires));
}

// An op that is empty is no name: nothing is written of it.
static void write_again(struct failure *failure)
{
    struct failure_list list = {.items = failure, .count = 1};
    struct baseline again;
    struct text text;
    text_init(&text);
    if (*catalogue_shorten(failure->op) && baseline_print(&list, "never", &text) == TAPML_OK) {
        FUZZ_CHECK(baseline_load(fuzz_file((const uint8_t *)text.data, text.length), NOW, &again) ==
                   TAPML_OK);
        baseline_apply(&again, &list);
        FUZZ_CHECK(failure->state == FAILURE_KNOWN);
        baseline_release(&again);
    }
    text_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct baseline baseline;
    fuzz_begin();
    if (!fuzz_refused(baseline_load(fuzz_file(data, size), NOW, &baseline))) {
        for (size_t i = 0; i < baseline.count; i++) {
            struct failure failure = make_failure(&baseline.entries[i]);
            struct failure_list list = {.items = &failure, .count = 1};
            check_entry(&baseline.entries[i]);
            baseline_apply(&baseline, &list);
            FUZZ_CHECK(failure.state == FAILURE_NEW ? !failure.entry : failure.known != NULL);
            write_again(&failure);
        }
        baseline_release(&baseline);
    }
    fuzz_end();
    return 0;
}
