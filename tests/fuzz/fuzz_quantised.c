// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/quantised_config, model/quantised_parts, model/quantised_tiles and
// model/quantised_values: any bytes as a
// configuration, which is the first line, and as the weights of its folder, which follow.
#include "fuzz.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "model/checkpoint.h"
#include "model/config.h"
#include "model/quantised_config.h"
#include "model/weight_files.h"
#include "tensor/tiles.h"

#include <string.h>

// Asks for schemes as the loader does.
static void ask(const struct quantised_config *read)
{
    static const char *const modules[] = {"model.layers.0.mlp.up_proj", "lm_head", "m"};
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        const struct quantised_scheme *scheme = NULL;
        if (!fuzz_refused(quantised_config_find(read, modules[i], &scheme)) && scheme) {
            FUZZ_CHECK(scheme->tile_rows >= 0 && scheme->tile_columns >= 0);
            FUZZ_CHECK(scheme->layout->packing != QUANTISED_WORDS || scheme->bits == 4 ||
                       scheme->bits == 8);
        }
    }
}

static void read_config(void)
{
    struct config *config = NULL;
    struct quantised_config *read = NULL;
    if (!fuzz_refused(config_open(fuzz_folder(), &config))) {
        if (!fuzz_refused(quantised_config_read(config, &read)) && read) {
            FUZZ_CHECK(quantised_config_count(read) > 0);
            ask(read);
        }
        (void)fuzz_refused(config_check(config, 0));
        quantised_config_destroy(read);
        config_close(config);
    }
}

// Reads every byte of a weight, in one piece and as values.
static void read_weight(struct checkpoint *checkpoint, const struct checkpoint_tensor *tensor)
{
    void *copy = NULL;
    const void *data = checkpoint_contents(tensor, &copy);
    if (tensor->bytes > 0 && data) {
        (void)hash_bytes(data, (size_t)tensor->bytes);
    }
    alloc_free(copy);
    if (tiles_are_in(tensor->tensor.encoding)) {
        (void)checkpoint_widen(checkpoint, tensor, TAPML_F32);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct checkpoint *checkpoint = NULL;
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    const size_t line = end ? (size_t)(end - data) : size;
    const size_t behind = end ? line + 1 : size;
    log_set_level(LOG_ERROR);
    fuzz_write("config.json", data, line);
    fuzz_write("model.safetensors", data + behind, size - behind);
    fuzz_begin();
    read_config();
    if (!fuzz_refused(weight_files_open(fuzz_folder(), &checkpoint))) {
        for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
            const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
            FUZZ_CHECK(tensor->name && !tensor->stored);
            FUZZ_CHECK(tensor->bytes == 0 || tensor->data);
            read_weight(checkpoint, tensor);
        }
        checkpoint_close(checkpoint);
    }
    fuzz_end();
    return 0;
}
