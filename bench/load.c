// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to open a model? The weights are mapped, so neither time nor resident memory
// should have to do with their size; what a first token reads comes on top. The limit is mapping
// the files and parsing their headers, by the same library, alternating.
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "measure.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
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

// Maps a file of weights and parses its header, and no more. Adds its size to `io_bytes`.
static tapml_status read_shard(const char *path, double *io_bytes)
{
    struct file_map map;
    uint64_t length = 0;
    json_t *header = NULL;

    TAPML_TRY(file_map(path, &map));
    if (map.size >= sizeof(length)) {
        memcpy(&length, map.data, sizeof(length)); // The benches run on what make_model runs on.
    }
    const tapml_status status =
        map.size >= sizeof(length) && length <= map.size - sizeof(length)
            ? json_file_parse(path, (const char *)map.data + sizeof(length), length, &header)
            : status_fail(TAPML_INVALID, "%s: there is no header", path);

    *io_bytes += (double)map.size;
    json_decref(header);
    file_unmap(&map);
    return status;
}

static tapml_status read_shards(const char *folder, double *out_bytes)
{
    tapml_status status = TAPML_OK;
    struct text pattern;
    glob_t found = {.gl_pathc = 0};

    text_init(&pattern);
    text_format(&pattern, "%s/model*.safetensors", folder);
    status = text_status(&pattern);
    *out_bytes = 0;
    if (status == TAPML_OK && glob(pattern.data, 0, NULL, &found) != 0) {
        status = status_fail(TAPML_NOT_FOUND, "%s: there are no weights", folder);
    }
    for (size_t i = 0; status == TAPML_OK && i < found.gl_pathc; i++) {
        status = read_shard(found.gl_pathv[i], out_bytes);
    }
    globfree(&found);
    text_release(&pattern);
    return status;
}

// Opens the model and closes it. Processor time: other work on the machine does not count.
static tapml_status
open_once(const struct measure *measure, const struct model_options *options, double *out_ms)
{
    const struct moment begin = reading_now();
    struct model *model = NULL;

    TAPML_TRY(model_open(measure->setup.registry, options, &model));
    *out_ms = reading_since(begin).processor * 1e3;
    model_close(model);
    return TAPML_OK;
}

// The first opening loads the plugin, too.
static tapml_status print_resident(struct measure *measure, const struct model_options *options)
{
    const double resident = resident_bytes();
    struct model *model = NULL;

    TAPML_TRY(model_open(measure->setup.registry, options, &model));
    measure_print(measure, "resident memory it takes", (resident_bytes() - resident) / 1e6, "MB");
    model_close(model);
    return TAPML_OK;
}

static tapml_status run(struct measure *measure, const char *folder)
{
    const struct model_options with = {.folder = folder};
    const struct model_options without = {.folder = folder, .without_weights = 1};
    const size_t count = (size_t)measure->rounds;
    double opened[MEASURE_ROUNDS_MAX], graphs[MEASURE_ROUNDS_MAX], limits[MEASURE_ROUNDS_MAX];
    double bytes = 0;

    TAPML_TRY(print_resident(measure, &with));
    for (size_t round = 0; round < count; round++) {
        const struct moment begin = reading_now();

        TAPML_TRY(read_shards(folder, &bytes));
        limits[round] = reading_since(begin).processor * 1e3;
        TAPML_TRY(open_once(measure, &with, &opened[round]));
        TAPML_TRY(open_once(measure, &without, &graphs[round]));
    }
    const double open = measure_median(opened, count), limit = measure_median(limits, count);

    measure_print(measure, "bytes of its files", bytes / 1e9, "GB");
    measure_print(measure, "opening the model", open, "ms");
    measure_print(measure, "its graph, without weights", measure_median(graphs, count), "ms");
    measure_print(measure, "mapping its files and parsing their headers", limit, "ms");
    measure_print(measure, "opening, relative to mapping and parsing", open / limit, "");
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    struct measure measure;
    tapml_status status = measure_begin(argc, argv, &measure);
    const char *folder = status == TAPML_OK ? options_get(&measure.options, "--model") : NULL;

    if (status == TAPML_OK && folder == NULL) {
        status = status_fail(TAPML_INVALID, "no model: give --model DIR");
    }
    if (status == TAPML_OK) {
        status = run(&measure, folder);
    }
    return measure_end(&measure, status);
}
