// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/text.h"
#include "gguf/gguf_map.h"
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

TestSuite(gguf_map, .init = setup, .fini = teardown);

// Lists names with shapes.
static tapml_status list(void *user, const char *name, const struct gguf_recipe *recipe)
{
    struct text *text = user;
    text_format(text, "%s", name);
    for (uint32_t i = 0; i < recipe->rank; ++i) {
        text_format(text, " %lld", (long long)recipe->shape[i]);
    }
    text_append(text, gguf_recipe_mapped(recipe) ? ";" : " made;");
    return TAPML_OK;
}

static tapml_status map(struct text *out)
{
    struct gguf *gguf = NULL;
    struct gguf_family *family = NULL;
    const char *path = gguf_maker_write(&maker, &scratch, "x.gguf");
    text_init(out);
    cr_assert_eq(gguf_open(path, &gguf), TAPML_OK, "%s", status_message());
    cr_assert_eq(gguf_family_open(gguf, &family), TAPML_OK, "%s", status_message());
    const tapml_status status = gguf_map_each(gguf, family, list, out);
    gguf_family_close(family);
    gguf_close(gguf);
    gguf_maker_begin(&maker);
    return status;
}

static void expect_refused(const char *word)
{
    struct text text;
    cr_assert_eq(map(&text), TAPML_INVALID, "%s", text.data);
    cr_assert_not_null(strstr(status_message(), word), "%s: %s", word, status_message());
    text_release(&text);
}

static void begin(const char *architecture)
{
    char key[64];
    gguf_maker_string(&maker, "general.architecture", architecture);
    snprintf(key, sizeof(key), "%s.attention.head_count", architecture);
    gguf_maker_u32(&maker, key, 2);
    snprintf(key, sizeof(key), "%s.attention.head_count_kv", architecture);
    gguf_maker_u32(&maker, key, 1);
}

static void add_experts(void)
{
    const uint64_t shape[] = {2, 4, 3};
    gguf_maker_entry(&maker, "blk.1.ffn_up_exps.weight", shape, 3, 0, maker.data.length);
    for (int i = 0; i < 96; ++i) {
        text_append_bytes(&maker.data, "", 1);
    }
}

Test(gguf_map, tensors_get_the_names_of_a_folder)
{
    struct text text;
    begin("llama");
    gguf_maker_tensor(&maker, "token_embd.weight", 5, 2);
    gguf_maker_tensor(&maker, "blk.10.attn_q.weight", 8, 2);
    gguf_maker_tensor(&maker, "blk.10.attn_q.bias", 1, 8);
    gguf_maker_tensor(&maker, "rope_freqs.weight", 1, 2);
    cr_assert_eq(map(&text), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(text.data, "model.layers.10.self_attn.q_proj.bias 8 made;"
                                "model.layers.10.self_attn.q_proj.weight 8 2 made;"
                                "model.embed_tokens.weight 5 2;");
    text_release(&text);
}

Test(gguf_map, experts_get_names_of_their_own)
{
    struct text text;
    begin("qwen3moe");
    add_experts();
    cr_assert_eq(map(&text), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(text.data, "model.layers.1.mlp.experts.0.up_proj.weight 4 2;"
                                "model.layers.1.mlp.experts.1.up_proj.weight 4 2;"
                                "model.layers.1.mlp.experts.2.up_proj.weight 4 2;");
    text_release(&text);
}

Test(gguf_map, several_become_one)
{
    struct text text;
    begin("internlm2");
    gguf_maker_tensor(&maker, "blk.0.attn_q.weight", 8, 2);
    gguf_maker_tensor(&maker, "blk.0.attn_k.weight", 4, 2);
    gguf_maker_tensor(&maker, "blk.0.attn_v.weight", 4, 2);
    cr_assert_eq(map(&text), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(text.data, "model.layers.0.attention.wqkv.weight 16 2 made;");
    text_release(&text);
}

Test(gguf_map, what_does_not_fit_is_refused)
{
    begin("llama");
    gguf_maker_tensor(&maker, "blk.0.nothing.weight", 1, 2);
    expect_refused("'blk.0.nothing.weight'");
    begin("llama");
    gguf_maker_tensor(&maker, "blk.0.attn_q.weight", 7, 2);
    expect_refused("rows of 2 heads");
    begin("internlm2");
    gguf_maker_tensor(&maker, "blk.0.attn_q.weight", 8, 2);
    expect_refused("expected a tensor 'blk.0.attn_k.weight'");
    begin("falcon");
    gguf_maker_tensor(&maker, "blk.0.attn_qkv.weight", 7, 2);
    expect_refused("rows of 4 heads");
    gguf_maker_string(&maker, "general.architecture", "llama");
    gguf_maker_tensor(&maker, "blk.0.attn_q.weight", 8, 2);
    expect_refused("attention.head_count");
}
