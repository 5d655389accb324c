// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/fused.h"
#include "harness/open_store.h"
#include "schema/compiled.h"
#include "store/metadata.h"
#include "store/op_definition.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(op_definition, .init = open_store_begin, .fini = open_store_end);

Test(op_definition, what_is_written_is_read)
{
    struct fused fused;
    const tapml_op *read = NULL;
    const struct compiled_op *ours = NULL, *theirs = NULL;
    fused_init(&fused, FUSED_FORM);
    MUST(op_definition_read(store, fused.op.name, 1, arena, &read));
    cr_assert_null(read);
    MUST(op_definition_write(store, &fused.op));
    MUST(op_definition_read(store, fused.op.name, 1, arena, &read));
    cr_assert_not_null(read);
    cr_assert_str_eq(read->expands, FUSED_FORM);
    cr_assert_str_eq(read->tolerance, "reduction");
    MUST(compiled_create(&fused.op, arena, &ours));
    MUST(compiled_create(read, arena, &theirs));
    MUST(compiled_same(ours, theirs));
    cr_assert_eq(compiled_lacks(ours, theirs), 0);
}

Test(op_definition, what_is_no_definition_is_refused_or_no_schema)
{
    const char *const values[] = {"", "{", "[]", "3"};
    const tapml_op *read = NULL;
    const struct compiled_op *schema = NULL;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        MUST(metadata_set(store, "op.group.a.1/1", values[i]));
        cr_assert_eq(op_definition_read(store, "group.a.1", 1, arena, &read), TAPML_INVALID);
        cr_assert_null(read);
    }
    MUST(metadata_set(store, "op.group.a.1/1", "{\"params\":[{\"kind\":-1},7]}"));
    MUST(op_definition_read(store, "group.a.1", 1, arena, &read));
    cr_assert_eq(compiled_create(read, arena, &schema), TAPML_INVALID);
}
