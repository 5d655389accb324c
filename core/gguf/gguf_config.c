// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_config.h"

#include "gguf/gguf_family.h"

tapml_status gguf_config_load(const char *path, json_t **out_config)
{
    struct gguf *gguf = NULL;
    struct gguf_family *family = NULL;
    TAPML_TRY(gguf_open(path, &gguf));
    tapml_status status = gguf_family_open(gguf, &family);
    if (status == TAPML_OK) {
        status = gguf_family_config(family, out_config);
    }
    gguf_family_close(family);
    gguf_close(gguf);
    return status;
}
