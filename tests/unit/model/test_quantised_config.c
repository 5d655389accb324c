// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "model/config.h"
#include "model/quantised_config.h"

#include <criterion/criterion.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

// Reads a `quantization_config` with single quotes, and checks that no key of it is unknown.
static tapml_status read_text(const char *text, struct quantised_config **out_read)
{
    char quoted[2048];
    struct config *config = NULL;
    cr_assert_lt(strlen(text) + 32, sizeof(quoted));
    snprintf(quoted, sizeof(quoted), "{'quantization_config': %s}", text);
    for (char *at = quoted; *at; ++at) {
        *at = *at == '\'' ? '"' : *at;
    }
    *out_read = NULL;
    tapml_status status = config_parse("c.json", quoted, &config);
    cr_assert(status == TAPML_OK || status == TAPML_NO_MEMORY, "%s", status_message());
    if (status == TAPML_OK) {
        status = quantised_config_read(config, out_read);
        if (status == TAPML_OK) {
            status = config_check(config, 0);
        }
        config_close(config);
    }
    if (status != TAPML_OK) {
        quantised_config_destroy(*out_read);
        *out_read = NULL;
    }
    return status;
}

static struct quantised_config *read_good(const char *text)
{
    struct quantised_config *read = NULL;
    cr_assert_eq(read_text(text, &read), TAPML_OK, "%s", status_message());
    return read;
}

static const struct quantised_scheme *find(const struct quantised_config *read, const char *module)
{
    const struct quantised_scheme *scheme = NULL;
    cr_assert_eq(quantised_config_find(read, module, &scheme), TAPML_OK, "%s", status_message());
    return scheme;
}

// What the published checkpoints say.
static const struct {
    const char *text;
    enum quantised_layout_id layout;
    int64_t tile_rows, tile_columns;
    uint32_t bits;
} published[] = {
    {"{'activation_scheme': 'dynamic', 'fmt': 'e4m3', 'quant_method': 'fp8', "
     "'weight_block_size': [128, 64]}",
     QUANTISED_F8_INVERSE, 128, 64, 0},
    {"{'quant_method': 'fp8', 'activation_scheme': 'static', 'weight_block_size': null, "
     "'dequantize': false, 'modules_to_not_convert': ['lm_head']}",
     QUANTISED_F8_INVERSE, 0, 0, 0},
    {"{'quant_method': 'fp8'}", QUANTISED_F8_INVERSE, 128, 128, 0},
    {"{'quant_method': 'mxfp8', 'activation_scheme': 'dynamic', 'weight_block_size': [1, 32], "
     "'scale_fmt': 'ue8m0'}",
     QUANTISED_F8_INVERSE, 1, 32, 0},
    {"{'quant_method': 'mxfp4', 'modules_to_not_convert': ['model.layers.*.mlp.router']}",
     QUANTISED_F4_BLOCKS, 1, 32, 0},
    {"{'quant_method': 'fbgemm_fp8', 'activation_scale_ub': 1200.0, 'modules_to_not_convert': []}",
     QUANTISED_F8, 1, 0, 0},
    {"{'quant_method': 'modelopt', 'quant_algo': 'NVFP4', 'ignore': ['lm_head'], "
     "'producer': {'name': 'modelopt'}, 'kv_cache_scheme': {'num_bits': 8}}",
     QUANTISED_F4_SCALE_2, 1, 16, 0},
    {"{'quant_method': 'modelopt', 'quant_algo': 'FP8_PB_WO'}", QUANTISED_F8, 128, 128, 0},
    {"{'quant_method': 'gptq', 'bits': 4, 'group_size': -1, 'desc_act': true, 'sym': true, "
     "'damp_percent': 0.1, 'model_name_or_path': null}",
     QUANTISED_GPTQ, 1, 0, 4},
    {"{'quant_method': 'gptq', 'bits': 8, 'group_size': 64, 'checkpoint_format': 'gptq_v2'}",
     QUANTISED_GPTQ, 1, 64, 8},
    {"{'quant_method': 'awq', 'bits': 4, 'group_size': 128, 'version': 'gemm', "
     "'zero_point': true, 'modules_to_not_convert': null}",
     QUANTISED_AWQ, 1, 128, 4},
    {"{'quant_method': 'compressed-tensors', 'format': 'pack-quantized', 'ignore': ['lm_head'], "
     "'quantization_status': 'compressed', 'global_compression_ratio': 1.5, 'version': '0.9', "
     "'config_groups': {'group_0': {'targets': ['Linear'], 'input_activations': null, "
     "'output_activations': null, 'weights': {'num_bits': 4, 'type': 'int', 'strategy': 'group', "
     "'group_size': 32, 'symmetric': true, 'observer': 'minmax', 'observer_kwargs': {'a': 1}, "
     "'dynamic': false, 'actorder': 'weight', 'block_structure': null}}}}",
     QUANTISED_PACKED, 1, 32, 4},
    {"{'quant_method': 'compressed-tensors', 'format': 'float-quantized', 'config_groups': {'g': "
     "{'targets': ['Linear'], 'weights': {'num_bits': 8, 'type': 'float', 'strategy': 'block', "
     "'block_structure': [128, 128]}, 'input_activations': {'num_bits': 8, 'type': 'float', "
     "'strategy': 'group', 'group_size': 128, 'dynamic': true}}}}",
     QUANTISED_F8, 128, 128, 8},
};

Test(quantised_config, what_published_checkpoints_say_is_read)
{
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); ++i) {
        struct quantised_config *read = read_good(published[i].text);
        cr_assert_eq(quantised_config_count(read), 1, "%zu", i);
        const struct quantised_scheme *scheme = quantised_config_at(read, 0);
        cr_assert_eq(scheme->layout, quantised_layout_get(published[i].layout), "%zu", i);
        cr_assert_eq(scheme->tile_rows, published[i].tile_rows, "%zu", i);
        cr_assert_eq(scheme->tile_columns, published[i].tile_columns, "%zu", i);
        cr_assert_eq(scheme->bits, published[i].bits, "%zu", i);
        cr_assert_eq(find(read, "model.layers.0.mlp.up_proj"), scheme, "%zu", i);
        quantised_config_destroy(read);
    }
}

Test(quantised_config, numbers_and_inputs_are_those_of_the_method)
{
    struct quantised_config *read = read_good(published[8].text);
    cr_assert_eq(quantised_config_at(read, 0)->zero_added, 1);
    cr_assert_null(quantised_config_at(read, 0)->activations);
    quantised_config_destroy(read);
    read = read_good(published[9].text);
    cr_assert_eq(quantised_config_at(read, 0)->zero_added, 0);
    quantised_config_destroy(read);
    read = read_good(published[12].text);
    cr_assert_null(quantised_config_at(read, 0)->activations);
    cr_assert_eq(quantised_config_at(read, 0)->inputs.block, 128);
    cr_assert_str_eq(quantised_config_method(read), "compressed-tensors");
    cr_assert_null(quantised_config_states(read));
    quantised_config_destroy(read);
    read = read_good(published[6].text);
    cr_assert_str_eq(quantised_config_states(read), "keys and values");
    quantised_config_destroy(read);
}

// How inputs are rounded, which the config says in the words of its method.
static const struct {
    const char *text;
    enum quant_format_name format;
    enum quant_format_scaling scaling;
    int64_t block;
    double low, high;
    const char *factors;
} rounded[] = {
    {"{'quant_method': 'fp8', 'weight_block_size': [128, 64]}", QUANT_FORMAT_E4M3,
     QUANT_FORMAT_QUOTIENT, 64, 1e-4, FLT_MAX, NULL},
    {"{'quant_method': 'fp8', 'scale_fmt': 'ue8m0'}", QUANT_FORMAT_E4M3, QUANT_FORMAT_POWER_ABOVE,
     128, 1e-4, FLT_MAX, NULL},
    {"{'quant_method': 'fp8', 'weight_block_size': null}", QUANT_FORMAT_E4M3, QUANT_FORMAT_QUOTIENT,
     0, 0x1p-9, FLT_MAX, NULL},
    {"{'quant_method': 'fp8', 'activation_scheme': 'static'}", QUANT_FORMAT_E4M3,
     QUANT_FORMAT_GIVEN, 0, 0, FLT_MAX, ".input_scale .activation_scale"},
    {"{'quant_method': 'mxfp8'}", QUANT_FORMAT_E4M3, QUANT_FORMAT_POWER_ABOVE, 32, 1e-4, FLT_MAX,
     NULL},
    {"{'quant_method': 'fbgemm_fp8', 'activation_scale_ub': 800}", QUANT_FORMAT_E4M3,
     QUANT_FORMAT_QUOTIENT, 0, 0x1p-9, 800, NULL},
    {"{'quant_method': 'modelopt', 'quant_algo': 'MXFP8'}", QUANT_FORMAT_E4M3,
     QUANT_FORMAT_POWER_ABOVE, 32, 0, FLT_MAX, NULL},
    {"{'quant_method': 'modelopt', 'quant_algo': 'NVFP4'}", QUANT_FORMAT_E2M1, QUANT_FORMAT_DIVIDED,
     16, 0, FLT_MAX, ".input_scale .activation_scale"},
};

Test(quantised_config, inputs_are_rounded_as_the_method_says)
{
    for (size_t i = 0; i < sizeof(rounded) / sizeof(rounded[0]); ++i) {
        struct quantised_config *read = read_good(rounded[i].text);
        const struct quantised_scheme *scheme = quantised_config_at(read, 0);
        cr_assert(scheme->quantises_inputs, "%zu", i);
        cr_assert_eq(scheme->inputs.format, rounded[i].format, "%zu", i);
        cr_assert_eq(scheme->inputs.scaling, rounded[i].scaling, "%zu", i);
        cr_assert_eq(scheme->inputs.block, rounded[i].block, "%zu", i);
        cr_assert_eq(scheme->inputs.low, rounded[i].low, "%zu", i);
        cr_assert_eq(scheme->inputs.high, rounded[i].high, "%zu", i);
        cr_assert_eq(scheme->input_factors == NULL, rounded[i].factors == NULL, "%zu", i);
        cr_assert(!rounded[i].factors || strcmp(scheme->input_factors, rounded[i].factors) == 0);
        quantised_config_destroy(read);
    }
}

Test(quantised_config, inputs_stay_plain_where_weights_alone_are_quantised)
{
    static const char *const plain[] = {
        "{'quant_method': 'fp8', 'dequantize': true}",
        "{'quant_method': 'mxfp4'}",
        "{'quant_method': 'modelopt', 'quant_algo': 'FP8_PB_WO'}",
        "{'quant_method': 'awq', 'bits': 4, 'group_size': 128, 'zero_point': true}",
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); ++i) {
        struct quantised_config *read = read_good(plain[i]);
        cr_assert_not(quantised_config_at(read, 0)->quantises_inputs, "%zu", i);
        cr_assert_null(quantised_config_at(read, 0)->activations, "%zu", i);
        quantised_config_destroy(read);
    }
}

Test(quantised_config, plain_modules_have_no_scheme)
{
    struct quantised_config *read = read_good(published[4].text);
    cr_assert_null(find(read, "model.layers.7.mlp.router"));
    cr_assert_not_null(find(read, "model.layers.7.mlp.experts.down_proj"));
    quantised_config_destroy(read);
}

Test(quantised_config, the_group_that_names_a_module_precedes_that_of_all)
{
    struct quantised_config *read = read_good(
        "{'quant_method': 'compressed-tensors', 'format': 'mixed-precision', 'config_groups': {"
        "'a': {'targets': ['Linear'], 'format': 'float-quantized', "
        "'weights': {'num_bits': 8, 'type': 'float', 'strategy': 'tensor'}}, "
        "'b': {'targets': ['re:.*up_proj$'], 'format': 'int-quantized', "
        "'weights': {'num_bits': 8, 'type': 'int', 'strategy': 'channel'}}}}");
    const struct quantised_scheme *up = find(read, "model.layers.0.mlp.up_proj");
    const struct quantised_scheme *down = find(read, "model.layers.0.mlp.down_proj");
    cr_assert_eq(up->layout, quantised_layout_get(QUANTISED_I8));
    cr_assert_eq(up->tile_rows, 1);
    cr_assert_eq(down->layout, quantised_layout_get(QUANTISED_F8));
    cr_assert_eq(down->tile_rows, 0);
    quantised_config_destroy(read);
}

Test(quantised_config, without_the_key_weights_are_plain)
{
    struct config *config = NULL;
    struct quantised_config *read = NULL;
    cr_assert_eq(config_parse("c.json", "{\"quantization_config\": null}", &config), TAPML_OK);
    cr_assert_eq(quantised_config_read(config, &read), TAPML_OK);
    cr_assert_null(read);
    quantised_config_destroy(read);
    config_close(config);
}

Test(quantised_config, the_text_part_of_a_model_may_have_the_key)
{
    struct config *config = NULL;
    struct quantised_config *read = NULL;
    cr_assert_eq(config_parse("c.json",
                              "{\"text_config\": {\"quantization_config\": "
                              "{\"quant_method\": \"awq\"}}}",
                              &config),
                 TAPML_OK);
    cr_assert_eq(quantised_config_read(config, &read), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(quantised_config_method(read), "awq");
    cr_assert_eq(config_check(config, 0), TAPML_OK, "%s", status_message());
    quantised_config_destroy(read);
    config_close(config);
}

Test(quantised_config, what_is_not_understood_is_refused_by_its_key)
{
    static const struct {
        const char *text, *message;
    } refused[] = {
        {"{'quant_method': 'bitsandbytes', 'load_in_4bit': true}",
         "c.json: '/quantization_config/quant_method': expected one of: fp8 mxfp8 mxfp4 fbgemm_fp8 "
         "compressed-tensors modelopt gptq awq, found '\"bitsandbytes\"'"},
        {"{'bits': 4}", "quant_method': expected one of: fp8 mxfp8"},
        {"{}", "found nothing"},
        {"7", "found nothing"},
        {"{'quant_method': 'gptq'}", "bits': expected 4 or 8, found nothing"},
        {"{'quant_method': 'gptq', 'bits': 3}", "bits': expected one of: 4 8, found '3'"},
        {"{'quant_method': 'gptq', 'bits': 4, 'group_size': -2}", "the size of a group"},
        {"{'quant_method': 'gptq', 'bits': 4, 'checkpoint_format': 'marlin'}",
         "checkpoint_format': expected one of: gptq gptq_v2, found '\"marlin\"'"},
        {"{'quant_method': 'awq', 'version': 'gemv'}",
         "expected one of: gemm GEMM, found '\"gemv\"'"},
        {"{'quant_method': 'awq', 'zero_point': false}", "expected one of: true, found 'false'"},
        {"{'quant_method': 'fp8', 'weight_block_size': [0, 128]}", "expected two sizes of a block"},
        {"{'quant_method': 'fp8', 'fmt': 'e3m4'}", "fmt': expected one of: e4m3 e5m2"},
        {"{'quant_method': 'fp8', 'sparsity': 2}", "c.json: expected keys that the architecture "
                                                   "knows, found '/quantization_config/sparsity'"},
        {"{'quant_method': 'fp8', 'modules_to_not_convert': [1]}", "expected names of at most"},
        {"{'quant_method': 'modelopt', 'quant_algo': 'W4A8_AWQ'}", "found '\"W4A8_AWQ\"'"},
        {"{'quant_method': 'compressed-tensors', 'format': 'marlin-24', 'config_groups': {}}",
         "found '\"marlin-24\"'"},
        {"{'quant_method': 'compressed-tensors', 'format': 'int-quantized', 'config_groups': {}}",
         "config_groups': expected at least one group"},
        {"{'quant_method': 'compressed-tensors', 'format': 'int-quantized', 'config_groups': "
         "{'g': {'targets': ['Linear'], 'weights': {'num_bits': 8, 'type': 'float'}}}}",
         "/quantization_config/config_groups/g/weights/num_bits': expected a type and a number of "
         "bits of 'int-quantized', found '8'"},
        {"{'quant_method': 'compressed-tensors', 'format': 'int-quantized', 'config_groups': "
         "{'g': {'targets': ['Linear']}}}",
         "config_groups/g/weights': expected an object, found nothing"},
        {"{'quant_method': 'compressed-tensors', 'format': 'int-quantized', 'config_groups': "
         "{'a/b': {'targets': ['Linear']}}}",
         "plain names of groups"},
        {"{'quant_method': 'compressed-tensors', 'format': 'int-quantized', "
         "'sparsity_config': {'format': 'sparse-24-bitmask'}, 'config_groups': {}}",
         "sparsity_config/format': expected dense, found '\"sparse-24-bitmask\"'"},
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); ++i) {
        struct quantised_config *read = NULL;
        cr_assert_eq(read_text(refused[i].text, &read), TAPML_INVALID, "%s", refused[i].text);
        cr_assert(strstr(status_message(), refused[i].message), "%s", status_message());
    }
}

static tapml_status read_and_free(const char *text)
{
    struct quantised_config *read = NULL;
    const tapml_status status = read_text(text, &read);
    quantised_config_destroy(read);
    return status;
}

Test(quantised_config, memory_may_end_anywhere)
{
    SCRATCH_SWEEP(read_and_free(published[11].text));
}
