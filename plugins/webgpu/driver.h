// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver over WebGPU, which lives in a browser: what its files share.
//
// The device is a page (page.html) that this plugin serves. Commands are frames of sdk/wire, which
// are held back and leave together; what the page answers is taken in by answers.h. Progress is
// made whenever the driver is called, and only then: there is no thread.
#pragma once

#include "answers.h"
#include "browser.h"
#include "server.h"

#include <tapml/gpu/entries.h>
#include <tapml/gpu/support.h>
#include <tapml/wire/wire.h>

enum {
    DRIVER_FRAMES_BYTES = 5 << 20, // Of commands that are held back at most.
    DRIVER_PART_BYTES = 4 << 20,   // Of a write or a read in one command.
};

// To the page.
enum driver_verb {
    DRIVER_BUFFER_NEW = 1, // u32 id, u64 bytes; answered by MADE
    DRIVER_BUFFER_FREE,    // u32 id
    DRIVER_PIPELINE_NEW,   // u32 id, bytes of parameters, bindings, mask of those written; texts:
                           // name, code; answered by MADE
    DRIVER_PIPELINE_FREE,  // u32 id
    DRIVER_WRITE,          // u32 buffer, u64 offset, bytes
    DRIVER_READ,           // u32 buffer, u64 offset, u32 bytes; answered by DATA
    DRIVER_COPY,           // u32 source, u64 offset, u32 target, u64 offset, u64 bytes
    DRIVER_LAUNCH,         // u32 pipeline, x, y, z, u64 op call, u32 of each buffer, parameters
    DRIVER_SIGNAL,         // u32 stream, u64 ticket; answered by REACHED
    DRIVER_LARGE,          // u64 large messages so far; answered by TAKEN
};

// The page, which is opened when somebody asks for devices.
struct driver_root {
    const struct gpu_host *host;
    struct browser browser;
    struct server *server; // NULL before the page is asked for.
    struct answers answers;
    struct wire_writer frames;
    uint64_t number;  // Of the last command.
    uint32_t last_id; // Of buffers and pipelines.
    uint32_t streams; // A bit for each stream that is taken.
};

// A stream of the page. It has one GPU queue, whatever the number of these.
struct driver_device {
    struct driver_root *root;
    uint32_t stream;
};

struct driver_buffer {
    uint32_t id;
};

struct driver_pipeline {
    uint32_t id;
    const struct k_kernel *kernel;
};

// Begins a command whose payload has at most `bytes` bytes: sends what is held back where it has no
// room. On TAPML_OK the caller puts the payload into `root->frames` and calls wire_end.
tapml_status
driver_begin(struct driver_root *root, tapml_call *call, enum driver_verb verb, size_t bytes);

// Sends what is held back.
tapml_status driver_flush(struct driver_root *root, tapml_call *call);

// Takes what the page says, waits for it at most `timeout_ns`, and fails where something has.
tapml_status driver_serve(struct driver_root *root, tapml_call *call, uint64_t timeout_ns);

// Sends, and waits until the last command, which makes something, is answered. `code` is the status
// where the page could not make it, `what` begins the sentence.
tapml_status
driver_make(struct driver_root *root, tapml_call *call, tapml_status code, const char *what);

// Ends the page, where there is one, with all that belongs to it.
void device_end_page(struct driver_root *root);
