// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/safetensors_file.h"
#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/log.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "model/weight_files.h"
#include "tensor/tiles.h"

#include <criterion/criterion.h>
#include <string.h>

// Opens a folder of a configuration and of tensors whose bytes are 0, 1, 2 ...
static tapml_status open_text(const char *config,
                              const char *header,
                              size_t data_bytes,
                              struct checkpoint **out_checkpoint)
{
    struct scratch scratch;
    scratch_make(&scratch);
    scratch_text(&scratch, "config.json", config);
    safetensors_write(&scratch, "model.safetensors", header, data_bytes);
    log_set_level(LOG_ERROR);
    const tapml_status status = weight_files_open(scratch.folder, out_checkpoint);
    scratch_remove(&scratch);
    return status;
}

static const char fp8[] = "{\"quantization_config\": {\"quant_method\": \"fp8\", "
                          "\"weight_block_size\": [2, 2], \"modules_to_not_convert\": [\"n\"]}}";

Test(quantised_weights, parts_become_a_weight_under_its_name)
{
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(
        open_text(fp8,
                  "{'m.weight':{'dtype':'F8_E4M3','shape':[2,2],'data_offsets':[0,4]},"
                  "'m.weight_scale_inv':{'dtype':'F8_E8M0','shape':[1,1],'data_offsets':[4,5]},"
                  "'m.activation_scale':{'dtype':'U8','shape':[],'data_offsets':[5,6]},"
                  "'n.weight':{'dtype':'BF16','shape':[1],'data_offsets':[6,8]}}",
                  8, &checkpoint),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(checkpoint_count(checkpoint), 2);
    const struct checkpoint_tensor *weight = checkpoint_find(checkpoint, "m.weight");
    cr_assert_not_null(weight);
    cr_assert_null(weight->stored);
    cr_assert_eq(weight->tensor.rank, 2);
    cr_assert_eq(weight->tensor.shape[1], 2);
    cr_assert_eq(weight->tensor.dtype, TAPML_U8);
    cr_assert_str_eq(weight->tensor.encoding->id, "tiles.e4m3.e8m0.all/1");
    cr_assert_eq(weight->bytes, 32, "Two spans on multiples of 16 bytes");
    uint16_t values[4];
    tiles_widen(weight->tensor.encoding, weight->spans, weight->tensor.shape, 2, TAPML_BF16,
                values);
    cr_assert_eq(values[3], 6, "2^-123 times 3 * 2^-9 is 6 times the smallest number of bf16");
    cr_assert_not_null(checkpoint_find(checkpoint, "n.weight"));
    cr_assert_str_eq(checkpoint_remark(checkpoint),
                     "1 quantised weights (fp8) are used as they are stored");
    checkpoint_close(checkpoint);
}

Test(quantised_weights, what_no_encoding_has_is_widened)
{
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(
        open_text(fp8,
                  "{'m.weight':{'dtype':'F8_E4M3','shape':[2,3],'data_offsets':[0,6]},"
                  "'m.weight_scale_inv':{'dtype':'F8_E8M0','shape':[1,2],'data_offsets':[6,8]}}",
                  8, &checkpoint),
        TAPML_OK, "%s", status_message());
    const struct checkpoint_tensor *weight = checkpoint_find(checkpoint, "m.weight");
    cr_assert_null(weight->tensor.encoding);
    cr_assert_eq(weight->tensor.dtype, TAPML_BF16);
    cr_assert(strstr(checkpoint_remark(checkpoint), "1 of them widened, from 6 bytes to 12"), "%s",
              checkpoint_remark(checkpoint));
    checkpoint_close(checkpoint);
}

Test(quantised_weights, what_does_not_fit_together_is_refused)
{
    static const struct {
        const char *config, *header, *message;
        size_t bytes;
    } refused[] = {
        {"{}", "{'m.weight':{'dtype':'F8_E4M3','shape':[4],'data_offsets':[0,4]}}",
         "model.safetensors: tensor 'm.weight': expected a type of plain numbers, or a "
         "'quantization_config' to which it belongs, found F8_E4M3",
         4},
        {fp8, "{'n.weight':{'dtype':'F8_E4M3','shape':[2,2],'data_offsets':[0,4]}}",
         "'n.weight': expected what 'quantization_config' says of its module, no quantised weight, "
         "found F8_E4M3 of fp8",
         4},
        {fp8, "{'m.weight':{'dtype':'F8_E4M3','shape':[2,2],'data_offsets':[0,4]}}",
         "expected 'm.weight_scale_inv' beside it, found none", 4},
        {fp8, "{'m.bias':{'dtype':'I8','shape':[4],'data_offsets':[0,4]}}", "'m.bias': expected",
         4},
        {"{\"quantization_config\": {\"quant_method\": \"bitsandbytes\"}}", "{}",
         "found '\"bitsandbytes\"'", 0},
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); ++i) {
        struct checkpoint *checkpoint = NULL;
        cr_assert_eq(open_text(refused[i].config, refused[i].header, refused[i].bytes, &checkpoint),
                     TAPML_INVALID, "%zu", i);
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

Test(quantised_weights, memory_may_end_anywhere)
{
    log_set_level(LOG_ERROR);
    SCRATCH_SWEEP(open_and_close(scratch_data("models/quantised_compressed")));
}

Test(quantised_weights, a_file_alone_has_plain_types)
{
    struct scratch scratch;
    struct checkpoint *checkpoint = NULL;
    scratch_make(&scratch);
    const char *path = safetensors_write(
        &scratch, "x.safetensors", "{'a':{'dtype':'I8','shape':[2],'data_offsets':[0,2]}}", 2);
    cr_assert_eq(safetensors_open_file(path, &checkpoint), TAPML_INVALID);
    cr_assert(strstr(status_message(), "found I8"), "%s", status_message());
    scratch_remove(&scratch);
}
