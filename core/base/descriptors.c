// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

// Those that are open; all that may be where none is left to count them with.
static rlim_t count_open(rlim_t limit)
{
    DIR *folder = opendir("/proc/self/fd");
    rlim_t count = 0;
    if (!folder) {
        return errno == EMFILE ? limit : 0;
    }
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count - 3; // "." and "..", and the folder itself.
}

tapml_status descriptors_expect(const char *who, size_t count)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return TAPML_OK; // What cannot be asked is found where a file is opened.
    }
    const rlim_t needed = count_open(limit.rlim_cur) + (rlim_t)count + DESCRIPTORS_SPARE;
    if (needed <= limit.rlim_cur) {
        return TAPML_OK;
    }
    const struct rlimit raised = {needed, limit.rlim_max};
    if (needed <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0) {
        return TAPML_OK;
    }
    return status_fail(TAPML_UNAVAILABLE,
                       "%s: expected that %llu files can be open at once, the limit of this system "
                       "is %llu: 'ulimit -n %llu' raises it",
                       who, (unsigned long long)needed, (unsigned long long)limit.rlim_max,
                       (unsigned long long)needed);
}

const char *descriptors_why(int error, char room[DESCRIPTORS_WHY_TEXT])
{
    struct rlimit limit = {0};
    if (error != EMFILE) {
        return strerror(error);
    }
    (void)getrlimit(RLIMIT_NOFILE, &limit); // Cannot fail on a limit that exists.
    const unsigned long long needed = (unsigned long long)limit.rlim_cur + DESCRIPTORS_SPARE;
    (void)snprintf(room, DESCRIPTORS_WHY_TEXT,
                   "%llu files are open, which is the limit, and at least %llu are needed: "
                   "'ulimit -n %llu' raises it",
                   (unsigned long long)limit.rlim_cur, needed, needed);
    return room;
}
