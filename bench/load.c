// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to open a model? The weights are mapped, so neither time nor resident memory
// should have to do with their size; what a first token reads comes on top.
#include "measure.h"

#include <stdio.h>
#include <unistd.h>

// Bytes of this process that are in memory now.
static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0, resident = 0;

    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &pages, &resident) != 2) {
            resident = 0;
        }
        (void)fclose(file);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    struct measure measure;
    tapml_status status = measure_begin(argc, argv, &measure);
    const double resident = resident_bytes();
    const struct moment begin = measure_now();
    const char *folder = status == TAPML_OK ? options_get(&measure.options, "--model") : NULL;

    if (status == TAPML_OK && folder == NULL) {
        status = status_fail(TAPML_INVALID, "no model: give --model DIR");
    }
    if (status == TAPML_OK) {
        status = setup_model(&measure.setup, &(struct model_options){.folder = folder});
    }
    if (status == TAPML_OK) {
        measure_print(&measure, "opening the model", measure_since(begin).wall * 1e3, "ms");
        measure_print(&measure, "resident memory it takes", (resident_bytes() - resident) / 1e6,
                      "MB");
    }
    return measure_end(&measure, status);
}
