// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "dump/dump.h"
#include "dump/dump_open.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "run/npy.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#include <sys/stat.h>
#include <unistd.h>

static struct scratch scratch;
static struct dump *dump;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    dump_destroy(dump);
    scratch_remove(&scratch);
}

TestSuite(dump_open, .init = begin, .fini = end);

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void write_array(const char *name, float value)
{
    static const int64_t shape[] = {1};

    MUST(npy_write(scratch_path(&scratch, name), TAPML_F32, shape, 1, &value));
}

Test(dump_open, the_arrays_of_a_folder_come_in_the_order_of_their_numbers)
{
    write_array("l.10.npy", 10);
    write_array("l.9.npy", 9);
    (void)scratch_text(&scratch, "README", "no dump");
    cr_assert_eq(mkdir(scratch_path(&scratch, "deeper"), 0700), 0);
    cr_assert_eq(symlink("/etc/hostname", scratch_path(&scratch, "link.npy")), 0);
    MUST(dump_open(scratch.folder, &dump));
    cr_assert_eq(dump->count, 2u);
    cr_assert_str_eq(dump->tensors[0].name, "l.9");
    cr_assert_str_eq(dump->tensors[1].name, "l.10");
    cr_assert_not(dump->is_ordered);
}

Test(dump_open, a_file_alone_is_read_by_its_ending)
{
    write_array("x.npy", 1);
    MUST(dump_open(scratch_path(&scratch, "x.npy"), &dump));
    cr_assert_str_eq(dump->tensors[0].name, "x");
    dump_destroy(dump);
    dump = NULL;
    (void)scratch_text(&scratch, "log",
                       "ggml_debug: x = (f32) MUL(a{1, 1, 1, 1}, }) = {1, 1, 1, 1}\n[ 1.0 ]\n");
    MUST(dump_open(scratch_path(&scratch, "log"), &dump));
    cr_assert_str_eq(dump->tensors[0].op, "MUL");
    cr_assert(dump->is_ordered);
    dump_destroy(dump);
    dump = NULL;
    (void)scratch_write(&scratch, "x.tensorproto", "\x08\x01\x10\x01\x4a\x04\0\0\x80\x3f", 10);
    MUST(dump_open(scratch_path(&scratch, "x.tensorproto"), &dump));
    cr_assert_eq(dump->count, 1u);
}

Test(dump_open, safetensors_have_their_names)
{
    static const char header[] =
        "{\"b.2\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
        "\"b.10\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[4,12]}}";
    char file[512] = {0};

    file[0] = (char)(sizeof(header) - 1);
    memcpy(file + 8, header, sizeof(header) - 1);
    (void)scratch_write(&scratch, "x.safetensors", file, 8 + sizeof(header) - 1 + 12);
    MUST(dump_open(scratch_path(&scratch, "x.safetensors"), &dump));
    cr_assert_eq(dump->count, 2u);
    cr_assert_str_eq(dump->tensors[0].name, "b.2");
}

Test(dump_open, the_store_of_a_run_is_one_too)
{
    struct cases_silu silu;
    struct store *store = NULL;

    cases_make_silu(&silu, "a/silu", 0);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    MUST(store_begin(store));
    MUST(stored_case_add(store, &silu.item));
    MUST(store_commit(store));
    store_close(store);
    cr_assert(dump_open_is_run(scratch.folder));
    MUST(dump_open(scratch.folder, &dump));
    cr_assert_str_eq(dump->tensors[0].name, "a/silu");
}

Test(dump_open, what_is_no_dump_is_refused)
{
    cr_assert_not(dump_open_is_run(scratch.folder));
    cr_assert_eq(dump_open(scratch.folder, &dump), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "and no dump"));
    cr_assert_eq(dump_open("/nonexistent", &dump), TAPML_NOT_FOUND);
    (void)scratch_text(&scratch, "x.npz", "no archive, but long enough to have a directory");
    cr_assert_eq(dump_open(scratch.folder, &dump), TAPML_INVALID);
}

static tapml_status open_again(void)
{
    struct dump *opened = NULL;

    TAPML_TRY(dump_open(scratch.folder, &opened));
    dump_destroy(opened);
    return TAPML_OK;
}

Test(dump_open, without_memory_nothing_leaks)
{
    write_array("x.npy", 1);
    (void)scratch_text(&scratch, "log.txt",
                       "ggml_debug: x = (f32) MUL(a{1, 1, 1, 1}, }) = {1, 1, 1, 1}\n[ 1.0 ]\n");
    SCRATCH_SWEEP(open_again());
}
