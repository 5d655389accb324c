// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "gguf/gguf.h"
#include "harness/gguf_maker.h"

#include <criterion/criterion.h>

static struct scratch scratch;
static struct gguf_maker maker;

static void setup(void)
{
    scratch_make(&scratch);
    gguf_maker_begin(&maker);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(gguf, .init = setup, .fini = teardown);

// Writes file `number` of `count`, with a tensor of its own.
static void write_split(const char *name, uint32_t number, uint32_t count, uint32_t tensors)
{
    const char tensor[] = {(char)('z' - (char)number), '\0'};
    gguf_maker_u32(&maker, "split.no", number);
    gguf_maker_u32(&maker, "split.count", count);
    gguf_maker_u32(&maker, "split.tensors.count", tensors);
    gguf_maker_u32(&maker, "own", number);
    gguf_maker_tensor(&maker, tensor, 1, 8);
    (void)gguf_maker_write(&maker, &scratch, name);
    gguf_maker_begin(&maker);
}

Test(gguf, one_file_is_a_model)
{
    struct gguf *gguf = NULL;
    gguf_maker_string(&maker, "word", "abc");
    gguf_maker_tensor(&maker, "t", 2, 4);
    const char *path = gguf_maker_write(&maker, &scratch, "x.gguf");
    cr_assert(gguf_is(path));
    cr_assert_not(gguf_is(scratch.folder));
    cr_assert_eq(gguf_open(path, &gguf), TAPML_OK, "%s", status_message());
    struct gguf_text text;
    int64_t integer = 5;
    cr_assert(gguf_find_text(gguf, "word", &text) && text.length == 3);
    cr_assert_not(gguf_find_integer(gguf, "word", &integer));
    cr_assert_not(gguf_find_text(gguf, "none", &text));
    cr_assert_eq(gguf_file_count(gguf), 1);
    cr_assert_eq(gguf_tensor_count(gguf), 1);
    const struct gguf_tensor *tensor = gguf_tensor_find(gguf, "t");
    cr_assert_eq(tensor, gguf_tensor_at(gguf, 0));
    cr_assert_eq(tensor->data[7], 0x3f, "the second value is 1");
    cr_assert_null(gguf_tensor_find(gguf, "u"));
    gguf_close(gguf);
    gguf_close(NULL);
}

Test(gguf, any_split_opens_all)
{
    static const char *const names[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf",
                                        "m-00003-of-00003.gguf"};
    for (uint32_t i = 0; i < 3; ++i) {
        write_split(names[i], i, 3, 3);
    }
    for (size_t i = 0; i < 3; ++i) {
        struct gguf *gguf = NULL;
        const size_t live = alloc_live();
        int64_t own = -1;
        cr_assert_eq(gguf_open(scratch_path(&scratch, names[i]), &gguf), TAPML_OK, "%s",
                     status_message());
        cr_assert_eq(gguf_file_count(gguf), 3);
        cr_assert_eq(gguf_tensor_count(gguf), 3);
        cr_assert(gguf_find_integer(gguf, "own", &own) && own == 0, "the first file's keys count");
        cr_assert_str_eq(gguf_tensor_at(gguf, 0)->tensor->name, "x");
        gguf_close(gguf);
        cr_assert_eq(alloc_live(), live);
    }
}

static void expect_refused(const char *name, const char *word)
{
    struct gguf *gguf = NULL;
    const size_t live = alloc_live();
    cr_assert_neq(gguf_open(scratch_path(&scratch, name), &gguf), TAPML_OK, "%s", word);
    cr_assert_not_null(strstr(status_message(), word), "%s: %s", word, status_message());
    cr_assert_eq(alloc_live(), live);
}

Test(gguf, wrong_splits_are_refused)
{
    write_split("other.gguf", 0, 2, 2);
    expect_refused("other.gguf", "expected a name such as");
    write_split("m-00001-of-00002.gguf", 0, 2, 2);
    expect_refused("m-00001-of-00002.gguf", "m-00002-of-00002.gguf");
    write_split("m-00002-of-00002.gguf", 0, 2, 2);
    expect_refused("m-00001-of-00002.gguf", "'split.no' 1");
    write_split("m-00002-of-00002.gguf", 1, 2, 3);
    write_split("m-00001-of-00002.gguf", 0, 2, 3);
    expect_refused("m-00001-of-00002.gguf", "expected the 3 tensors");
    write_split("n-00001-of-00002.gguf", 2, 2, 3);
    expect_refused("n-00001-of-00002.gguf", "below the 2");
    gguf_maker_u32(&maker, "split.count", 1000000);
    (void)gguf_maker_write(&maker, &scratch, "o.gguf");
    expect_refused("o.gguf", "split.count");
}

Test(gguf, a_tensor_in_two_files_is_refused)
{
    for (uint32_t i = 0; i < 2; ++i) {
        gguf_maker_u32(&maker, "split.no", i);
        gguf_maker_u32(&maker, "split.count", 2);
        gguf_maker_tensor(&maker, "t", 1, 8);
        (void)gguf_maker_write(&maker, &scratch,
                               i ? "m-00002-of-00002.gguf" : "m-00001-of-00002.gguf");
        gguf_maker_begin(&maker);
    }
    expect_refused("m-00001-of-00002.gguf", "'t' is in both");
}
