// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/prefixes.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct vocabulary_token tokens[] = {
    {"abc", 3, 0}, {"a", 1, 1}, {"", 0, 2}, {"ab\xff", 3, 3}, {"b", 1, 4}, {"a", 1, 5},
};

static void expect_longest(const struct prefixes *prefixes, const char *text, int32_t id)
{
    const struct vocabulary_token *found = prefixes_longest(prefixes, text, strlen(text));
    cr_assert_eq(found ? found->id : -1, id, "'%s'", text);
}

Test(prefixes, the_longest_is_found)
{
    struct prefixes *prefixes = NULL;
    struct prefixes_walk walk;
    cr_assert_eq(prefixes_create(tokens, 6, &prefixes), TAPML_OK);
    expect_longest(prefixes, "abcd", 0);
    expect_longest(prefixes, "abd", 1);
    expect_longest(prefixes, "ab\xff", 3);
    expect_longest(prefixes, "ba", 4);
    expect_longest(prefixes, "x", -1);
    expect_longest(prefixes, "", -1);
    prefixes_start(prefixes, &walk);
    cr_assert_null(prefixes_match(prefixes, &walk));
    cr_assert(prefixes_step(prefixes, &walk, 'a'));
    cr_assert_eq(prefixes_match(prefixes, &walk)->id, 1);
    cr_assert(prefixes_step(prefixes, &walk, 'b'));
    cr_assert_null(prefixes_match(prefixes, &walk));
    cr_assert_not(prefixes_step(prefixes, &walk, 'd'));
    prefixes_destroy(prefixes);
    prefixes_destroy(NULL);
}

static tapml_status build(void)
{
    struct prefixes *prefixes = NULL;
    TAPML_TRY(prefixes_create(tokens, 6, &prefixes));
    prefixes_destroy(prefixes);
    return TAPML_OK;
}

Test(prefixes, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
