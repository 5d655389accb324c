// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/safetensors_file.h"
#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/log.h"
#include "model/checkpoint.h"
#include "model/input_scheme.h"
#include "model/quantised_inputs.h"
#include "model/weight_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// Opens a folder whose data are the bytes 0, 1, 2 ...
static tapml_status
open_text(const char *method, const char *header, size_t bytes, struct checkpoint **out_checkpoint)
{
    char config[512];
    struct scratch scratch;
    scratch_make(&scratch);
    snprintf(config, sizeof(config), "{\"quantization_config\": {%s}}", method);
    scratch_text(&scratch, "config.json", config);
    safetensors_write(&scratch, "model.safetensors", header, bytes);
    log_set_level(LOG_ERROR);
    const tapml_status status = weight_files_open(scratch.folder, out_checkpoint);
    scratch_remove(&scratch);
    return status;
}

#define STATIC                                                                                     \
    "\"quant_method\": \"fp8\", \"activation_scheme\": \"static\", \"weight_block_size\": null"
#define WEIGHT                                                                                     \
    "{'m.weight':{'dtype':'F8_E4M3','shape':[2,2],'data_offsets':[0,4]},"                          \
    "'m.weight_scale_inv':{'dtype':'BF16','shape':[],'data_offsets':[4,6]}"

static const struct input_scheme *inputs_of(const struct checkpoint *checkpoint, const char *name)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(checkpoint, name);
    cr_assert_not_null(tensor);
    return tensor->inputs;
}

Test(quantised_inputs, a_weight_has_what_the_files_say_of_its_inputs)
{
    static const char *const names[] = {"activation_scale", "input_scale"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        char header[512];
        struct checkpoint *checkpoint = NULL;
        snprintf(header, sizeof(header),
                 WEIGHT ",'n':{'dtype':'U8','shape':[34],'data_offsets':[6,40]},"
                        "'m.%s':{'dtype':'F32','shape':[1],'data_offsets':[40,44]}}",
                 names[i]);
        cr_assert_eq(open_text(STATIC, header, 44, &checkpoint), TAPML_OK, "%s", status_message());
        const struct input_scheme *inputs = inputs_of(checkpoint, "m.weight");
        cr_assert_not_null(inputs);
        cr_assert_eq(inputs->scaling, QUANT_FORMAT_GIVEN);
        const uint32_t bits = 0x2b2a2928;
        float factor = 0;
        memcpy(&factor, &bits, sizeof(factor));
        cr_assert_eq(inputs->factor, factor);
        cr_assert_eq(checkpoint_count(checkpoint), 2, "the scale is no weight");
        checkpoint_close(checkpoint);
    }
}

Test(quantised_inputs, without_their_tensor_inputs_are_plain)
{
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(open_text(STATIC, WEIGHT "}", 6, &checkpoint), TAPML_OK, "%s", status_message());
    cr_assert_null(inputs_of(checkpoint, "m.weight"));
    checkpoint_close(checkpoint);
}

Test(quantised_inputs, plain_modules_have_plain_inputs)
{
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(
        open_text("\"quant_method\": \"fp8\", \"modules_to_not_convert\": [\"n\"]",
                  "{'m.weight':{'dtype':'F8_E4M3','shape':[2,2],'data_offsets':[0,4]},"
                  "'m.weight_scale_inv':{'dtype':'BF16','shape':[1,1],'data_offsets':[4,6]},"
                  "'n.weight':{'dtype':'BF16','shape':[1],'data_offsets':[6,8]}}",
                  8, &checkpoint),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(inputs_of(checkpoint, "m.weight")->block, 128);
    cr_assert_null(inputs_of(checkpoint, "n.weight"));
    checkpoint_close(checkpoint);
}

Test(quantised_inputs, a_factor_that_is_none_is_refused)
{
    static const struct {
        const char *factor, *message;
    } refused[] = {
        {"'F32','shape':[2],'data_offsets':[0,8]},'n':{'dtype':'U8','shape':[8],"
         "'data_offsets':[8,16]",
         "expected one float, found 2 of F32"},
        {"'I32','shape':[],'data_offsets':[0,4]},'n':{'dtype':'U8','shape':[12],"
         "'data_offsets':[4,16]",
         "expected one float, found 1 of I32"},
        {"'F32','shape':[],'data_offsets':[0,4]},'n':{'dtype':'U8','shape':[12],"
         "'data_offsets':[4,16]",
         "expected a scale of inputs from 2^-100 to 2^100, found 3.8"},
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); ++i) {
        char header[512];
        struct checkpoint *checkpoint = NULL;
        snprintf(header, sizeof(header),
                 "{'m.input_scale':{'dtype':%s},"
                 "'m.weight':{'dtype':'F8_E4M3','shape':[2,2],'data_offsets':[16,20]},"
                 "'m.weight_scale_inv':{'dtype':'BF16','shape':[],'data_offsets':[20,22]}}",
                 refused[i].factor);
        const tapml_status status = open_text(STATIC, header, 22, &checkpoint);
        cr_assert_eq(status, TAPML_INVALID, "%zu: %s", i, status_message());
        cr_assert(strstr(status_message(), "'m.input_scale'"), "%s", status_message());
        cr_assert(strstr(status_message(), refused[i].message), "%s", status_message());
    }
}

static tapml_status open_and_close(const char *folder)
{
    struct checkpoint *checkpoint = NULL;
    TAPML_TRY(weight_files_open(folder, &checkpoint));
    checkpoint_close(checkpoint);
    return TAPML_OK;
}

Test(quantised_inputs, memory_may_end_anywhere)
{
    log_set_level(LOG_ERROR);
    SCRATCH_SWEEP(open_and_close(scratch_data("models/quantised_fp8_tensor")));
}
