// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/greeting.h"

#include "base/assert.h"
#include "base/clock.h"

#include <tapml/wire/wire.h>

#include <openssl/rand.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

// Both greetings have one form, 296 bytes: "TAPSTRM1", two u16 (versions; or version and state), a
// u32 of zeros, the session, u64 received, and the text with zeros behind it.
enum { MAGIC_BYTES = 8 };

_Static_assert(GREETING_BYTES == MAGIC_BYTES + 8 + GREETING_SESSION_BYTES + 8 + GREETING_TEXT_BYTES,
               "the parts of a greeting");

static const char magic[] = "TAPSTRM1";
static const char own_features[] = "resume pieces zstd expect stamp";

struct greeting_form {
    uint16_t first, second;
    struct greeting_session session;
    uint64_t received;
    const char *text;
};

static void put(unsigned char **at, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        *(*at)++ = (unsigned char)(number >> 8 * i);
    }
}

static uint64_t take(const unsigned char **at, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++) {
        number |= (uint64_t) * (*at)++ << 8 * i;
    }
    return number;
}

// Waits for what the connection is waiting for.
static tapml_status wait_for(struct tls *tls, uint64_t end_ns)
{
    const uint64_t now_ns = clock_now_ns();

    if (now_ns >= end_ns) {
        return status_fail(TAPML_DEADLINE, "the other side did not greet within %d s",
                           GREETING_TIMEOUT_MS / 1000);
    }
    (void)poll(&(struct pollfd){.fd = tls_socket(tls), .events = tls_events(tls)}, 1,
               (int)((end_ns - now_ns) / 1000000u) + 1);
    return TAPML_OK;
}

static tapml_status send_form(struct tls *tls, const struct greeting_form *form)
{
    const uint64_t end_ns = clock_now_ns() + (uint64_t)GREETING_TIMEOUT_MS * 1000000u;
    unsigned char bytes[GREETING_BYTES] = {0};
    unsigned char *at = bytes + MAGIC_BYTES;

    memcpy(bytes, magic, MAGIC_BYTES);
    put(&at, form->first, 2);
    put(&at, form->second, 2);
    put(&at, 0, 4);
    memcpy(at, form->session.bytes, GREETING_SESSION_BYTES);
    at += GREETING_SESSION_BYTES;
    put(&at, form->received, 8);
    (void)snprintf((char *)at, GREETING_TEXT_BYTES, "%s", form->text);
    for (size_t sent = 0; sent < sizeof(bytes);) {
        size_t written = 0;

        TAPML_TRY(tls_write(tls, bytes + sent, sizeof(bytes) - sent, &written));
        sent += written;
        TAPML_TRY(written == 0 ? wait_for(tls, end_ns) : TAPML_OK);
    }
    return TAPML_OK;
}

// `out_text` has GREETING_TEXT_BYTES; the form's text is not written.
static tapml_status
read_form(const unsigned char *bytes, struct greeting_form *out_form, char *out_text)
{
    const unsigned char *at = bytes + MAGIC_BYTES;

    if (memcmp(bytes, magic, MAGIC_BYTES) != 0) {
        return status_fail(TAPML_INVALID, "the other side does not greet as a host or a worker");
    }
    out_form->first = (uint16_t)take(&at, 2);
    out_form->second = (uint16_t)take(&at, 2);
    at += 4;
    memcpy(out_form->session.bytes, at, GREETING_SESSION_BYTES);
    at += GREETING_SESSION_BYTES;
    out_form->received = take(&at, 8);
    for (size_t i = 0; i < GREETING_TEXT_BYTES; i++) { // It is printed.
        out_text[i] = at[i] >= ' ' && at[i] < 127 ? (char)at[i] : '\0';
    }
    out_text[GREETING_TEXT_BYTES - 1] = '\0';
    return TAPML_OK;
}

static tapml_status receive(struct tls *tls, unsigned char bytes[GREETING_BYTES])
{
    const uint64_t end_ns = clock_now_ns() + (uint64_t)GREETING_TIMEOUT_MS * 1000000u;

    for (size_t received = 0; received < GREETING_BYTES;) {
        size_t size = 0;

        TAPML_TRY(tls_read(tls, bytes + received, GREETING_BYTES - received, &size));
        received += size;
        TAPML_TRY(size == 0 ? wait_for(tls, end_ns) : TAPML_OK);
    }
    return TAPML_OK;
}

tapml_status greeting_send(struct tls *tls, const struct greeting *greeting)
{
    return send_form(tls, &(struct greeting_form){greeting->version_least, greeting->version_most,
                                                  greeting->session, greeting->received,
                                                  greeting->features});
}

tapml_status greeting_read(const unsigned char *bytes, struct greeting *out_greeting)
{
    struct greeting_form form;

    TAPML_TRY(read_form(bytes, &form, out_greeting->features));
    out_greeting->version_least = form.first;
    out_greeting->version_most = form.second;
    out_greeting->session = form.session;
    out_greeting->received = form.received;
    return TAPML_OK;
}

tapml_status greeting_receive(struct tls *tls, struct greeting *out_greeting)
{
    unsigned char bytes[GREETING_BYTES];

    TAPML_TRY(receive(tls, bytes));
    return greeting_read(bytes, out_greeting);
}

tapml_status greeting_send_answer(struct tls *tls, const struct greeting_answer *answer)
{
    return send_form(tls, &(struct greeting_form){answer->version, (uint16_t)answer->state,
                                                  answer->session, answer->received, answer->text});
}

tapml_status greeting_read_answer(const unsigned char *bytes, struct greeting_answer *out_answer)
{
    struct greeting_form form;

    TAPML_TRY(read_form(bytes, &form, out_answer->text));
    if (form.second > GREETING_REFUSED) {
        return status_fail(TAPML_INVALID, "the other side answers a greeting with %u", form.second);
    }
    out_answer->version = form.first;
    out_answer->state = (enum greeting_state)form.second;
    out_answer->session = form.session;
    out_answer->received = form.received;
    return TAPML_OK;
}

tapml_status greeting_receive_answer(struct tls *tls, struct greeting_answer *out_answer)
{
    unsigned char bytes[GREETING_BYTES];

    TAPML_TRY(receive(tls, bytes));
    return greeting_read_answer(bytes, out_answer);
}

int greeting_session_equal(const struct greeting_session *a, const struct greeting_session *b)
{
    return memcmp(a->bytes, b->bytes, GREETING_SESSION_BYTES) == 0;
}

int greeting_session_is_none(const struct greeting_session *session)
{
    static const struct greeting_session none;

    return greeting_session_equal(session, &none);
}

tapml_status greeting_session_make(struct greeting_session *out_session)
{
    return RAND_bytes(out_session->bytes, GREETING_SESSION_BYTES) == 1
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "the system has no random bytes");
}

uint16_t greeting_choose_version(const struct greeting *greeting)
{
    return greeting->version_least <= WIRE_VERSION && greeting->version_most >= WIRE_VERSION
               ? WIRE_VERSION
               : 0;
}

struct greeting greeting_of_build(void)
{
    struct greeting greeting = {.version_least = WIRE_VERSION, .version_most = WIRE_VERSION};

    (void)snprintf(greeting.features, sizeof(greeting.features), "%s", own_features);
    return greeting;
}

void greeting_add(struct greeting *greeting, const char *feature)
{
    const size_t length = strlen(greeting->features);

    (void)snprintf(greeting->features + length, sizeof(greeting->features) - length, " %s",
                   feature);
}

int greeting_names(const char *features, const char *feature)
{
    const size_t length = strlen(feature);

    for (const char *at = features; (at = strstr(at, feature)) != NULL; at += length) {
        if ((at == features || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return 1;
        }
    }
    return 0;
}
