// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost a host that many plugins are installed? Copies of plugins/null with ids of
// their own, in a folder of its own, are found by their manifests, and then opened, queried and
// probed one by one. Beside it in the same run: the same manifests read, and as many libraries
// opened by the loader alone. Exit status 1 if a scan takes more than 16 times the reading, or a
// plugin more than 10 times the loader's opening in the median: half of each is usual.
#include "base/alloc.h"
#include "base/file.h"
#include "base/ini.h"
#include "config/options.h"
#include "measure.h"
#include "plugin/registry.h"
#include "reading.h"
#include "run/outcome.h"

#include <dlfcn.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    PLUGINS_MAX = 999, // As many as have a name of three digits.
    NAME_LENGTH = 4,   // Of "null", and of what takes its place.
    ROUNDS_MAX = 1000,
    FOLDER_TEXT = 64,
    PATH_TEXT = 512,
    FILE_BYTES_MAX = 1 << 26
};

static const double SECOND_MS = 1e3;
static const double SCAN_MOST_RATIO = 16, QUERY_MOST_RATIO = 10;

static const struct options_spec specs[] = {
    {"--build", "DIR", "whose plugins/null is copied; build if absent"},
    {"--plugins", "N", "copies; 50 if absent"},
    {"--rounds", "N", "of scanning, the fastest of which counts; 20 if absent"},
    {NULL, NULL, NULL},
};

// -- Copies ------------------------------------------------------------------------------------

enum kind { LIBRARY, MANIFEST };

static void name_of_copy(char name[NAME_LENGTH + 1], size_t index)
{
    (void)snprintf(name, NAME_LENGTH + 1, "n%03u", (unsigned)(index % (PLUGINS_MAX + 1)));
}

static void path_of_copy(char path[PATH_TEXT], const char *folder, enum kind kind, size_t index)
{
    char name[NAME_LENGTH + 1];

    name_of_copy(name, index);
    (void)snprintf(path, PATH_TEXT, kind == LIBRARY ? "%s/tapml-%s.so" : "%s/org.tapml.%s.tapml",
                   folder, name);
}

// The manifest with `name` for "null", in ids and in the name of its library.
static tapml_status write_manifest(const char *path, const char *manifest, const char *name)
{
    char *copy = alloc_text(manifest);

    if (copy == NULL) {
        return status_no_memory();
    }
    for (char *at = copy; (at = strstr(at, "null")) != NULL;) {
        memcpy(at, name, NAME_LENGTH);
    }
    const tapml_status status = file_write(path, copy, strlen(copy));

    alloc_free(copy);
    return status;
}

// The same of the texts in a library, which has its ids and in its note all of its manifest.
static void rename_library(char *bytes, size_t size, const char *name)
{
    for (size_t i = 1; i + NAME_LENGTH <= size; i++) {
        const char before = bytes[i - 1];

        if (memcmp(bytes + i, "null", NAME_LENGTH) == 0 &&
            (before == '.' || before == '-' || before == '\0')) {
            memcpy(bytes + i, name, NAME_LENGTH);
        }
    }
}

static tapml_status
make_copy(const char *folder, const char *manifest, const char *library, size_t size, size_t index)
{
    char name[NAME_LENGTH + 1], path[PATH_TEXT];
    char *bytes = alloc_array(size, 1);

    if (bytes == NULL) {
        return status_no_memory();
    }
    name_of_copy(name, index);
    memcpy(bytes, library, size);
    rename_library(bytes, size, name);
    path_of_copy(path, folder, LIBRARY, index);
    tapml_status status = file_write(path, bytes, size);

    if (status == TAPML_OK) {
        path_of_copy(path, folder, MANIFEST, index);
        status = write_manifest(path, manifest, name);
    }
    alloc_free(bytes);
    return status;
}

static tapml_status make_copies(const char *folder, const char *build, size_t count)
{
    char path[PATH_TEXT];
    char *manifest = NULL, *library = NULL;
    size_t size = 0, ignored = 0;

    (void)snprintf(path, sizeof(path), "%s/plugins/null/org.tapml.null.tapml", build);
    tapml_status status = file_read(path, FILE_BYTES_MAX, &manifest, &ignored);

    (void)snprintf(path, sizeof(path), "%s/plugins/null/tapml-null.so", build);
    if (status == TAPML_OK) {
        status = file_read(path, FILE_BYTES_MAX, &library, &size);
    }
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = make_copy(folder, manifest, library, size, i);
    }
    alloc_free(manifest);
    alloc_free(library);
    return status;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

// -- What is measured --------------------------------------------------------------------------

// The times of one run, in milliseconds.
struct times {
    double scan, read;  // Of all manifests, the fastest round.
    double query, open; // Of one plugin, the medians.
};

// Of processor time, which a loaded machine changes least.
static double since_ms(struct moment begin)
{
    return reading_since(begin).processor * SECOND_MS;
}

static tapml_status scan(const struct ini *ini, struct registry **out_registry)
{
    return registry_create(&(struct registry_options){.ini = ini}, out_registry);
}

static tapml_status read_manifests(const char *folder, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[PATH_TEXT];
        char *manifest = NULL;
        size_t size = 0;

        path_of_copy(path, folder, MANIFEST, i);
        TAPML_TRY(file_read(path, FILE_BYTES_MAX, &manifest, &size));
        alloc_free(manifest);
    }
    return TAPML_OK;
}

static tapml_status time_scan(
    const struct ini *ini, const char *folder, size_t count, int64_t rounds, struct times *times)
{
    times->scan = times->read = INFINITY;
    for (int64_t i = 0; i < rounds; i++) {
        struct registry *registry = NULL;
        const struct moment begin = reading_now();

        TAPML_TRY(read_manifests(folder, count));
        times->read = fmin(times->read, since_ms(begin));
        const struct moment scan_begin = reading_now();

        TAPML_TRY(scan(ini, &registry));
        times->scan = fmin(times->scan, since_ms(scan_begin));
        registry_destroy(registry);
    }
    return TAPML_OK;
}

// Opening, querying and probing a plugin.
static tapml_status time_query(struct registry *registry, size_t index, double *out_ms)
{
    const struct candidate *candidate = registry_at(registry, index);
    const struct moment begin = reading_now();

    registry_probe(registry, index);
    *out_ms = since_ms(begin);
    if (candidate->state != CANDIDATE_USABLE) {
        return status_fail(TAPML_INTERNAL, "'%s' is %s: %s", candidate->component,
                           candidate_state_name(candidate->state), candidate->sentence);
    }
    return TAPML_OK;
}

// Opening a library as a program does that asks nothing of it.
static tapml_status time_open(const char *folder, size_t index, double *out_ms)
{
    char path[PATH_TEXT];

    path_of_copy(path, folder, LIBRARY, index);
    const struct moment begin = reading_now();
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    *out_ms = since_ms(begin);
    if (handle == NULL) {
        return status_fail(TAPML_INTERNAL, "'%s' cannot be opened: %s", path, dlerror());
    }
    (void)dlclose(handle);
    return TAPML_OK;
}

// The loader opens copies in a folder of their own, `others`: a library that is open already would
// cost it nothing.
static tapml_status
time_queries(const struct ini *ini, const char *others, size_t count, struct times *times)
{
    static double query[PLUGINS_MAX], open[PLUGINS_MAX];
    struct registry *registry = NULL;
    tapml_status status = scan(ini, &registry);

    if (status == TAPML_OK && registry_count(registry) != count) {
        status = status_fail(TAPML_INTERNAL, "%zu candidates of %zu plugins",
                             registry_count(registry), count);
    }
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = time_query(registry, i, &query[i]);
        status = status == TAPML_OK ? time_open(others, i, &open[i]) : status;
    }
    registry_destroy(registry);
    times->query = measure_median(query, count);
    times->open = measure_median(open, count);
    return status;
}

static int is_untrue(const struct times *times)
{
    return times->scan > SCAN_MOST_RATIO * times->read ||
           times->query > QUERY_MOST_RATIO * times->open;
}

// `folder` has the copies that are found, `others` as many for the loader.
static tapml_status
measure(const char *folder, const char *others, size_t count, int64_t rounds, int *out_is_untrue)
{
    static const char words[] = "[plugins]\ntiers = 2\n";
    struct times times;
    struct ini ini;

    if (setenv("TAPML_PLUGIN_PATH", folder, 1) != 0) {
        return status_no_memory();
    }
    TAPML_TRY(ini_parse("scan.ini", words, sizeof(words) - 1, &ini));
    tapml_status status = time_scan(&ini, folder, count, rounds, &times);

    if (status == TAPML_OK) {
        status = time_queries(&ini, others, count, &times);
    }
    ini_release(&ini);
    TAPML_TRY(status);
    printf(
        "%zu manifests scanned in %.2f ms, %.1f times reading them; a plugin opened, queried and "
        "probed in %.3f ms, %.1f times opening its library\n",
        count, times.scan, times.scan / times.read, times.query, times.query / times.open);
    *out_is_untrue = is_untrue(&times);
    if (*out_is_untrue) {
        printf("NOT TRUE: a scan takes at most %.0f times the reading, and a plugin at most %.0f "
               "times the opening\n",
               SCAN_MOST_RATIO, QUERY_MOST_RATIO);
    }
    return TAPML_OK;
}

static tapml_status
run_in(const char *folder, const char *build, size_t count, int64_t rounds, int *out_is_untrue)
{
    char found[FOLDER_TEXT], others[FOLDER_TEXT];

    (void)snprintf(found, sizeof(found), "%s/found", folder);
    (void)snprintf(others, sizeof(others), "%s/others", folder);
    if (mkdir(found, S_IRWXU) != 0 || mkdir(others, S_IRWXU) != 0) {
        return status_fail(TAPML_UNAVAILABLE, "no folders can be made in '%s'", folder);
    }
    TAPML_TRY(make_copies(found, build, count));
    TAPML_TRY(make_copies(others, build, count));
    return measure(found, others, count, rounds, out_is_untrue);
}

static tapml_status run(int argc, char **argv, int *out_is_untrue)
{
    struct options options;
    int64_t count = 0, rounds = 0;
    char folder[] = "/tmp/tapml-scan-XXXXXX"; // Where mkdtemp puts other letters for the last.

    TAPML_TRY(options_parse(specs, argc - 1, argv + 1, &options));
    const char *build = options_get(&options, "--build");

    TAPML_TRY(options_i64(&options, "--plugins", 50, 1, PLUGINS_MAX, &count));
    TAPML_TRY(options_i64(&options, "--rounds", 20, 1, ROUNDS_MAX, &rounds));
    if (mkdtemp(folder) == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "no folder '%s' can be made", folder);
    }
    const tapml_status status =
        run_in(folder, build != NULL ? build : "build", (size_t)count, rounds, out_is_untrue);

    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return status;
}

int main(int argc, char **argv)
{
    int untrue = 0;
    const enum outcome outcome = outcome_report(run(argc, argv, &untrue));

    return outcome == OUTCOME_OK && untrue ? 1 : (int)outcome;
}
