// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/safetensors_file.h"
#include "base/alloc.h"
#include "base/random.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "tensor/dtype.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(safetensors, .init = setup, .fini = teardown);

static void expect_refused(const char *header, size_t data_bytes, const char *word)
{
    struct checkpoint *checkpoint = NULL;
    const size_t live = alloc_live();
    const char *path = safetensors_write(&scratch, "x.safetensors", header, data_bytes);
    cr_assert_eq(safetensors_open_file(path, &checkpoint), TAPML_INVALID, "%s", header);
    cr_assert_not_null(strstr(status_message(), "x.safetensors"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), word), "%s: %s", header, status_message());
    cr_assert_eq(alloc_live(), live);
}

Test(safetensors, tensors_are_listed_by_name)
{
    struct checkpoint *checkpoint = NULL;
    const char *path =
        safetensors_write(&scratch, "x.safetensors",
                          "{'__metadata__': {'format': 'pt'},"
                          " 'b': {'dtype': 'F32', 'shape': [2, 3], 'data_offsets': [0, 24]},"
                          " 'a': {'dtype': 'BOOL', 'shape': [4], 'data_offsets': [24, 28]},"
                          " 'c': {'dtype': 'I64', 'shape': [], 'data_offsets': [28, 36]},"
                          " 'e': {'dtype': 'F16', 'shape': [0, 5], 'data_offsets': [24, 24]}}",
                          36);
    cr_assert_eq(safetensors_open_file(path, &checkpoint), TAPML_OK, "%s", status_message());
    cr_assert_eq(checkpoint_count(checkpoint), 4);
    const char *const names[] = {"a", "b", "c", "e"};
    for (size_t i = 0; i < 4; ++i) {
        cr_assert_str_eq(checkpoint_at(checkpoint, i)->name, names[i]);
        cr_assert_eq(checkpoint_find(checkpoint, names[i]), checkpoint_at(checkpoint, i));
    }
    cr_assert_null(checkpoint_at(checkpoint, 4));
    cr_assert_null(checkpoint_find(checkpoint, "d"));
    cr_assert_null(checkpoint_find(checkpoint, "__metadata__"));
    const struct checkpoint_tensor *b = checkpoint_find(checkpoint, "b");
    cr_assert_eq(b->tensor.dtype, TAPML_F32);
    cr_assert_eq(b->tensor.rank, 2);
    cr_assert_arr_eq(b->tensor.shape, ((int64_t[]){2, 3}), 16);
    cr_assert_null(b->tensor.stride);
    cr_assert_null(b->tensor.buffer);
    cr_assert_eq(b->bytes, 24);
    cr_assert_str_eq(b->file, "x.safetensors");
    for (size_t i = 0; i < 24; ++i) {
        cr_assert_eq(((const unsigned char *)b->data)[i], i);
    }
    cr_assert_eq(checkpoint_find(checkpoint, "c")->tensor.rank, 0);
    cr_assert_null(checkpoint_find(checkpoint, "c")->tensor.shape);
    cr_assert_eq(checkpoint_find(checkpoint, "e")->bytes, 0);
    cr_assert_eq(checkpoint_find(checkpoint, "a")->tensor.dtype, TAPML_U8);
    checkpoint_close(checkpoint);
    checkpoint_close(NULL);
}

Test(safetensors, data_is_used_where_it_lies)
{
    for (int pad = 0; pad < 8; ++pad) {
        char header[256];
        snprintf(header, sizeof(header),
                 "{'a': {'dtype': 'U8', 'shape': [1], 'data_offsets': [0, 1]},"
                 " 'b': {'dtype': 'F64', 'shape': [2], 'data_offsets': [1, 17]}}%*s",
                 pad, "");
        struct checkpoint *checkpoint = NULL;
        const size_t live = alloc_live();
        const char *path = safetensors_write(&scratch, "x.safetensors", header, 17);
        cr_assert_eq(safetensors_open_file(path, &checkpoint), TAPML_OK, "%s", status_message());
        const struct checkpoint_tensor *b = checkpoint_find(checkpoint, "b");
        const struct file_map map = checkpoint_map_at(checkpoint, 0);
        cr_assert_eq(checkpoint_map_count(checkpoint), 1);
        cr_assert_eq((const unsigned char *)b->data, map.data + map.size - 16);
        for (size_t i = 0; i < 16; ++i) {
            cr_assert_eq(((const unsigned char *)b->data)[i], i + 1);
        }
        checkpoint_close(checkpoint);
        cr_assert_eq(alloc_live(), live);
    }
}

#define TENSOR "'t': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]}"

Test(safetensors, hostile_headers_are_refused)
{
    expect_refused("{" TENSOR "}", 7, "'t'");
    expect_refused("{" TENSOR "}", 9, "9");
    expect_refused("{" TENSOR, 8, "x.safetensors:1");
    expect_refused("[" TENSOR "]", 8, "x.safetensors:1");
    expect_refused("[]", 0, "object");
    expect_refused("{" TENSOR ", " TENSOR "}", 8, "duplicate");
    expect_refused("{'t': 5}", 0, "'t'");
    expect_refused("{'t': {'shape': [2], 'data_offsets': [0, 8]}}", 8, "dtype");
    expect_refused("{'t': {'dtype': 'F8_E4M3', 'shape': [8], 'data_offsets': [0, 8]}}", 8,
                   "F8_E4M3");
    expect_refused("{'t': {'dtype': 'F32', 'data_offsets': [0, 8]}}", 8, "shape");
    expect_refused("{'t': {'dtype': 'F32', 'shape': 2, 'data_offsets': [0, 8]}}", 8, "shape");
    expect_refused("{'t': {'dtype': 'F32', 'shape': ['2'], 'data_offsets': [0, 8]}}", 8, "shape");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [2.5], 'data_offsets': [0, 8]}}", 8, "shape");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [-2], 'data_offsets': [0, 8]}}", 8, "-2");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [1,1,1,1,1,1,2], 'data_offsets': [0, 8]}}", 8,
                   "7");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [2]}}", 8, "data_offsets");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0]}}", 8, "data_offsets");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8, 9]}}", 8,
                   "data_offsets");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [2], 'data_offsets': ['0', 8]}}", 8,
                   "data_offsets");
    expect_refused("{'a\\u0001': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]}}", 8,
                   "control character");
    expect_refused("{'': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]}}", 8, "no name");
}

Test(safetensors, hostile_offsets_are_refused)
{
    expect_refused("{'t': {'dtype': 'F32', 'shape': [2], 'data_offsets': [-8, 0]}}", 8, "-8");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [2], 'data_offsets': [8, 0]}}", 8, "8 .. 0");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 16]}}", 8, "16");
    expect_refused("{'t': {'dtype': 'F32', 'shape': [3], 'data_offsets': [0, 8]}}", 8, "12 bytes");
    expect_refused(
        "{'t': {'dtype': 'F32', 'shape': [4611686018427387904, 4], 'data_offsets': [0, 0]}}", 0,
        "'t'");
    expect_refused(
        "{'t': {'dtype': 'F64', 'shape': [2305843009213693952], 'data_offsets': [0, 0]}}", 0,
        "'t'");
    expect_refused("{'a': {'dtype': 'U8', 'shape': [4], 'data_offsets': [0, 4]},"
                   " 'b': {'dtype': 'U8', 'shape': [4], 'data_offsets': [3, 7]}}",
                   7, "overlap");
    expect_refused("{'a': {'dtype': 'U8', 'shape': [4], 'data_offsets': [0, 4]},"
                   " 'b': {'dtype': 'U8', 'shape': [4], 'data_offsets': [0, 4]}}",
                   4, "overlap");
    expect_refused("{'a': {'dtype': 'U8', 'shape': [3], 'data_offsets': [0, 3]},"
                   " 'b': {'dtype': 'U8', 'shape': [4], 'data_offsets': [4, 8]}}",
                   8, "gap");
}

Test(safetensors, hostile_lengths_are_refused)
{
    struct checkpoint *checkpoint = NULL;
    static const unsigned char headers[][8] = {
        {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
        {0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
        {1, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < 4; ++i) {
        const char *path = scratch_write(&scratch, "x", headers[i], 8);
        cr_assert_eq(safetensors_open_file(path, &checkpoint), TAPML_INVALID, "%zu", i);
    }
    cr_assert_eq(safetensors_open_file(scratch_write(&scratch, "x", "1234567", 7), &checkpoint),
                 TAPML_INVALID);
    cr_assert_eq(safetensors_open_file(scratch_text(&scratch, "x", ""), &checkpoint),
                 TAPML_INVALID);
    cr_assert_eq(safetensors_open_file(scratch_path(&scratch, "absent"), &checkpoint),
                 TAPML_NOT_FOUND);
}

Test(safetensors, random_damage_never_crashes)
{
    struct random random;
    random_init(&random, 5);
    const char *header = "{'a': {'dtype': 'F16', 'shape': [2, 2], 'data_offsets': [0, 8]},"
                         " 'b': {'dtype': 'F32', 'shape': [3], 'data_offsets': [8, 20]}}";
    unsigned char file[SAFETENSORS_FILE_MAX];
    const char *path = safetensors_write(&scratch, "good", header, 20);
    FILE *stream = fopen(path, "rb");
    const size_t size = fread(file, 1, sizeof(file), stream);
    fclose(stream);
    int refused = 0;
    for (int i = 0; i < 1000; ++i) {
        unsigned char damaged[SAFETENSORS_FILE_MAX];
        memcpy(damaged, file, size);
        const size_t cut = random_below(&random, 4) == 0 ? random_below(&random, size) : size;
        for (uint64_t k = random_below(&random, 4) + 1; k > 0; --k) {
            damaged[random_below(&random, size)] = (unsigned char)random_u64(&random);
        }
        struct checkpoint *checkpoint = NULL;
        path = scratch_write(&scratch, "bad", damaged, cut);
        if (safetensors_open_file(path, &checkpoint) != TAPML_OK) {
            ++refused;
            cr_assert_null(checkpoint);
        }
        checkpoint_close(checkpoint);
    }
    cr_assert_gt(refused, 500);
}

static tapml_status open_data(const char *name, struct checkpoint **out_checkpoint)
{
    return safetensors_open(scratch_data(name), out_checkpoint);
}

Test(safetensors, shards_are_one_list)
{
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(open_data("models/llama_sharded", &checkpoint), TAPML_OK, "%s", status_message());
    int files = 0;
    for (size_t i = 0; i < checkpoint_count(checkpoint); ++i) {
        const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
        cr_assert_not_null(tensor->data);
        files |= strstr(tensor->file, "00001-of") ? 1 : 0;
        files |= strstr(tensor->file, "00002-of") ? 2 : 0;
        files |= strstr(tensor->file, "00003-of") ? 4 : 0;
        cr_assert(i == 0 || strcmp(checkpoint_at(checkpoint, i - 1)->name, tensor->name) < 0);
    }
    cr_assert_eq(files, 7);
    checkpoint_close(checkpoint);
}

#define BYTES(name) "{'" name "': {'dtype': 'U8', 'shape': [4], 'data_offsets': [0, 4]}}"

static tapml_status open_index(const char *index, struct checkpoint **out_checkpoint)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s", index);
    for (char *at = text; *at; ++at) {
        *at = *at == '\'' ? '"' : *at;
    }
    (void)scratch_text(&scratch, "model.safetensors.index.json", text);
    return safetensors_open(scratch.folder, out_checkpoint);
}

static void expect_index_refused(const char *index, const char *word)
{
    struct checkpoint *checkpoint = NULL;
    const size_t live = alloc_live();
    cr_assert_eq(open_index(index, &checkpoint), TAPML_INVALID, "%s", index);
    cr_assert_not_null(strstr(status_message(), word), "%s: %s", index, status_message());
    cr_assert_eq(alloc_live(), live);
}

Test(safetensors, hostile_indices_are_refused)
{
    struct checkpoint *checkpoint = NULL;
    (void)safetensors_write(&scratch, "1.safetensors", BYTES("a"), 4);
    (void)safetensors_write(&scratch, "2.safetensors", BYTES("b"), 4);
    (void)safetensors_write(&scratch, "3.safetensors", BYTES("a"), 4);
    cr_assert_eq(
        open_index("{'weight_map': {'a': '1.safetensors', 'b': '2.safetensors'}}", &checkpoint),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(checkpoint_count(checkpoint), 2);
    checkpoint_close(checkpoint);
    expect_index_refused("{}", "weight_map");
    expect_index_refused("[]", "weight_map");
    expect_index_refused("{'weight_map': ['a']}", "weight_map");
    expect_index_refused("{'weight_map': {'a': 1}}", "'a'");
    expect_index_refused("{'weight_map': {'a': '../1.safetensors'}}", "../1.safetensors");
    expect_index_refused("{'weight_map': {'a': '/etc/passwd'}}", "/etc/passwd");
    expect_index_refused("{'weight_map': {'a': '..'}}", "'..'");
    expect_index_refused("{'weight_map': {'a': ''}}", "''");
    expect_index_refused("{'weight_map': {'b': '1.safetensors'}}", "'b'");
    expect_index_refused("{'weight_map': {'a': '2.safetensors', 'b': '1.safetensors'}}", "'a'");
    expect_index_refused("{'weight_map': {'a': '1.safetensors', 'x': '3.safetensors'}}", "both");
    cr_assert_eq(open_index("{'weight_map': {'a': '9.safetensors'}}", &checkpoint),
                 TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "9.safetensors"));
}

Test(safetensors, a_folder_without_weights_is_refused)
{
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(safetensors_open(scratch.folder, &checkpoint), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "model.safetensors.index.json"));
}

static tapml_status build(const char *folder)
{
    struct checkpoint *checkpoint = NULL;
    TAPML_TRY(safetensors_open(folder, &checkpoint));
    checkpoint_close(checkpoint);
    return TAPML_OK;
}

Test(safetensors, survives_without_memory)
{
    SCRATCH_SWEEP(build(scratch_data("models/llama_sharded")));
    (void)safetensors_write(&scratch, "model.safetensors",
                            "{'a': {'dtype': 'U8', 'shape': [1], 'data_offsets': [0, 1]},"
                            " 'b': {'dtype': 'F64', 'shape': [2], 'data_offsets': [1, 17]}}",
                            17);
    SCRATCH_SWEEP(build(scratch.folder));
}
