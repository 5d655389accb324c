// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/delta and model/delta_codec: any bytes as a delta on a model of two weights, and each of
// its parts as a body that is not what the file says of it.
#include "fuzz.h"

#include "base/alloc.h"
#include "model/checkpoint.h"
#include "model/delta.h"
#include "model/safetensors.h"

#include <string.h>

enum { VALUES = 8, COLUMNS = 4 };

static void write_model(void)
{
    static const char header[] =
        "{\"v\":{\"dtype\":\"BF16\",\"shape\":[2,4],\"data_offsets\":[0,16]},"
        "\"w\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[16,48]}}";
    char file[8 + sizeof(header) + 48] = {(char)(sizeof(header) - 1)};
    memcpy(file + 8, header, sizeof(header) - 1);
    for (size_t i = 0; i < 48; i++) {
        file[8 + sizeof(header) - 1 + i] = (char)i;
    }
    fuzz_write("model.safetensors", file, 8 + sizeof(header) - 1 + 48);
}

// The hashes of a file keep most bodies from being made, so that each is made without.
static void make(const struct delta_item *item)
{
    static const double base[VALUES];
    double fine[VALUES];
    if (item->form.count > VALUES) {
        return;
    }
    struct delta_form form = item->form;
    form.columns = form.count % COLUMNS == 0 ? COLUMNS : form.count;
    const uint64_t bytes = delta_codec_bytes(&form);
    unsigned char *body = alloc_raw(bytes > 0 ? (size_t)bytes : 1);
    FUZZ_CHECK(body);
    if (!fuzz_refused(delta_codec_unpack(item->packed, item->packed_bytes, body, bytes))) {
        (void)fuzz_refused(delta_codec_apply(&form, base, body, fine));
    }
    alloc_free(body);
}

static void apply(const struct delta *delta)
{
    struct checkpoint *checkpoint = NULL;
    if (fuzz_refused(safetensors_open(fuzz_folder(), &checkpoint))) {
        return;
    }
    if (!fuzz_refused(delta_apply(delta, checkpoint))) {
        for (size_t i = 0; i < delta_count(delta); i++) {
            const struct delta_item *item = delta_at(delta, i);
            const struct checkpoint_tensor *tensor = checkpoint_find(checkpoint, item->name);
            FUZZ_CHECK(tensor);
            FUZZ_CHECK(hash_equal(hash_bytes(tensor->data, (size_t)tensor->bytes), item->fine));
        }
        (void)checkpoint_hash(checkpoint);
    }
    checkpoint_close(checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_ready;
    struct delta *delta = NULL;
    if (!is_ready) {
        write_model();
        is_ready = 1;
    }
    fuzz_begin();
    if (!fuzz_refused(delta_open(fuzz_file(data, size), &delta))) {
        for (size_t i = 0; i < delta_count(delta); i++) {
            make(delta_at(delta, i));
        }
        apply(delta);
        delta_close(delta);
    }
    fuzz_end();
    return 0;
}
