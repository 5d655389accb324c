// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What both sides say first over a new connection: which versions of the wire they speak, which
// session the connection belongs to, and how much of its stream they have received.
//
// The form of a greeting is the same in every version. Nothing is said before the keys are known
// (remote/tls.h). One thread a connection.
#pragma once

#include "remote/tls.h"

enum {
    GREETING_SESSION_BYTES = 16,
    GREETING_TEXT_BYTES = 256,
    GREETING_BYTES = 296, // Of each of the two.
    GREETING_TIMEOUT_MS = 10000
};

struct greeting_session {
    unsigned char bytes[GREETING_SESSION_BYTES]; // Random; zeros: none.
};

struct greeting {
    uint16_t version_least, version_most; // Of the wire.
    struct greeting_session session;      // Zeros: a new one.
    uint64_t received;                    // Bytes of its stream.
    char features[GREETING_TEXT_BYTES];   // Names, with blanks between.
};

enum greeting_state { GREETING_NEW, GREETING_RESUMED, GREETING_REFUSED };

struct greeting_answer {
    uint16_t version;
    enum greeting_state state;
    struct greeting_session session;
    uint64_t received;
    char text[GREETING_TEXT_BYTES]; // Features that both have; why it is refused.
};

tapml_status greeting_send(struct tls *tls, const struct greeting *greeting) STATUS_USED;
tapml_status greeting_receive(struct tls *tls, struct greeting *out_greeting) STATUS_USED;
tapml_status greeting_send_answer(struct tls *tls,
                                  const struct greeting_answer *answer) STATUS_USED;
tapml_status greeting_receive_answer(struct tls *tls,
                                     struct greeting_answer *out_answer) STATUS_USED;

// The same of GREETING_BYTES that were received.
tapml_status greeting_read(const unsigned char *bytes, struct greeting *out_greeting) STATUS_USED;
tapml_status greeting_read_answer(const unsigned char *bytes,
                                  struct greeting_answer *out_answer) STATUS_USED;

int greeting_session_equal(const struct greeting_session *a, const struct greeting_session *b);
int greeting_session_is_none(const struct greeting_session *session);

// Random. TAPML_UNAVAILABLE where the system has no random bytes.
tapml_status greeting_session_make(struct greeting_session *out_session) STATUS_USED;

// The newest version that `greeting` and this build speak; 0: none.
uint16_t greeting_choose_version(const struct greeting *greeting);

// Whether a feature is among some.
int greeting_names(const char *features, const char *feature);
void greeting_add(struct greeting *greeting, const char *feature); // As far as there is room.

// What this build says of itself.
struct greeting greeting_of_build(void);
