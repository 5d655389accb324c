// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/driver_trial.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t whole(uint64_t bytes)
{
    return bytes / DRIVER_TRIAL_WHOLE * DRIVER_TRIAL_WHOLE;
}

static tapml_status make_buffer(struct driver_trial *trial)
{
    const uint64_t most = backend_info(trial->backend)->buffer_bytes_max;
    trial->bytes = most == 0 || most > DRIVER_TRIAL_BYTES ? DRIVER_TRIAL_BYTES : whole(most);
    if (trial->bytes < DRIVER_TRIAL_LEAST) {
        driver_trial_skip(trial, "a buffer has %llu bytes at most", (unsigned long long)most);
        return TAPML_OK;
    }
    return backend_buffer_new(trial->backend, trial->bytes, &trial->buffer);
}

tapml_status driver_trial_open(struct backend *backend,
                               const struct catalogue *catalogue,
                               uint64_t seed,
                               struct driver_result *result,
                               struct driver_trial *out_trial)
{
    struct driver_trial trial = {.backend = backend, .catalogue = catalogue, .result = result};
    random_init(&trial.random, seed);
    trial.given = alloc_new(DRIVER_TRIAL_BYTES);
    trial.expected = alloc_new(DRIVER_TRIAL_BYTES);
    trial.found = alloc_new(DRIVER_TRIAL_BYTES);
    const tapml_status status =
        trial.given && trial.expected && trial.found ? make_buffer(&trial) : status_no_memory();
    if (status != TAPML_OK) {
        driver_trial_close(&trial);
        return status;
    }
    *out_trial = trial;
    return TAPML_OK;
}

tapml_status driver_trial_add_output(struct driver_trial *trial)
{
    ASSERT(trial->buffer && !trial->output);
    return backend_buffer_new(trial->backend, trial->bytes, &trial->output);
}

void driver_trial_close(struct driver_trial *trial)
{
    backend_buffer_free(trial->backend, trial->buffer);
    backend_buffer_free(trial->backend, trial->output);
    alloc_free(trial->given);
    alloc_free(trial->expected);
    alloc_free(trial->found);
}

void driver_trial_begin(struct driver_trial *trial, uint64_t offset, uint64_t size)
{
    trial->result->trials++;
    trial->result->offset = offset;
    trial->result->size = size;
}

struct driver_window
driver_trial_window(const struct driver_trial *trial, uint64_t offset, uint64_t size)
{
    ASSERT(offset + size <= trial->bytes);
    const uint64_t around = DRIVER_TRIAL_WHOLE;
    const uint64_t begin = whole(offset);
    const uint64_t end = whole(offset + size + around - 1);
    const uint64_t first = begin >= around ? begin - around : 0;
    const uint64_t last = end + around <= trial->bytes ? end + around : trial->bytes;
    return (struct driver_window){first, last - first};
}

void driver_trial_draw(struct driver_trial *trial, unsigned char *bytes, uint64_t size)
{
    ASSERT(size % sizeof(uint64_t) == 0);
    for (uint64_t at = 0; at < size; at += sizeof(uint64_t)) {
        const uint64_t drawn = random_u64(&trial->random);
        memcpy(bytes + at, &drawn, sizeof(drawn));
    }
}

void driver_trial_repeat(unsigned char *bytes, uint64_t size, uint32_t pattern)
{
    for (uint64_t at = 0; at < size; at += sizeof(pattern)) {
        memcpy(bytes + at, &pattern, sizeof(pattern));
    }
}

tapml_status driver_trial_prepare(struct driver_trial *trial, struct driver_window window)
{
    driver_trial_draw(trial, trial->expected + window.begin, window.size);
    TAPML_TRY(backend_write(trial->backend, trial->buffer, window.begin,
                            trial->expected + window.begin, window.size));
    return backend_wait(trial->backend);
}

tapml_status
driver_trial_look(struct driver_trial *trial, struct driver_window window, const char *what)
{
    memset(trial->found + window.begin, 0, window.size);
    TAPML_TRY(backend_read(trial->backend, trial->buffer, window.begin, trial->found + window.begin,
                           window.size));
    TAPML_TRY(backend_wait(trial->backend));
    driver_trial_compare(trial, trial->expected + window.begin, trial->found + window.begin, window,
                         what);
    return TAPML_OK;
}

void driver_trial_compare(struct driver_trial *trial,
                          const unsigned char *expected,
                          const unsigned char *found,
                          struct driver_window window,
                          const char *what)
{
    const struct driver_result *result = trial->result;
    uint64_t wrong = 0;
    uint64_t first = 0;
    for (uint64_t i = window.size; i-- > 0;) {
        if (expected[i] != found[i]) {
            first = i;
            wrong++;
        }
    }
    if (wrong > 0) {
        driver_trial_fail(trial,
                          "after %s of %" PRIu64 " bytes at %" PRIu64 ", byte %" PRIu64
                          " is 0x%02x, expected 0x%02x; %" PRIu64 " of %" PRIu64 " bytes differ",
                          what, result->size, result->offset, window.begin + first, found[first],
                          expected[first], wrong, window.size);
    }
}

static void
end(struct driver_trial *trial, enum driver_outcome outcome, const char *format, va_list values)
{
    struct driver_result *result = trial->result;
    if (result->outcome == DRIVER_PASSED) {
        result->outcome = outcome;
        (void)vsnprintf(result->reason, sizeof(result->reason), format, values);
    }
}

void driver_trial_fail(struct driver_trial *trial, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    end(trial, DRIVER_FAILED, format, values);
    va_end(values);
}

void driver_trial_skip(struct driver_trial *trial, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    end(trial, DRIVER_SKIPPED, format, values);
    va_end(values);
}

int driver_trial_is_over(const struct driver_trial *trial)
{
    return trial->result->outcome != DRIVER_PASSED;
}
