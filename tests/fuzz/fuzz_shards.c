// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/checkpoint: any bytes as the index of a folder with two shards.
#include "fuzz.h"

#include "model/checkpoint.h"
#include "model/safetensors.h"

#include <stdio.h>
#include <string.h>

// A file with one tensor of four bytes.
static void write_shard(const char *name, const char *tensor)
{
    char bytes[128] = "";
    const int length =
        snprintf(bytes + 8, sizeof(bytes) - 8,
                 "{\"%s\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", tensor);
    bytes[0] = (char)length;
    fuzz_write(name, bytes, 8 + (size_t)length + 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_ready;
    struct checkpoint *checkpoint = NULL;
    const char *bytes = fuzz_file(data, size);
    FUZZ_CHECK(bytes);
    if (!is_ready) {
        write_shard("a", "x");
        write_shard("b", "y");
        fuzz_link("model.safetensors.index.json");
        is_ready = 1;
    }
    fuzz_begin();
    if (!fuzz_refused(safetensors_open(fuzz_folder(), &checkpoint))) {
        for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
            const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
            FUZZ_CHECK(tensor->bytes == 4 && strlen(tensor->file) == 1);
        }
        checkpoint_close(checkpoint);
    }
    fuzz_end();
    return 0;
}
