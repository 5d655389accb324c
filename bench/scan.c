// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost a host that many plugins are installed? Copies of plugins/null with ids of
// their own, in a folder of its own, are found by their manifests, and then opened, queried and
// probed one by one. Exit status 1 if 50 manifests take more than 10 ms, or one plugin more than
// 1 ms in the median.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/ini.h"
#include "config/options.h"
#include "plugin/registry.h"
#include "run/outcome.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLUGINS_MAX = 999, // As many as have a name of three digits.
    NAME_LENGTH = 4,   // Of "null", and of what takes its place.
    SCAN_PLUGINS = 50,
    ROUNDS_MAX = 1000,
    PATH_TEXT = 512,
    FILE_BYTES_MAX = 1 << 26
};

static const double MILLISECOND_NS = 1e6;
static const double SCAN_MOST_MS = 10, QUERY_MOST_MS = 1;

static const struct options_spec specs[] = {
    {"--build", "DIR", "whose plugins/null is copied; build if absent"},
    {"--plugins", "N", "copies; 50 if absent, which the limit is for"},
    {"--rounds", "N", "of scanning, the fastest of which counts; 20 if absent"},
    {NULL, NULL, NULL},
};

// -- Copies ------------------------------------------------------------------------------------

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
    (void)snprintf(name, sizeof(name), "n%03u", (unsigned)(index % (PLUGINS_MAX + 1)));
    memcpy(bytes, library, size);
    rename_library(bytes, size, name);
    (void)snprintf(path, sizeof(path), "%s/tapml-%s.so", folder, name);
    tapml_status status = file_write(path, bytes, size);

    if (status == TAPML_OK) {
        (void)snprintf(path, sizeof(path), "%s/org.tapml.%s.tapml", folder, name);
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

static double since_ms(uint64_t begin_ns)
{
    return (double)(clock_now_ns() - begin_ns) / MILLISECOND_NS;
}

static tapml_status scan(const struct ini *ini, struct registry **out_registry)
{
    return registry_create(&(struct registry_options){.ini = ini}, out_registry);
}

static tapml_status time_scan(const struct ini *ini, int64_t rounds, double *out_ms)
{
    *out_ms = INFINITY;
    for (int64_t i = 0; i < rounds; i++) {
        struct registry *registry = NULL;
        const uint64_t begin_ns = clock_now_ns();

        TAPML_TRY(scan(ini, &registry));
        *out_ms = fmin(*out_ms, since_ms(begin_ns));
        registry_destroy(registry);
    }
    return TAPML_OK;
}

static int by_time(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

// The median of opening, querying and probing each plugin.
static tapml_status time_queries(const struct ini *ini, size_t count, double *out_ms)
{
    static double times[PLUGINS_MAX];
    struct registry *registry = NULL;
    tapml_status status = scan(ini, &registry);

    if (status == TAPML_OK && registry_count(registry) != count) {
        status = status_fail(TAPML_INTERNAL, "%zu candidates of %zu plugins",
                             registry_count(registry), count);
    }
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        const struct candidate *candidate = registry_at(registry, i);
        const uint64_t begin_ns = clock_now_ns();

        registry_probe(registry, i);
        times[i] = since_ms(begin_ns);
        if (candidate->state != CANDIDATE_USABLE) {
            status = status_fail(TAPML_INTERNAL, "'%s' is %s: %s", candidate->component,
                                 candidate_state_name(candidate->state), candidate->sentence);
        }
    }
    registry_destroy(registry);
    qsort(times, count, sizeof(*times), by_time);
    *out_ms = times[count / 2];
    return status;
}

static tapml_status measure(const char *folder, size_t count, int64_t rounds, int *out_is_untrue)
{
    static const char words[] = "[plugins]\ntiers = 2\n";
    struct ini ini;
    double scan_ms = 0, query_ms = 0;

    if (setenv("TAPML_PLUGIN_PATH", folder, 1) != 0) {
        return status_no_memory();
    }
    TAPML_TRY(ini_parse("scan.ini", words, sizeof(words) - 1, &ini));
    tapml_status status = time_scan(&ini, rounds, &scan_ms);

    if (status == TAPML_OK) {
        status = time_queries(&ini, count, &query_ms);
    }
    ini_release(&ini);
    TAPML_TRY(status);
    printf("%zu manifests scanned in %.2f ms; a plugin opened, queried and probed in %.3f ms\n",
           count, scan_ms, query_ms);
    *out_is_untrue = (count <= SCAN_PLUGINS && scan_ms > SCAN_MOST_MS) || query_ms > QUERY_MOST_MS;
    if (*out_is_untrue) {
        printf("NOT TRUE: 50 manifests take at most %.0f ms, and a plugin at most %.0f ms\n",
               SCAN_MOST_MS, QUERY_MOST_MS);
    }
    return TAPML_OK;
}

static tapml_status run(int argc, char **argv, int *out_is_untrue)
{
    struct options options;
    int64_t count = 0, rounds = 0;
    char folder[] = "/tmp/tapml-scan-XXXXXX";

    TAPML_TRY(options_parse(specs, argc - 1, argv + 1, &options));
    const char *build = options_get(&options, "--build");

    TAPML_TRY(options_i64(&options, "--plugins", SCAN_PLUGINS, 1, PLUGINS_MAX, &count));
    TAPML_TRY(options_i64(&options, "--rounds", 20, 1, ROUNDS_MAX, &rounds));
    if (mkdtemp(folder) == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "no folder '%s' can be made", folder);
    }
    tapml_status status = make_copies(folder, build != NULL ? build : "build", (size_t)count);

    if (status == TAPML_OK) {
        status = measure(folder, (size_t)count, rounds, out_is_untrue);
    }
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return status;
}

int main(int argc, char **argv)
{
    int is_untrue = 0;
    const enum outcome outcome = outcome_report(run(argc, argv, &is_untrue));

    return outcome == OUTCOME_OK && is_untrue ? 1 : (int)outcome;
}
