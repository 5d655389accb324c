// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/worker_options.h"

#include "config/isolation.h"
#include "remote/remote.h"

// What only a worker has.
static int has_limit(const struct options *options)
{
    static const char *const names[] = {"--deadline", "--memory", "--limit-files",
                                        "--limit-processes", "--limit-cpu"};
    int has = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        has = has || options_get(options, names[i]) != NULL;
    }
    return has;
}

static tapml_status read_limit(const struct options *options, const char *name, int64_t *io_limit)
{
    return options_i64(options, name, *io_limit, 0, LIMITS_MAX, io_limit);
}

// What names another machine takes the place of what a run's file says.
static tapml_status read_far(const struct options *options, struct place_isolation *io_isolation)
{
    const char *url = options_get(options, "--url"), *listen = options_get(options, "--listen");

    if (url != NULL && listen != NULL) {
        return status_fail(TAPML_INVALID, "--url and --listen exclude each other: a worker "
                                          "listens or dials");
    }
    if (url != NULL || listen != NULL) {
        io_isolation->url = url;
        io_isolation->listen = listen;
    }
    return options_i64(options, "--patience",
                       io_isolation->patience_s > 0 ? io_isolation->patience_s : REMOTE_PATIENCE_S,
                       1, REMOTE_PATIENCE_MAX_S, &io_isolation->patience_s);
}

tapml_status worker_options_read(const struct options *options,
                                 struct place_isolation *io_isolation)
{
    const char *word = options_get(options, "--isolation");

    if (word != NULL && !isolation_parse(word, &io_isolation->mode)) {
        return status_fail(TAPML_INVALID,
                           "--isolation is '%s', expected 'never', 'always' or 'loopback'", word);
    }
    if (word == NULL && has_limit(options)) {
        io_isolation->mode = PLACE_ISOLATION_ALWAYS;
    }
    TAPML_TRY(read_far(options, io_isolation));
    TAPML_TRY(read_limit(options, "--memory", &io_isolation->memory_mib));
    TAPML_TRY(read_limit(options, "--limit-files", &io_isolation->limits.files));
    TAPML_TRY(read_limit(options, "--limit-processes", &io_isolation->limits.processes));
    TAPML_TRY(read_limit(options, "--limit-cpu", &io_isolation->limits.cpu_s));
    return options_i64(options, "--deadline", io_isolation->deadline_s, 1, ISOLATION_DEADLINE_MAX_S,
                       &io_isolation->deadline_s);
}

int worker_options_have_place(const struct options *options)
{
    return options_get(options, "--isolation") != NULL || has_limit(options);
}
