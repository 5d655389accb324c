// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "replayed.h"

#include "base/alloc.h"
#include "fuzz.h"
#include "plugin/registry.h"
#include "verify/verdicts.h"

// Of the machine, as the host sees it: what a case claims has to be refused before it is made.
enum { MEMORY_BYTES = 512 << 20 };

struct fixture {
    struct registry *registry;
    struct backend *backend;
};

static void open_fixture(struct fixture *fixture)
{
    alloc_set_memory_bytes(MEMORY_BYTES);
    const struct registry_options options = {.program = FUZZ_HOST, .safe_only = 1};
    FUZZ_CHECK(registry_create(&options, &fixture->registry) == TAPML_OK);
    FUZZ_CHECK(registry_open(fixture->registry, "reference:f32-blocked", &fixture->backend) ==
               TAPML_OK);
}

static void check_list(const struct verdict_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        FUZZ_CHECK(list->items[i].kind == VERDICT_PASS || list->items[i].reason[0] != '\0');
    }
}

void replayed_judge(struct store *store)
{
    static struct fixture fixture; // For all inputs.
    struct verdict_list list;
    if (!fixture.registry) {
        open_fixture(&fixture);
    }
    const struct verdict_options options = {.registry = fixture.registry,
                                            .store = store,
                                            .target = "other",
                                            .backend = fixture.backend,
                                            .fresh = 1,
                                            .derived = 1};
    if (!fuzz_refused(verdict_read(store, "other", &list))) {
        check_list(&list);
        verdict_list_release(&list);
    }
    if (!fuzz_refused(verdicts_make(&options, &list))) {
        check_list(&list);
        verdict_list_release(&list);
    }
}
