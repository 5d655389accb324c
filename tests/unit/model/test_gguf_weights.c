// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/gguf_maker.h"
#include "model/gguf_weights.h"

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

TestSuite(gguf_weights, .init = setup, .fini = teardown);

static const char *write_model(void)
{
    gguf_maker_string(&maker, "general.architecture", "llama");
    gguf_maker_u32(&maker, "llama.attention.head_count", 2);
    gguf_maker_tensor(&maker, "token_embd.weight", 5, 8);
    gguf_maker_tensor(&maker, "blk.0.attn_q.weight", 8, 2);
    return gguf_maker_write(&maker, &scratch, "x.gguf");
}

Test(gguf_weights, tensors_are_mapped_or_made)
{
    struct checkpoint *checkpoint = NULL;
    const size_t live = alloc_live();
    cr_assert_eq(gguf_weights_open(write_model(), &checkpoint), TAPML_OK, "%s", status_message());
    cr_assert_eq(checkpoint_count(checkpoint), 2);
    const struct checkpoint_tensor *embed =
        checkpoint_find(checkpoint, "model.embed_tokens.weight");
    const struct checkpoint_tensor *q =
        checkpoint_find(checkpoint, "model.layers.0.self_attn.q_proj.weight");
    const struct file_map map = checkpoint_map_at(checkpoint, 0);
    const unsigned char *data = embed->data;
    cr_assert(data >= map.data && data + embed->bytes <= map.data + map.size);
    cr_assert_eq(embed->tensor.dtype, TAPML_F32);
    cr_assert_arr_eq(embed->tensor.shape, ((int64_t[]){5, 8}), 16);
    cr_assert_str_eq(embed->file, "x.gguf");
    cr_assert_eq(((const float *)q->data)[2], 4, "the second row was the third");
    checkpoint_close(checkpoint);
    cr_assert_eq(alloc_live(), live);
}

Test(gguf_weights, unsupported_types_are_refused_by_name)
{
    struct checkpoint *checkpoint = NULL;
    const uint64_t shape[] = {256};
    gguf_maker_string(&maker, "general.architecture", "llama");
    gguf_maker_entry(&maker, "token_embd.weight", shape, 1, 16, 0);
    for (int i = 0; i < 66; ++i) {
        text_append_bytes(&maker.data, "", 1);
    }
    const char *path = gguf_maker_write(&maker, &scratch, "x.gguf");
    cr_assert_eq(gguf_weights_open(path, &checkpoint), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "IQ2_XXS"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "'token_embd.weight'"), "%s", status_message());
}

static tapml_status build(const char *path)
{
    struct checkpoint *checkpoint = NULL;
    TAPML_TRY(gguf_weights_open(path, &checkpoint));
    checkpoint_close(checkpoint);
    return TAPML_OK;
}

Test(gguf_weights, survives_without_memory)
{
    (void)write_model();
    SCRATCH_SWEEP(build(scratch_path(&scratch, "x.gguf")));
}
