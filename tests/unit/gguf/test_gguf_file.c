// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/random.h"
#include "gguf/gguf_file.h"
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

TestSuite(gguf_file, .init = setup, .fini = teardown);

static const char *write_model(void)
{
    gguf_maker_u32(&maker, "a.count", 7);
    gguf_maker_string(&maker, "general.architecture", "x");
    gguf_maker_array(&maker, "a.words", 8, 2);
    gguf_maker_text(&maker.keys, "one");
    gguf_maker_text(&maker.keys, "");
    gguf_maker_tensor(&maker, "b", 3, 5);
    gguf_maker_tensor(&maker, "a", 1, 4);
    return gguf_maker_write(&maker, &scratch, "x.gguf");
}

Test(gguf_file, keys_and_tensors_are_read)
{
    struct gguf_file *file = NULL;
    const size_t live = alloc_live();
    cr_assert_eq(gguf_file_open(write_model(), &file), TAPML_OK, "%s", status_message());
    cr_assert_eq(gguf_file_value_count(file), 3);
    cr_assert_str_eq(gguf_file_value_at(file, 0)->key, "a.count");
    int64_t number = 0;
    cr_assert(gguf_value_integer(gguf_file_find(file, "a.count"), 0, &number) && number == 7);
    const struct gguf_value *words = gguf_file_find(file, "a.words");
    cr_assert(words->is_array && words->type == GGUF_TEXT && words->count == 2);
    cr_assert_null(gguf_file_find(file, "a"));
    cr_assert_eq(gguf_file_tensor_count(file), 2);
    const struct gguf_file_tensor *b = gguf_file_tensor_at(file, 1);
    cr_assert_str_eq(b->name, "b");
    cr_assert_eq(b->rank, 2);
    cr_assert(b->shape[0] == 3 && b->shape[1] == 5, "the last axis is the fastest");
    cr_assert_eq(b->bytes, 60);
    cr_assert_eq(b->offset, gguf_file_header_bytes(file));
    cr_assert_null(gguf_file_tensor_at(file, 2));
    gguf_file_close(file);
    gguf_file_close(NULL);
    cr_assert_eq(alloc_live(), live);
}

static void expect_refused(const char *path, const char *word)
{
    struct gguf_file *file = NULL;
    const size_t live = alloc_live();
    cr_assert_eq(gguf_file_open(path, &file), TAPML_INVALID, "%s", word);
    cr_assert_not_null(strstr(status_message(), word), "%s: %s", word, status_message());
    cr_assert_not_null(strstr(status_message(), ".gguf"), "%s", status_message());
    cr_assert_eq(alloc_live(), live);
}

static void expect_made_refused(const char *word)
{
    expect_refused(gguf_maker_write(&maker, &scratch, "x.gguf"), word);
    gguf_maker_begin(&maker);
}

Test(gguf_file, every_end_is_refused)
{
    static char bytes[4096];
    FILE *file = fopen(write_model(), "rb");
    const size_t size = fread(bytes, 1, sizeof(bytes), file);
    cr_assert(fclose(file) == 0 && size > 200 && size < sizeof(bytes));
    // The last tensor's data ends 16 bytes before the file does.
    for (size_t length = 0; length < size - 16; ++length) {
        expect_refused(scratch_write(&scratch, "cut.gguf", bytes, length), "cut.gguf");
    }
}

Test(gguf_file, random_damage_never_crashes)
{
    static char bytes[4096];
    static char damaged[4096];
    struct random random;
    FILE *file = fopen(write_model(), "rb");
    const size_t size = fread(bytes, 1, sizeof(bytes), file);
    cr_assert_eq(fclose(file), 0);
    random_init(&random, 5);
    for (int i = 0; i < 500; ++i) {
        struct gguf_file *opened = NULL;
        memcpy(damaged, bytes, size);
        damaged[random_below(&random, size)] = (char)random_below(&random, 256);
        damaged[random_below(&random, size)] ^= (char)0x80;
        if (gguf_file_open(scratch_write(&scratch, "d.gguf", damaged, size), &opened) == TAPML_OK) {
            gguf_file_close(opened);
        }
    }
}

Test(gguf_file, other_formats_are_refused_by_name)
{
    static const char one[] = "GGUF\1\0\0\0\0\0\0\0\0\0\0\0";
    static const char big[] = "GGUF\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0";
    static const char four[] = "GGUF\4\0\0\0\0\0\0\0\0\0\0\0";
    expect_refused(scratch_write(&scratch, "1.gguf", one, sizeof(one)), "version 2 or 3, found 1");
    expect_refused(scratch_write(&scratch, "4.gguf", four, sizeof(four)), "found 4");
    expect_refused(scratch_write(&scratch, "b.gguf", big, sizeof(big)), "highest byte");
    expect_refused(scratch_text(&scratch, "t.gguf", "a text"), "expected a GGUF file");
}

Test(gguf_file, absurd_numbers_take_no_memory)
{
    const uint64_t huge = (uint64_t)1 << 60;
    gguf_maker_array(&maker, "k", 4, huge);
    expect_made_refused("'k'");
    gguf_maker_array(&maker, "k", 8, huge);
    expect_made_refused("'k': expected at most");
    gguf_maker_key(&maker, "k", 8);
    gguf_maker_number(&maker.keys, huge, 8);
    expect_made_refused("'k': expected");
    maker.key_count = huge;
    expect_made_refused("number of keys");
    maker.tensor_count = huge;
    expect_made_refused("number of tensors");
    const uint64_t shape[] = {huge, huge};
    gguf_maker_entry(&maker, "t", shape, 2, 0, 0);
    expect_made_refused("'t'");
    gguf_maker_entry(&maker, "t", shape, 1, 0, 0);
    expect_made_refused("'t'");
}

Test(gguf_file, wrong_values_are_refused)
{
    gguf_maker_u32(&maker, "k", 1);
    gguf_maker_u32(&maker, "k", 1);
    expect_made_refused("'k' is there twice");
    gguf_maker_u32(&maker, "a\nb", 1);
    expect_made_refused("control characters");
    gguf_maker_u32(&maker, "", 1);
    expect_made_refused("key 0");
    gguf_maker_key(&maker, "k", 13);
    gguf_maker_number(&maker.keys, 0, 8);
    expect_made_refused("found 13");
    gguf_maker_array(&maker, "k", 9, 0);
    expect_made_refused("arrays of arrays");
    gguf_maker_key(&maker, "k", 7);
    gguf_maker_number(&maker.keys, 2, 8);
    expect_made_refused("0 or 1");
    gguf_maker_u32(&maker, "general.alignment", 24);
    expect_made_refused("general.alignment");
}

Test(gguf_file, wrong_tensors_are_refused)
{
    const uint64_t shape[] = {8, 4, 1, 1, 1};
    gguf_maker_entry(&maker, "t", shape, 5, 0, 0);
    expect_made_refused("found 5");
    gguf_maker_entry(&maker, "t", shape, 2, 5, 0);
    expect_made_refused("number of a type, found 5");
    gguf_maker_entry(&maker, "t", shape, 2, 8, 0);
    expect_made_refused("blocks of 32 values");
    gguf_maker_entry(&maker, "t\x7f", shape, 2, 0, 0);
    expect_made_refused("control characters");
    gguf_maker_tensor(&maker, "a", 2, 8);
    gguf_maker_entry(&maker, "t", shape, 2, 0, 16);
    expect_made_refused("multiple of 32, found 16");
    gguf_maker_tensor(&maker, "a", 2, 8);
    gguf_maker_entry(&maker, "t", shape, 1, 0, 64);
    expect_made_refused("within the 64");
    gguf_maker_tensor(&maker, "a", 4, 8);
    gguf_maker_entry(&maker, "t", shape, 1, 0, 32);
    expect_made_refused("overlap");
    gguf_maker_tensor(&maker, "a", 2, 8);
    gguf_maker_tensor(&maker, "a", 2, 8);
    expect_made_refused("'a' is there twice");
}

static tapml_status build(const char *path)
{
    struct gguf_file *file = NULL;
    TAPML_TRY(gguf_file_open(path, &file));
    gguf_file_close(file);
    return TAPML_OK;
}

Test(gguf_file, survives_without_memory)
{
    (void)write_model();
    SCRATCH_SWEEP(build(scratch_path(&scratch, "x.gguf")));
}
