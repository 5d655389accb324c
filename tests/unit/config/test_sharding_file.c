// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "config/sharding_file.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <string.h>

static tapml_status load(const char *text, struct sharding_file *out_file)
{
    struct scratch scratch;
    scratch_make(&scratch);
    const tapml_status status =
        sharding_file_load(scratch_text(&scratch, "two.ini", text), out_file);
    scratch_remove(&scratch);
    return status;
}

Test(sharding_file, a_file_has_a_mesh_and_annotations)
{
    struct sharding_file file;
    cr_assert_eq(load("[shard]\nmesh = a b\ncolumn = *.q_proj *.up_proj\n", &file), TAPML_OK, "%s",
                 status_message());
    cr_expect_str_eq(file.options.mesh, "a b");
    cr_expect_str_eq(file.options.column, "*.q_proj *.up_proj");
    cr_expect_null(file.options.row);
    sharding_file_release(&file);
}

Test(sharding_file, what_is_wrong_is_named)
{
    static const struct {
        const char *text, *piece;
    } wrong[] = {
        {"[shard]\ncolumn = x\n", "[shard] has no 'mesh'"},
        {"[shard]\nmesh = a b\ncolum = x\n", "did you mean 'column'?"},
        {"[shards]\nmesh = a b\n", "did you mean"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct sharding_file file;
        cr_expect_eq(load(wrong[i].text, &file), TAPML_INVALID);
        cr_expect_not_null(strstr(status_message(), wrong[i].piece), "%s", status_message());
    }
}
