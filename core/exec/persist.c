// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/persist.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "device/backend.h"
#include "link/child.h"

#include <stdio.h>

enum { HARMLESS_BYTES = 4096, MESSAGE_TEXT = 768 };
static const uint64_t HARMLESS_NS_MAX = 10000000000;

static void look(struct persist_backend *item)
{
    item->kills = backend_kills(item->backend);
    item->generation = backend_generation(item->backend);
}

static void begin_try(struct persist *persist)
{
    for (size_t i = 0; i < persist->count; i++) {
        look(&persist->backends[i]);
    }
    persist->begin_ns = clock_now_ns();
}

void persist_add(struct persist *persist, struct backend *backend)
{
    ASSERT(persist->count < PERSIST_BACKENDS_MAX);
    struct persist_backend *item = &persist->backends[persist->count++];
    item->backend = backend;
    look(item);
}

void persist_begin(struct persist *out_persist, struct backend *backend)
{
    *out_persist = (struct persist){.begin_ns = clock_now_ns()};
    persist_add(out_persist, backend);
}

// The one that was killed; NULL: none.
static const struct persist_backend *find_killed(const struct persist *persist)
{
    for (size_t i = 0; i < persist->count; i++) {
        const struct persist_backend *item = &persist->backends[i];
        if (backend_kills(item->backend) != item->kills) {
            return item;
        }
    }
    return NULL;
}

int persist_was_killed(const struct persist *persist)
{
    return find_killed(persist) != NULL;
}

// Whether contents of memory have gone since the try began.
static int has_forgotten(const struct persist *persist)
{
    for (size_t i = 0; i < persist->count; i++) {
        if (backend_generation(persist->backends[i].backend) != persist->backends[i].generation) {
            return 1;
        }
    }
    return 0;
}

static tapml_status write_and_read(struct backend *backend, tapml_object *buffer)
{
    unsigned char bytes[HARMLESS_BYTES] = {0};
    TAPML_TRY(backend_write(backend, buffer, 0, bytes, sizeof(bytes)));
    const tapml_status status = backend_read(backend, buffer, 0, bytes, sizeof(bytes));
    const tapml_status waited = backend_wait(backend); // Before the bytes go.
    return status == TAPML_OK ? waited : status;
}

// What harms no device, for as long as what was killed has taken.
static tapml_status live(const struct persist *persist, struct backend *backend)
{
    const uint64_t long_ns =
        persist->longest_ns < HARMLESS_NS_MAX ? persist->longest_ns : HARMLESS_NS_MAX;
    tapml_object *buffer = NULL;
    tapml_status status = backend_buffer_new(backend, HARMLESS_BYTES, &buffer);
    const uint64_t begin_ns = clock_now_ns(); // It is there now.
    while (status == TAPML_OK && clock_now_ns() - begin_ns < long_ns) {
        status = write_and_read(backend, buffer);
    }
    backend_buffer_free(backend, buffer);
    return status;
}

// Work was killed as often as it was tried, with that message.
static tapml_status judge(const struct persist *persist, tapml_status status, const char *message)
{
    struct backend *backend = find_killed(persist)->backend;
    const uint64_t kills = backend_kills(backend);
    const tapml_status lived = live(persist, backend);
    if (lived == TAPML_OK && backend_kills(backend) == kills) {
        return status_fail(status, "%s, each of %d times, while writes and reads live", message,
                           PERSIST_TRIES);
    }
    return status_fail(TAPML_DEVICE_LOST,
                       "its worker is killed from outside, whatever it does: %s; start the run "
                       "again when the machine has room for it",
                       message);
}

int persist_again(struct persist *persist, tapml_status *io_status)
{
    const int is_done = *io_status == TAPML_OK;
    const int is_lost = is_done ? has_forgotten(persist) : persist_was_killed(persist);
    const uint64_t time_ns = clock_now_ns() - persist->begin_ns;
    char message[MESSAGE_TEXT];
    if (!is_lost || status_ends_all(*io_status)) {
        return 0;
    }
    (void)snprintf(message, sizeof(message), "%s", is_done ? "" : status_message());
    persist->longest_ns = time_ns > persist->longest_ns ? time_ns : persist->longest_ns;
    if (++persist->tries < PERSIST_TRIES) {
        log_line(LOG_WARNING, "%s; it is done again",
                 is_done ? "a worker has ended amidst of work" : message);
        begin_try(persist);
        return 1;
    }
    *io_status = is_done ? TAPML_OK : judge(persist, *io_status, message);
    return 0;
}

tapml_status
persist_run(const char *const *arguments, uint64_t timeout_ns, struct child_output *out_output)
{
    for (int tried = 1;; tried++) {
        TAPML_TRY(child_run(arguments, timeout_ns, out_output));
        if (!out_output->was_killed || tried == PERSIST_TRIES) {
            return TAPML_OK;
        }
        alloc_free(out_output->text);
    }
}
