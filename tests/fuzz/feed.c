// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Feeds files to a fuzz target where there is no libFuzzer: `fuzz_NAME FILE...`.
#include "base/alloc.h"
#include "base/file.h"
#include "fuzz.h"

#include <stdio.h>

enum { FILE_BYTES_MAX = 1 << 20 };

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *data = NULL;
        size_t size = 0;
        fprintf(stderr, "%s\n", argv[i]); // What a crash speaks of is the last line.
        if (file_read(argv[i], FILE_BYTES_MAX, &data, &size) != TAPML_OK) {
            fprintf(stderr, "%s\n", status_message());
            return 1;
        }
        (void)LLVMFuzzerTestOneInput((const uint8_t *)data, size); // It ends the program or is 0.
        alloc_free(data);
    }
    return 0;
}
