// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/parts.h"

static tapml_status build(void)
{
    struct parts parts;
    TAPML_TRY(parts_init(&parts, "t"));
    const tapml_status status = parts_complete(&parts);
    parts_release(&parts);
    return status;
}

Test(parts, what_is_missing_changes_nothing)
{
    struct parts parts;
    struct text out;
    cr_assert_eq(parts_init(&parts, "t"), TAPML_OK);
    cr_assert_eq(parts_complete(&parts), TAPML_OK);
    text_init(&out);
    cr_assert_eq(normalizer_apply(parts.normalizer, "A b", 3, &out), TAPML_OK);
    cr_assert_str_eq(out.data, "A b");
    text_release(&out);
    cr_assert_eq(parts.begin, -1);
    parts_release(&parts);
}

Test(parts, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
