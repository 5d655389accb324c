// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/conduct_time.h"

#include "base/clock.h"

#include <stdlib.h>

enum { CALLS = 21, COPIES = 9, PART = 4, WAITS = 8 };

static int compare_u64(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static const struct conduct_trial *find_largest(const struct conduct_trial *trials, size_t count)
{
    const struct conduct_trial *largest = count > 0 ? &trials[0] : NULL;
    for (size_t i = 1; i < count; i++) {
        largest = trials[i].output_bytes > largest->output_bytes ? &trials[i] : largest;
    }
    return largest;
}

// The shortest of some copies.
static tapml_status
time_copies(struct backend *backend, const struct backend_copy *copy, uint64_t *out_ns)
{
    for (int i = 0; i < COPIES; i++) {
        const uint64_t begin_ns = clock_now_ns();
        uint32_t word = 0;
        TAPML_TRY(backend_copy(backend, copy));
        // A wait with nothing to come back may be none.
        TAPML_TRY(
            backend_read(backend, copy->target, copy->size - sizeof(word), &word, sizeof(word)));
        TAPML_TRY(backend_wait(backend));
        const uint64_t time_ns = clock_now_ns() - begin_ns;
        *out_ns = *out_ns == 0 || time_ns < *out_ns ? time_ns : *out_ns;
    }
    return TAPML_OK;
}

static tapml_status measure_copies(struct backend *backend,
                                   tapml_object *source,
                                   tapml_object *target,
                                   struct conduct_times *times)
{
    const uint64_t size = times->bytes / TAPML_TRANSFER_GRAIN * TAPML_TRANSFER_GRAIN;
    struct backend_copy copy = {.source = source, .target = target, .size = size};
    TAPML_TRY(backend_fill(backend, source, 0, size, 0));
    TAPML_TRY(time_copies(backend, &copy, &times->copy_ns));
    copy.size = TAPML_TRANSFER_GRAIN;
    return time_copies(backend, &copy, &times->wait_ns);
}

static tapml_status time_copy(struct backend *backend, struct conduct_times *times)
{
    tapml_object *buffers[2] = {NULL, NULL};
    const uint64_t size = (times->bytes / TAPML_TRANSFER_GRAIN + 1) * TAPML_TRANSFER_GRAIN;
    tapml_status status = backend_buffer_new(backend, size, &buffers[0]);
    if (status == TAPML_OK) {
        status = backend_buffer_new(backend, size, &buffers[1]);
    }
    if (status == TAPML_OK) {
        status = measure_copies(backend, buffers[0], buffers[1], times);
    }
    for (int i = 0; i < 2; i++) {
        if (buffers[i]) {
            backend_buffer_free(backend, buffers[i]);
        }
    }
    if (status == TAPML_UNIMPLEMENTED) {
        times->copy_ns = times->wait_ns = 0;
        return TAPML_OK;
    }
    return status;
}

tapml_status conduct_time_measure(struct conduct_stand *stand,
                                  const struct conduct_trial *trials,
                                  size_t count,
                                  struct conduct_times *out_times)
{
    const struct conduct_trial *trial = find_largest(trials, count);
    uint64_t times_ns[CALLS];
    int is_right = 1;
    if (!trial) {
        return TAPML_OK;
    }
    TAPML_TRY(conduct_stand_renew(stand));
    for (int i = 0; i < CALLS; i++) {
        TAPML_TRY(conduct_stand_try(stand, trial, &is_right));
        times_ns[i] = conduct_probe_time_ns(stand->probe);
        if (!is_right) {
            return TAPML_OK; // The rounds before have judged it: a chance, and no time.
        }
    }
    out_times->cold_ns = times_ns[0];
    qsort(times_ns, CALLS, sizeof(*times_ns), compare_u64);
    out_times->warm_ns = times_ns[CALLS / 2];
    out_times->bytes = trial->output_bytes;
    return time_copy(stand->backend, out_times);
}

int conduct_time_is_impossible(const struct conduct_times *times)
{
    return times->copy_ns > WAITS * times->wait_ns &&
           times->warm_ns < (times->copy_ns - times->wait_ns) / PART;
}
