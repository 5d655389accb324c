// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/adapter and model/adapter_config: any bytes as adapter_config.json, which is the first
// line, and as adapter_model.safetensors, which follows, on a model of three weights.
#include "fuzz.h"

#include "model/adapter.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"

#include <math.h>
#include <string.h>

static void write_model(void)
{
    static const char header[] =
        "{\"model.a.q.weight\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
        "\"model.b.q.weight\":{\"dtype\":\"F16\",\"shape\":[3,2],\"data_offsets\":[12,24]},"
        "\"c.weight\":{\"dtype\":\"F16\",\"shape\":[6],\"data_offsets\":[24,36]}}";
    const size_t length = sizeof(header) - 1;
    char file[8 + sizeof(header) + 36] = "";
    file[0] = (char)length;
    file[1] = (char)(length >> 8);
    memcpy(file + 8, header, length);
    fuzz_write("model.safetensors", file, 8 + length + 36);
}

static void check(const struct checkpoint *checkpoint)
{
    size_t adapted = 0, joined = 0;
    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
        const struct checkpoint_adapter *adapter = tensor->adapter;
        joined += (size_t)tensor->is_of_adapter;
        if (adapter) {
            const struct checkpoint_tensor *down = checkpoint_find(checkpoint, adapter->down);
            const struct checkpoint_tensor *up = checkpoint_find(checkpoint, adapter->up);
            adapted++;
            FUZZ_CHECK(down && up && down->is_of_adapter && up->is_of_adapter);
            FUZZ_CHECK(strcmp(adapter->weight, tensor->name) == 0 && adapter->rank >= 1);
            FUZZ_CHECK(down->tensor.rank == 2 && down->tensor.shape[0] == adapter->rank);
            FUZZ_CHECK(up->tensor.rank == 2 && up->tensor.shape[1] == adapter->rank);
            FUZZ_CHECK(isfinite(adapter->factor));
        }
    }
    FUZZ_CHECK(adapted > 0 && joined == 2 * adapted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_ready;
    struct checkpoint *checkpoint = NULL;
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    const size_t line = end ? (size_t)(end - data) : size;
    const size_t behind = end ? line + 1 : size;
    if (!is_ready) {
        write_model();
        is_ready = 1;
    }
    fuzz_write("adapter_config.json", data, line);
    fuzz_write("adapter_model.safetensors", data + behind, size - behind);
    fuzz_begin();
    if (!fuzz_refused(safetensors_open(fuzz_folder(), &checkpoint))) {
        if (!fuzz_refused(adapter_join(fuzz_folder(), checkpoint))) {
            check(checkpoint);
        }
        checkpoint_close(checkpoint);
    }
    fuzz_end();
    return 0;
}
