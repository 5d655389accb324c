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

TestSuite(checkpoint, .init = setup, .fini = teardown);

static tapml_status open_data(const char *name, struct checkpoint **out_checkpoint)
{
    return safetensors_open(scratch_data(name), out_checkpoint);
}

Test(checkpoint, the_fixtures_open_and_are_distinguished)
{
    const char *const names[] = {"models/llama", "models/llama_bf16", "models/llama_f16",
                                 "models/llama_legacy", "models/llama_sharded"};
    struct hash hashes[5];
    for (size_t i = 0; i < 5; ++i) {
        struct checkpoint *checkpoint = NULL;
        struct checkpoint *again = NULL;
        cr_assert_eq(open_data(names[i], &checkpoint), TAPML_OK, "%s", status_message());
        cr_assert_eq(open_data(names[i], &again), TAPML_OK);
        cr_assert_gt(checkpoint_count(checkpoint), 10);
        const struct checkpoint_tensor *norm = checkpoint_find(checkpoint, "model.norm.weight");
        cr_assert_not_null(norm);
        cr_assert_eq(norm->tensor.rank, 1);
        hashes[i] = checkpoint_hash(checkpoint);
        cr_assert(hash_equal(hashes[i], checkpoint_hash(again)));
        for (size_t k = 0; k < i; ++k) {
            cr_assert_not(hash_equal(hashes[i], hashes[k]), "%s and %s", names[i], names[k]);
        }
        checkpoint_close(again);
        checkpoint_close(checkpoint);
    }
}

Test(checkpoint, a_branch_has_the_tensors_where_they_lie)
{
    static const char other[1 << 16];
    const char *const name = "model.norm.weight", *const encoded = "lm_head.weight";
    struct checkpoint *base = NULL, *branch = NULL;
    struct encoding_loss loss;
    cr_assert_eq(open_data("models/llama", &base), TAPML_OK, "%s", status_message());
    const struct hash hash = checkpoint_hash(base);
    cr_assert_eq(checkpoint_branch(base, &branch), TAPML_OK);
    cr_expect(hash_equal(checkpoint_hash(branch), hash));
    cr_expect_eq(checkpoint_count(branch), checkpoint_count(base));
    cr_expect_eq(checkpoint_map_count(branch), checkpoint_map_count(base));
    cr_expect_eq(checkpoint_find(branch, name)->data, checkpoint_find(base, name)->data);
    const void *data = checkpoint_find(base, name)->data;
    cr_assert_leq(checkpoint_find(base, name)->bytes, sizeof(other));
    checkpoint_set_data(branch, name, other);
    cr_assert_eq(checkpoint_encode(branch, encoded, encoding_find_word("q8_0"), &loss), TAPML_OK,
                 "%s", status_message());
    cr_expect_eq(checkpoint_find(branch, name)->data, other);
    cr_expect_eq(checkpoint_find(base, name)->data, data);
    cr_expect_null(checkpoint_find(base, encoded)->tensor.encoding);
    cr_expect_not(hash_equal(checkpoint_hash(branch), hash));
    // What is encoded lies in a mapping of the branch, behind those of the base.
    cr_expect_eq(checkpoint_map_count(branch), checkpoint_map_count(base) + 1);
    cr_expect_eq(checkpoint_map_at(branch, 0).data, checkpoint_map_at(base, 0).data);
    checkpoint_close(branch);
    cr_expect(hash_equal(checkpoint_hash(base), hash));
    checkpoint_close(base);
}

Test(checkpoint, encodes_a_tensor_in_its_place)
{
    struct checkpoint *checkpoint = NULL;
    struct encoding_loss loss;
    cr_assert_eq(open_data("models/llama_bf16", &checkpoint), TAPML_OK, "%s", status_message());
    const char *name = "model.embed_tokens.weight";
    const tapml_encoding *q8 = encoding_find(TAPML_ENCODING_Q8);
    const struct hash plain = checkpoint_hash(checkpoint);
    const struct checkpoint_tensor before = *checkpoint_find(checkpoint, name);
    cr_assert_eq(checkpoint_encode(checkpoint, name, q8, &loss), TAPML_OK, "%s", status_message());
    const struct checkpoint_tensor *after = checkpoint_find(checkpoint, name);
    cr_assert_eq(after->tensor.encoding, q8);
    cr_assert_eq(after->tensor.dtype, TAPML_U8);
    cr_assert_arr_eq(after->tensor.shape, before.tensor.shape, 2 * sizeof(int64_t));
    cr_assert_lt(after->bytes, before.bytes);
    cr_assert_gt(encoding_loss_relative(&loss), 0);
    cr_assert_lt(encoding_loss_relative(&loss), 0.01);
    cr_assert_not(hash_equal(plain, checkpoint_hash(checkpoint)));

    cr_assert_eq(checkpoint_encode(checkpoint, name, q8, &loss), TAPML_INVALID, "once is enough");
    cr_assert_eq(checkpoint_encode(checkpoint, "no.such", q8, &loss), TAPML_NOT_FOUND);
    checkpoint_close(checkpoint);
}

static int
is_in_map(const struct checkpoint *checkpoint, const struct checkpoint_tensor *tensor, size_t index)
{
    const struct file_map map = checkpoint_map_at(checkpoint, index);
    const unsigned char *data = tensor->data;
    struct file_map other = map;
    other.data = mmap(NULL, map.size, PROT_READ, MAP_SHARED, map.descriptor, 0);
    cr_assert_neq(other.data, MAP_FAILED);
    const int is_in = data >= map.data && data + tensor->bytes <= map.data + map.size;
    cr_assert(!is_in || memcmp(other.data + (data - map.data), data, tensor->bytes) == 0);
    munmap((void *)(uintptr_t)other.data, map.size);
    return is_in;
}

Test(checkpoint, says_where_another_process_can_read_it)
{
    struct checkpoint *checkpoint = NULL;
    struct encoding_loss loss;
    cr_assert_eq(open_data("models/llama_bf16", &checkpoint), TAPML_OK, "%s", status_message());
    const char *name = "model.embed_tokens.weight";
    const size_t files = checkpoint_map_count(checkpoint);
    cr_assert_eq(files, 1);
    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        cr_assert(is_in_map(checkpoint, checkpoint_at(checkpoint, i), 0));
    }
    cr_assert_eq(checkpoint_encode(checkpoint, name, encoding_find(TAPML_ENCODING_Q8), &loss),
                 TAPML_OK);
    cr_assert_eq(checkpoint_map_count(checkpoint), files + 1);
    cr_assert(is_in_map(checkpoint, checkpoint_find(checkpoint, name), files));
    cr_assert_not(is_in_map(checkpoint, checkpoint_find(checkpoint, name), 0));
    checkpoint_close(checkpoint);
}

Test(checkpoint, what_has_no_whole_blocks_is_not_encoded)
{
    struct checkpoint *checkpoint = NULL;
    struct encoding_loss loss;
    const char *path =
        safetensors_write(&scratch, "x.safetensors",
                          "{'a': {'dtype': 'F32', 'shape': [2, 33], 'data_offsets': [0, 264]},"
                          " 'b': {'dtype': 'I32', 'shape': [32], 'data_offsets': [264, 392]}}",
                          392);
    cr_assert_eq(safetensors_open_file(path, &checkpoint), TAPML_OK, "%s", status_message());
    const tapml_encoding *q4 = encoding_find(TAPML_ENCODING_Q4);
    cr_assert_eq(checkpoint_encode(checkpoint, "a", q4, &loss), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'a'"), "%s", status_message());
    cr_assert_eq(checkpoint_encode(checkpoint, "b", q4, &loss), TAPML_INVALID);
    checkpoint_close(checkpoint);
}
