// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/checkpoint: any bytes as one safetensors file. Every byte of every tensor can be read.
#include "fuzz.h"

#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>

static void check(const struct checkpoint_tensor *tensor)
{
    int64_t count = 0;
    unsigned char sum = 0;
    const unsigned char *data = tensor->data;
    FUZZ_CHECK(tensor->name[0] && tensor->tensor.rank <= TAPML_MAX_RANK);
    FUZZ_CHECK(shape_count(tensor->tensor.shape, tensor->tensor.rank, &count) == TAPML_OK);
    FUZZ_CHECK((uint64_t)count * dtype_bytes(tensor->tensor.dtype) == tensor->bytes);
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
    fuzz_begin();
    if (!fuzz_refused(safetensors_open_file(fuzz_file(data, size), &checkpoint))) {
        for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
            const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
            check(tensor);
            FUZZ_CHECK(checkpoint_find(checkpoint, tensor->name) == tensor);
        }
        (void)checkpoint_hash(checkpoint); // Any hash is fine.
        checkpoint_close(checkpoint);
    }
    fuzz_end();
    return 0;
}
