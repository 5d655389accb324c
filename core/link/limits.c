// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/limits.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

// `spare` is how far the hard limit is beyond the soft one.
static tapml_status
lower(__rlimit_resource_t resource, const char *name, int64_t value, int64_t spare)
{
    struct rlimit limit;
    if (value <= 0) {
        return TAPML_OK;
    }
    int failed = getrlimit(resource, &limit) != 0;
    const rlim_t soft = (rlim_t)value, hard = (rlim_t)(value + spare);
    limit.rlim_max = limit.rlim_max < hard ? limit.rlim_max : hard;
    limit.rlim_cur = limit.rlim_cur < soft ? limit.rlim_cur : soft;
    limit.rlim_cur = limit.rlim_cur < limit.rlim_max ? limit.rlim_cur : limit.rlim_max;
    failed = failed || setrlimit(resource, &limit) != 0;
    return failed ? status_fail(TAPML_UNAVAILABLE, "this system sets no limit of %lld %s: %s",
                                (long long)value, name, strerror(errno))
                  : TAPML_OK;
}

tapml_status limits_set(const struct worker_limits *limits)
{
    TAPML_TRY(lower(RLIMIT_NOFILE, "descriptors", limits->files, 0));
    TAPML_TRY(lower(RLIMIT_NPROC, "processes", limits->processes, 0));
    return lower(RLIMIT_CPU, "seconds of processor time", limits->cpu_s, 1);
}
