// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/quantised_config.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/json_file.h"
#include "base/text.h"
#include "model/config.h"
#include "model/quantised_names.h"

#include <stdio.h>
#include <string.h>

enum { POINTER_MAX = 512, GROUP_COUNT_MAX = 64, TILE_MAX = 1 << 24 };

// The modules of one scheme.
struct group {
    struct quantised_scheme scheme;
    struct quantised_names targets;
    int is_for_all;
};

struct quantised_config {
    struct arena *arena;
    const char *method;
    const char *states;
    struct quantised_names plain;
    struct group *groups;
    size_t group_count;
};

// What is being read.
struct reading {
    struct config *config;
    const char *base; // Pointer to the object.
    char pointer[POINTER_MAX];
    struct quantised_config *result;
    const struct quantised_method *method;
};

// A key whose value must be one of `choices`, separated by blanks, where it is there.
struct rule {
    const char *key;
    const char *choices;
};

// A method: what its keys may be, and what they come to.
struct quantised_method {
    const char *name;
    enum quantised_layout_id layout;
    int64_t tile_rows, tile_columns; // Where no key says it.
    uint32_t bits;
    const char *plain_key; // The list of modules that it leaves alone.
    tapml_status (*read)(struct reading *reading, struct quantised_scheme *scheme);
    const char *ignored; // Keys that change no number, or that follow from others.
    struct rule rules[8];
};

// -- Values ------------------------------------------------------------------------------------

static const char *pointer_to(struct reading *reading, const char *key)
{
    const int length =
        snprintf(reading->pointer, sizeof(reading->pointer), "%s/%s", reading->base, key);
    ASSERT(length > 0 && length < POINTER_MAX); // Names of groups are short.
    return reading->pointer;
}

static const json_t *value_of(struct reading *reading, const char *key)
{
    return config_value(reading->config, pointer_to(reading, key));
}

static tapml_status
refuse(struct reading *reading, const char *key, const char *expected, const json_t *found)
{
    struct text text;
    text_init(&text);
    if (found) {
        json_file_append(&text, found);
    } else {
        text_append(&text, "nothing");
    }
    const tapml_status status =
        status_fail(TAPML_INVALID, "%s: '%s': expected %s, found %s", config_name(reading->config),
                    pointer_to(reading, key), expected, text.failed ? "?" : text.data);
    text_release(&text);
    return status;
}

// Whether a text, a number or a truth value is one of the words.
static int is_one_of(const json_t *value, const char *choices)
{
    char word[32] = "";
    if (json_is_string(value)) {
        return quantised_layout_lists(choices, json_string_value(value));
    }
    if (json_is_boolean(value)) {
        return quantised_layout_lists(choices, json_is_true(value) ? "true" : "false");
    }
    if (json_is_integer(value)) {
        (void)snprintf(word, sizeof(word), "%lld", (long long)json_integer_value(value));
    }
    return word[0] && quantised_layout_lists(choices, word);
}

static tapml_status check(struct reading *reading, const char *key, const char *choices)
{
    char expected[256];
    const json_t *value = value_of(reading, key);
    if (!value || is_one_of(value, choices)) {
        return TAPML_OK;
    }
    (void)snprintf(expected, sizeof(expected), "one of: %s", choices);
    return refuse(reading, key, expected, value);
}

// A size of groups; -1 is all columns, for which the result has 0.
static tapml_status read_group_size(struct reading *reading, const char *key, int64_t *out_size)
{
    const json_t *value = value_of(reading, key);
    const json_int_t size = json_integer_value(value);
    if (!value) {
        return TAPML_OK;
    }
    if (!json_is_integer(value) || size < -1 || size > TILE_MAX) {
        return refuse(reading, key, "the size of a group, or -1 for all columns", value);
    }
    *out_size = size > 0 ? size : 0;
    return TAPML_OK;
}

// Two sizes; null is the whole tensor. Without the key the sizes stay.
static tapml_status
read_block(struct reading *reading, const char *key, struct quantised_scheme *scheme)
{
    const json_t *value = value_of(reading, key);
    const json_int_t rows = json_integer_value(json_array_get(value, 0));
    const json_int_t columns = json_integer_value(json_array_get(value, 1));
    if (!value) {
        if (config_table()->is_null(config_object(reading->config), reading->pointer)) {
            scheme->tile_rows = 0;
            scheme->tile_columns = 0;
        }
        return TAPML_OK;
    }
    if (json_array_size(value) != 2 || rows < 1 || columns < 1 || rows > TILE_MAX ||
        columns > TILE_MAX) {
        return refuse(reading, key, "two sizes of a block", value);
    }
    scheme->tile_rows = rows;
    scheme->tile_columns = columns;
    for (unsigned i = 0; i < 2; ++i) {
        char item[64];
        (void)snprintf(item, sizeof(item), "%s/%u", key, i);
        (void)value_of(reading, item);
    }
    return TAPML_OK;
}

static void ignore(struct reading *reading, const char *key)
{
    config_table()->ignore(config_object(reading->config), pointer_to(reading, key));
}

// -- Methods of one scheme ---------------------------------------------------------------------

static int is_word(const json_t *value, const char *word)
{
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

static void set_inputs(struct quantised_scheme *scheme, enum input_scheme_name name)
{
    scheme->quantises_inputs = 1;
    scheme->inputs = input_scheme_get(name, &scheme->input_factors);
}

// Blocks of inputs are as long as those of weights; without blocks each token has a scale.
static tapml_status read_fp8(struct reading *reading, struct quantised_scheme *scheme)
{
    const int is_given = is_word(value_of(reading, "activation_scheme"), "static");
    const int is_power = is_word(value_of(reading, "scale_fmt"), "ue8m0") ||
                         strcmp(reading->method->name, "mxfp8") == 0;
    TAPML_TRY(read_block(reading, "weight_block_size", scheme));
    if (json_is_true(value_of(reading, "dequantize"))) {
        return TAPML_OK; // Weights are meant to be widened, and inputs to stay as they are.
    }
    if (is_given || scheme->tile_columns == 0) {
        set_inputs(scheme, is_given ? INPUT_SCHEME_F8_GIVEN : INPUT_SCHEME_F8_ROW);
    } else {
        set_inputs(scheme, is_power ? INPUT_SCHEME_F8_POWERS : INPUT_SCHEME_F8_BLOCKS);
        scheme->inputs.block = scheme->tile_columns;
    }
    return TAPML_OK;
}

static tapml_status read_fbgemm(struct reading *reading, struct quantised_scheme *scheme)
{
    const json_t *bound = value_of(reading, "activation_scale_ub");
    const double high = bound ? json_number_value(bound) : 1200;
    set_inputs(scheme, INPUT_SCHEME_F8_ROW);
    if (!(high >= scheme->inputs.low && high <= scheme->inputs.high)) {
        return refuse(reading, "activation_scale_ub", "the largest magnitude of a row", bound);
    }
    scheme->inputs.high = high;
    return TAPML_OK;
}

static tapml_status read_gptq(struct reading *reading, struct quantised_scheme *scheme)
{
    const json_t *bits = value_of(reading, "bits");
    const char *old = json_string_value(value_of(reading, "checkpoint_format"));
    const char *format = old ? old : json_string_value(value_of(reading, "format"));
    if (!json_is_integer(bits)) {
        return refuse(reading, "bits", "4 or 8", bits);
    }
    scheme->bits = (uint32_t)json_integer_value(bits);
    scheme->needs_groups = json_is_true(value_of(reading, "desc_act"));
    // The first format keeps zero points less by one.
    scheme->zero_added = format && strcmp(format, "gptq_v2") == 0 ? 0 : 1;
    return read_group_size(reading, "group_size", &scheme->tile_columns);
}

static tapml_status read_awq(struct reading *reading, struct quantised_scheme *scheme)
{
    return read_group_size(reading, "group_size", &scheme->tile_columns);
}

static tapml_status read_modelopt(struct reading *reading, struct quantised_scheme *scheme)
{
    static const struct {
        const char *name;
        enum quantised_layout_id layout;
        int64_t tile_rows, tile_columns;
        int tiles_by_scales;
        enum input_scheme_name inputs;
    } algorithms[] = {
        {"FP8", QUANTISED_F8, 0, 0, 1, INPUT_SCHEME_F8_GIVEN},
        {"FP8_PER_CHANNEL_PER_TOKEN", QUANTISED_F8, 1, 0, 0, INPUT_SCHEME_F8_ROW},
        {"FP8_PB_WO", QUANTISED_F8, 128, 128, 0, INPUT_SCHEME_NONE},
        {"MXFP8", QUANTISED_F8, 1, 32, 0, INPUT_SCHEME_MX8},
        {"NVFP4", QUANTISED_F4_SCALE_2, 1, 16, 0, INPUT_SCHEME_NV4},
    };
    const json_t *value = value_of(reading, "quant_algo");
    const char *name = json_string_value(value);
    for (size_t i = 0; name && i < sizeof(algorithms) / sizeof(algorithms[0]); ++i) {
        if (strcmp(algorithms[i].name, name) == 0) {
            scheme->layout = quantised_layout_get(algorithms[i].layout);
            scheme->tile_rows = algorithms[i].tile_rows;
            scheme->tile_columns = algorithms[i].tile_columns;
            scheme->tiles_by_scales = algorithms[i].tiles_by_scales;
            if (algorithms[i].inputs != INPUT_SCHEME_NONE) {
                set_inputs(scheme, algorithms[i].inputs);
            }
            return TAPML_OK;
        }
    }
    return refuse(reading, "quant_algo",
                  "one of: FP8 FP8_PER_CHANNEL_PER_TOKEN FP8_PB_WO MXFP8 NVFP4", value);
}

// -- compressed-tensors ------------------------------------------------------------------------

// What a group's `weights` may be, by the format of its tensors.
static const struct {
    const char *format, *type, *bits, *strategies;
    enum quantised_layout_id layout;
} formats[] = {
    {"float-quantized", "float", "8", "tensor channel block", QUANTISED_F8},
    {"int-quantized", "int", "8", "tensor channel group", QUANTISED_I8},
    {"naive-quantized", "float", "8", "tensor channel group block", QUANTISED_F8},
    {"naive-quantized", "int", "8", "tensor channel group", QUANTISED_I8},
    {"mxfp8-quantized", "float", "8", "group", QUANTISED_F8},
    {"pack-quantized", "int", "4 8", "channel group", QUANTISED_PACKED},
    {"mxfp4-pack-quantized", "float", "4", "group", QUANTISED_F4_PACKED},
    {"nvfp4-pack-quantized", "float", "4", "tensor_group group", QUANTISED_F4_GLOBAL},
};

static const char format_names[] =
    "one of: float-quantized int-quantized naive-quantized mxfp8-quantized pack-quantized "
    "mxfp4-pack-quantized nvfp4-pack-quantized";

static tapml_status
read_strategy(struct reading *reading, const char *strategies, struct quantised_scheme *scheme)
{
    const char *strategy = json_string_value(value_of(reading, "strategy"));
    TAPML_TRY(check(reading, "strategy", strategies));
    scheme->tile_rows = 1;
    scheme->tile_columns = 0;
    if (strategy && strcmp(strategy, "tensor") == 0) {
        scheme->tile_rows = 0;
    } else if (strategy && strcmp(strategy, "block") == 0) {
        const json_t *block = value_of(reading, "block_structure");
        return json_is_array(block)
                   ? read_block(reading, "block_structure", scheme)
                   : refuse(reading, "block_structure", "two sizes of a block", block);
    } else if (!strategy || strcmp(strategy, "channel") != 0) {
        TAPML_TRY(read_group_size(reading, "group_size", &scheme->tile_columns));
        if (!strategy && scheme->tile_columns == 0) {
            scheme->tile_rows = 0; // Neither strategy nor groups: one scale.
        }
    }
    return TAPML_OK;
}

static tapml_status
read_weights(struct reading *reading, const char *format, struct quantised_scheme *scheme)
{
    static const char *const ignored[] = {"observer",  "observer_kwargs", "actorder", "symmetric",
                                          "zp_dtype",  "group_size",      "dynamic",  "scale_dtype",
                                          "is_online", "block_structure"};
    const json_t *type = value_of(reading, "type");
    const json_t *bits = value_of(reading, "num_bits");
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); ++i) {
        ignore(reading, ignored[i]);
    }
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); ++i) {
        if (strcmp(formats[i].format, format) == 0 && is_one_of(type, formats[i].type) &&
            is_one_of(bits, formats[i].bits)) {
            scheme->layout = quantised_layout_get(formats[i].layout);
            scheme->bits = (uint32_t)json_integer_value(bits);
            scheme->needs_zeros = json_is_false(value_of(reading, "symmetric"));
            return read_strategy(reading, formats[i].strategies, scheme);
        }
    }
    char expected[128];
    (void)snprintf(expected, sizeof(expected), "a type and a number of bits of '%.32s'", format);
    return refuse(reading, "num_bits", expected, bits);
}

// A kind of inputs that is not known leaves them plain, for which there is a message.
static void
read_inputs(struct reading *reading, const char *format, struct quantised_scheme *scheme)
{
    const json_t *inputs = value_of(reading, "input_activations");
    const json_t *dynamic = json_object_get(inputs, "dynamic");
    const json_int_t size = json_integer_value(json_object_get(inputs, "group_size"));
    const struct input_scheme_words words = {
        .type = json_string_value(json_object_get(inputs, "type")),
        .strategy = json_string_value(json_object_get(inputs, "strategy")),
        .bits = json_integer_value(json_object_get(inputs, "num_bits")),
        .block = size > 0 && size <= TILE_MAX ? size : 0,
        .is_given = !dynamic || json_is_false(dynamic),
        .is_power = strcmp(format, "mxfp8-quantized") == 0,
        .has_zeros = json_is_false(json_object_get(inputs, "symmetric")),
    };
    if (json_is_object(inputs)) {
        scheme->quantises_inputs =
            input_scheme_find(&words, &scheme->inputs, &scheme->input_factors);
        scheme->activations = scheme->quantises_inputs
                                  ? NULL
                                  : "with zero points, a scale of all tokens, or another type";
    }
    ignore(reading, "input_activations");
    ignore(reading, "targets");
}

// Reads the group that `reading` is at.
static tapml_status
read_group(struct reading *reading, const char *format_of_all, struct group *group)
{
    const char *file = config_name(reading->config);
    struct quantised_config *result = reading->result;
    const char *format = json_string_value(value_of(reading, "format"));
    format = format ? format : format_of_all;
    read_inputs(reading, format, &group->scheme);
    if (value_of(reading, "output_activations")) {
        return refuse(reading, "output_activations", "no quantised outputs",
                      value_of(reading, "output_activations"));
    }
    const json_t *targets = value_of(reading, "targets");
    TAPML_TRY(
        quantised_names_read(&group->targets, result->arena, file, reading->pointer, targets));
    group->is_for_all = quantised_names_have_class(&group->targets);
    const json_t *weights = value_of(reading, "weights");
    if (!json_is_object(weights)) {
        return refuse(reading, "weights", "an object", weights);
    }
    struct reading inner = *reading;
    inner.base = arena_text(result->arena, reading->pointer);
    if (!inner.base) {
        return status_no_memory();
    }
    return read_weights(&inner, format, &group->scheme);
}

static tapml_status check_formats(struct reading *reading, const char **out_format)
{
    const json_t *format = value_of(reading, "format");
    const char *name = json_string_value(format);
    if (!name) {
        return refuse(reading, "format", format_names, format);
    }
    const json_t *sparsity = value_of(reading, "sparsity_config");
    const char *sparse = json_string_value(json_object_get(sparsity, "format"));
    if (sparse && strcmp(sparse, "dense") != 0) {
        return refuse(reading, "sparsity_config/format", "dense",
                      json_object_get(sparsity, "format"));
    }
    const json_t *transforms = value_of(reading, "transform_config");
    if (json_object_size(json_object_get(transforms, "config_groups")) > 0) {
        return refuse(reading, "transform_config", "no transforms", transforms);
    }
    ignore(reading, "sparsity_config");
    ignore(reading, "transform_config");
    *out_format = name;
    return TAPML_OK;
}

static tapml_status read_groups(struct reading *reading, struct quantised_scheme *scheme)
{
    const char *format = NULL, *name = NULL;
    json_t *group = NULL;
    struct quantised_config *result = reading->result;
    TAPML_TRY(check_formats(reading, &format));
    if (strcmp(format, "mixed-precision") != 0 && !quantised_layout_lists(format_names, format)) {
        return refuse(reading, "format", format_names, value_of(reading, "format"));
    }
    const json_t *base = config_value(reading->config, reading->base);
    json_t *groups = json_object_get(base, "config_groups");
    const size_t count = json_object_size(groups);
    if (count == 0 || count > GROUP_COUNT_MAX) {
        return refuse(reading, "config_groups", "at least one group", groups);
    }
    result->groups = arena_array(result->arena, count, sizeof(*result->groups));
    if (!result->groups) {
        return status_no_memory();
    }
    json_object_foreach(groups, name, group)
    {
        struct reading inner = *reading;
        if (strpbrk(name, "/~") || strlen(name) > 64) {
            return refuse(reading, "config_groups", "plain names of groups", groups);
        }
        inner.base = arena_format(result->arena, "%s/config_groups/%s", reading->base, name);
        if (!inner.base) {
            return status_no_memory();
        }
        result->groups[result->group_count].scheme = *scheme;
        TAPML_TRY(read_group(&inner, format, &result->groups[result->group_count++]));
    }
    return TAPML_OK;
}

// -- All methods -------------------------------------------------------------------------------

static const struct quantised_method methods[] = {
    {.name = "fp8",
     .layout = QUANTISED_F8_INVERSE,
     .tile_rows = 128,
     .tile_columns = 128,
     .plain_key = "modules_to_not_convert",
     .read = read_fp8,
     .ignored = "dequantize ignored_layers",
     .rules = {{"activation_scheme", "dynamic static"},
               {"fmt", "e4m3 e5m2"},
               {"scale_fmt", "float ue8m0"}}},
    {.name = "mxfp8",
     .layout = QUANTISED_F8_INVERSE,
     .tile_rows = 1,
     .tile_columns = 32,
     .plain_key = "modules_to_not_convert",
     .read = read_fp8,
     .ignored = "dequantize ignored_layers",
     .rules = {{"activation_scheme", "dynamic"}, {"scale_fmt", "ue8m0"}}},
    {.name = "mxfp4",
     .layout = QUANTISED_F4_BLOCKS,
     .tile_rows = 1,
     .tile_columns = 32,
     .plain_key = "modules_to_not_convert",
     .ignored = "dequantize"},
    {.name = "fbgemm_fp8",
     .layout = QUANTISED_F8,
     .tile_rows = 1,
     .plain_key = "modules_to_not_convert",
     .read = read_fbgemm,
     .ignored = ""},
    {.name = "compressed-tensors",
     .layout = QUANTISED_F8,
     .plain_key = "ignore",
     .read = read_groups,
     .ignored = "quantization_status global_compression_ratio version run_compressed"},
    {.name = "modelopt",
     .layout = QUANTISED_F8,
     .plain_key = "ignore",
     .read = read_modelopt,
     .ignored = "producer config_groups group_size exclude_modules kv_cache_quant_algo "
                "kv_cache_quant_method"},
    {.name = "gptq",
     .layout = QUANTISED_GPTQ,
     .tile_rows = 1,
     .tile_columns = 128,
     .plain_key = "modules_to_not_convert",
     .read = read_gptq,
     .ignored = "desc_act sym damp_percent damp_auto_increment static_groups true_sequential "
                "model_name_or_path model_file_base_name meta backend tokenizer dataset "
                "model_seqlen block_name_to_quantize module_name_preceding_first_block batch_size "
                "pad_token_id max_input_length cache_block_outputs modules_in_block_to_quantize "
                "act_group_aware quantizer use_exllama exllama_config "
                "disable_exllama is_marlin_format lm_head uncertainty",
     .rules = {{"bits", "4 8"},
               {"checkpoint_format", "gptq gptq_v2"},
               {"format", "gptq gptq_v2"},
               {"is_marlin_format", "false"},
               {"pack_dtype", "int32"}}},
    {.name = "awq",
     .layout = QUANTISED_AWQ,
     .tile_rows = 1,
     .tile_columns = 128,
     .bits = 4,
     .plain_key = "modules_to_not_convert",
     .read = read_awq,
     .ignored = "backend do_fuse fuse_max_seq_len modules_to_fuse exllama_config desc_act sym "
                "quantizer meta lm_head",
     .rules =
         {{"bits", "4"}, {"version", "gemm GEMM"}, {"format", "gemm"}, {"zero_point", "true"}}},
};

static tapml_status find_method(struct reading *reading)
{
    struct text choices;
    const json_t *value = value_of(reading, "quant_method");
    const char *name = json_string_value(value);
    text_init(&choices);
    text_append(&choices, "one of:");
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); ++i) {
        if (name && strcmp(methods[i].name, name) == 0) {
            text_release(&choices);
            reading->method = &methods[i];
            return TAPML_OK;
        }
        text_format(&choices, " %s", methods[i].name);
    }
    const tapml_status status =
        choices.failed ? status_no_memory() : refuse(reading, "quant_method", choices.data, value);
    text_release(&choices);
    return status;
}

static void ignore_all(struct reading *reading, const char *keys)
{
    char key[64];
    for (const char *at = keys; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        (void)snprintf(key, sizeof(key), "%.*s", (int)length, at);
        ignore(reading, key);
        at += length;
    }
}

// Reads the list of modules that stay plain; its items are known then.
static tapml_status read_plain(struct reading *reading)
{
    struct quantised_config *result = reading->result;
    const char *key = reading->method->plain_key;
    const json_t *list = value_of(reading, key);
    TAPML_TRY(quantised_names_read(&result->plain, result->arena, config_name(reading->config),
                                   reading->pointer, list));
    ignore(reading, key);
    return TAPML_OK;
}

static tapml_status read_method(struct reading *reading)
{
    struct quantised_config *result = reading->result;
    const struct quantised_method *method = reading->method;
    struct quantised_scheme scheme = {
        .layout = quantised_layout_get(method->layout),
        .bits = method->bits,
        .tile_rows = method->tile_rows,
        .tile_columns = method->tile_columns,
    };
    for (const struct rule *rule = method->rules; rule->key; ++rule) {
        TAPML_TRY(check(reading, rule->key, rule->choices));
    }
    TAPML_TRY(read_plain(reading));
    if (method->read) {
        TAPML_TRY(method->read(reading, &scheme));
    }
    if (result->group_count == 0) {
        result->groups = arena_new(result->arena, sizeof(*result->groups));
        if (!result->groups) {
            return status_no_memory();
        }
        result->groups[0] = (struct group){.scheme = scheme, .is_for_all = 1};
        result->group_count = 1;
    }
    if (value_of(reading, "kv_cache_scheme")) {
        ignore(reading, "kv_cache_scheme");
        result->states = "keys and values";
    }
    ignore_all(reading, method->ignored);
    return TAPML_OK;
}

static tapml_status read_all(struct reading *reading)
{
    reading->result->arena = arena_create();
    if (!reading->result->arena) {
        return status_no_memory();
    }
    TAPML_TRY(find_method(reading));
    reading->result->method = reading->method->name;
    return read_method(reading);
}

tapml_status quantised_config_read(struct config *config, struct quantised_config **out_read)
{
    static const char *const bases[] = {"/quantization_config", "/text_config/quantization_config",
                                        "/compression_config"};
    struct reading reading = {.config = config};
    const json_t *found = NULL;
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]) && !found; ++i) {
        reading.base = bases[i];
        found = config_value(config, bases[i]);
    }
    if (!found) {
        *out_read = NULL;
        return TAPML_OK;
    }
    reading.result = alloc_new(sizeof(*reading.result));
    if (!reading.result) {
        return status_no_memory();
    }
    const tapml_status status = read_all(&reading);
    if (status != TAPML_OK) {
        quantised_config_destroy(reading.result);
        return status;
    }
    *out_read = reading.result;
    return TAPML_OK;
}

tapml_status quantised_config_open(const char *folder, struct quantised_config **out_read)
{
    struct config *config = NULL;
    tapml_status status = config_open(folder, &config);
    *out_read = NULL;
    if (status == TAPML_OK) {
        status = quantised_config_read(config, out_read);
        config_close(config);
    }
    return status == TAPML_NOT_FOUND ? TAPML_OK : status;
}

void quantised_config_destroy(struct quantised_config *quantised)
{
    if (quantised) {
        for (size_t i = 0; i < quantised->group_count; ++i) {
            quantised_names_release(&quantised->groups[i].targets);
        }
        quantised_names_release(&quantised->plain);
        arena_destroy(quantised->arena);
        alloc_free(quantised);
    }
}

// -- Questions ---------------------------------------------------------------------------------

const char *quantised_config_method(const struct quantised_config *quantised)
{
    return quantised->method;
}

const char *quantised_config_states(const struct quantised_config *quantised)
{
    return quantised->states;
}

size_t quantised_config_count(const struct quantised_config *quantised)
{
    return quantised->group_count;
}

const struct quantised_scheme *quantised_config_at(const struct quantised_config *quantised,
                                                   size_t index)
{
    ASSERT(index < quantised->group_count);
    return &quantised->groups[index].scheme;
}

tapml_status quantised_config_find(const struct quantised_config *quantised,
                                   const char *module,
                                   const struct quantised_scheme **out_scheme)
{
    int has = 0;
    const struct quantised_scheme *found = NULL;
    TAPML_TRY(quantised_names_find(&quantised->plain, module, &has));
    for (size_t i = 0; i < quantised->group_count && !has; ++i) {
        const struct group *group = &quantised->groups[i];
        TAPML_TRY(quantised_names_find(&group->targets, module, &has));
        found = has || (!found && group->is_for_all) ? &group->scheme : found;
    }
    *out_scheme = found;
    return TAPML_OK;
}
