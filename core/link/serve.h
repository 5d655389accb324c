// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The far side of the link: turns messages into calls of a backend, and answers.
//
// Messages may be wrong in any way: what cannot be done is an answer, and nothing is touched beyond
// the buffers and regions that were announced.
//
// One thread.
#pragma once

#include "link/message.h"
#include "schema/catalogue.h"

#include <tapml/wire/wire.h>

struct serve_options {
    // Opens what the settings ask for. Both stay until the server is gone; its owner releases them.
    // The catalogue takes in ops that are defined, whose schemas live as long as the server:
    // nothing is looked up in it afterwards.
    tapml_status (*open)(void *user,
                         const struct message_setting *settings,
                         size_t count,
                         struct backend **out_backend,
                         struct catalogue **out_catalogue);

    // Counts that are answered beside the launches; or NULL.
    uint64_t (*counter)(void *user, uint32_t index);
    void *user;
};

struct server;

tapml_status serve_create(const struct serve_options *options,
                          struct server **out_server) STATUS_USED;

// Frees buffers and unmaps regions.
void serve_destroy(struct server *server);

// Takes one message, with the descriptor that came along (-1: none), which it closes. What is to be
// answered is appended to `replies`. A failure means that the other side cannot be understood.
tapml_status serve_frame(struct server *server,
                         const struct wire_frame *frame,
                         int descriptor,
                         struct wire_writer *replies) STATUS_USED;

// Whether MESSAGE_CLOSE has come.
int serve_is_closed(const struct server *server);
