// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/run.h"

static tapml_status report_step(run_step_fn fn, void *user, int64_t step, int32_t id)
{
    return fn ? fn(user, step, id) : TAPML_OK;
}

static int is_end(const struct run_options *options, int32_t id)
{
    for (size_t i = 0; options->end && i < options->end_count; i++) {
        if (options->end[i] == id) {
            return 1;
        }
    }
    return 0;
}

static tapml_status prefill(struct session *session, const struct run_options *options)
{
    if (options->count < 1) {
        return status_fail(TAPML_INVALID, "expected a prompt of at least one token, found %lld",
                           (long long)options->count);
    }
    TAPML_TRY(options->given ? session_give(session, options->given) : TAPML_OK);
    TAPML_TRY(session_begin(session, options->count));
    TAPML_TRY(report_step(options->before_step, options->user, 0, -1));
    return session_feed(session, options->ids, options->count);
}

tapml_status run_greedy(struct session *session,
                        const struct run_options *options,
                        int32_t *out_ids,
                        int64_t *out_count)
{
    int64_t count = 0;
    TAPML_TRY(prefill(session, options));
    if (options->decode < 1) {
        TAPML_TRY(report_step(options->after_step, options->user, 0, -1));
        *out_count = 0;
        return TAPML_OK;
    }
    for (;;) {
        int32_t id = 0;
        TAPML_TRY(session_greedy(session, &id));
        TAPML_TRY(report_step(options->after_step, options->user, count, id));
        out_ids[count++] = id;
        if (count == options->decode || is_end(options, id)) {
            *out_count = count;
            return TAPML_OK;
        }
        TAPML_TRY(report_step(options->before_step, options->user, count, id));
        TAPML_TRY(session_feed(session, &id, 1));
    }
}
