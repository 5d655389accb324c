// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/dialer.h"

#include "base/alloc.h"
#include "base/log.h"
#include "remote/connector.h"
#include "remote/pause.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SENTENCE_BYTES = 512 };

struct dialer {
    struct dialer_options given;
    struct connector *connector;
    struct pause pause;
    int wake;                  // Can be read when the pause is to end.
    char told[SENTENCE_BYTES]; // The last failure that was told.
};

tapml_status dialer_create(const struct dialer_options *options, struct dialer **out_dialer)
{
    struct dialer *dialer = alloc_new(sizeof(*dialer));

    if (dialer == NULL) {
        return status_no_memory();
    }
    dialer->given = *options;
    dialer->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const tapml_status status =
        dialer->wake < 0
            ? status_fail(TAPML_UNAVAILABLE, "no descriptor to dial with: %s", strerror(errno))
            : connector_create(&(struct connector_options){.url = options->url,
                                                           .folder = options->folder,
                                                           .pairs = "tapml-worker --pair"},
                               &dialer->connector);

    if (status != TAPML_OK) {
        dialer_destroy(dialer);
        return status;
    }
    *out_dialer = dialer;
    return TAPML_OK;
}

void dialer_destroy(struct dialer *dialer)
{
    if (dialer != NULL) {
        connector_destroy(dialer->connector);
        if (dialer->wake >= 0) {
            close(dialer->wake);
        }
        alloc_free(dialer);
    }
}

void dialer_hurry(struct dialer *dialer)
{
    (void)eventfd_write(dialer->wake, 1);
}

// Waits until the first of two descriptors can be read; whether the other one, `stop`, can be.
static int wait_for(int descriptor, int stop, int timeout_ms)
{
    struct pollfd ends[] = {{.fd = descriptor, .events = POLLIN}, {.fd = stop, .events = POLLIN}};

    return poll(ends, 2, timeout_ms) > 0 && ends[1].revents != 0;
}

// The host may greet much later. `*out_is_greeted` is 0 where it has not, and nothing is wrong.
static tapml_status await_greeting(
    struct tls *tls, int stop, const char *url, struct greeting *out_greeting, int *out_is_greeted)
{
    struct pollfd ends[] = {{.fd = tls_socket(tls), .events = POLLIN},
                            {.fd = stop, .events = POLLIN}};
    char why[SENTENCE_BYTES];

    *out_is_greeted = 0;
    if (poll(ends, 2, DIALER_PATIENCE_MS) <= 0 || ends[0].revents == 0) {
        return TAPML_OK;
    }
    const tapml_status status = greeting_receive(tls, out_greeting);

    *out_is_greeted = status == TAPML_OK;
    if (!tls_was_refused(tls)) { // As one that needs no more workers ends it.
        return status;
    }
    (void)snprintf(why, sizeof(why), "%s", status_message());
    return status_fail(TAPML_PRECONDITION, "%s does not answer; is this user paired there? %s", url,
                       why);
}

// `*out_is_greeted` is 0 where nothing has come of it.
static tapml_status dial_once(struct dialer *dialer, int stop, int *out_is_greeted)
{
    struct tls *tls = NULL;
    struct greeting greeting;

    *out_is_greeted = 0;
    TAPML_TRY(connector_connect(dialer->connector, &tls));
    const tapml_status status =
        await_greeting(tls, stop, dialer->given.url, &greeting, out_is_greeted);

    if (*out_is_greeted) {
        dialer->given.receive(dialer->given.user, tls, &greeting);
    } else {
        tls_close(tls);
    }
    return status;
}

static void tell(struct dialer *dialer, tapml_status status)
{
    if (strcmp(dialer->told, status_message()) != 0) {
        (void)snprintf(dialer->told, sizeof(dialer->told), "%s", status_message());
        log_line(status == TAPML_PRECONDITION ? LOG_WARNING : LOG_INFO, "%s", dialer->told);
    }
}

void dialer_run(struct dialer *dialer, int stop)
{
    int is_stopped = wait_for(-1, stop, 0);

    while (!is_stopped) {
        int is_greeted = 0;
        eventfd_t count = 0;
        const tapml_status status = dial_once(dialer, stop, &is_greeted);

        if (status == TAPML_OK) { // Also where nobody has greeted yet.
            pause_end(&dialer->pause);
            dialer->told[0] = is_greeted ? '\0' : dialer->told[0];
        } else {
            pause_grow(&dialer->pause);
            tell(dialer, status);
        }
        is_stopped = wait_for(dialer->wake, stop, pause_left_ms(&dialer->pause));
        if (eventfd_read(dialer->wake, &count) == 0) {
            pause_end(&dialer->pause);
        }
    }
}
