// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// config/tuning_file: any bytes as what was found of kernels. What is accepted has winners that are
// among what was right, and comes back from what is written of it.
#include "fuzz.h"

#include "config/tuning_file.h"

#include <string.h>

static void check_class(const struct tuning_class *item)
{
    int is_known = item->winner == NULL;
    for (size_t i = 0; i < item->count; i++) {
        const struct tuning_trial *trial = &item->trials[i];
        FUZZ_CHECK((trial->time_ns == 0) == (trial->wrong != NULL));
        is_known |=
            trial->wrong == NULL && item->winner && strcmp(trial->values, item->winner) == 0;
    }
    FUZZ_CHECK(is_known && knobs_is_class(item->key.shape_class));
}

static void check_again(const struct tuning_file *file)
{
    struct tuning_file again;
    struct text first, second;
    text_init(&first);
    text_init(&second);
    tuning_file_print(file, &first);
    FUZZ_CHECK(tuning_file_init(&again) == TAPML_OK);
    if (first.length > 0 && first.length < TUNING_FILE_BYTES_MAX) {
        FUZZ_CHECK(tuning_file_parse("again", first.data, first.length, &again) == TAPML_OK);
        tuning_file_print(&again, &second);
        FUZZ_CHECK(second.length == first.length &&
                   memcmp(first.data, second.data, first.length) == 0);
    }
    tuning_file_release(&again);
    text_release(&first);
    text_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tuning_file file;
    fuzz_begin();
    FUZZ_CHECK(tuning_file_init(&file) == TAPML_OK);
    if (!fuzz_refused(tuning_file_parse("tuning.ini", (const char *)data, size, &file))) {
        struct tuned_settings winners;
        for (size_t i = 0; i < file.count; i++) {
            check_class(&file.classes[i]);
        }
        FUZZ_CHECK(tuning_file_winners(&file, "opencl", file.arena, &winners) == TAPML_OK);
        check_again(&file);
    }
    tuning_file_release(&file);
    fuzz_end();
    return 0;
}
