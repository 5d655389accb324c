// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/quantised_file.h"

#include "base/json_file.h"

#include <string.h>

static const char file_name[] = "hf_quant_config.json";
static const char key[] = "quantization_config";

// The members of the file under the names that config.json has for them.
static tapml_status fill(json_t *config, json_t *quantisation)
{
    const char *name = NULL;
    json_t *value = NULL;
    int failed = json_object_set_new(config, "quant_method", json_string("modelopt"));
    json_object_foreach(quantisation, name, value)
    {
        const char *known = strcmp(name, "exclude_modules") == 0 ? "ignore" : name;
        failed |= json_object_set(config, known, value);
    }
    return failed ? status_no_memory() : TAPML_OK;
}

static tapml_status merge(const char *folder, json_t *file, json_t *root)
{
    json_t *quantisation = json_object_get(file, "quantization");
    if (!json_is_object(quantisation)) {
        return status_fail(TAPML_INVALID, "%s/%s: expected an object 'quantization'", folder,
                           file_name);
    }
    json_t *config = json_object();
    tapml_status status = config ? fill(config, quantisation) : status_no_memory();
    if (status == TAPML_OK && json_object_set(root, key, config) != 0) {
        status = status_no_memory();
    }
    json_decref(config);
    return status;
}

tapml_status quantised_file_merge(const char *folder, json_t *root)
{
    json_t *file = NULL;
    const json_t *known = json_object_get(root, key);
    if (known && !json_is_null(known)) {
        return TAPML_OK;
    }
    TAPML_TRY(json_file_find(folder, file_name, &file));
    const tapml_status status = file ? merge(folder, file, root) : TAPML_OK;
    json_decref(file);
    return status;
}
