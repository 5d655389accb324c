// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/gguf_weights: any bytes as one GGUF file. Every byte of every tensor can be read, and the
// configuration is one or is refused.
#include "fuzz.h"

#include "gguf/gguf_config.h"
#include "model/gguf_weights.h"
#include "tensor/shape.h"

static void check(const struct checkpoint_tensor *tensor)
{
    int64_t count = 0;
    uint64_t bytes = 0;
    unsigned char sum = 0;
    const unsigned char *data = tensor->data;
    const tapml_tensor *about = &tensor->tensor;
    FUZZ_CHECK(tensor->name[0] && about->rank <= TAPML_MAX_RANK);
    FUZZ_CHECK(shape_count(about->shape, about->rank, &count) == TAPML_OK);
    FUZZ_CHECK(encoding_bytes(about->encoding, about->dtype, about->shape, about->rank, &bytes) ==
               TAPML_OK);
    FUZZ_CHECK(about->encoding || bytes == tensor->bytes);
    for (uint64_t i = 0; i < tensor->bytes; i++) {
        sum ^= data[i];
    }
    static volatile unsigned char kept; // So that the bytes are read.
    kept = sum;
    (void)kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct checkpoint *checkpoint = NULL;
    json_t *config = NULL;
    fuzz_begin();
    if (!fuzz_refused(gguf_weights_open(fuzz_file(data, size), &checkpoint))) {
        for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
            check(checkpoint_at(checkpoint, i));
        }
        (void)checkpoint_hash(checkpoint); // Any hash is fine.
        checkpoint_close(checkpoint);
    }
    if (!fuzz_refused(gguf_config_load(fuzz_file(data, size), &config))) {
        FUZZ_CHECK(json_is_object(config));
        json_decref(config);
    }
    fuzz_end();
    return 0;
}
