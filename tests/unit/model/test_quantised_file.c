// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "model/config.h"
#include "model/quantised_config.h"

#include <criterion/criterion.h>
#include <string.h>

// Opens a folder of both files and reads what they say.
static tapml_status
read_both(const char *config_text, const char *file_text, struct quantised_config **out_read)
{
    struct scratch scratch;
    struct config *config = NULL;
    scratch_make(&scratch);
    scratch_text(&scratch, "config.json", config_text);
    scratch_text(&scratch, "hf_quant_config.json", file_text);
    tapml_status status = config_open(scratch.folder, &config);
    if (status == TAPML_OK) {
        status = quantised_config_read(config, out_read);
        if (status == TAPML_OK) {
            status = config_check(config, 0);
        }
        config_close(config);
    }
    scratch_remove(&scratch);
    return status;
}

Test(quantised_file, stands_for_the_key_that_is_not_there)
{
    struct quantised_config *read = NULL;
    const struct quantised_scheme *scheme = NULL;
    cr_assert_eq(
        read_both("{}",
                  "{\"producer\": {\"name\": \"modelopt\"}, \"quantization\": {\"quant_algo\": "
                  "\"NVFP4\", \"kv_cache_quant_algo\": null, \"group_size\": 16, "
                  "\"exclude_modules\": [\"lm_head\"]}}",
                  &read),
        TAPML_OK, "%s", status_message());
    cr_assert_str_eq(quantised_config_method(read), "modelopt");
    cr_assert_eq(quantised_config_find(read, "lm_head", &scheme), TAPML_OK);
    cr_assert_null(scheme);
    cr_assert_eq(quantised_config_find(read, "model.layers.0.mlp.up_proj", &scheme), TAPML_OK);
    cr_assert_eq(scheme->layout, quantised_layout_get(QUANTISED_F4_SCALE_2));
    quantised_config_destroy(read);
}

Test(quantised_file, is_not_asked_where_the_key_is)
{
    struct quantised_config *read = NULL;
    cr_assert_eq(read_both("{\"quantization_config\": {\"quant_method\": \"awq\"}}", "{}", &read),
                 TAPML_OK, "%s", status_message());
    cr_assert_str_eq(quantised_config_method(read), "awq");
    quantised_config_destroy(read);
}

Test(quantised_file, what_is_not_understood_is_refused)
{
    struct quantised_config *read = NULL;
    cr_assert_eq(read_both("{}", "{\"quantization\": 3}", &read), TAPML_INVALID);
    cr_assert(strstr(status_message(), "hf_quant_config.json: expected an object 'quantization'"));
    cr_assert_eq(read_both("{}", "[", &read), TAPML_INVALID);
    cr_assert_eq(read_both("{}", "{\"quantization\": {\"quant_algo\": \"W4A8_AWQ\"}}", &read),
                 TAPML_INVALID);
    cr_assert(strstr(status_message(), "found '\"W4A8_AWQ\"'"), "%s", status_message());
}
