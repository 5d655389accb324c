// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/file.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "model/safetensors_writer.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <string.h>

// Files that are not whole.
static size_t count_parts(const struct scratch *scratch)
{
    char pattern[SCRATCH_PATH + 16];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/*.part", scratch->folder);
    const int code = glob(pattern, 0, NULL, &found);
    const size_t count = code == 0 ? found.gl_pathc : 0;
    cr_assert(code == 0 || code == GLOB_NOMATCH);
    globfree(&found);
    return count;
}

static const char *const names[] = {"a \"quoted\" name", "scalar", "none"};

static tapml_status write_three(const char *path, uint64_t *out_bytes)
{
    static const float values[] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[] = {2, 3}, none[] = {0, 7};
    struct safetensors_writer *writer = NULL;
    uint64_t room = 0;
    for (int i = 0; i < 3; ++i) {
        room += safetensors_writer_room(names[i]);
    }
    TAPML_TRY(safetensors_writer_open(path, room, &writer));
    cr_assert_eq(safetensors_writer_add(
                     writer, &(struct safetensors_writer_tensor){names[0], "F32", shape, 2, values,
                                                                 sizeof(values)}),
                 TAPML_OK);
    cr_assert_eq(
        safetensors_writer_add(
            writer, &(struct safetensors_writer_tensor){names[1], "F32", NULL, 0, &values[3], 4}),
        TAPML_OK);
    cr_assert_eq(safetensors_writer_add(
                     writer, &(struct safetensors_writer_tensor){names[2], "U8", none, 2, NULL, 0}),
                 TAPML_OK);
    return safetensors_writer_end(writer, out_bytes);
}

Test(safetensors_writer, what_is_written_is_read)
{
    struct scratch scratch;
    struct checkpoint *checkpoint = NULL;
    struct file_map map;
    uint64_t bytes = 0;
    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "x.safetensors");
    cr_assert_eq(write_three(path, &bytes), TAPML_OK, "%s", status_message());
    cr_assert_eq(safetensors_open_file(path, &checkpoint), TAPML_OK, "%s", status_message());
    cr_assert_eq(checkpoint_count(checkpoint), 3);
    const struct checkpoint_tensor *tensor = checkpoint_find(checkpoint, names[0]);
    cr_assert(tensor && tensor->tensor.rank == 2 && tensor->tensor.shape[1] == 3);
    cr_assert_eq(((const float *)tensor->data)[5], 6);
    cr_assert_eq((uintptr_t)tensor->data % 8, 0);
    tensor = checkpoint_find(checkpoint, names[1]);
    cr_assert(tensor && tensor->tensor.rank == 0 && ((const float *)tensor->data)[0] == 4);
    cr_assert_eq(checkpoint_find(checkpoint, names[2])->bytes, 0);
    cr_assert_eq(file_map(path, &map), TAPML_OK);
    cr_assert_eq(map.size, bytes);
    file_unmap(&map);
    checkpoint_close(checkpoint);
    cr_assert_eq(count_parts(&scratch), 0);
    scratch_remove(&scratch);
}

Test(safetensors_writer, a_file_that_is_dropped_leaves_nothing)
{
    struct scratch scratch;
    struct safetensors_writer *writer = NULL;
    scratch_make(&scratch);
    cr_assert_eq(safetensors_writer_open(scratch_path(&scratch, "x"), 10000, &writer), TAPML_OK);
    cr_assert_eq(count_parts(&scratch), 1);
    safetensors_writer_drop(writer);
    cr_assert_not(file_exists(scratch_path(&scratch, "x")));
    cr_assert_eq(count_parts(&scratch), 0);
    scratch_remove(&scratch);
}

Test(safetensors_writer, a_folder_that_is_not_there_is_named)
{
    struct safetensors_writer *writer = NULL;
    cr_assert_eq(safetensors_writer_open("/nowhere/x", 100, &writer),
                 file_write("/nowhere/x", "", 0));
    cr_assert_null(writer);
    cr_assert_not_null(strstr(status_message(), "/nowhere/x"), "%s", status_message());
}

Test(safetensors_writer, only_a_file_is_replaced)
{
    struct scratch scratch;
    struct safetensors_writer *writer = NULL;
    scratch_make(&scratch);
    cr_assert_eq(safetensors_writer_open(scratch.folder, 100, &writer), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "found a folder"), "%s", status_message());
    cr_assert_eq(safetensors_writer_open("/dev/null", 100, &writer), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "found a device"), "%s", status_message());
    scratch_remove(&scratch);
}

Test(safetensors_writer, types_have_the_words_of_the_format)
{
    cr_assert_str_eq(safetensors_writer_type(TAPML_BF16), "BF16");
    cr_assert_null(safetensors_writer_type(0));
}
