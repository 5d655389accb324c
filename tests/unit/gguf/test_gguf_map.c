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

static void append_zeros(int count)
{
    for (int i = 0; i < count; ++i) {
        text_append_bytes(&maker.data, "", 1);
    }
}

static void add_experts(void)
{
    const uint64_t shape[] = {2, 4, 3};
    gguf_maker_entry(&maker, "blk.1.ffn_up_exps.weight", shape, 3, 0, maker.data.length);
    append_zeros(96);
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

Test(gguf_map, values_and_rows_alternate)
{
    struct text text;
    const uint64_t shape[] = {2, 4, 3};
    begin("gpt-oss");
    gguf_maker_entry(&maker, "blk.0.ffn_gate_exps.weight", shape, 3, 0, maker.data.length);
    append_zeros(96);
    gguf_maker_entry(&maker, "blk.0.ffn_up_exps.weight", shape, 3, 0, maker.data.length);
    append_zeros(96);
    gguf_maker_tensor(&maker, "blk.0.ffn_gate_exps.bias", 3, 4);
    gguf_maker_tensor(&maker, "blk.0.ffn_up_exps.bias", 3, 4);
    cr_assert_eq(map(&text), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(text.data, "model.layers.0.mlp.experts.gate_up_proj_bias 3 8 made;"
                                "model.layers.0.mlp.experts.gate_up_proj 3 8 2 made;");
    text_release(&text);
    begin("gpt-oss");
    gguf_maker_tensor(&maker, "blk.0.ffn_gate_exps.bias", 3, 4);
    gguf_maker_tensor(&maker, "blk.0.ffn_up_exps.bias", 3, 5);
    expect_refused("blk.0.ffn_up_exps.bias");
}

Test(gguf_map, a_key_of_a_layer_becomes_a_tensor)
{
    struct text text;
    begin("apertus");
    gguf_maker_array(&maker, "xielu.alpha_p", 4, 2);
    gguf_maker_number(&maker.keys, 5, 4);
    gguf_maker_number(&maker.keys, 6, 4);
    gguf_maker_entry(&maker, "blk.1.ffn_norm.weight", (const uint64_t[]){4}, 1, 0, 0);
    append_zeros(16);
    cr_assert_eq(map(&text), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(text.data, "model.layers.1.feedforward_layernorm.weight 4;"
                                "model.layers.1.mlp.act_fn.alpha_p 1 made;");
    text_release(&text);
}

Test(gguf_map, parts_axes_and_rows_come_back)
{
    struct text text;
    const uint64_t lerps[] = {8, 1, 1, 6};
    gguf_maker_u32(&maker, "rwkv7.embedding_length", 8);
    gguf_maker_u32(&maker, "rwkv7.wkv.head_size", 4);
    begin("rwkv7");
    gguf_maker_entry(&maker, "blk.1.time_mix_lerp_fused.weight", lerps, 4, 0, 0);
    append_zeros(192);
    gguf_maker_entry(&maker, "blk.1.time_mix_r_k.weight", lerps, 1, 0, maker.data.length);
    append_zeros(32);
    cr_assert_eq(map(&text), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(text.data, "model.layers.1.attn.x_r 1 1 8;model.layers.1.attn.x_w 1 1 8;"
                                "model.layers.1.attn.x_k 1 1 8;model.layers.1.attn.x_v 1 1 8;"
                                "model.layers.1.attn.x_a 1 1 8;model.layers.1.attn.x_g 1 1 8;"
                                "model.layers.1.attn.r_k 2 4;");
    text_release(&text);
    gguf_maker_u32(&maker, "rwkv7.embedding_length", 12);
    gguf_maker_u32(&maker, "rwkv7.wkv.head_size", 4);
    begin("rwkv7");
    gguf_maker_entry(&maker, "blk.1.time_mix_r_k.weight", lerps, 1, 0, 0);
    append_zeros(32);
    expect_refused("expected 3 rows, found 8 values");
}

Test(gguf_map, weights_that_were_halved_are_doubled)
{
    struct text text;
    gguf_maker_u32(&maker, "rwkv6.rescale_every_n_layers", 2);
    begin("rwkv6");
    gguf_maker_tensor(&maker, "blk.1.time_mix_output.weight", 4, 4);
    gguf_maker_tensor(&maker, "blk.2.time_mix_output.weight", 4, 4);
    cr_assert_eq(map(&text), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(text.data, "rwkv.blocks.1.attention.output.weight 4 4;"
                                "rwkv.blocks.2.attention.output.weight 4 4 made;");
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
