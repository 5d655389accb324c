// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/process_usage.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static tapml_status count_names(const char *folder, size_t *out_count)
{
    DIR *listing = opendir(folder);
    size_t count = 0;

    if (listing == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "%s: %s", folder, strerror(errno));
    }
    for (const struct dirent *item = readdir(listing); item != NULL; item = readdir(listing)) {
        count += item->d_name[0] != '.';
    }
    (void)closedir(listing);
    *out_count = count;
    return TAPML_OK;
}

// The kernel lists the children of each thread in a file of numbers. Those of the first thread are
// those of all that a fork of a library has made, but for threads that it has itself.
static tapml_status count_children(size_t *out_count)
{
    char path[64];
    int process = 0;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");

    *out_count = 0;
    if (file == NULL) {
        return TAPML_OK; // A kernel without that list.
    }
    while (fscanf(file, "%d", &process) == 1) {
        (*out_count)++;
    }
    (void)fclose(file);
    return TAPML_OK;
}

static tapml_status read_memory(uint64_t *out_bytes)
{
    unsigned long long whole = 0, resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "/proc/self/statm: %s", strerror(errno));
    }
    const int found = fscanf(file, "%llu %llu %llu", &whole, &resident, &shared);

    (void)fclose(file);
    if (found != 3 || resident < shared) {
        return status_fail(TAPML_UNAVAILABLE, "/proc/self/statm: it is not understood");
    }
    *out_bytes = (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
    return TAPML_OK;
}

tapml_status process_usage_read(struct process_usage *out_usage)
{
    TAPML_TRY(count_names("/proc/self/task", &out_usage->threads));
    TAPML_TRY(count_names("/proc/self/fd", &out_usage->descriptors));
    TAPML_TRY(count_children(&out_usage->children));
    return read_memory(&out_usage->resident_bytes);
}
