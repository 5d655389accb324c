// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/config and model/special: any bytes as config.json, asked as a model plugin asks.
#include "fuzz.h"

#include "model/config.h"
#include "tokenizer/special.h"

#include <string.h>

static const char *const pointers[] = {
    "",
    "/",
    "/model_type",
    "/hidden_size",
    "/rope_scaling",
    "/rope_scaling/factor",
    "/rope_scaling/long_factor/0",
    "/layer_types/1",
    "/text_config/hidden_size",
    "/a~1b/~0/9223372036854775808",
};

static void ask(tapml_object *object)
{
    const tapml_host_config *table = config_table();
    for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
        const char *pointer = pointers[i];
        const int64_t length = table->length(object, pointer);
        FUZZ_CHECK(length >= -1);
        FUZZ_CHECK(length < 0 || table->has(object, pointer));
        (void)table->i64(object, pointer, 7);
        (void)table->f64(object, pointer, 0.5);
        FUZZ_CHECK(table->string(object, pointer, "fallback"));
        (void)table->boolean(object, pointer, 1);
        table->expect(object, pointer, "{\"factor\": 2}");
    }
    table->ignore(object, "/text_config");
    table->expect(object, "/hidden_act", "\"silu\"");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_ready;
    struct config *config = NULL;
    struct special special;
    FUZZ_CHECK(fuzz_file(data, size));
    if (!is_ready) {
        fuzz_link("config.json");
        is_ready = 1;
    }
    fuzz_begin();
    if (!fuzz_refused(config_open(fuzz_folder(), &config))) {
        (void)fuzz_refused(config_check(config, 0)); // Nobody has read a key.
        ask(config_object(config));
        (void)fuzz_refused(config_check(config, 0));
        (void)fuzz_refused(config_check(config, 1));
        (void)config_model_type(config);
        config_close(config);
    }
    if (!fuzz_refused(special_load(fuzz_folder(), &special))) {
        FUZZ_CHECK(special.end_count <= SPECIAL_END_MAX);
    }
    fuzz_end();
    return 0;
}
