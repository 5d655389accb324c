// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/round_trip.h"

#include "base/clock.h"

enum { TRIES = 5, BYTES = 64 };

// Something that is answered: a stamp; where there are none, bytes that come back.
static tapml_status ask(struct backend *backend, tapml_object *buffer, unsigned char *bytes)
{
    uint64_t stamp_ns = 0;
    tapml_status status = backend_stamp(backend, &stamp_ns);
    if (status == TAPML_UNIMPLEMENTED) {
        status = backend_write(backend, buffer, 0, bytes, BYTES);
        status = status == TAPML_OK ? backend_read(backend, buffer, 0, bytes, BYTES) : status;
    }
    const tapml_status waited = backend_wait(backend);
    return status == TAPML_OK ? waited : status;
}

static tapml_status try_once(struct backend *backend, tapml_object *buffer, uint64_t *out_ns)
{
    unsigned char bytes[BYTES] = {0};
    const uint64_t begin_ns = clock_now_ns();
    const tapml_status status = ask(backend, buffer, bytes);
    *out_ns = clock_now_ns() - begin_ns;
    return status;
}

// Puts a time where it belongs among the sorted ones before it.
static void insert(uint64_t *times, size_t count, uint64_t time_ns)
{
    size_t at = count;
    for (; at > 0 && times[at - 1] > time_ns; at--) {
        times[at] = times[at - 1];
    }
    times[at] = time_ns;
}

uint64_t round_trip_measure(struct backend *backend)
{
    tapml_object *buffer = NULL;
    uint64_t times[TRIES] = {0};
    tapml_status status = backend_buffer_new(backend, BYTES, &buffer);
    for (size_t i = 0; i < TRIES && status == TAPML_OK; i++) {
        uint64_t time_ns = 0;
        status = try_once(backend, buffer, &time_ns);
        insert(times, i, time_ns);
    }
    backend_buffer_free(backend, buffer);
    return status == TAPML_OK ? times[TRIES / 2] : 0;
}
