// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// verify/verdicts, verify/calibrator and verify/replay: the cases of a stranger's bundle on the
// reference, with limits and derived cases, as `tapml-host replay` runs them. Kernels trust what
// they are given, so all that is wrong must be seen before.
#include "fuzz.h"

#include "base/alloc.h"
#include "base/pool.h"
#include "plugin/registry.h"
#include "rows.h"
#include "store/store.h"
#include "verify/verdicts.h"

// Of the machine, as the host sees it: what a case claims has to be refused before it is made.
enum { MEMORY_BYTES = 512 << 20 };

struct replay_fixture {
    struct pool *pool;
    struct registry *registry;
    struct backend *backend;
};

static void open_fixture(struct replay_fixture *fixture)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct replay_fixture fixture; // For all inputs.
    struct verdict_list list;
    if (!fixture.registry) {
        open_fixture(&fixture);
    }
    struct store *store = rows_store();
    const struct verdict_options options = {.registry = fixture.registry,
                                            .store = store,
                                            .target = "other",
                                            .backend = fixture.backend,
                                            .fresh = 1,
                                            .derived = 1};
    rows_add(store, data, size);
    if (!fuzz_refused(verdict_read(store, "other", &list))) {
        check_list(&list);
        verdict_list_release(&list);
    }
    if (!fuzz_refused(verdicts_make(&options, &list))) {
        check_list(&list);
        verdict_list_release(&list);
    }
    store_close(store);
    return 0;
}
