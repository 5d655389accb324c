// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/metadata.h"
#include "store/page_cache.h"

TestSuite(page_cache, .init = open_store_begin, .fini = open_store_end);

Test(page_cache, a_store_says_how_much_could_be_kept)
{
    cr_expect_gt(page_cache_all(store), 16384u);
}

Test(page_cache, what_is_kept_is_what_is_there)
{
    MUST(page_cache_keep(store, 0));
    MUST(page_cache_keep(store, 8 << 20));
    MUST(metadata_set(store, "a", "b"));
    cr_expect_str_eq(metadata_get(store, "a"), "b");
}
